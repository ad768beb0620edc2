internal import CLinux
internal import Glibc
internal import Synchronization

/// Shows the progress of a long job in one line on the terminal, the progress line. Each new text replaces the progress
/// line, and the progress line disappears when anything else is written.
///
/// Nothing is shown in the first second, or if standard error is not a terminal. A terminal that cannot erase a line
/// (TERM=dumb) gets separate lines, at least 10 s apart.
public final class ProgressLine: Sendable {
    /// The start of the job, in nanoseconds of ``BootClock``.
    private let start = BootClock.nanoseconds()
    /// The time after the start in which nothing is shown, in nanoseconds.
    private static let delay: UInt64 = 1_000_000_000

    /// Starts a job. Its progress is shown after one second.
    public init() {}

    /// Shows the result of `text`, if it is time to update the progress line. Call this after each step: `text` is
    /// called only if its result may be shown. If it returns `nil`, nothing is shown.
    public func report(_ text: () -> String?) {
        guard Self.isAvailable else { return }
        let now = BootClock.nanoseconds()
        guard now - start > Self.delay, now > Self.state.withLock({ $0.nextReport }) else { return }
        if let text = text() { Self.show(text, now, isCount: true) }
    }

    /// Shows a count such as `3 of 10 files, 30 %`, if it is time to update the progress line. Call this after each
    /// step.
    public func report(_ done: Int, of total: Int, _ what: String) {
        report { "\(done) of \(total) \(what), \(total > 0 ? done * 100 / total : 100) %" }
    }

    /// Removes the progress line from the terminal.
    public func finish() { Self.erase(beforeOutput: false) }

    // MARK: The progress line, which all jobs share

    private struct State {
        /// The time of ``BootClock`` from which a report of a job may be shown, in nanoseconds. A heartbeat postpones
        /// it only on a dumb terminal.
        var nextReport: UInt64 = 0
        /// The time of ``BootClock`` from which the heartbeat may be shown, in nanoseconds.
        var nextHeartbeat: UInt64 = 0
        /// True if the progress line is on the screen.
        var isOnScreen = false
        /// True if no progress line may be shown any more, because results were written to the same terminal or the
        /// program ends.
        var isOver = false
        /// True while the program waits for an answer of the user, so that no progress line overwrites the question.
        var isPaused = false
    }

    private static let state = Mutex(State())
    /// True if standard error is a terminal, so that the progress line is shown.
    private static let isAvailable = Terminal.errorIsTerminal
    /// True if standard output is a terminal as well. Both streams are assumed to be the same terminal.
    private static let sharesOutput = Terminal.outputIsTerminal
    /// True if the terminal cannot erase a line.
    private static let isDumb = ["", "dumb"].contains(Terminal.environment("TERM") ?? "")
    /// The shortest time between two updates of the progress line, in nanoseconds.
    private static let minimumInterval: UInt64 = isDumb ? 10_000_000_000 : 100_000_000
    private static let eraseSequence = "\r\u{1B}[K"

    private static func show(_ text: String, _ now: UInt64, isCount: Bool) {
        state.withLock { state in
            // Another thread may have shown a progress line since the caller checked the time.
            guard !state.isOver, !state.isPaused, now > (isCount ? state.nextReport : state.nextHeartbeat) else {
                return
            }
            state.nextHeartbeat = now + max(minimumInterval, delay)
            if isCount || isDumb { state.nextReport = now + minimumInterval }
            if isDumb { return write(text + "\n") }
            // A longer text would continue on a second row, which the next update would not erase.
            let width = max(1, Terminal.columns(of: STDERR_FILENO) - 1)
            write(eraseSequence + (text.count > width ? text.prefix(width - 1) + "…" : text))
            state.isOnScreen = true
        }
    }

    /// Removes the progress line before something else is written.
    ///
    /// - Parameter beforeOutput: True before writing to standard output. If standard output is the same terminal, no
    ///   progress line is shown afterwards.
    static func erase(beforeOutput: Bool) {
        guard isAvailable, !beforeOutput || sharesOutput else { return }
        erase(permanently: beforeOutput)
    }

    /// Calls `body`, and shows no progress line in the meantime.
    static func pausing<Value>(_ body: () -> Value) -> Value {
        erase(beforeOutput: false)
        state.withLock { $0.isPaused = true }
        defer { state.withLock { $0.isPaused = false } }
        return body()
    }

    /// Removes the progress line; none is shown afterwards.
    static func end() {
        if isAvailable { erase(permanently: true) }
    }

    private static func erase(permanently: Bool) {
        state.withLock { state in
            state.isOver = state.isOver || permanently
            guard state.isOnScreen else { return }
            let now = BootClock.nanoseconds()
            (state.nextReport, state.nextHeartbeat) = (now + minimumInterval, now + max(minimumInterval, delay))
            state.isOnScreen = false
            write(eraseSequence)
        }
    }

    private static func write(_ text: String) { try? Descriptor.standardError.writeAll(Array(text.utf8)) }

    /// Starts a heartbeat on its own thread: while no job reports its progress, the progress line shows once a second
    /// for how long the program has been working.
    public static func startHeartbeat() {
        guard isAvailable else { return }
        let start = BootClock.nanoseconds()
        // Only the main thread receives signals.
        var (allSignals, previousMask) = (sigset_t(), sigset_t())
        unsafe sigfillset(&allSignals)
        unsafe pthread_sigmask(SIG_BLOCK, &allSignals, &previousMask)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previousMask, nil) }
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
