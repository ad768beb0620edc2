internal import ArgumentParser
internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import HCI
internal import LinuxHost
internal import Listener
internal import Sightings
internal import TextEscaping

/// What a scan prints.
enum ScanForm {
    /// One line a report.
    case reports
    /// One object, or one table, a round.
    case rounds
    /// A line where a region is entered or left.
    case regions
    /// A table that is drawn anew, or one at the end.
    case table
}

/// By what the rows of a table are ordered.
enum ScanOrder: String, ExpressibleByArgument, CaseIterable {
    case name, rssi, last, rate
}

/// Whose rows and lines are shown: of nothing named, all.
struct ScanFilter {
    var kinds: Set<String> = []
    var patterns: [RegionPattern] = []
    var names: Set<String> = []

    func takes(_ identity: BeaconIdentity?, _ name: String?) -> Bool {
        if kinds.isEmpty && patterns.isEmpty && names.isEmpty { return true }
        if let name, names.contains(name) { return true }
        guard let identity else { return false }
        return kinds.contains(identity.kind) || patterns.contains { $0.contains(identity) }
    }
}

/// Prints what is heard: for people, or one JSON object a line.
final class ScanOutput {
    let form: ScanForm
    /// What the reports come from; `nil` for a recording.
    var adapter: String?
    private let json: Bool
    private let order: ScanOrder
    private let rule: DistanceEstimate.Rule
    private let filter: ScanFilter
    private let regions: [String]
    private var lines = ""
    private var drawn = 0
    private var nextRepaint = HeardInstant(nanoseconds: 0)

    init(
        form: ScanForm, json: Bool, order: ScanOrder, rule: DistanceEstimate.Rule, filter: ScanFilter,
        regions: [String]
    ) {
        self.form = form
        self.json = json
        self.order = order
        self.rule = rule
        self.filter = filter
        self.regions = regions
    }

    /// Four times a second at most.
    let repaintMicroseconds = 250_000

    private var isLive: Bool { form == .table && !json && Terminal.outputIsTerminal }

    private func add(_ line: String) {
        lines += line
        if lines.utf8.count >= 1 << 16 { flush() }
    }

    /// Hands out what was printed since the last time.
    func flush() {
        guard !lines.isEmpty else { return }
        Terminal.write(lines)
        lines = ""
    }

    // MARK: Reports

    func show(_ report: ScanReport, _ table: SightingTable, at instant: HeardInstant) {
        let frames = Self.frames(report.data)
        let track = report.place.map { table.tracks[$0] }
        let address: BeaconIdentity? =
            report.element.addressType == .anonymous ? nil : .address(report.address)
        let identity =
            track?.known != nil
            ? track?.identity : frames.lazy.compactMap(BeaconIdentity.init).first ?? track?.identity ?? address
        guard filter.takes(identity, track?.known?.name), report.place != nil || table.keepsStrangers else { return }
        let element = report.element
        add(
            JSONValue.record([
                ("event", "report"), ("at", ScanTime.json(instant)),
                ("bootNs", .integer(instant.nanoseconds)), ("adapter", .optional(adapter, JSONValue.string)),
                ("address", .optional(address) { _ in .string(report.address.description) }),
                ("addressType", .string(element.addressType.name ?? "reserved")),
                ("pdu", .string(element.type.description)), ("phy", .string(element.primaryPHY.name ?? "reserved")),
                ("rssiDbm", .optional(element.rssi) { .integer($0) }), ("data", .hex(report.data)),
                ("frames", .array(frames.map { PayloadJSON.frame($0, nil) })),
                ("identity", .optional(identity) { .string($0.description) }),
                ("beacon", .optional(track?.known) { .string($0.name) }),
            ]).line + "\n")
    }

    private static func frames(_ data: [UInt8]) -> [BeaconFrame] {
        var cursor = ADStructureCursor(data.indices)
        var frames: [BeaconFrame] = []
        while let element = cursor.next(in: data.span) {
            if let frame = BeaconFrame(element, in: data.span) { frames.append(frame) }
        }
        return frames
    }

    // MARK: Rounds and regions

    func show(_ event: Hearing.Event, _ table: SightingTable, _ reader: ReportReader) {
        switch event {
        case .round(let from, let to): json ? showRound(from, to, table, reader) : add(text(table, to) + "\n")
        case .region(let event): show(event)
        }
    }

    private func show(_ event: RegionMonitor.Event) {
        let name = regions[event.region]
        guard json else {
            let what = event.isEnter ? "enter" : "exit "
            return add("\(ScanTime.text(event.instant) ?? "-")  \(what)  \(TerminalText.line(name))\n")
        }
        add(
            JSONValue.record([
                ("event", .string(event.isEnter ? "enter" : "exit")), ("at", ScanTime.json(event.instant)),
                ("region", .string(name)),
                ("cause", event.isEnter ? .null : "silence"), ("lastHeard", ScanTime.json(event.lastHeard)),
            ]).line + "\n")
    }

