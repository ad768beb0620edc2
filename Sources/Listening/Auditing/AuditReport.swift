public import BeaconFrames
internal import BluetoothTypes
public import Configuration
public import Planner
public import Sightings

/// A verdict about one advertisement.
public enum AuditVerdict: String, Hashable, Sendable, CaseIterable {
    case ok
    /// The advertisement was not received.
    case silent
    case wrongOctets = "wrong-octets"
    case wrongAddress = "wrong-address"
    case wrongInterval = "wrong-interval"
    /// The advertisement is sent in other PDUs, or on another PHY.
    case wrongPHY = "wrong-phy"
    /// Fewer than two thirds of the events that collisions do not destroy were received, and chance does not explain
    /// this; or the level is lower than the plan expects.
    case weak
    /// The level at one receiver is lower than the plan expects, and the levels at the other receivers are as expected.
    case obstructed
    /// A silence was longer than losses explain.
    case longSilence = "long-silence"
    /// The telemetry contains impossible values.
    case telemetry
    /// The battery is nearly empty.
    case lowBattery = "low-battery"
    /// Another device sends the same advertisement at the same time.
    case cloned
    /// Another device sends the same identity with other bytes, or from another address.
    case impostor
}

/// A finding that does not make an audit fail.
public enum AuditWarning: Hashable, Sendable {
    /// A beacon is not audited, but has the UUID or the namespace of an audited beacon.
    case stranger(BeaconIdentity, from: Sender?, reports: Int)
    /// A beacon was not received, but is or may be out of range of all receivers. `chance` is the plan's probability
    /// that at least one receiver is in range of the beacon; `nil` if the beacon is certainly out of range.
    case notInRange(beacon: String, chance: Double?)
    /// An ephemeral id or encrypted telemetry cannot be judged, because the key or the epoch is missing.
    case unjudged(beacon: String, type: String)
    /// A receiver received advertisements without their end, which cannot be judged.
    case truncated(receiver: String, advertisements: Int)

    /// The name of the warning in the report.
    public var name: String {
        switch self {
        case .stranger: "stranger"
        case .notInRange: "not-in-range"
        case .unjudged: "unjudged"
        case .truncated: "truncated"
        }
    }
}

/// The result for one advertisement.
public struct AdvertisementAudit: Equatable, Sendable {
    /// The name of the beacon.
    public let beacon: String
    /// The beacon's group in the fleet; empty if the beacon is not part of a fleet.
    let group: [String]
    public let expected: ExpectedAdvertisement
    /// All verdicts that apply, or only ``AuditVerdict/ok``; empty if the advertisement could not be judged.
    public internal(set) var verdicts: [AuditVerdict] = []
    /// The reason for each verdict except ok, as one sentence.
    public internal(set) var reasons: [String] = []
    /// The number of advertising events that at least one receiver received.
    public internal(set) var heard = 0
    /// The number of advertising events that were due in the listened time, computed from the configured interval.
    public internal(set) var dueEvents = 0
    /// The share of due events that were received, 0...1. It is a lower bound if reports were lost. `nil` if no event
    /// was due.
    public internal(set) var share: Double?
    /// The measured interval, in microseconds; `nil` with fewer than 30 gaps.
    public internal(set) var intervalMicroseconds: Int?
    public internal(set) var longestSilenceMicroseconds = 0
    /// The longest silence that the planner's model permits, in microseconds; `nil` if no event was due.
    public internal(set) var silenceLimitMicroseconds: Int?
    /// The sender; `nil` if nothing was received, and for an address that changes.
    public internal(set) var sender: Sender?
    /// Received bytes that differ from the expected bytes; empty if there are none.
    public internal(set) var wrongOctets: [UInt8] = []
    /// The mean level in dBm; `nil` if no report had a level.
    public internal(set) var meanLevel: Double?
    /// The standard deviation of the level in dB; `nil` with fewer than two levels.
    public internal(set) var levelDeviation: Double?
    /// The last telemetry of the advertisement.
    public internal(set) var telemetry: EddystoneTLM?
    /// The last charge of the battery in a BTHome packet, in percent.
    public internal(set) var batteryPercent: Int?

    init(beacon: String, group: [String] = [], expected: ExpectedAdvertisement) {
        self.beacon = beacon
        self.group = group
        self.expected = expected
    }

