internal import ArgumentParser
internal import BeaconFrames
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Listener
internal import Sightings

/// The form of the output of a scan.
enum ScanForm {
    /// One line for each report.
    case reports
    /// One JSON object or table for each round.
    case rounds
    /// One line each time that a region is entered or left.
    case regions
    /// A table that is updated on a terminal, or printed once at the end of a recording.
    case table
    /// The table of all beacons once per second, for pipes and plain terminals.
    case tables
}

/// The order of the rows of a table.
enum ScanOrder: String, ExpressibleByArgument, CaseIterable {
    case name, rssi, last, rate
}

/// The beacons to show; all beacons if no condition is given.
struct ScanFilter {
    var kinds: Set<String> = []
    var patterns: [RegionPattern] = []
    var names: Set<String> = []

    var isEmpty: Bool { kinds.isEmpty && patterns.isEmpty && names.isEmpty }

    func includes(_ identity: BeaconIdentity?, _ name: String?) -> Bool {
        if isEmpty { return true }
        if let name, names.contains(name) { return true }
        guard let identity else { return false }
        return kinds.contains(identity.kind) || patterns.contains { $0.contains(identity) }
    }
}

/// Prints sightings as text, or as one JSON object per line.
final class ScanOutput {
    let form: ScanForm
    private let json: Bool
    private let source: SightingSource
    private let values: SightingJSON
    private let order: ScanOrder
    private let rule: DistanceEstimate.Rule
    private let filter: ScanFilter
    private let regions: [String]
    /// True if the key q ends the scan.
    var canQuit = false
    /// The JSON lines that have not been written yet.
    private var output = LineOutput(isData: true)
    private var row = JSONWriter()
    private var block = LiveBlock()
    private var hasShownTable = false
    /// The earliest time of the next update of the table.
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

    /// The shortest time between two updates of the table, in microseconds.
    private static let repaintMicroseconds = 250_000

    /// True if the table is updated on a terminal.
    private var isLive: Bool { form == .table && !json && Terminal.canRedraw }

    /// The largest width of lines that are printed once, in columns: the width of the terminal, unlimited in a file or
    /// a pipe.
    private var plainWidth: Int { Terminal.outputIsTerminal ? Terminal.columns : .max }

    /// Prints text for users, after the JSON lines that have not been written yet.
    private func addText(_ text: String) {
        flush()
        Terminal.show(text)
    }

    func flush() { output.flush() }

    // MARK: Reports

    /// - Parameter trackIndex: The index of the beacon's track in the table; `nil` if the table does not have the
    ///   beacon.
    func show(_ report: HeardReport, _ data: [UInt8], _ trackIndex: Int?, _ table: SightingTable) {
        let (frames, network) = Self.frames(data)
        // A device may have a track of its own and tracks of groups. Use the track whose name the user has selected,
        // otherwise the first track.
        let trackIndices = [trackIndex].compactMap(\.self) + table.groupsOfReport
        let trackIndex =
            trackIndices.first { table.tracks[$0].known.map { filter.names.contains($0.name) } ?? false }
            ?? trackIndices.first
        // A track is large, so it is not copied for each report.
        let known = trackIndex.flatMap { table.tracks[$0].known }
        let lastIdentity = trackIndex.flatMap { table.tracks[$0].identity }
        let address = report.sighting.sender.map { BeaconIdentity.address($0.address) }
        let identity =
            known != nil ? lastIdentity : frames.lazy.compactMap(BeaconIdentity.init).first ?? lastIdentity ?? address
        guard filter.includes(identity, known?.name), trackIndex != nil || table.keepsStrangers else { return }
        values.write(report, data, frames, identity, beacon: known?.name, network: network, into: &row)
        output.addLine(&row)
    }

    /// Returns the frames in the data. If there are none, also returns the network to which the sender belongs.
    private static func frames(_ data: [UInt8]) -> ([BeaconFrame], DeviceNetwork?) {
        var cursor = ADStructureCursor(data.indices)
        var frames: [BeaconFrame] = []
        var network: DeviceNetwork?
        while let element = cursor.next(in: data.span) {
            if let frame = BeaconFrame(element, in: data.span) {
                frames.append(frame)
            } else {
                network = network ?? DeviceNetwork(element, in: data.span)
            }
        }
        return (frames, frames.isEmpty ? network : nil)
    }

