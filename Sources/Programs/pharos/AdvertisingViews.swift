internal import Advertiser
internal import BeaconService
internal import Configuration
internal import LinuxHost

/// Writes views to standard output, and warnings to standard error.
struct TerminalOutput: AdvertisingOutput {
    let options: OnAirOptions

    func write(_ text: String) { Terminal.show(text) }

    func warn(_ sentence: String) { Terminal.writeMessage(sentence) }

    /// Returns the view that the options choose.
    func view(_ facts: OnAirFacts) -> any AdvertisingView {
        if options.json { return JSONView(facts) }
        if options.quiet { return QuietView() }
        return Terminal.canRedraw ? LiveView(facts) : LineView(facts)
    }
}

/// Writes `text` if standard output accepts it within one second; otherwise drops it. A stopped terminal must not
/// prevent the program from turning the beacon off.
private func write(_ text: String) {
    if Terminal.takesOutput(within: 1000) { Terminal.show(text) }
}

/// Writes a JSON object as a line if standard output accepts it within one second; otherwise drops it.
private func write(_ value: JSONValue) {
    if Terminal.takesOutput(within: 1000) { Terminal.write(value.line + "\n") }
}

/// The view of `--quiet`, which prints nothing.
struct QuietView: AdvertisingView {
    func onAir(_ session: some AdvertisingSession) {}
    func offAir(_ session: some AdvertisingSession, _ heard: HeardOnAir?) {}
}

/// The view of `--json`: one line for each event.
struct JSONView: AdvertisingView {
    private let facts: OnAirFacts

    init(_ facts: OnAirFacts) {
        self.facts = facts
    }

    func onAir(_ session: some AdvertisingSession) { write(OnAirJSON.onAir(facts, session)) }

    func offAir(_ session: some AdvertisingSession, _ heard: HeardOnAir?) {
        write(OnAirJSON.offAir(session, heard))
    }
}

/// The view for a file or a pipe: prints one block of lines when the beacon is on the air, and the final lines when it
/// is off the air.
struct LineView: AdvertisingView {
    private let facts: OnAirFacts

    init(_ facts: OnAirFacts) {
        self.facts = facts
    }

    func onAir(_ session: some AdvertisingSession) {
        write(OnAirText.lines(facts, session, nil, color: false).joined(separator: "\n") + "\n")
    }

    func offAir(_ session: some AdvertisingSession, _ heard: HeardOnAir?) {
        write(OnAirText.finalLines(session, heard).joined(separator: "\n") + "\n")
    }
}

/// The view for a terminal: draws a block of lines, and updates it five times a second.
final class LiveView: AdvertisingView {
    private let facts: OnAirFacts
    private var block = LiveBlock()

    init(_ facts: OnAirFacts) {
        self.facts = facts
    }

    var microsecondsBetweenUpdates: Int? { 200_000 }

    func onAir(_ session: some AdvertisingSession) { draw(session, nil) }
    func update(_ session: some AdvertisingSession, _ heard: HeardOnAir?) { draw(session, heard) }

    func offAir(_ session: some AdvertisingSession, _ heard: HeardOnAir?) {
        draw(session, heard)
        write(OnAirText.finalLines(session, heard).joined(separator: "\n") + "\n")
    }

    private func draw(_ session: some AdvertisingSession, _ heard: HeardOnAir?) {
        // Draw nothing while the terminal accepts no output, because waiting for it would delay the beacon.
        guard Terminal.takesOutput() else { return }
        block.draw(
            OnAirText.lines(facts, session, heard, color: Terminal.wantsColor, width: Terminal.columns))
    }
}
