/// How far a long job is: one line of standard error that replaces itself, for a person at a terminal. Nothing of it
/// appears within the first second, nor where standard error is no terminal; a dumb one gets whole lines, and fewer.
public final class ProgressLine {
    private let isShown = Terminal.errorIsTerminal
    private let isDumb = Terminal.environment("TERM") == "dumb"
    private let start = BootClock.nanoseconds()
    private var shown: UInt64 = 0
    private static let delay: UInt64 = 1_000_000_000

    public init() {}

    /// To be called after each step: looks up the time, and asks for the text only now and then.
    public func report(_ text: () -> String) {
        guard isShown else { return }
        let now = BootClock.nanoseconds()
        let pause: UInt64 = isDumb ? 10_000_000_000 : 100_000_000
        guard now - start > Self.delay, now - shown > pause else { return }
        shown = now
        Terminal.writeError(isDumb ? text() + "\n" : "\r\u{1B}[K" + text())
    }

    /// `done of total what, percent`.
    public func report(_ done: Int, of total: Int, _ what: String) {
        report { "\(done) of \(total) \(what), \(total > 0 ? done * 100 / total : 100) %" }
    }

    /// Takes the line away.
    public func finish() {
        if isShown, shown > 0, !isDumb { Terminal.writeError("\r\u{1B}[K") }
    }
}
