internal import BeaconStatus
public import Configuration
internal import Fleet
internal import TextEscaping

/// A fleet's condition as `fleet status` prints it.
extension FleetCondition {
    /// Columns that a beacon's problems, and a stranger's name, may take.
    private static let columnLimit = 400
    /// More strangers than these are counted only.
    private static let strangerLimit = 5

    /// A row for each beacon with a problem, then how many beacons are as they should be.
    ///
    /// - Parameters:
    ///   - fleet: The fleet's name.
    ///   - now: What times are told from.
    ///   - all: Whether beacons without a problem get a row too.
    public func text(of fleet: String, at now: RFC3339Time, all: Bool = false) -> String {
        let shown = entries.filter { all || !$0.problems.isEmpty }
        var table = Table(["beacon", "place", "host", "since", "what"])
        for entry in shown {
            let problems = entry.problems.map(\.description)
            let since = entry.problems.first.map(\.since) ?? entry.report?.since
            table.add([
                entry.beacon.name, entry.beacon.group.joined(separator: "/"), entry.beacon.host ?? "-",
                since.map { StatusText.duration(from: $0, to: now) } ?? "-",
                Self.line(problems.isEmpty ? "on the air" : problems.joined(separator: "; ")),
            ])
        }
        var text = shown.isEmpty ? "" : table.text + "\n"
        text += "\(good) of \(entries.count) beacons of \(fleet) are as they should be.\n"
        if !strangers.isEmpty {
            let names = strangers.prefix(Self.strangerLimit).map { Self.line("\($0.name) (\($0.source))") }
            let rest = strangers.count - Self.strangerLimit
            text += "Not of this fleet: \(names.joined(separator: ", "))" + (rest > 0 ? " and \(rest) more\n" : "\n")
        }
        return text
    }

    private static func line(_ text: String) -> String {
        TerminalText.line(TerminalText.shortened(text, to: columnLimit))
    }

    /// How many beacons are as they should be.
    public var good: Int { entries.count { $0.problems.isEmpty } }

    /// The same for programs: every beacon.
    ///
    /// - Parameters:
    ///   - fleet: The fleet's name.
    ///   - now: When the reports were looked at.
    public func json(of fleet: String, at now: RFC3339Time) -> JSONValue {
        .record([
            ("fleet", .string(fleet)), ("time", .string(now.description)), ("beacons", .integer(entries.count)),
            ("good", .integer(good)), ("entries", .array(entries.map(Self.json))),
            (
                "strangers",
                .array(strangers.map { .record([("name", .string($0.name)), ("source", .string($0.source))]) })
            ),
        ])
    }

    private static func json(_ entry: Entry) -> JSONValue {
        .record([
            ("name", .string(entry.beacon.name)), ("group", .array(entry.beacon.group.map(JSONValue.string))),
            ("host", .optional(entry.beacon.host, JSONValue.string)),
            ("state", .optional(entry.report?.state) { .string($0.rawValue) }),
            ("since", .optional(entry.report?.since) { .string($0.description) }),
            ("lastVerified", .optional(entry.report?.lastVerified) { .string($0.description) }),
            ("problems", .array(entry.problems.map(Self.json))),
        ])
    }

    private static func json(_ problem: BeaconProblem) -> JSONValue {
        .record([
            ("kind", .string(problem.kind)), ("message", .string(problem.description)),
            ("since", .optional(problem.since) { .string($0.description) }),
        ])
    }
}