    mutating func add(_ verdict: AuditVerdict, _ reason: String) {
        guard !verdicts.contains(verdict) else { return }
        verdicts.append(verdict)
        reasons.append(reason)
    }
}

/// The result of an audit.
public struct AuditReport: Sendable {
    /// The advertisements in the order of the files.
    public let advertisements: [AdvertisementAudit]
    public let warnings: [AuditWarning]
    public let receivers: [Auditor.Receiver]
    /// The time in which at least one receiver listened, in microseconds.
    public let listenedMicroseconds: Int
    /// True if the receiver was carried past the beacons, so that shares and silences mean nothing.
    public let isWalk: Bool

    /// True if all verdicts are ok, and at least one advertisement was judged. If no advertisement can be judged, for
    /// example because keys are missing, this is true as well.
    public var isGood: Bool {
        advertisements.allSatisfy { $0.verdicts.allSatisfy { $0 == .ok } }
            && (judgedCount > 0 || !advertisements.contains { $0.expected.isJudgeable })
    }
    /// The number of advertisements with a verdict.
    var judgedCount: Int { advertisements.count { !$0.verdicts.isEmpty } }
    /// True if reports were lost, so that shares are lower bounds. Events that were not received may still have been
    /// sent.
    public var isLowerBound: Bool { receivers.contains { $0.lost > 0 } }
    /// Returns the number of advertisements with this verdict.
    public func count(_ verdict: AuditVerdict) -> Int { advertisements.count { $0.verdicts.contains(verdict) } }
}

/// The place of the receivers. Beacons on other floors need not be received.
public struct AuditPlace: Hashable, Sendable {
    /// The name of the site; `nil` for any site.
    public var site: String?
    public var floor: String?

    /// Creates the place of a floor in a site, with the names of the fleet's groups.
    public init(site: String?, floor: String?) {
        self.site = site
        self.floor = floor
    }

    /// Returns whether beacons of the group must be received.
    public func contains(_ group: [String]) -> Bool {
        if let site, let siteOfGroup = group.first, siteOfGroup != site { return false }
        if let floor, group.count > 1, group[1] != floor { return false }
        return true
    }
}

extension AuditReport {
    /// The report as text, at most 80 columns wide: a table, the reasons, the warnings, and the summary.
    public var text: String { isWalk ? walkText : fullText }

    private var fullText: String {
        var table = Table(
            ["beacon", "sends", "heard", "%", "ms", "silent s", "dBm", "verdict"],
            alignment: [.left, .left, .right, .right, .right, .right, .right, .left])
        for audit in advertisements { table.add(audit.cells) }
        var lines = [table.text]
        for audit in advertisements {
            for (verdict, reason) in zip(audit.verdicts, audit.reasons) {
                lines.append("\(audit.name): \(verdict.rawValue): \(reason)\n")
            }
        }
        if advertisements.contains(where: { !$0.reasons.isEmpty }) { lines.insert("\n", at: 1) }
        if !warnings.isEmpty { lines.append("\n") }
        lines += warnings.map { "warning: \($0.name): \($0.sentence)\n" }
        return lines.joined() + "\n" + summary + "\n"
    }

    /// The largest number of missing beacons that are listed in a single line. More missing beacons are listed in a
    /// line for each group.
    private static let silentLineLimit = 10

    /// The report of a walk: the received advertisements with their reasons, the worst first, and then the names of the
    /// advertisements that were not received.
    private var walkText: String {
        var table = Table(
            ["beacon", "sends", "received", "ms", "dBm", "verdict"],
            alignment: [.left, .left, .right, .right, .right, .left])
        let heard = advertisements.filter { $0.verdicts != [.silent] }
        let ranked = heard.enumerated().sorted { left, right in
            (right.element.walkSeverity, left.offset) < (left.element.walkSeverity, right.offset)
        }.map(\.element)
        for audit in ranked { table.add(audit.walkCells) }
        var lines = ranked.isEmpty ? [] : [table.text]
        let reasons = ranked.flatMap { audit in
            zip(audit.verdicts, audit.reasons).map { "\(audit.name): \($0.rawValue): \($1)\n" }
        }
        if !reasons.isEmpty { lines += ["\n"] + reasons }
        let missing = advertisements.filter { $0.verdicts == [.silent] }
        // If none of a beacon's advertisements was received, the beacon is listed once, without their types.
        var silent: [(name: String, group: String)] = []
        for audit in missing {
            let isWholeBeacon = !heard.contains { $0.beacon == audit.beacon }
            let name = isWholeBeacon ? TerminalText.line(audit.beacon) : audit.name
            if silent.last?.name != name { silent.append((name, audit.group.joined(separator: "/"))) }
        }
        if !silent.isEmpty { lines.append((lines.isEmpty ? "" : "\n") + Self.silentText(silent)) }
        if !warnings.isEmpty { lines.append("\n") }
        lines += warnings.map { "warning: \($0.name): \($0.sentence)\n" }
        return lines.joined() + "\n" + summary + "\n"
    }