    /// How listening is, where that has changed.
    func show(_ state: ScanKeeper.State, at instant: HeardInstant) {
        guard json else { return }
        add(
            JSONValue.record([
                ("event", "state"), ("at", ScanTime.json(instant)), ("state", .string(state.rawValue)),
            ]).line + "\n")
    }

    private func showRound(_ from: HeardInstant, _ to: HeardInstant, _ table: SightingTable, _ reader: ReportReader) {
        let beacons = rows(table, heardInRound: true).map { ScanRow(table.tracks[$0], to, rule).json }
        add(
            JSONValue.record([
                ("event", "beacons"), ("at", ScanTime.json(to)),
                ("windowS", .number(JSONNumber(thousandths: (to.microseconds(since: from) + 500) / 1000))),
                ("beacons", .array(beacons)),
                (
                    "strangers",
                    .record([
                        ("addresses", .integer(table.strangerSendersInRound)),
                        ("reports", .integer(table.strangersInRound)),
                    ])
                ),
                (
                    "lost",
                    .record([
                        ("kernel", .null), ("flood", .integer(table.counts.evicted)),
                        ("malformed", .integer(reader.counts.malformedEvents + table.counts.malformed)),
                        ("incomplete", .integer(reader.incomplete)),
                    ])
                ),
            ]).line + "\n")
    }

    /// The beacons to show: known ones in their order, then strangers by their identity, or as the order says.
    private func rows(_ table: SightingTable, heardInRound: Bool) -> [Int] {
        let all = heardInRound ? table.heardInRound : table.tracks.indices.filter { table.tracks[$0].isHeard }
        let shown = all.filter { filter.takes(table.tracks[$0].identity, table.tracks[$0].known?.name) }
        let texts = Dictionary(
            uniqueKeysWithValues: shown.map { ($0, table.tracks[$0].identity?.description ?? "") })
        return shown.sorted { left, right in
            let (first, second) = (table.tracks[left], table.tracks[right])
            switch order {
            case .rssi where first.lastLevel != second.lastLevel:
                return (first.lastLevel ?? .min) > (second.lastLevel ?? .min)
            case .last where first.lastHeard != second.lastHeard:
                return first.lastHeard.map { $0.nanoseconds } ?? 0 > second.lastHeard.map { $0.nanoseconds } ?? 0
            case .rate where first.reports != second.reports: return first.reports > second.reports
            default: break
            }
            if left < table.knownCount || right < table.knownCount { return left < right }
            return (texts[left] ?? "", left) < (texts[right] ?? "", right)
        }
    }

    // MARK: Table

    /// Draws the table anew where it is time, and a terminal is there to take it.
    func repaint(_ table: SightingTable, at now: HeardInstant) {
        guard isLive, now >= nextRepaint, Terminal.takesOutput() else { return }
        nextRepaint = now.advanced(byMicroseconds: repaintMicroseconds)
        let lines = text(table, now, width: Terminal.columns, limit: 40).split(separator: "\n")
        // Up to the first line; each is cleared to its end, and what is left of an older table below them too.
        let up = drawn == 0 ? "" : "\u{1B}[\(drawn)A"
        Terminal.write(up + lines.map { "\r\u{1B}[K" + $0 + "\n" }.joined() + "\u{1B}[J")
        drawn = lines.count
    }

    /// The last table, where none is drawn meanwhile.
    func finish(_ table: SightingTable, at now: HeardInstant) {
        if form == .table, !isLive { add(text(table, now)) }
        flush()
    }

    private func text(
        _ table: SightingTable, _ now: HeardInstant, width: Int = .max, limit: Int = .max
    ) -> String {
        let rows = rows(table, heardInRound: form == .rounds)
        guard !rows.isEmpty else { return "nothing heard yet\n" }
        var columns = Table(ScanRow.header, alignment: ScanRow.alignment)
        for place in rows.prefix(limit) { columns.add(ScanRow(table.tracks[place], now, rule).cells) }
        var text = columns.text.split(separator: "\n").map { String($0.prefix(width)) + "\n" }.joined()
        if rows.count > limit { text += "and \(rows.count - limit) more\n" }
        if !table.keepsStrangers, table.counts.strangers > 0 {
            text += "\(table.counts.strangers) reports of others, which --strangers shows\n"
        }
        return text
    }
}

/// The wall clock's time of what was heard.
enum ScanTime {
    /// RFC 3339 with microseconds; `nil` where a recording does not tell.
    static func text(_ instant: HeardInstant) -> String? {
        ScanWallClock.shared.unixMicroseconds(at: instant).map { time in
            let (seconds, rest) = Int(time).quotientAndRemainder(dividingBy: 1_000_000)
            let whole = RFC3339Time(secondsSince1970: rest < 0 ? seconds - 1 : seconds).description
            return whole.dropLast() + "." + String(1_000_000 + (rest < 0 ? rest + 1_000_000 : rest)).dropFirst() + "Z"
        }
    }

    static func json(_ instant: HeardInstant?) -> JSONValue { .optional(instant.flatMap(text), JSONValue.string) }
}
