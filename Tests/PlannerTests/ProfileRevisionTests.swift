import BluetoothTypes
import Planner
import Profiles
import Testing

@Suite struct ProfileRevisionTests {
    /// A profile with irregular spaces, letters outside ASCII, CR LF and keys in an order that Pharos never writes.
    private static let text =
        "{ \"version\":1,\r\n  \"name\" : \"hall\", \"address\":\"random-static\",\r\n"
        + "  \"calibration\": {\"default\": -59},\r\n  \"scanResponse\": {\"localName\": \"Hälle\"},  \"advertisements\": [\r\n"
        + "  {\"intervalMs\":  2e2 , \"type\":\"ibeacon\",\"uuid\":\"fb0b57a2-8228-44cd-913a-94a122ba1206\",\"major\":1,"
        + "\"minor\":2},\r\n"
        + "  {\"type\":\"eddystone-tlm\", \"temperature\":\"auto\",\"battery\":\"auto\",\"intervalMs\":5000}]}\r\n"

    private func revision(_ interval: Int, _ numbers: [Int] = [], of text: String = text) throws -> ProfileRevision {
        let octets = Array(text.utf8)
        let (profile, problems) = BeaconProfile.decode(octets)
        let known = try #require(profile, "\(problems)")
        return try ProfileRevision(
            of: octets, profile: known, interval: #require(AdvertisingInterval(microseconds: interval)),
            advertisements: numbers)
    }

    @Test func changesOnlyTheMostFrequentAdvertisement() throws {
        let revision = try revision(183_125)
        let expected = Self.text.replacing("2e2", with: "183.125")
        #expect(String(decoding: revision.text, as: UTF8.self) == expected)
        #expect(revision.changes.map(\.number) == [1])
        #expect("\(revision.changes[0])" == "advertisement 1 (ibeacon) from 200 ms to 183.125 ms")
    }

    @Test func changesTheGivenAdvertisements() throws {
        let revision = try revision(1_000_000, [2, 1])
        let expected = Self.text.replacing("2e2", with: "1000").replacing("5000", with: "1000")
        #expect(String(decoding: revision.text, as: UTF8.self) == expected)
        #expect(revision.changes.map(\.number) == [1, 2] && revision.caution == nil)
    }

    @Test func anEqualIntervalIsNoChange() throws {
        let revision = try revision(200_000)
        #expect(revision.text == Array(Self.text.utf8) && revision.changes.isEmpty)
    }

    @Test func refusesIntervalsTooShortForSeveralAdvertisements() throws {
        let error = #expect(throws: PlanError.self) { try revision(20_000, [1, 2]) }
        #expect(error?.kind == .configuration)
        // In turn, the controller must send every 60 ms. Controllers before Bluetooth 5 require at least 100 ms.
        #expect(try revision(120_000, [1, 2]).caution?.contains("100 ms") == true)
        #expect(throws: PlanError.self) { try revision(100_000, [3]) }
        #expect(throws: PlanError.self) { try revision(100_000, [0]) }
    }
}
