public import Advertiser
public import Sightings

/// Takes the sightings of a ``SightingSource`` in order, on the thread that runs the source.
///
/// Recordings and adapters make the same calls: for each packet ``advance(to:)``, followed by its reports.
public protocol SightingConsumer: AnyObject {
    /// The time at which ``advance(to:)`` must be called even if no report arrives; `nil` for never. A live source
    /// calls it at least four times per second.
    var nextWakeUp: HeardInstant? { get }
    /// True if the source should end.
    var isSatisfied: Bool { get }

    /// Called when the source listens for the first time.
    func begin(at now: HeardInstant)
    /// Called when the time is `now`. No later call has an earlier time.
    func advance(to now: HeardInstant)
    /// Takes an advertisement with the data in `range` of `octets`.
    func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>)
    /// Called when the state has changed. Silence counts only in states with `Listener/ListeningState/isListening`.
    func change(_ state: ListeningState, at now: HeardInstant)
    /// Called when no further reports are waiting. This is a good time to print.
    func handleIdle(at now: HeardInstant)
    /// Takes a sentence for the user about the adapter or the recording.
    func say(_ sentence: String, isWarning: Bool)
    /// Called at the end: no more sightings follow.
    func finish(at now: HeardInstant)
}

extension SightingConsumer {
    /// Returns `nil`: ``advance(to:)`` need not be called without a report.
    public var nextWakeUp: HeardInstant? { nil }
    /// Returns `false`: the source does not end early.
    public var isSatisfied: Bool { false }
    /// Does nothing.
    public func begin(at now: HeardInstant) {}
    /// Does nothing.
    public func change(_ state: ListeningState, at now: HeardInstant) {}
    /// Does nothing.
    public func handleIdle(at now: HeardInstant) {}
}

/// The state of a receiver, as consumers see it.
public enum ListeningState: String, Hashable, Sendable {
    case starting
    case listening
    /// Another program scans with its own parameters. The reports of that scan are received, but repeated reports may
    /// be missing.
    case foreign
    case paused
    case deaf
    case recovering
    case off

    /// True if a missing report means that nothing was sent. In the state `foreign` repeated reports may be missing.
    public var isListening: Bool { self == .listening }

    /// Combines the state of a supervisor with the state of its scan.
    ///
    /// - Parameter scan: The scan's state; `nil` if no scan was ever started.
    public init(_ supervisor: Supervisor.State, _ scan: ScanSession.State?) {
        switch (supervisor, scan) {
        case (.starting, _): self = .starting
        case (.off, _): self = .off
        case (.recovering, .deaf): self = .deaf
        case (.recovering, _): self = .recovering
        case (.onAir, .foreign): self = .foreign
        case (.onAir, .paused): self = .paused
        case (.onAir, .deaf): self = .deaf
        case (.onAir, .reset): self = .recovering
        case (.onAir, .listening), (.onAir, .off), (.onAir, nil): self = .listening
        }
    }
}
