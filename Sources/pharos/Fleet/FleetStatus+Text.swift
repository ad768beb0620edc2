internal import BeaconStatus
internal import Configuration
internal import Fleet
internal import FleetStore
internal import TextEscaping

/// How a fleet is, for people and for programs.
struct FleetStatusText {
    private let fleet: String
    private let condition: FleetCondition
    private let now: RFC3339Time

    init(_ fleet: String, _ condition: FleetCondition, _ now: RFC3339Time) {
        self.fleet = fleet
        self.condition = condition
        self.now = now
    }

    /// One line a beacon with a problem, or a beacon, and how many there are.
    func table(all: Bool) -> String {
        let shown = condition.entries.filter { all || !$0.problems.isEmpty }
        var table = Table(["beacon", "place", "host", "since", "what"])
        for entry in shown {
            let problems = entry.problems.map(\.description)
            let since = entry.problems.first.map(\.since) ?? entry.report?.since
            table.add([
                entry.beacon.name, entry.beacon.group.joined(separator: "/"), entry.beacon.host ?? "-",
                since.map { StatusText.duration(from: $0, to: now) } ?? "-",
                TerminalText.line(
                    TerminalText.shortened(problems.isEmpty ? "on the air" : problems.joined(separator: "; "), to: 400)),
            ])
        }
        let good = condition.entries.count { $0.problems.isEmpty }
        var text = shown.isEmpty ? "" : table.text + "\n"
        text += "\(good) of \(condition.entries.count) beacons of \(fleet) are as they should be.\n"
        if !condition.strangers.isEmpty {
            let names = condition.strangers.prefix(5).map { stranger in
                TerminalText.line(TerminalText.shortened("\(stranger.name) (\(stranger.source))", to: 400))
            }
            text += "Not of this fleet: \(names.joined(separator: ", "))"
            text += condition.strangers.count > 5 ? " and \(condition.strangers.count - 5) more\n" : "\n"
        }
        return text
    }

    var json: JSONValue {
        .record([
            ("fleet", .string(fleet)), ("time", .string(now.description)),
            ("beacons", .integer(condition.entries.count)),
            ("good", .integer(condition.entries.count { $0.problems.isEmpty })),
            ("entries", .array(condition.entries.map(Self.json))),
            (
                "strangers",
                .array(
                    condition.strangers.map {
                        .record([("name", .string($0.name)), ("source", .string($0.source))])
                    })
            ),
        ])
    }

    private static func json(_ entry: FleetCondition.Entry) -> JSONValue {
        .record([
            ("name", .string(entry.beacon.name)), ("group", .array(entry.beacon.group.map(JSONValue.string))),
            ("host", .optional(entry.beacon.host, JSONValue.string)),
            ("state", .optional(entry.report?.state) { .string($0.rawValue) }),
            ("since", .optional(entry.report?.since) { .string($0.description) }),
            ("lastVerified", .optional(entry.report?.lastVerified) { .string($0.description) }),
            (
                "problems",
                .array(
                    entry.problems.map { problem in
                        .record([
                            ("kind", .string(problem.kind)), ("message", .string(problem.description)),
                            ("since", .optional(problem.since) { .string($0.description) }),
                        ])
                    })
            ),
        ])
    }
}
