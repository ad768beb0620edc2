internal import BluetoothTypes
package import Configuration
internal import LinuxHost
package import Listener
package import Sightings

/// Receives one beacon, and prints the advice of a ``FindGuide``, which leads the user to the beacon.
package final class FindListener: SightingConsumer {
    package var guide = FindGuide()
    package private(set) var levels: [Int8] = []
    package private(set) var hasHeard = false
    private var hasShown = false
    /// Returns directions from a map for each printed line, as text and as JSON; `nil` without a map.
    package var mapDirections: ((_ state: FindGuide.State) -> (text: String, json: JSONValue))?
    private var table: SightingTable
    private var warnings = BeaconWarnings()
    /// The indices of the beacon's tracks in the table.
    private let trackIndices: Set<Int>
    private let clock: HearingClock
    private let name: String
    private let json: Bool
    private let sound: Bool
    /// True if lines are printed; false if levels are collected instead.
    private let printsLines: Bool
    /// The time of the next printed line.
    private var nextLineTime: HeardInstant?
    /// The time of the next ring of the bell.
    private var nextBellTime: HeardInstant?
    private var hasArrived = false
    private var block = LiveBlock()

    /// Creates a listener that prints nothing and only collects levels, for `find --turn`.
    package convenience init(_ choice: BeaconChoice, _ clock: HearingClock, name: String) {
        self.init(choice, clock, name: name, json: false, sound: false, printsLines: false)
    }

    package init(
        _ choice: BeaconChoice, _ clock: HearingClock, name: String, json: Bool, sound: Bool, printsLines: Bool = true
    ) {
        table = choice.table
        trackIndices = choice.trackIndices ?? []
        self.clock = clock
        self.name = name
        self.json = json
        self.sound = sound
        self.printsLines = printsLines
    }

    package var isSatisfied: Bool { hasArrived || Terminal.outputIsGone }
    package var nextWakeUp: HeardInstant? { printsLines ? [nextLineTime, nextBellTime].compactMap { $0 }.min() : nil }

    package func begin(at now: HeardInstant) { nextLineTime = nextLineTime ?? now }

    package func advance(to now: HeardInstant) {
        guard printsLines else { return }
        // For a recording, print the first line 0.5 s (JSON) or 1 s (text) after the first packet.
        nextLineTime = nextLineTime ?? now.advanced(byMicroseconds: json ? 500_000 : 1_000_000)
        while let due = nextLineTime, due <= now, !hasArrived {
            nextLineTime = due.advanced(byMicroseconds: json ? 500_000 : 1_000_000)
            show(guide.state(at: due), at: due)
        }
        ring(at: now)
    }

    package func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        let heard = table.receive(report.sighting, octets, range)
        guard let trackIndex = ([heard].compactMap(\.self) + table.groupsOfReport).first(where: trackIndices.contains),
            !report.sighting.isScanResponse
        else { return }
        hasHeard = true
        let level = report.sighting.rssi.flatMap { LevelTally.range.contains($0) ? $0 : nil }
        if let level, !printsLines { levels.append(level) }
        if printsLines { for warning in warnings.take(trackIndex, in: table) { say(warning, isWarning: true) } }
        guide.powerAtOneMeter = table.tracks[trackIndex].powerAtOneMeter ?? guide.powerAtOneMeter
        // If the beacon sends several advertisements, the shortest interval is used to detect its silence.
        let interval = trackIndices.compactMap { table.tracks[$0].known?.intervalMicroseconds }.min()
        guide.intervalMicroseconds = interval
        guide.receive(level, at: report.sighting.instant)
    }

    /// Passes the state of the receiver to the guide. While the receiver fails, the silence of the beacon does not
    /// count.
    package func change(_ state: ListeningState, at now: HeardInstant) {
        if state.isListening { guide.startListening(at: now) } else { guide.stopListening(at: now) }
    }

    package func handleIdle(at now: HeardInstant) {}

    package func say(_ sentence: String, isWarning: Bool) {
        guard isWarning else { return }
        Terminal.writeMessage(sentence)
        block = LiveBlock()
    }

    package func finish(at now: HeardInstant) {
        advance(to: now)
    }

    // MARK: Output

    /// The reason why the user got no advice; `nil` if a line was printed.
    package var problem: String? {
        if !hasHeard { return "nothing was received from it" }
        return hasShown ? nil : "it was received for less than 1 s, which is too short for advice; record a longer time"
    }

    private func show(_ state: FindGuide.State, at now: HeardInstant) {
        hasShown = true
        hasArrived = state.advice == .arrived
        let directions = mapDirections?(state)
        if json { return Terminal.write(value(state, at: now, directions: directions?.json).line + "\n") }
        let width = Terminal.outputIsTerminal ? Terminal.columns : .max
        let line = text(state, bars: width < 80 ? 4 : 20) + (directions.map { "  " + $0.text } ?? "")
        // Shorten the line, because a line that is wider than the terminal cannot be cleared.
        let shown = TerminalText.shortened(line, to: width)
        if Terminal.canRedraw { block.draw([shown]) } else { Terminal.show(shown + "\n") }
    }

    private func text(_ state: FindGuide.State, bars: Int) -> String {
        let filled = state.level.map { Int(($0 + 100) / 60 * Double(bars)) } ?? 0
        let bar = String(repeating: "#", count: max(0, min(bars, filled)))
        let level = state.level.map { "\(Int($0.rounded())) dBm" } ?? "-"
        let best = state.best.map { "best \(Int($0.rounded()))" } ?? ""
        var parts = [
            "[" + bar + String(repeating: " ", count: bars - bar.count) + "]", sentence(state), level, best,
        ]
        if let interval = state.interval, let distance = state.distance {
            parts.insert(
                "\(Self.tenths(distance)) m (\(Self.tenths(interval.lowerBound))–\(Self.tenths(interval.upperBound)))",
                at: 3)
        }
        return parts.filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private func sentence(_ state: FindGuide.State) -> String {
        switch state.advice {
        case .wait: "listening"
        case .warmer: "warmer"
        case .colder: "colder"
        case .same: "same: walk \(state.steps == 10 ? "ten" : "five") steps"
        case .silent:
            "silent for \((state.silentMicroseconds ?? 0) / 1_000_000) s: go back to where it was received"
        case .deaf: "this radio misses reports at the moment: wait here"
        case .arrived: "you have reached it"
        }
    }

    private static func tenths(_ value: Double) -> String { NumberFormat.rounded(value, 1) }

    private func value(_ state: FindGuide.State, at now: HeardInstant, directions: JSONValue?) -> JSONValue {
        .record(
            [
                ("event", "find"), ("at", clock.json(now)), ("beacon", .string(name)),
                ("advice", .string(state.advice.rawValue)), ("rssiDbm", .rounded(state.level)),
                ("changeDb", .rounded(state.change)), ("leastChangeDb", .rounded(state.leastChange)),
                ("bestRssiDbm", .rounded(state.best)), ("distanceM", .rounded(state.distance)),
                ("distanceLowM", .rounded(state.interval?.lowerBound)),
                ("distanceHighM", .rounded(state.interval?.upperBound)),
                ("proximity", .string(state.proximity.rawValue)),
                ("silentS", .rounded(state.silentMicroseconds.map { Double($0) / 1_000_000 })),
            ] + (directions.map { [("map", $0)] } ?? []))
    }

    /// Rings the bell if it is time: once in 2 s at -90 dBm or less, up to five times per second at -45 dBm or more.
    private func ring(at now: HeardInstant) {
        guard sound, Terminal.errorIsTerminal, now >= nextBellTime ?? now else { return }
        let level = guide.state(at: now).level
        if level != nil { Terminal.ringBell() }
        let share = min(1, max(0, ((level ?? -90) + 90) / 45))
        nextBellTime = now.advanced(byMicroseconds: Int(2_000_000 - 1_800_000 * share))
    }
}
