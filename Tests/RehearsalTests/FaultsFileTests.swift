import Configuration
import TestSupport
import Testing

@testable import Rehearsal

@Suite("Faults file")
struct FaultsFileTests {
    private func problems(_ faults: String) throws -> [String] {
        let fleet = try RehearsedWorld().fleet()
        let text = #"{ "version": 1, "faults": [\#(faults)] }"#
        return FaultsFile.decode(Array(text.utf8), for: fleet, hours: 1).problems.map(\.message)
    }

    @Test("all kinds of faults are read")
    func reads() throws {
        let fleet = try RehearsedWorld().fleet()
        let text = #"""
            { "version": 1, "faults": [
              { "kind": "stops", "beacon": "box-1", "atS": 600 }, { "kind": "deaf", "receiver": "ear-1", "atS": 1 },
              { "kind": "broker-away", "atS": 5, "forS": 60 }, { "kind": "weak", "beacon": "box-2", "atS": 0, "byDb": 12 } ] }
            """#
        let (faults, problems) = FaultsFile.decode(Array(text.utf8), for: fleet, hours: 1)
        #expect(problems.map(\.message) == [])
        #expect(faults?.map(\.kind) == [.stops, .deaf, .brokerAway, .weak])
        #expect(faults?[2].forS == 60)
        #expect(faults?[3].byDb == 12)
    }

    @Test(
        "mistakes are reported",
        arguments: [
            (#"{ "kind": "stops", "beacon": "box-9", "atS": 1 }"#, "there is no beacon"),
            (#"{ "kind": "deaf", "beacon": "box-1", "atS": 1 }"#, "deaf needs \"receiver\""),
            (#"{ "kind": "stops", "beacon": "box-1", "atS": 3600 }"#, "the rehearsal ends before"),
            (#"{ "kind": "clock-jump", "beacon": "box-1", "atS": 1 }"#, "has no ephemeral ids"),
            (#"{ "kind": "sleeps", "beacon": "box-1", "atS": 1 }"#, "sleeps"),
        ])
    func refuses(fault: String, part: String) throws {
        let problems = try problems(fault)
        #expect(problems.contains { $0.contains(part) }, "\(problems)")
    }

    @Test("random faults have different subjects and depend only on the seed")
    func random() throws {
        let fleet = try RehearsedWorld().fleet()
        let faults = RehearsalFault.random(6, in: fleet, hours: 1, seed: 3)
        #expect(faults == RehearsalFault.random(6, in: fleet, hours: 1, seed: 3))
        #expect(faults.count == 6)
        #expect(Set(faults.map(\.subject)).count == 6)
    }

    @Test("the schema file equals the declared schema")
    func schema() {
        #expect(RepositoryFile("profiles/schema/faults.schema.json").text == FaultsFile.schema)
    }
}
