public import Advertiser

/// Whether a receiver receives, seen from outside.
public enum ListeningState: String, Hashable, Sendable {
    case starting
    case listening
    /// Another program scans with its own parameters. Its reports are received too, perhaps without duplicates.
    case foreign
    case paused
    case deaf
    case recovering
    case off

    /// Whether a missing report means that nothing was sent. In the state `foreign` repeated reports may be missing.
    public var isHearing: Bool { self == .listening }

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