    /// The beacons that were not received: one line, or a line for each group.
    private static func silentText(_ silent: [(name: String, group: String)]) -> String {
        func list(_ names: [String]) -> String { "(\(names.count)): \(names.joined(separator: ", "))\n" }
        guard silent.count > silentLineLimit, silent.contains(where: { !$0.group.isEmpty }) else {
            return "not received " + list(silent.map(\.name))
        }
        var order: [String] = []
        var namesOfGroups: [String: [String]] = [:]
        for (name, group) in silent {
            if namesOfGroups[group] == nil { order.append(group) }
            namesOfGroups[group, default: []].append(name)
        }
        let groupLines = order.map { group in
            "  \(group.isEmpty ? "without a group" : TerminalText.line(group)) " + list(namesOfGroups[group] ?? [])
        }
        return "not received (\(silent.count)):\n" + groupLines.joined()
    }

    /// The result in one line of text.
    public var summary: String {
        let judged = judgedCount
        let faulty = advertisements.count { !$0.verdicts.allSatisfy { $0 == .ok } }
        let seconds = NumberFormat.rounded(Double(listenedMicroseconds) / 1_000_000, 1)
        let head =
            judged == 0
            ? "Nothing could be judged"
            : faulty == 0
                ? judged == 1
                    ? "The advertisement is as it should be" : "All \(judged) advertisements are as they should be"
                : "\(faulty) of \(judged) advertisements are not as they should be"
        let lost = receivers.reduce(0) { $0 + $1.lost }
        return head + ", after \(seconds) s of listening."
            + (lost == 0
                ? ""
                : isWalk
                    ? " \(lost) reports were lost before they were read."
                    : " \(lost) reports were lost before they were read: shares are lower bounds.")
    }

    /// The report as one JSON object.
    public var json: JSONValue {
        .record([
            ("good", .boolean(isGood)), ("walk", .boolean(isWalk)), ("listenedS", .seconds(listenedMicroseconds)),
            ("lowerBound", .boolean(isLowerBound)),
            (
                "receivers",
                .array(
                    receivers.map { receiver in
                        .record([
                            ("receiver", .string(receiver.name)),
                            ("listenedS", .seconds(receiver.listened.microseconds)),
                            ("reports", .integer(receiver.reports)), ("lost", .integer(receiver.lost)),
                            ("truncated", .integer(receiver.truncated)),
                        ])
                    })
            ), ("advertisements", .array(advertisements.map(\.json))),
            ("warnings", .array(warnings.map(\.json))),
        ])
    }
}

extension AdvertisementAudit {
    /// The name of the advertisement in sentences.
    var name: String { TerminalText.line(beacon) + " " + expected.type }

    fileprivate var cells: [String] {
        let type = expected.type.hasPrefix("eddystone-") ? String(expected.type.dropFirst(10)) : expected.type
        return [
            TerminalText.line(TerminalText.shortened(beacon, to: 14)), type, "\(heard)/\(dueEvents)",
            share.map { "\(Int(($0 * 100).rounded()))" } ?? "-",
            intervalMicroseconds.map { NumberFormat.rounded(Double($0) / 1000, 1) } ?? "-",
            heard > 0 ? NumberFormat.rounded(Double(longestSilenceMicroseconds) / 1_000_000, 1) : "-",
            meanLevel.map { "\(Int($0.rounded()))" } ?? "-", verdicts.first?.rawValue ?? "unjudged",
        ]
    }

