internal import BeaconFrames
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import HCITransports
internal import LinuxHost
internal import Listener
internal import Sightings

/// Receives reports, and prints a table or a line of JSON at the end of each round.
final class ListenPrinter: SightingConsumer {
    private let listener: ListenerFile
    private let known: KnownBeacons
    private let source: SightingSource
    private let values: SightingJSON
    private let json: Bool
    private var processor: SightingProcessor
    private var watch: PresenceWatch
    private var warnings = BeaconWarnings()
    /// The wall-clock time at which the receiver stopped working; `nil` while it works.
    private var deafSince: String?
    private var hasListened = false
    private var output: LineOutput
    private var row = JSONWriter()

    init(
        _ listener: ListenerFile, _ known: KnownBeacons, _ source: SightingSource, roundMicroseconds: Int, json: Bool
    ) {
        self.listener = listener
        self.known = known
        self.source = source
        self.json = json
        output = LineOutput(isData: json)
        values = SightingJSON(source)
        let strangers: SightingTable.Strangers =
            listener.listsStrangers ? .kept(SightingTable.defaultStrangers) : .counted
        processor = SightingProcessor(
            table: known.table(source.clock, strangers: strangers), roundMicroseconds: roundMicroseconds)
        watch = PresenceWatch(names: known.beacons.map(\.name), hearsRepeats: !source.isPresenceOnly)
    }

    var nextWakeUp: HeardInstant? { processor.nextWakeUp }
    var isSatisfied: Bool { Terminal.outputIsGone }

    func begin(at now: HeardInstant) { processor.begin(at: now) }

    func advance(to now: HeardInstant) {
        while let event = processor.nextEvent(until: now) { show(event) }
    }

