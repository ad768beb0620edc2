import Configuration
import Testing

@testable import Fleet

@Suite("What a fleet file would change")
struct DiffTests {
    private static func generator(_ beacons: String, interval: String = "500") throws -> FleetGenerator {
        let text = """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "ibeacon",
              "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": "${minor}",
              "intervalMs": \(interval), "measuredPowerDbm": -59 } ] },
              "identities": { "minor": { "within": "fleet" } }, "beacons": [ \(beacons) ] }
            """
        let fleet = try #require(MadeFleet.decode(text).fleet)
        return FleetGenerator(fleet, FleetAllocation.make(fleet, lock: nil, now: MadeFleet.now).allocation)
    }

    private static let two = "{ \"name\": \"a\" }, { \"name\": \"b\", \"host\": \"pi-1\" }"

    @Test("the same manifest has no difference")
    func findsNothing() throws {
        let old = Array(try Self.generator(Self.two).all().manifest.utf8)
        let diff = try FleetDiff(from: old, to: Self.generator(Self.two))
        #expect(diff.isEmpty && diff.unchanged == 2)
        #expect(diff.text == "0 added, 0 removed, 0 renamed, 0 changed, 2 unchanged\n")
    }

    @Test("values that differ are told as JSON has them, by path")
    func findsValues() throws {
        let old = Array(try Self.generator(Self.two).all().manifest.utf8)
        let diff = try FleetDiff(
            from: old, to: Self.generator("{ \"name\": \"a\" }, { \"name\": \"b\", \"serial\": \"s1\" }"))
        let change = try #require(diff.changed.first)
        #expect(diff.changed.count == 1 && change.name == "b" && diff.unchanged == 1)
        let fields = change.fields.filter { $0.path != "profileHash" }
        #expect(
            fields == [
                .init(path: "serial", old: nil, new: .string("s1")),
                .init(path: "host", old: .string("pi-1"), new: nil),
            ])
        #expect(diff.text.contains("~ b\n    serial: nothing → \"s1\"\n"), "\(diff.text)")
        #expect(diff.json.line.contains("{\"path\":\"serial\",\"old\":null,\"new\":\"s1\"}"))
    }

    @Test("numbers stay numbers")
    func findsNumbers() throws {
        let old = Array(try Self.generator("{ \"name\": \"a\" }").all().manifest.utf8)
        let diff = try FleetDiff(from: old, to: Self.generator("{ \"name\": \"a\" }", interval: "152.5"))
        let field = diff.changed.first?.fields.first { $0.path == "advertisements[0].intervalMs" }
        #expect(field?.old == .integer(500) && field?.new == .decimal("152.5"))
        #expect(diff.text.contains("    advertisements[0].intervalMs: 500 → 152.5\n"))
    }

    @Test("beacons come, go, and keep their address under another name")
    func findsBeacons() throws {
        let old = try Self.generator(Self.two).all().manifest
        // A beacon's address follows from its name.
        let other = try FleetDiff(from: Array(old.utf8), to: Self.generator("{ \"name\": \"c\" }"))
        #expect(other.text == "+ c\n- a\n- b\n1 added, 2 removed, 0 renamed, 0 changed, 0 unchanged\n")
        let line = try #require(old.split(separator: "\n").dropFirst().first)
        let address = try #require(JSONDocument.parse(Array(line.dropLast().utf8)).root?["address"]?.string)
        let renamed = old.replacing(address, with: "C0:00:00:00:00:01")
        #expect(try FleetDiff(from: Array(renamed.utf8), to: Self.generator(Self.two)).changed.count == 1)
        #expect(throws: FileProblem.self) { try FleetDiff(from: Array("{}".utf8), to: Self.generator(Self.two)) }
    }
}
