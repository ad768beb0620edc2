import Configuration
import Profiles
import Testing

@testable import Fleet

@Suite("Robustness against damaged fleet files")
struct RobustnessTests {
    /// Runs a fleet through all steps, from its octets to its files.
    private static func runThrough(_ fleet: [UInt8], table: [UInt8]) {
        let (decoded, problems) = Fleet.decode(fleet, file: "f.json") { _ in .octets(table) }
        #expect(problems.allSatisfy { $0.line >= 1 && $0.column >= 1 && !$0.description.isEmpty })
        guard let decoded else {
            #expect(problems.contains { $0.isError })
            return
        }
        let (allocation, _) = FleetAllocation.make(decoded, lock: nil, now: MadeFleet.now)
        let checker = allocation.check()
        guard !problems.contains(where: \.isError), !checker.hasErrors else { return }
        // A profile that passes the check is one that a machine accepts.
        let made = allocation.all()
        for (name, text) in made.profiles { #expect(BeaconProfile.decode(Array(text.utf8)).profile?.name == name) }
        let manifest = FleetManifest.decode(Array(made.manifest.utf8)).manifest
        #expect(manifest?.csv == made.table)
        #expect(made.profiles.count == decoded.beaconCount)
    }

    private static func changed(_ octets: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var octets = octets
        let pieces = [
            "${", "}", "\"", ",", "\n", "null", "[]", "{}", "-1", "1e99", "${name}", "\u{F8FF}\u{F0000}0\u{F8FF}", "$$",
            ";",
        ]
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard !octets.isEmpty else { break }
            let place = Int.random(in: octets.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: octets[place] = UInt8.random(in: 0...255, using: &random)
            case 1: octets.removeSubrange(place..<min(octets.count, place + Int.random(in: 1...12, using: &random)))
            case 2: octets.insert(contentsOf: octets[place...].prefix(30), at: place)
            default: octets.insert(contentsOf: (pieces.randomElement(using: &random) ?? "").utf8, at: place)
            }
        }
        return octets
    }

    @Test("mutated files do not crash the program, and accepted files give a valid fleet", arguments: 1...150)
    func survives(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let sample = FleetSample.allCases.randomElement(using: &random) ?? .museum
        let table = Array((FleetSample.carPark.table?.text ?? "").utf8)
        for _ in 0..<4 {
            let changesTable = sample == .carPark && Bool.random(using: &random)
            let fleet = Array(sample.text.utf8)
            Self.runThrough(
                changesTable ? fleet : Self.changed(fleet, &random),
                table: changesTable ? Self.changed(table, &random) : table)
        }
    }

    @Test("values of other types do not crash the program", arguments: FleetSample.allCases)
    func replacesValues(sample: FleetSample) {
        let table = Array((FleetSample.carPark.table?.text ?? "").utf8)
        guard let root = JSONDocument.parse(Array(sample.text.utf8)).root else { return }
        var count = 0
        func replaced(_ node: JSONNode, _ index: inout Int, _ wanted: Int, _ value: JSONValue) -> JSONValue {
            index += 1
            if index == wanted { return value }
            switch node.value {
            case .object(let members):
                return .object(members.map { .init($0.key, replaced($0.value, &index, wanted, value)) })
            case .array(let elements): return .array(elements.map { replaced($0, &index, wanted, value) })
            default: return JSONValue(node)
            }
        }
        _ = replaced(root, &count, -1, .null)
        for place in 1...count {
            for value: JSONValue in [.null, "", "${name}", "${x}", -1, true, [], [1], .object([]), ["a": "${b}"]] {
                var index = 0
                Self.runThrough(Array(replaced(root, &index, place, value).pretty.utf8), table: table)
            }
        }
    }

    @Test("variables that double each other are bounded", arguments: [70])
    func boundsVariablesThatDoubleEachOther(depth: Int) {
        let variables = (0..<depth).map { "\"v\($0)\": \"${v\($0 + 1)}${v\($0 + 1)}\"" } + ["\"v\(depth)\": \"x\""]
        let text = """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "eddystone-tlm", "intervalMs": 500 } ],
              "scanResponse": { "localName": "${v0}" } }, "defaults": { "variables": { \(variables.joined(separator: ",")) } },
              "beacons": [ { "name": "a" } ] }
            """
        let problems = MadeFleet.problems(text)
        #expect(
            problems.contains { $0.contains("a chain of variables is longer than 64") },
            "\(problems.prefix(3))")
    }
}