    func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        let trackIndex = processor.receive(report.sighting, octets, range)
        for index in [trackIndex].compactMap(\.self) + processor.table.groupsOfReport {
            for warning in warnings.take(index, in: processor.table) { Terminal.writeMessage(warning) }
        }
    }

    func change(_ state: ListeningState, at now: HeardInstant) {
        if state.isListening { processor.startListening(at: now) } else { processor.stopListening(at: now) }
        if hasListened, state != .off, json { output.add(values.state(state, at: now).line + "\n") }
        hasListened = hasListened || state.isListening
    }

    func handleIdle(at now: HeardInstant) { output.flush() }

    func say(_ sentence: String, isWarning: Bool) { Terminal.writeMessage(sentence) }

    func finish(at now: HeardInstant) {
        advance(to: now)
        if let event = processor.finish(at: now) { show(event) }
        output.flush()
    }

    // MARK: Rounds

    private func show(_ event: SightingProcessor.Event) {
        guard case .round(let from, let to) = event else { return }
        watch.endRound(processor.table)
        let silentSince = watch.clock.silentSince(at: to)
        deafSince = silentSince == nil ? nil : deafSince ?? silentSince.flatMap(source.clock.text)
        let tracksToPrint = tracksToPrint
        guard json else { return output.add(text(to, tracksToPrint)) }
        write(from, to, tracksToPrint)
        output.addLine(&row)
    }

    /// The indices of the tracks to print, and the number of known beacons that were never received. The tracks to
    /// print are all tracks that were received in the round, and the last received track of each known beacon.
    private var tracksToPrint: (indices: [Int], neverHeard: Int) {
        let tracks = processor.table.tracks
        // The index of the last received track of each known beacon.
        var latest = [Int?](repeating: nil, count: watch.count)
        for (index, group) in watch.groups.enumerated() {
            guard let lastHeard = tracks[index].lastHeard else { continue }
            if let other = latest[group].flatMap({ tracks[$0].lastHeard }), other >= lastHeard { continue }
            latest[group] = index
        }
        let indices = tracks.indices.filter { index in
            tracks[index].roundReports > 0 || index < watch.groups.count && latest[watch.groups[index]] == index
        }
        return (indices, latest.count { $0 == nil })
    }

    private func presence(_ trackIndex: Int, _ now: HeardInstant) -> PresenceWatch.Presence? {
        watch.groups.indices.contains(trackIndex) ? watch.presence(of: watch.groups[trackIndex], at: now) : nil
    }

    private func note(_ trackIndex: Int) -> BeaconNote {
        processor.table.tracks[trackIndex].known.flatMap { known.notes[$0.name] } ?? BeaconNote()
    }

    private func localName(_ trackIndex: Int) -> String? {
        let octets = processor.table.tracks[trackIndex].nameOctets
        return octets.isEmpty ? nil : String(decoding: octets, as: UTF8.self)
    }

    /// Writes a round as one line into ``row``.
    private func write(_ from: HeardInstant, _ to: HeardInstant, _ tracks: (indices: [Int], neverHeard: Int)) {
        values.write(round: from, to, processor.table, of: tracks.indices, into: &row) { row in
            row.add("listener", listener.name)
            row.add("place", .optional(listener.place) { $0.json })
            row.add("adapter", source.adapter?.description)
            row.add("state", source.state.rawValue)
            row.add("deafSince", deafSince)
            row.add("rssiOffsetDb", listener.levelOffset)
            row.add("neverHeard", tracks.neverHeard)
        } more: { trackIndex, row in
            let note = note(trackIndex)
            row.add("presence", presence(trackIndex, to)?.rawValue)
            row.add("address", processor.table.tracks[trackIndex].sender?.address.description)
            row.add("localName", localName(trackIndex))
            row.add("cloned", .boolean(processor.table.tracks[trackIndex].clones.finding != nil))
            row.add("tags", .array(note.tags.map(JSONValue.string)))
            row.add("attachments", .object(note.attachments.map { .init($0.key, .string($0.text)) }))
        }
    }

    // MARK: Text

    private func text(_ now: HeardInstant, _ tracks: (indices: [Int], neverHeard: Int)) -> String {
        let names = (listener.place?.names ?? []).joined(separator: " / ")
        var state = "listening"
        if watch.clock.silentSince(at: now) != nil {
            state =
                source.state.isListening
                ? "nothing received since \(deafSince ?? "-")" : "deaf since \(deafSince ?? "-") (\(source.state))"
        }
        var text = "\(source.clock.text(now) ?? "-")  \(listener.name)"
        if !names.isEmpty { text += TerminalText.line(" (\(names))") }
        text += ": \(state)"
        if listener.levelOffset != 0 {
            text += ", each level \(listener.levelOffset > 0 ? "+" : "")\(listener.levelOffset) dB"
        }
        text += "\n"
        if !tracks.indices.isEmpty { text += table(now, tracks.indices) }
        return text + footer(neverHeard: tracks.neverHeard) + "\n"
    }

    private func table(_ now: HeardInstant, _ trackIndices: [Int]) -> String {
        // The column with the trace of levels is omitted, because each round is printed only once.
        let traceColumn = 3
        func otherColumns<Element>(_ cells: [Element]) -> [Element] {
            Array(cells[1..<traceColumn] + cells[(traceColumn + 1)...])
        }
        var table = Table(
            ["beacon", "tags", "presence"] + otherColumns(ScanRow.header) + ["joined"],
            alignment: [.left, .left, .left] + otherColumns(ScanRow.alignment))
        for index in trackIndices {
            let track = processor.table.tracks[index]
            let cells = ScanRow(track, now, .init(), isPresenceOnly: source.isPresenceOnly).cells
            let tags = TerminalText.line(TerminalText.shortened(note(index).tags.joined(separator: " "), to: 20))
            table.add(
                [cells[0], tags, presence(index, now)?.rawValue ?? "-"] + otherColumns(cells)
                    + [remarks(index, track)])
        }
        return table.text
    }

    /// Returns the problems of a beacon, and the data that it sends in addition to its identity: its local name and
    /// telemetry.
    private func remarks(_ trackIndex: Int, _ track: BeaconTrack) -> String {
        var parts: [String] = []
        if track.clones.finding != nil { parts.append("cloned") }
        if let power = track.implausiblePower { parts.append("no distance: measured power \(power) dBm") }
        if let name = localName(trackIndex) { parts.append(TerminalText.quoted(name, to: 20)) }
        if let battery = track.telemetry?.batteryMillivolts { parts.append("\(battery) mV") }
        if let temperature = track.telemetry?.temperature { parts.append("\(temperature)") }
        return parts.joined(separator: " ")
    }

    /// Returns the line below the table: the numbers of other senders, known beacons that were never received, and lost
    /// reports.
    private func footer(neverHeard: Int) -> String {
        let table = processor.table
        let senders = table.strangerSendersInRound
        var parts = ["\(table.strangersInRound) reports of \(NumberFormat.count(senders, "other sender"))"]
        if neverHeard > 0 { parts.append("\(neverHeard) of \(watch.count) known beacons never received") }
        if let lost = source.counts.lostInKernel { parts.append("\(lost) lost in the kernel") }
        let malformed = source.counts.malformedEvents + table.counts.malformed
        if malformed > 0 { parts.append("\(malformed) malformed") }
        if source.counts.incomplete > 0 { parts.append("\(source.counts.incomplete) incomplete") }
        return parts.joined(separator: ", ") + "\n"
    }
}
