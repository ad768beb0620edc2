import BeaconFrames
import BluetoothTypes
import Configuration
import EddystoneSecurity
import Fleet
import HCI
import LinuxHost
import Sightings
import TestSupport
import Testing

@testable import Listener

/// Names, intervals and keys from profiles and fleets.
@Suite struct KnownBeaconsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let uuid = "fb0b57a2-8228-44cd-913a-94a122ba1206"

    private func profile(_ name: String, _ advertisement: String, epoch: String? = nil) throws -> String {
        let epoch = epoch.map { #""eidEpoch": "\#($0)", "# } ?? ""
        return try folder.file(
            "\(name).json",
            Array(#"{"version": 1, "name": "\#(name)", \#(epoch)"advertisements": [\#(advertisement)]}"#.utf8))
    }

    private static func iBeacon(minor: Int) -> String {
        #"{"type": "ibeacon", "uuid": "\#(uuid)", "major": 1, "minor": \#(minor), "intervalMs": 250, "#
            + #""measuredPowerDbm": -59}"#
    }

    @Test func readsNamesIdentitiesAndIntervalsOfProfiles() throws {
        let known = try KnownBeacons([
            try profile("lobby", Self.iBeacon(minor: 2)), try profile("desk", Self.iBeacon(minor: 3)),
        ])
        #expect(known.beacons.map(\.name) == ["lobby", "desk"])
        #expect(known.beacons.map(\.intervalMicroseconds) == [250_000, 250_000])
        #expect(known.beacons[0].identity?.description == "ibeacon:\(Self.uuid)-1-2")
        #expect(try known.virtualBeacons.beacons().count == 2)
        #expect(known.resolver(HearingClock()) == nil)
        #expect(try known.region("desk").name == "desk")
        #expect(throws: ListenerServiceError.self) { try known.region("attic") }
    }

    @Test func warnsOfASecondNameForOneIdentity() throws {
        let both = Self.iBeacon(minor: 2) + ", " + Self.iBeacon(minor: 3)
        let known = try KnownBeacons([
            try profile("lobby", Self.iBeacon(minor: 2)), try profile("door", Self.iBeacon(minor: 2)),
            try profile("desk", both),
        ])
        #expect(
            known.warnings == [
                "door is never reported: lobby has the same identity, ibeacon:\(Self.uuid)-1-2, and comes first"
            ])
    }

    @Test func summarisesManySecondNames() throws {
        let names = (0..<6).map { "box-\($0)" }
        let known = try KnownBeacons(names.map { try profile($0, Self.iBeacon(minor: 2)) })
        #expect(known.warnings.count == 4)
        #expect(known.warnings.last == "2 more beacons are never reported, for the same reason")
    }

    /// The keys next to a fleet file resolve the ephemeral ids of its beacons.
    @Test func resolvesEphemeralIdsWithTheKeysOfAFleet() throws {
        let beacons = [("door", "CF:3D:6B:C0:07:27"), ("desk", "D1:8E:73:0C:B3:BF")].map { name, address in
            #"{"name":"\#(name)","address":"\#(address)","profileHash":"0567a7db1e9779d9","#
                + #""eidEpoch":"2026-03-01T12:00:00Z","advertisements":[{"type":"eddystone-eid","intervalMs":1000,"#
                + #""measuredPowerDbm":-18,"identityKeyFile":"\#(name).key","rotationExponent":10}]}"#
        }
        let manifest =
            "{\"version\":1,\"fleet\":\"museum\",\"beacons\":[\n" + beacons.joined(separator: ",\n") + "\n]}\n"
        let fleet = try folder.file("out/manifest.json", Array(manifest.utf8))
        let digits = "000102030405060708090a0b0c0d0e0f"
        try Files.makeDirectory(folder.place("keys"), mode: 0o700)
        try Files.replaceSecret(folder.place("keys/desk.key"), with: Array(digits.utf8))
        let known = try KnownBeacons([fleet])
        #expect(known.beacons.map(\.name) == ["desk"])
        #expect(known.beacons.map(\.intervalMicroseconds) == [1_000_000])
        #expect(known.warnings.map { $0.hasPrefix("1 beacon has no key in ") } == [true])
        let clock = HearingClock()
        let instant = HeardInstant(nanoseconds: 0)
        let seconds = try #require(clock.unixMicroseconds(at: instant)) / 1_000_000
        let epoch: Int64 = 1_772_366_400
        let counter = UInt32(Int64(IdentityKey.firstCounter) + seconds - epoch)
        let exponent = try RotationExponent(10)
        let key = try IdentityKey(hexadecimal: digits)
        let resolver = try #require(known.resolver(clock))
        #expect(resolver(try key.ephemeralID(at: counter, exponent: exponent), instant) == 0)
        // An id from an hour ago is refused, because it can only be a replay.
        #expect(resolver(try key.ephemeralID(at: counter - 3600, exponent: exponent), instant) == nil)
    }

    /// Tags and attachments are defined once, in the fleet. A listener file can replace those of a beacon.
    @Test func tagsAndAttachmentsComeFromTheFleet() throws {
        let manifest =
            #"{"version":1,"fleet":"museum","beacons":["#
            + ["door", "desk"].enumerated().map { number, name in
                #"{"name":"\#(name)","profileHash":"0567a7db1e9779d9","tags":["desk"],"attachments":{"owner":"Pia"},"#
                    + #""advertisements":[{"type":"ibeacon","uuid":"\#(Self.uuid)","major":1,"minor":\#(number),"#
                    + #""intervalMs":1000}]}"#
            }.joined(separator: ",") + "]}"
        _ = try folder.file("manifest.json", Array(manifest.utf8))
        let listener = try folder.file(
            "hall.json",
            Array(
                (#"{"version": 1, "name": "hall", "known": [{"fleet": "manifest.json"}, "#
                    + #"{"name": "door", "url": "https://e.org", "tags": ["exit"]}, "#
                    + #"{"name": "desk", "url": "https://f.org"}]}"#).utf8))
        let known = try KnownBeacons([listener])
        #expect(known.notes["desk"]?.tags == ["desk"])
        #expect(known.notes["desk"]?.attachments.map(\.text) == ["Pia"])
        #expect(known.notes["door"]?.tags == ["exit"] && known.notes["door"]?.attachments.isEmpty == true)
    }

    /// `fleet list` and labels show identities in the spelling that `find` and all files read.
    @Test func identitiesOfFleetsHaveTheCommonSpelling() throws {
        let uuid = try FixedOctets<16>(hexadecimal: "fb0b57a2-8228-44cd-913a-94a122ba1206")
        let identities: [(FleetManifest.Identity, String)] = [
            (.iBeacon(uuid: uuid, major: 1, minor: 2), "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-2"),
            (
                .altBeacon(companyID: 0x0118, id: try FixedOctets(hexadecimal: String(repeating: "0a", count: 20))),
                "altbeacon:0118-" + String(repeating: "0a", count: 20)
            ),
            (
                .eddystoneUID(
                    namespace: try FixedOctets(hexadecimal: "8b0ca750095477cb3e77"),
                    instance: try FixedOctets(hexadecimal: "000000000007")),
                "uid:8b0ca750095477cb3e77-000000000007"
            ),
            (.eddystoneURL("https://example.org/n1"), "url:https://example.org/n1"),
        ]
        for (identity, text) in identities {
            #expect(identity.text == text)
            #expect(BeaconIdentity(identity)?.description == text && BeaconIdentity(text) == BeaconIdentity(identity))
        }
        #expect(FleetManifest.Identity.none.text.isEmpty)
    }

    @Test func aBeaconWithoutAnIdentityIsKnownByItsAddress() throws {
        let sensor = try profile(
            "sensor", #"{"type": "eddystone-tlm", "intervalMs": 1000, "address": "F0:01:02:03:04:05"}"#)
        let known = try KnownBeacons([sensor])
        #expect(known.beacons.map(\.identity) == [.address(try #require(DeviceAddress("F0:01:02:03:04:05")))])
        #expect(known.beacons.map(\.intervalMicroseconds) == [1_000_000])
        #expect(known.warnings.count == 1 && known.warnings[0].contains("recognised by its address F0:01:02:03:04:05"))
    }

    @Test func filesWithoutAnIdentityAreRefused() throws {
        let telemetry = try profile("mute", #"{"type": "eddystone-tlm", "intervalMs": 1000, "address": "public"}"#)
        #expect(throws: ListenerServiceError.self) { try KnownBeacons([telemetry]) }
        #expect(throws: ListenerServiceError.self) { try KnownBeacons([folder.place("nothing.json")]) }
        #expect(try KnownBeacons().isEmpty)
    }
}
