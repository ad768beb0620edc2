internal import LinuxHost
internal import Planner

/// Shows on a terminal how far a long question is, and ends it at Ctrl-C with what there is.
final class PlanWatch {
    private let line = ProgressLine()
    private let signals: SignalDescriptor
    private var calls = 0
    private(set) var isStopped = false

    init() throws { signals = try SignalDescriptor() }

    /// To be called as often as it is convenient; looks up only now and then.
    ///
    /// - Returns: Whether to go on.
    func report(_ progress: @autoclosure () -> PlanProgress) -> Bool {
        calls += 1
        if calls % 16 == 0, signals.take() != nil { isStopped = true }
        line.report { progress().text }
        return !isStopped
    }

    func finish() { line.finish() }
}