    /// The severity of the worst verdict in a walk: larger is worse; 0 for ok.
    fileprivate var walkSeverity: Int {
        let order: [AuditVerdict] = [
            .lowBattery, .telemetry, .wrongInterval, .wrongAddress, .wrongPHY, .wrongOctets, .cloned, .impostor,
            .silent,
        ]
        return verdicts.compactMap { order.firstIndex(of: $0).map { $0 + 1 } }.max() ?? 0
    }

    fileprivate var walkCells: [String] {
        let cells = cells
        return [cells[0], cells[1], "\(heard)", cells[4], cells[6], cells[7]]
    }

    /// The advertisement as in ``AuditReport/json``. The key `owed` has the number of due events.
    public var json: JSONValue {
        .record([
            ("beacon", .string(beacon)), ("type", .string(expected.type)),
            ("identity", expected.identity.map { .string($0.description) } ?? .null),
            ("verdicts", .array(verdicts.map { .string($0.rawValue) })),
            ("reasons", .array(reasons.map(JSONValue.string))), ("heard", .integer(heard)),
            ("owed", .integer(dueEvents)), ("share", .rounded(share)),
            ("intervalMs", .thousandths(intervalMicroseconds)),
            ("expectedIntervalMs", .thousandths(expected.intervalMicroseconds)),
            ("longestSilenceS", heard > 0 ? .seconds(longestSilenceMicroseconds) : .null),
            ("silenceLimitS", .seconds(silenceLimitMicroseconds)),
            ("address", .optional(sender) { .string($0.address.description) }),
            ("expectedAddress", expected.addressText.map(JSONValue.string) ?? .null),
            ("expectedOctets", .optional(expected.octets) { .string($0.text) }),
            ("wrongOctets", wrongOctets.isEmpty ? .null : .hex(wrongOctets)),
            ("rssiDbm", .record([("mean", .rounded(meanLevel)), ("sd", .rounded(levelDeviation))])),
            (
                "telemetry",
                .optional(telemetry) { frame in
                    .record([
                        ("batteryMv", .optional(frame.batteryMillivolts) { .integer(Int($0)) }),
                        ("temperatureC", .optional(frame.temperature) { .decimal("\($0.celsius)") }),
                        ("advertisements", .integer(Int(frame.advertisements))),
                        ("uptimeS", .thousandths(Int(frame.uptimeDeciseconds) * 100)),
                    ])
                }
            ), ("batteryPercent", .optional(batteryPercent) { .integer($0) }),
        ])
    }
}

extension ExpectedAdvertisement {
    fileprivate var identity: BeaconIdentity? { if case .frame(let identity) = content { identity } else { nil } }

    fileprivate var addressText: String? {
        if case .exactly(let sender) = address { sender.address.description } else { nil }
    }
}

extension AuditWarning {
    /// The warning as one sentence.
    var sentence: String {
        switch self {
        case .stranger(let identity, let sender, let reports):
            "\(identity)\(sender.map { " from \($0.address)" } ?? "") is not one of the audited beacons: \(reports) reports"
        case .notInRange(let beacon, nil): "\(TerminalText.line(beacon)) is out of range of all receivers"
        case .notInRange(let beacon, let chance?):
            "\(TerminalText.line(beacon)) was not received, but may be out of range: according to the plan, a receiver is in "
                + "range with a probability of only \(NumberFormat.percent(chance))"
        case .unjudged(let beacon, let type):
            "\(TerminalText.line(beacon)) \(type) cannot be judged: its key, epoch or bytes are unknown"
        case .truncated(let receiver, let count):
            "\(TerminalText.line(receiver)) received \(NumberFormat.count(count, "advertisement")) whose end is missing"
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .stranger(let identity, let sender, let reports):
            .record([
                ("warning", .string(name)), ("identity", .string(identity.description)),
                ("address", .optional(sender) { .string($0.address.description) }), ("reports", .integer(reports)),
            ])
        case .notInRange(let beacon, let chance):
            .record([
                ("warning", .string(name)), ("beacon", .string(beacon)), ("chance", .optional(chance) { .rounded($0) }),
            ])
        case .unjudged(let beacon, let type):
            .record([("warning", .string(name)), ("beacon", .string(beacon)), ("type", .string(type))])
        case .truncated(let receiver, let count):
            .record([("warning", .string(name)), ("receiver", .string(receiver)), ("advertisements", .integer(count))])
        }
    }
}

