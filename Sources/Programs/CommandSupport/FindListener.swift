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
    /// Returns directions from a map for each printed line, as text and as JSON; `nil` without a map.
    package var onMap: ((_ state: FindGuide.State) -> (text: String, json: JSONValue))?
    private var table: SightingTable
    private var warnings = BeaconWarnings()
    /// The numbers of the beacon's tracks in the table.
    private let places: Set<Int>
    private let clock: HearingClock
    private let name: String
    private let json: Bool
    private let sound: Bool
    /// True if lines are printed; false if levels are collected instead.
    private let isShown: Bool
    /// The time of the next printed line.
    private var nextLine: HeardInstant?
    /// The time of the next ring of the bell.
    private var nextBell: HeardInstant?
    private var hasArrived = false
    private var block = LiveBlock()

    /// Creates a listener that prints nothing and only collects levels, for `find --turn`.
    package convenience init(_ choice: BeaconChoice, _ clock: HearingClock, name: String) {
        self.init(choice, clock, name: name, json: false, sound: false, isShown: false)
    }

    package init(
        _ choice: BeaconChoice, _ clock: HearingClock, name: String, json: Bool, sound: Bool, isShown: Bool = true
    ) {
        table = choice.table
        places = choice.places ?? []
        self.clock = clock
        self.name = name
        self.json = json
        self.sound = sound
        self.isShown = isShown
    }

    package var isSatisfied: Bool { hasArrived || Terminal.outputIsGone }
    package var nextWakeUp: HeardInstant? { isShown ? [nextLine, nextBell].compactMap { $0 }.min() : nil }

    package func begin(at now: HeardInstant) { nextLine = nextLine ?? now }

    package func advance(to now: HeardInstant) {
        guard isShown else { return }
        // For a recording, the first line is printed one period after its first packet.
        nextLine = nextLine ?? now.advanced(byMicroseconds: json ? 500_000 : 1_000_000)
        while let due = nextLine, due <= now, !hasArrived {
            nextLine = due.advanced(byMicroseconds: json ? 500_000 : 1_000_000)
            show(guide.state(at: due), at: due)
        }
        ring(at: now)
    }

    package func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        let heard = table.receive(report.sighting, octets, range)
        guard let place = ([heard].compactMap(\.self) + table.groupsOfReport).first(where: places.contains),
            !report.sighting.isScanResponse
        else { return }
        hasHeard = true
        let level = report.sighting.rssi.flatMap { LevelTally.range.contains($0) ? $0 : nil }
        if let level, !isShown { levels.append(level) }
        if isShown { for warning in warnings.take(place, in: table) { say(warning, isWarning: true) } }
        guide.powerAtOneMeter = table.tracks[place].powerAtOneMeter ?? guide.powerAtOneMeter
        // If the beacon sends several advertisements, the shortest interval is used to detect its silence.
        let interval = places.compactMap { table.tracks[$0].known?.intervalMicroseconds }.min()
        guide.intervalMicroseconds = interval
        guide.receive(level, at: report.sighting.instant)
    }

    /// Notes whether the receiver works. While it does not, the silence of the beacon does not count.
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

    private func show(_ state: FindGuide.State, at now: HeardInstant) {
        hasArrived = state.advice == .arrived
        let found = onMap?(state)
        if json { return Terminal.write(value(state, at: now, onMap: found?.json).line + "\n") }
        let width = Terminal.outputIsTerminal ? Terminal.columns : .max
        let line = text(state, bars: width < 80 ? 4 : 20) + (found.map { "  " + $0.text } ?? "")
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

    private func value(_ state: FindGuide.State, at now: HeardInstant, onMap: JSONValue?) -> JSONValue {
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
            ] + (onMap.map { [("map", $0)] } ?? []))
    }

    /// Rings the bell if it is time: once in 2 s at -90 dBm or less, up to five times per second at -45 dBm or more.
    private func ring(at now: HeardInstant) {
        guard sound, Terminal.errorIsTerminal, now >= nextBell ?? now else { return }
        let level = guide.state(at: now).level
        if level != nil { Terminal.ringBell() }
        let share = min(1, max(0, ((level ?? -90) + 90) / 45))
        nextBell = now.advanced(byMicroseconds: Int(2_000_000 - 1_800_000 * share))
    }
}
