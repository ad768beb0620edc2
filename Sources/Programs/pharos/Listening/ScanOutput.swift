internal import ArgumentParser
internal import BeaconFrames
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Listener
internal import Sightings

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
    private let json: Bool
    private let source: SightingSource
    private let values: SightingJSON
    private let order: ScanOrder
    private let rule: DistanceEstimate.Rule
    private let filter: ScanFilter
    private let regions: [String]
    private var lines: [UInt8] = []
    private var row = JSONRow()
    private var drawn = 0
    private var nextRepaint = HeardInstant(nanoseconds: 0)

    init(
        _ source: SightingSource, form: ScanForm, json: Bool, order: ScanOrder, rule: DistanceEstimate.Rule,
        filter: ScanFilter, regions: [String]
    ) {
        self.source = source
        values = SightingJSON(source, rule)
        self.form = form
        self.json = json
        self.order = order
        self.rule = rule
        self.filter = filter
        self.regions = regions
    }

    /// Four times a second at most.
    private static let repaintMicroseconds = 250_000

    /// Whether a table is drawn anew for a person.
    private var isLive: Bool { form == .table && !json && Terminal.outputIsTerminal }

    private func add(_ line: String) { add(line.utf8) }

    private func add(_ line: some Collection<UInt8>) {
        lines += line
        if lines.count >= 1 << 16 { flush() }
    }

    private func addRow() {
        add(row.octets)
        add("\n")
        row.removeAll()
    }

    /// Hands out what was printed since the last time.
    func flush() {
        guard !lines.isEmpty else { return }
        Terminal.write(lines)
        lines.removeAll(keepingCapacity: true)
    }

    // MARK: Reports

    /// - Parameter place: Of its beacon in the table.
    func show(_ report: HeardReport, _ data: [UInt8], _ place: Int?, _ table: SightingTable) {
        let frames = Self.frames(data)
        // A track is a kilobyte: it is not copied for each report.
        let known = place.flatMap { table.tracks[$0].known }
        let last = place.flatMap { table.tracks[$0].identity }
        let address = report.sighting.sender.map { BeaconIdentity.address($0.address) }
        let identity =
            known != nil ? last : frames.lazy.compactMap(BeaconIdentity.init).first ?? last ?? address
        guard filter.takes(identity, known?.name), place != nil || table.keepsStrangers else { return }
        values.write(report, data, frames, identity, beacon: known?.name, into: &row)
        addRow()
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

    func show(_ event: Hearing.Event, _ table: SightingTable) {
        switch event {
        case .round(let from, let to):
            guard json else { return add(text(table, to) + "\n") }
            values.write(round: from, to, table, of: rows(table, heardInRound: true), into: &row)
            addRow()
        case .region(let event): show(event)
        }
    }

    private func show(_ event: RegionMonitor.Event) {
        let name = regions[event.region]
        guard json else {
            let what = event.isEnter ? "enter" : "exit "
            return add("\(source.clock.text(event.instant) ?? "-")  \(what)  \(TerminalText.line(name))\n")
        }
        add(values.region(event, name: name).line + "\n")
    }

    /// How listening is, where that has changed.
    func show(_ state: ListeningState, at instant: HeardInstant) {
        if json { add(values.state(state, at: instant).line + "\n") }
    }

    /// The beacons to show: known ones in their order, then strangers by their identity, or as the order says.
    private func rows(_ table: SightingTable, heardInRound: Bool) -> [Int] {
        let all = heardInRound ? table.heardInRound : table.tracks.indices.filter { table.tracks[$0].isHeard }
        let shown = all.filter { filter.takes(table.tracks[$0].identity, table.tracks[$0].known?.name) }
        return shown.map { (key(of: $0, table), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// What a beacon's row is ordered by.
    private struct Key: Comparable {
        /// The largest comes first.
        var rank: UInt64 = 0
        /// Known ones come first, in their order.
        var known = Int.max
        /// Of a stranger.
        var identity = ""
        var place: Int

        static func < (left: Key, right: Key) -> Bool {
            if left.rank != right.rank { return left.rank > right.rank }
            if left.known != right.known { return left.known < right.known }
            return (left.identity, left.place) < (right.identity, right.place)
        }
    }

    private func key(of place: Int, _ table: SightingTable) -> Key {
        var key = Key(place: place)
        switch order {
        case .rssi: key.rank = UInt64(Int(table.tracks[place].lastLevel ?? .min) + 128)
        case .last: key.rank = table.tracks[place].lastHeard?.nanoseconds ?? 0
        case .rate: key.rank = UInt64(table.tracks[place].reports)
        case .name: break
        }
        if place < table.knownCount {
            key.known = place
        } else {
            key.identity = table.tracks[place].identity?.description ?? ""
        }
        return key
    }

    // MARK: Table

    /// Draws the table anew where it is time, and a terminal is there to take it.
    func repaint(_ table: SightingTable, at now: HeardInstant) {
        guard isLive, now >= nextRepaint, Terminal.takesOutput() else { return }
        nextRepaint = now.advanced(byMicroseconds: Self.repaintMicroseconds)
        let width = Terminal.columns
        let text = text(table, now, width: width, limit: 40) + summary(isLast: false).prefix(width)
        let lines = text.split(separator: "\n")
        // Up to the first line; each is cleared to its end, and what is left of an older table below them too.
        let up = drawn == 0 ? "" : "\u{1B}[\(drawn)A"
        Terminal.write(up + lines.map { "\r\u{1B}[K" + $0 + "\n" }.joined() + "\u{1B}[J")
        drawn = lines.count
    }

    /// The last table, where none is drawn meanwhile.
    func finish(_ table: SightingTable, at now: HeardInstant) {
        if form == .table, !isLive { add(text(table, now)) }
        if !json, form != .regions { add(summary(isLast: true)) }
        flush()
    }

    /// How listening is, and what was lost; empty for a recording.
    private func summary(isLast: Bool) -> String {
        guard let adapter = source.adapter else { return "" }
        let counts = source.counts
        var parts = (isLast ? [] : ["\(source.state)"]) + ["\(counts.reports) reports"]
        if let lost = counts.lostInKernel { parts.append("\(lost) lost in the kernel") }
        if counts.malformedEvents > 0 { parts.append("\(counts.malformedEvents) malformed events") }
        if counts.incomplete > 0 { parts.append("\(counts.incomplete) without their end") }
        if counts.restarts > 0 { parts.append("turned on again \(counts.restarts) times") }
        if counts.deafMicroseconds >= 100_000 {
            parts.append("deaf for \(DecimalText.thousandths(counts.deafMicroseconds / 100_000 * 100)) s")
        }
        return "\(adapter): \(parts.joined(separator: ", "))\n"
    }

    /// Without its middle, where it is too long: identities differ at their ends.
    private static func narrowed(_ text: String, to width: Int) -> String {
        text.count <= width ? text : text.prefix(width / 2) + "…" + text.suffix((width - 1) / 2)
    }

    private func text(
        _ table: SightingTable, _ now: HeardInstant, width: Int = .max, limit: Int = .max
    ) -> String {
        let rows = rows(table, heardInRound: form == .rounds)
        guard !rows.isEmpty else {
            return source.counts.reports == 0 ? "nothing heard yet\n" : "nothing of what is to be shown was heard yet\n"
        }
        var columns = Table(ScanRow.header, alignment: ScanRow.alignment)
        for place in rows.prefix(limit) {
            var cells = ScanRow(table.tracks[place], now, rule, isPresenceOnly: source.isPresenceOnly).cells
            // The levels must fit beside it.
            cells[0] = Self.narrowed(cells[0], to: max(16, width / 3))
            columns.add(cells)
        }
        var text = columns.text.split(separator: "\n").map { String($0.prefix(width)) + "\n" }.joined()
        if rows.count > limit { text += "and \(rows.count - limit) more\n" }
        if !table.keepsStrangers, table.counts.strangers > 0 {
            text += "\(table.counts.strangers) reports of others, which --strangers shows\n"
        }
        return text
    }
}