extension AuditReport {
    /// Returns the report as a web page. All pages of the programs are made by `Planner/PlanPage`.
    ///
    /// - Parameters:
    ///   - title: The title of the page.
    ///   - command: The command line that made the page.
    public func page(title: String, command: String) -> PlanPage {
        var content = PlanPageContent(title: title, answer: summary, command: command)
        content.maker = "Pharos, the audit"
        content.figures = [
            .init("listened", NumberFormat.rounded(Double(listenedMicroseconds) / 1_000_000, 1), unit: "s")
        ]
        content.figures += receivers.map {
            .init(
                "reports", "\($0.reports)", remark: "by \($0.name)" + ($0.lost > 0 ? ", \($0.lost) more were lost" : "")
            )
        }
        content.figures += AuditVerdict.allCases.compactMap { verdict in
            let count = count(verdict)
            return count > 0 ? .init(verdict.rawValue, "\(count)", unit: "advertisements") : nil
        }
        content.tables += tables
        if !warnings.isEmpty {
            var table = PlanPageContent.DataTable(
                caption: "Warnings", header: ["warning", "meaning"], rows: warnings.map { [$0.name, $0.sentence] })
            table.marks = warnings.map { _ in .warning }
            content.tables.append(table)
        }
        content.notes = [
            "While a receiver listens, one event is due every interval plus 5 ms, the mean of the random delay.",
            "A silence is too long if the planner's model of consecutive losses expects it in fewer than one of 1000 "
                + "audits.",
            "A copied frame has the same bytes as the original. Clones are found by two addresses at once, by a level "
                + "that jumps, or by counters that go back.",
        ]
        return PlanPage(content)
    }

    /// Two tables: the advertisements with a problem, the worst first, with the reasons; and the other advertisements.
    private var tables: [PlanPageContent.DataTable] {
        let faulty = advertisements.filter { !$0.reasons.isEmpty }.sorted {
            ($0.tableOrder, $0.share ?? 0, $0.name) < ($1.tableOrder, $1.share ?? 0, $1.name)
        }
        let others = advertisements.filter(\.reasons.isEmpty).sorted {
            ($0.share ?? 0, $0.name) < ($1.share ?? 0, $1.name)
        }
        var tables: [PlanPageContent.DataTable] = []
        if !faulty.isEmpty {
            var table = PlanPageContent.DataTable(
                caption: "Problems, the worst first", header: Self.columns + ["reason"],
                rows: faulty.map { $0.row + [$0.reasons.joined(separator: "; ")] })
            table.marks = faulty.map { _ in .bad }
            tables.append(table)
        }
        if !others.isEmpty {
            var table = PlanPageContent.DataTable(
                caption:
                    "\(faulty.isEmpty ? "All" : "The other") \(others.count) advertisements, the least received first",
                header: Self.columns, rows: others.map(\.row))
            table.marks = others.map { $0.verdicts.isEmpty ? nil : .good }
            table.isFolded = others.count > Self.shownRows || !faulty.isEmpty
            tables.append(table)
        }
        return tables
    }

    /// The largest number of rows without problems that the page shows unfolded.
    private static let shownRows = 12

    private static let columns = [
        "advertisement", "verdict", "received", "due", "interval (ms)", "configured (ms)", "level (dBm)",
    ]
}

extension AdvertisementAudit {
    /// The order of the advertisement in the table of problems, by its worst verdict: 0 for the worst of all verdicts.
    fileprivate var tableOrder: Int {
        let order: [AuditVerdict] = [
            .impostor, .cloned, .wrongOctets, .silent, .wrongAddress, .wrongPHY, .wrongInterval, .longSilence, .weak,
            .obstructed, .telemetry, .lowBattery,
        ]
        return verdicts.compactMap { order.firstIndex(of: $0) }.min() ?? order.count
    }

    /// The cells of the page.
    fileprivate var row: [String] {
        [
            name, verdicts.isEmpty ? "unjudged" : verdicts.map(\.rawValue).joined(separator: ", "), "\(heard)",
            "\(dueEvents)",
            intervalMicroseconds.map { NumberFormat.rounded(Double($0) / 1000, 1) } ?? NumberFormat.none,
            NumberFormat.rounded(Double(expected.intervalMicroseconds) / 1000, 1),
            meanLevel.map { NumberFormat.rounded($0, 0) } ?? NumberFormat.none,
        ]
    }
}