    // MARK: Rounds and regions

    func show(_ event: SightingProcessor.Event, _ table: SightingTable) {
        switch event {
        case .round(let from, let to):
            guard json else {
                hasShownTable = true
                return addText(text(table, to, width: plainWidth) + "\n")
            }
            values.write(round: from, to, table, of: shownTracks(of: table, heardInRound: true), into: &row)
            output.addLine(&row)
        case .region(let event): show(event)
        }
    }

    private func show(_ event: RegionMonitor.Event) {
        let name = regions[event.region]
        guard json else {
            let kind = event.kind == .exit ? "exit " : event.kind.rawValue
            return addText("\(source.clock.text(event.instant) ?? "-")  \(kind)  \(TerminalText.line(name))\n")
        }
        output.add(values.region(event, name: name).line + "\n")
    }

    /// Prints that the state of the receiver has changed.
    func show(_ state: ListeningState, at instant: HeardInstant) {
        if json { output.add(values.state(state, at: instant).line + "\n") }
    }

    /// Returns the indices of the tracks to show, in the chosen order. By default, known beacons come first, in the
    /// order of the files, then other beacons by identity.
    private func shownTracks(of table: SightingTable, heardInRound: Bool) -> [Int] {
        let heard = heardInRound ? table.heardInRound : table.tracks.indices.filter { table.tracks[$0].isHeard }
        let shown = heard.filter { filter.includes(table.tracks[$0].identity, table.tracks[$0].known?.name) }
        return shown.map { (key(of: $0, table), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// The sort key of a row.
    private struct Key: Comparable {
        /// The value by which the user has chosen to sort. The largest value comes first.
        var rank: UInt64 = 0
        /// The track index of a known beacon. For other beacons it is the default, which is larger, so that known
        /// beacons come first.
        var knownIndex = Int.max
        /// The identity of a beacon that is not known.
        var identity = ""
        var trackIndex: Int

        static func < (left: Key, right: Key) -> Bool {
            if left.rank != right.rank { return left.rank > right.rank }
            if left.knownIndex != right.knownIndex { return left.knownIndex < right.knownIndex }
            return (left.identity, left.trackIndex) < (right.identity, right.trackIndex)
        }
    }

    private func key(of trackIndex: Int, _ table: SightingTable) -> Key {
        var key = Key(trackIndex: trackIndex)
        switch order {
        case .rssi: key.rank = UInt64(Int(table.tracks[trackIndex].lastLevel ?? .min) + 128)
        case .last: key.rank = table.tracks[trackIndex].lastHeard?.nanoseconds ?? 0
        case .rate: key.rank = UInt64(table.tracks[trackIndex].reports)
        case .name: break
        }
        if trackIndex < table.knownCount {
            key.knownIndex = trackIndex
        } else {
            key.identity = table.tracks[trackIndex].identity?.description ?? ""
        }
        return key
    }

    // MARK: Table

    /// Updates the table if it is time, and if the terminal accepts output.
    func repaint(_ table: SightingTable, at now: HeardInstant) {
        guard isLive, now >= nextRepaint, Terminal.takesOutput() else { return }
        nextRepaint = now.advanced(byMicroseconds: Self.repaintMicroseconds)
        let width = Terminal.columns
        let footer = String(summary(isLast: false).prefix(width))
        let text = text(table, now, width: width, limit: Terminal.rows - 2) + footer
        block.draw(text.split(separator: "\n").map(String.init))
    }

    /// Prints a sentence on standard error. A table that is updated on the terminal is then drawn again below the
    /// sentence.
    func say(_ sentence: String, isWarning: Bool) {
        guard isWarning || !isLive else { return }
        Terminal.writeError("pharos: \(sentence)\n")
        if Terminal.errorIsTerminal { block = LiveBlock() }
    }

    /// Prints the summary. If the last table is not on the terminal yet, prints the table first.
    func finish(_ table: SightingTable, at now: HeardInstant) {
        if form == .table && !isLive || form == .tables && !hasShownTable {
            addText(text(table, now, width: plainWidth))
        }
        if !json, form != .regions { addText(summary(isLast: true)) }
        flush()
    }

    /// Returns the state of the receiver and the numbers of reports and losses; empty for a recording.
    private func summary(isLast: Bool) -> String {
        guard let adapter = source.adapter else { return "" }
        let counts = source.counts
        var parts = (isLast ? [] : ["\(source.state)"]) + [NumberFormat.count(counts.reports, "report")]
        if let lost = counts.lostInKernel { parts.append("\(lost) lost in the kernel") }
        if counts.malformedEvents > 0 { parts.append(NumberFormat.count(counts.malformedEvents, "malformed event")) }
        if counts.incomplete > 0 { parts.append("\(counts.incomplete) incomplete") }
        if counts.restarts > 0 { parts.append("scan turned on again \(NumberFormat.count(counts.restarts, "time"))") }
        if counts.deafMicroseconds >= 100_000 {
            parts.append("deaf for \(DecimalText.thousandths(counts.deafMicroseconds / 100_000 * 100)) s")
        }
        if !isLast, canQuit { parts.append("q quits") }
        return "\(adapter): \(parts.joined(separator: ", "))\n"
    }

    /// Returns the table, and the counts below it.
    ///
    /// - Parameters:
    ///   - width: The width of the terminal, in characters. If the whole table is wider, only the most important
    ///     columns are shown. If these are too wide as well, each beacon has two lines.
    ///   - limit: The largest number of lines.
    private func text(
        _ table: SightingTable, _ now: HeardInstant, width: Int, limit: Int = .max
    ) -> String {
        let trackIndices = shownTracks(of: table, heardInRound: form == .rounds)
        let linesBelow = linesBelow(table, now, width)
        guard !trackIndices.isEmpty || !linesBelow.isEmpty else {
            return source.counts.reports == 0
                ? "nothing received yet\n" : "none of the selected beacons was received yet\n"
        }
        // Reserve one line for the number of beacons that are left out.
        let rowLimit = max(3, limit - 1 - linesBelow.count)
        // A beacon with several frames has a row for each frame, all with the beacon's name.
        let rowCounts = trackIndices.compactMap { table.tracks[$0].known?.name }.reduce(into: [:]) {
            $0[$1, default: 0] += 1
        }
        let rows = trackIndices.prefix(rowLimit).map { trackIndex in
            let sharesName = table.tracks[trackIndex].known.map { rowCounts[$0.name, default: 0] > 1 } ?? false
            return ScanRow(
                table.tracks[trackIndex], now, rule, isPresenceOnly: source.isPresenceOnly, sharesName: sharesName)
        }
        var lines: [String] = []
        if rows.isEmpty, !table.keepsStrangers { lines.append("none of the selected beacons was received yet") }
        if !rows.isEmpty {
            let layout = ScanTable.lines(rows, width: width, limit: rowLimit)
            lines = layout.lines
            let omittedCount = trackIndices.count - layout.beaconCount
            if omittedCount > 0 { lines.append("and \(omittedCount) more") }
        }
        return (lines + linesBelow).map { line in
            (line.count > width ? line.prefix(max(0, width - 1)) + "…" : line[...]) + "\n"
        }.joined()
    }

    /// Returns lines about the devices of networks, and a line about the beacons that are not listed.
    private func linesBelow(_ table: SightingTable, _ now: HeardInstant, _ width: Int) -> [String] {
        var lines: [String] = []
        let networks = table.networks.summaries(until: now)
        if !networks.isEmpty, filter.isEmpty {
            var line = "devices of networks:"
            for (index, summary) in networks.enumerated() {
                let part =
                    " \(summary.network.title) \(summary.addresses)" + (summary.strongest.map { " (\($0) dBm)" } ?? "")
                    + (index < networks.count - 1 ? "," : "")
                if line.count + part.count > width {
                    lines.append(line)
                    line = " "
                }
                line += part
            }
            lines.append(line)
        }
        if !table.keepsStrangers, table.counts.strangers > 0 {
            lines.append("\(table.counts.strangers) reports of other beacons (show them with --strangers)")
        }
        return lines
    }
}
