import BluetoothTypes
import Sightings
import Testing

@Suite struct BeaconIdentityTests {
    static let texts = [
        "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-65535",
        "altbeacon:0118-000102030405060708090a0b0c0d0e0f10111213",
        "uid:8b0ca750095477cb3e77-000000000002", "url:https://example.org/a", "eid:0123456789abcdef",
        "address:C1:02:03:04:05:06",
    ]

    @Test(arguments: texts) func readsBackTheTextOfAnIdentity(text: String) throws {
        let identity = try #require(BeaconIdentity(text))
        #expect(identity.description == text)
        #expect(text.hasPrefix(identity.kind + ":"))
        #expect(BeaconIdentity.kinds.contains(identity.kind))
    }

    @Test(arguments: [
        "", "ibeacon", "ibeacon:", "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206",
        "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1", "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-65536",
        "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1--2", "uid:8b0ca750095477cb3e77", "uid:8b-00", "eid:01",
        "altbeacon:0118", "url:ftp://x", "address:C1:02", "tlm:00",
    ])
    func refusesInvalidIdentities(text: String) {
        #expect(BeaconIdentity(text) == nil)
    }

    @Test func readsAUUIDWithoutDashes() {
        #expect(
            BeaconIdentity("ibeacon:FB0B57A2822844CD913A94A122BA1206-1-2")?.description
                == "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-2")
    }

    @Test func aRegionContainsAllMatchesOfItsPattern() throws {
        let uuid = "fb0b57a2-8228-44cd-913a-94a122ba1206"
        let all = try #require(RegionPattern("ibeacon:\(uuid)"))
        let major = try #require(RegionPattern("ibeacon:\(uuid)-1"))
        let one = try #require(RegionPattern("ibeacon:\(uuid)-1-7"))
        #expect([all, major, one].map { $0.contains(Air.identity(1, 7)) } == [true, true, true])
        #expect([all, major, one].map { $0.contains(Air.identity(1, 8)) } == [true, true, false])
        #expect([all, major, one].map { $0.contains(Air.identity(2, 7)) } == [true, false, false])
        let namespace = try #require(RegionPattern("uid:8b0ca750095477cb3e77"))
        #expect(namespace.contains(try #require(BeaconIdentity("uid:8b0ca750095477cb3e77-000000000002"))))
        #expect(!namespace.contains(try #require(BeaconIdentity("uid:8b0ca750095477cb3e78-000000000002"))))
        #expect(RegionPattern("ibeacon:\(uuid)-1-2-3") == nil)
        #expect(RegionPattern("uid:8b0ca750095477cb3e77-1-2") == nil)
    }
}
