internal import Advertiser
internal import BeaconService
internal import Configuration
internal import LinuxHost

/// Standard output for what was asked for, standard error for what is not as it was.
struct TerminalOutput: AdvertisingOutput {
    let options: OnAirOptions

    func write(_ text: String) { Terminal.write(text) }

    func warn(_ sentence: String) { Terminal.writeError("pharos: \(sentence)\n") }

    /// The view that the options ask for.
    func view(_ facts: OnAirFacts) -> any AdvertisingView {
        if options.json { return JSONView(facts) }
        if options.quiet { return QuietView() }
        return Terminal.outputIsTerminal ? LiveView(facts) : LineView(facts)
    }
}

/// Writes `text`, unless standard output takes nothing for a second: a terminal that was stopped must keep nobody from
/// taking the beacon off the air and ending the program.
private func say(_ text: String) {
    if Terminal.takesOutput(within: 1000) { Terminal.write(text) }
}

/// `--quiet`.
struct QuietView: AdvertisingView {
    func onAir(_ session: some AdvertisingSession) {}
    func offAir(_ session: some AdvertisingSession, _ heard: HeardOnAir?) {}
}

/// `--json`: one line for each thing that happens.
struct JSONView: AdvertisingView {
    private let facts: OnAirFacts

    init(_ facts: OnAirFacts) {
        self.facts = facts
    }

    func onAir(_ session: some AdvertisingSession) { say(OnAirJSON.onAir(facts, session).line + "\n") }

    func offAir(_ session: some AdvertisingSession, _ heard: HeardOnAir?) {
        say(OnAirJSON.offAir(session, heard).line + "\n")
    }
}

/// Standard output is a file or a pipe: one block at the start, one line at the end.
struct LineView: AdvertisingView {
    private let facts: OnAirFacts

    init(_ facts: OnAirFacts) {
        self.facts = facts
    }

    func onAir(_ session: some AdvertisingSession) {
        say(OnAirText.lines(facts, session, nil, color: false).joined(separator: "\n") + "\n")
    }

    func offAir(_ session: some AdvertisingSession, _ heard: HeardOnAir?) {
        say(OnAirText.finalLines(session, heard).joined(separator: "\n") + "\n")
    }
}

/// A terminal: the block is drawn again in its place.
final class LiveView: AdvertisingView {
    private let facts: OnAirFacts
    private var drawn = 0

    init(_ facts: OnAirFacts) {
        self.facts = facts
    }

    var microsecondsBetweenUpdates: Int? { 200_000 }

    func onAir(_ session: some AdvertisingSession) { draw(session, nil) }
    func update(_ session: some AdvertisingSession, _ heard: HeardOnAir?) { draw(session, heard) }

    func offAir(_ session: some AdvertisingSession, _ heard: HeardOnAir?) {
        draw(session, heard)
        say(OnAirText.finalLines(session, heard).joined(separator: "\n") + "\n")
    }

    private func draw(_ session: some AdvertisingSession, _ heard: HeardOnAir?) {
        // A frame that the terminal does not take at once is left out: waiting would hold up the beacon.
        guard Terminal.takesOutput() else { return }
        let width = Terminal.columns
        let lines = OnAirText.lines(facts, session, heard, color: Terminal.wantsColor, width: width)
        // Up to the block's first line, and each line cleared to its end before it is written anew.
        let up = drawn == 0 ? "" : "\u{1B}[\(drawn)A"
        Terminal.write(up + lines.map { "\r\u{1B}[K" + $0 + "\n" }.joined())
        drawn = lines.count
    }
}
