internal import CLinux
internal import Glibc
internal import Synchronization

/// How far a long job is: one line of standard error that replaces itself, for a person at a terminal, and is gone when
/// anything else is written. Nothing of it appears within the first second, nor where standard error is no terminal; a
/// dumb one gets whole lines, and fewer.
public final class ProgressLine: Sendable {
    private let start = BootClock.nanoseconds()
    private static let delay: UInt64 = 1_000_000_000

    /// A job that begins now.
    public init() {}

    /// To be called after each step: looks up the time, and asks for the text only now and then; `nil` while there is
    /// nothing to tell yet.
    public func report(_ text: () -> String?) {
        guard Self.isThere else { return }
        let now = BootClock.nanoseconds()
        guard now - start > Self.delay, now > Self.state.withLock({ $0.countsFrom }) else { return }
        if let text = text() { Self.show(text, now, isCount: true) }
    }

    /// `done of total what, percent`.
    public func report(_ done: Int, of total: Int, _ what: String) {
        report { "\(done) of \(total) \(what), \(total > 0 ? done * 100 / total : 100) %" }
    }

    /// Takes the line away.
    public func finish() { Self.giveWay(toOutput: false) }

    // MARK: The one line that there is

    private struct State {
        /// Before that moment no count is shown; a count need not wait for what only says that the program works.
        var countsFrom: UInt64 = 0
        /// Before that moment it is not said that the program works.
        var worksFrom: UInt64 = 0
        /// Whether something of it stands on the screen.
        var isOnScreen = false
        /// Whether the answer stands on the same screen already.
        var isOver = false
    }

    private static let state = Mutex(State())
    private static let isThere = Terminal.errorIsTerminal
    private static let sharesOutput = Terminal.outputIsTerminal
    private static let isDumb = ["", "dumb"].contains(Terminal.environment("TERM") ?? "")
    private static let pause: UInt64 = isDumb ? 10_000_000_000 : 100_000_000
    private static let erasing = "\r\u{1B}[K"

    private static func show(_ text: String, _ now: UInt64, isCount: Bool) {
        state.withLock { state in
            // The other thread may have been first.
            guard !state.isOver, now > (isCount ? state.countsFrom : state.worksFrom) else { return }
            state.worksFrom = now + max(pause, delay)
            if isCount || isDumb { state.countsFrom = now + pause }
            if isDumb { return write(text + "\n") }
            // What does not fit would begin another line, which nothing takes away.
            let width = max(1, Terminal.columns(of: STDERR_FILENO) - 1)
            write(erasing + (text.count > width ? text.prefix(width - 1) + "…" : text))
            state.isOnScreen = true
        }
    }

    /// Takes away what is on the screen, before something else is written.
    ///
    /// - Parameter toOutput: Whether that is the answer; where it comes onto the same screen, nothing is shown any more.
    static func giveWay(toOutput: Bool) {
        guard isThere, !toOutput || sharesOutput else { return }
        takeAway(forGood: toOutput)
    }

    /// Takes away what is on the screen; nothing is shown any more.
    static func end() {
        if isThere { takeAway(forGood: true) }
    }

    private static func takeAway(forGood: Bool) {
        state.withLock { state in
            state.isOver = state.isOver || forGood
            guard state.isOnScreen else { return }
            let now = BootClock.nanoseconds()
            (state.countsFrom, state.worksFrom) = (now + pause, now + max(pause, delay))
            state.isOnScreen = false
            write(erasing)
        }
    }

    private static func write(_ text: String) { try? Descriptor.standardError.writeAll(Array(text.utf8)) }

    /// Starts to show every second that the program still works, while no job reports its progress.
    public static func startHeartbeat() {
        guard isThere else { return }
        let start = BootClock.nanoseconds()
        // Signals are the main thread's.
        var (all, before) = (sigset_t(), sigset_t())
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        try? BackgroundThread.start {
            while !state.withLock({ $0.isOver }) {
                usleep(250_000)
                let now = BootClock.nanoseconds()
                guard now - start > delay else { continue }
                show("working, \((now - start) / 1_000_000_000) s", now, isCount: false)
            }
        }
    }
}
