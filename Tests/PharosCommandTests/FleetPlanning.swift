import Configuration
import TestSupport
import Testing

/// Helpers for tests of fleets in the planner.
protocol FleetPlanning {}

extension FleetPlanning {
    static func sample(_ name: String) -> String { Program.profile("fleets/\(name)") }

    func answer(_ words: String, _ more: String...) throws -> JSONNode {
        let result = try Program.run(["plan"] + words.split(separator: " ").map(String.init) + more + ["--json"])
        #expect(result.code == 0, "\(result.errors)")
        return try #require(JSONDocument.parse(Array(result.output.utf8)).root)
    }

    func number(_ node: JSONNode?) -> Double? {
        guard case .number(let number) = node?.value else { return nil }
        return Double(number.text)
    }

    /// Returns the value as text, without its position in the file.
    func text(_ node: JSONNode?) -> String {
        switch node?.value {
        case .number(let number): number.text
        case .string(let text): text
        case .boolean(let value): "\(value)"
        case .array(let elements): elements.map { text($0) }.joined(separator: " ")
        case .object(let members): members.map { "\($0.key): \(text($0.value))" }.joined(separator: " ")
        case .null: "null"
        case .malformed, nil: ""
        }
    }

    func elements(_ node: JSONNode?) -> [JSONNode] {
        guard case .array(let elements) = node?.value else { return [] }
        return elements
    }

    /// Returns a fleet of equal machines with an iBeacon of 30 octets every 100 ms, on a grid of five metres, and with
    /// a URL if `urlInterval` is given.
    static func hall(beacons count: Int, urlInterval: Int? = nil) -> [UInt8] {
        let url = urlInterval.map {
            #",{"type":"eddystone-url","url":"https://example.org","intervalMs":\#($0),"measuredPower1mDbm":-59}"#
        }
        let beacons = (1...count).map { #"{"name":"n-\#($0)","position":[\#($0 % 4 * 5),\#($0 / 4 * 5)]}"# }
        let text =
            #"{"version":1,"name":"hall","template":{"advertisements":[{"type":"ibeacon","#
            + #""uuid":"3c2a6f0e-5b1d-4e77-9a48-0d6f2c9b7e11","major":1,"minor":"${minor}","intervalMs":100,"#
            + #""measuredPowerDbm":-59}\#(url ?? "")]},"identities":{"minor":{"within":"site"}},"#
            + #""groups":[{"name":"north","beacons":[\#(beacons.joined(separator: ","))]}]}"#
        return Array(text.utf8)
    }
}
