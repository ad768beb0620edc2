internal import CLinux
internal import Glibc
internal import Synchronization

/// Shows the progress of a long job in one line on the terminal. Each new text replaces the line, and the line
/// disappears when anything else is written.
///
/// Nothing is shown in the first second, or if standard error is not a terminal. A terminal that cannot erase a line
/// (TERM=dumb) gets separate lines, at least 10 s apart.
public final class ProgressLine: Sendable {
    /// The start of the job, in nanoseconds of ``BootClock``.
    private let start = BootClock.nanoseconds()
    /// The time after the start in which nothing is shown, in nanoseconds.
    private static let delay: UInt64 = 1_000_000_000

    /// Starts a job, whose progress is shown after one second.
    public init() {}

    /// Shows `text`, if the line is due. Call this after each step. `text` is only called if the line is due; `nil`
    /// shows nothing.
    public func report(_ text: () -> String?) {
        guard Self.isAvailable else { return }
        let now = BootClock.nanoseconds()
        guard now - start > Self.delay, now > Self.state.withLock({ $0.nextReport }) else { return }
        if let text = text() { Self.show(text, now, isCount: true) }
    }

    /// Shows a count such as `3 of 10 files, 30 %`, if the line is due. Call this after each step.
    public func report(_ done: Int, of total: Int, _ what: String) {
        report { "\(done) of \(total) \(what), \(total > 0 ? done * 100 / total : 100) %" }
    }

    /// Removes the line.
    public func finish() { Self.erase(beforeOutput: false) }

    // MARK: The line, which all jobs share

    private struct State {
        /// The time of ``BootClock`` from which a report of a job may be shown, in nanoseconds. It is independent of
        /// the heartbeat.
        var nextReport: UInt64 = 0
        /// The time of ``BootClock`` from which the heartbeat may be shown, in nanoseconds.
        var nextHeartbeat: UInt64 = 0
        /// True if the line is on the screen.
        var isOnScreen = false
        /// True if no line may be shown any more, because the result is on the same screen or the program ends.
        var isOver = false
    }

    private static let state = Mutex(State())
    /// True if standard error is a terminal, so that the line is shown.
    private static let isAvailable = Terminal.errorIsTerminal
    /// True if standard output is a terminal as well. It is assumed to be the same terminal as that of standard error.
    private static let sharesOutput = Terminal.outputIsTerminal
    /// True if the terminal cannot erase a line.
    private static let isDumb = ["", "dumb"].contains(Terminal.environment("TERM") ?? "")
    /// The shortest time between two updates of the line, in nanoseconds.
    private static let pause: UInt64 = isDumb ? 10_000_000_000 : 100_000_000
    private static let erasing = "\r\u{1B}[K"

    private static func show(_ text: String, _ now: UInt64, isCount: Bool) {
        state.withLock { state in
            // Another thread may have shown a line since the caller checked the time.
            guard !state.isOver, now > (isCount ? state.nextReport : state.nextHeartbeat) else { return }
            state.nextHeartbeat = now + max(pause, delay)
            if isCount || isDumb { state.nextReport = now + pause }
            if isDumb { return write(text + "\n") }
            // A longer text would continue on a second row, which the next update would not erase.
            let width = max(1, Terminal.columns(of: STDERR_FILENO) - 1)
            write(erasing + (text.count > width ? text.prefix(width - 1) + "…" : text))
            state.isOnScreen = true
        }
    }

    /// Removes the line before something else is written.
    ///
    /// - Parameter beforeOutput: True before writing to standard output. If standard output is the same terminal, no
    ///   line is shown afterwards.
    static func erase(beforeOutput: Bool) {
        guard isAvailable, !beforeOutput || sharesOutput else { return }
        erase(permanently: beforeOutput)
    }

    /// Removes the line and shows none afterwards.
    static func end() {
        if isAvailable { erase(permanently: true) }
    }

    private static func erase(permanently: Bool) {
        state.withLock { state in
            state.isOver = state.isOver || permanently
            guard state.isOnScreen else { return }
            let now = BootClock.nanoseconds()
            (state.nextReport, state.nextHeartbeat) = (now + pause, now + max(pause, delay))
            state.isOnScreen = false
            write(erasing)
        }
    }

    private static func write(_ text: String) { try? Descriptor.standardError.writeAll(Array(text.utf8)) }

    /// Shows every second that the program is working, while no job reports its progress. The heartbeat runs on its own
    /// thread.
    public static func startHeartbeat() {
        guard isAvailable else { return }
        let start = BootClock.nanoseconds()
        // Only the main thread receives signals.
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
