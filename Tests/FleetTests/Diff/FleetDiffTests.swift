import BluetoothTypes
import Configuration
import Testing

@testable import Fleet

@Suite("Differences of two manifests")
struct DiffTests {
    private static func manifest(_ beacons: String, interval: String = "500") throws -> FleetManifest {
        let text = """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "ibeacon",
              "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": "${minor}",
              "intervalMs": \(interval), "measuredPowerDbm": -59 } ] },
              "identities": { "minor": { "within": "fleet" } }, "beacons": [ \(beacons) ] }
            """
        let fleet = try #require(MadeFleet.decode(text).fleet)
        return FleetAllocation.make(fleet, lock: nil, now: MadeFleet.now).allocation.manifest
    }

    private static let two = "{ \"name\": \"a\" }, { \"name\": \"b\", \"host\": \"pi-1\" }"

    @Test("equal manifests have no difference")
    func reportsNoDifferenceOfEqualManifests() throws {
        let old = try Self.manifest(Self.two)
        let diff = FleetDiff(from: old, to: try Self.manifest(Self.two))
        #expect(diff.isEmpty && diff.unchanged == 2)
        #expect(diff.text == "0 added, 0 removed, 0 renamed, 0 changed, 2 unchanged\n")
    }

    @Test("different values are reported as JSON with their paths")
    func findsValues() throws {
        let old = try Self.manifest(Self.two)
        let diff = FleetDiff(
            from: old, to: try Self.manifest("{ \"name\": \"a\" }, { \"name\": \"b\", \"serial\": \"s1\" }"))
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

    @Test("a group has one line, even if several of its beacons change")
    func combinesGroups() throws {
        func beacons(_ host: String) -> String {
            (1...5).map { "{ \"name\": \"a\($0)\", \"group\": \"n/g\"\($0 == 5 ? ", \"host\": \"\(host)\"" : "") }" }
                .joined(separator: ", ") + ", { \"name\": \"z\", \"group\": \"s\" }"
        }
        let diff = FleetDiff(
            from: try Self.manifest(beacons("pi-1")), to: try Self.manifest(beacons("pi-2"), interval: "600"))
        #expect(
            diff.text == """
                ~ n/g: 5 beacons (a1, a2, a3 and 2 more): advertisements[0].intervalMs: 500 → 600; host: "pi-1" → "pi-2" \
                (1 of them)
                ~ z
                    profileHash: \(diff.changed.last?.fields.first?.old?.line ?? "") → \
                \(diff.changed.last?.fields.first?.new?.line ?? "")
                    advertisements[0].intervalMs: 500 → 600
                0 added, 0 removed, 0 renamed, 6 changed, 0 unchanged

                """)
        #expect(diff.fullText.split(separator: "\n").count { $0.hasPrefix("~ a") } == 5)
    }

    @Test("number values are reported as numbers")
    func findsNumbers() throws {
        let old = try Self.manifest("{ \"name\": \"a\" }")
        let diff = FleetDiff(from: old, to: try Self.manifest("{ \"name\": \"a\" }", interval: "152.5"))
        let field = diff.changed.first?.fields.first { $0.path == "advertisements[0].intervalMs" }
        #expect(field?.old == .integer(500) && field?.new == .decimal("152.5"))
        #expect(diff.text.contains("    advertisements[0].intervalMs: 500 → 152.5\n"))
    }

    @Test("added, removed and renamed beacons with the same address are reported")
    func findsBeacons() throws {
        let old = try Self.manifest(Self.two)
        // A beacon's address depends on its name.
        let other = FleetDiff(from: old, to: try Self.manifest("{ \"name\": \"c\" }"))
        #expect(
            other.text
                == "+ c\n- without a group: 2 beacons (a, b)\n1 added, 2 removed, 0 renamed, 0 changed, 0 unchanged\n")
        #expect(other.fullText == "+ c\n- a\n- b\n1 added, 2 removed, 0 renamed, 0 changed, 0 unchanged\n")
        var moved = old
        moved.beacons[0].address = DeviceAddress("C0:00:00:00:00:01")
        #expect(FleetDiff(from: moved, to: old).changed.count == 1)
        var renamed = old
        renamed.beacons[0].name = "z"
        let diff = FleetDiff(from: old, to: renamed)
        #expect(diff.renamed == [.init(name: "z", was: "a")] && diff.added == [] && diff.removed == [])
    }
}
