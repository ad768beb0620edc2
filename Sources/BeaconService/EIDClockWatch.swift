internal import Advertiser
internal import BeaconStatus

/// What is told of the clock of ephemeral ids, and when the wall clock is looked at again.
struct EIDClockWatch {
    /// By how many seconds the counter is ahead of a wall clock that nobody vouches for, negative where it is behind;
    /// `nil` where they agree.
    private(set) var ahead: Int?
    /// When the wall clock is looked at again, in nanoseconds of the monotonic clock; `nil` while they agree: setting the
    /// wall clock is heard.
    private(set) var nextLook: UInt64?

    /// One minute, in nanoseconds: nobody tells when a time server has been heard.
    private static let pause: UInt64 = 60_000_000_000

    func isDue(at now: UInt64) -> Bool { nextLook.map { $0 <= now } ?? false }

    /// Takes what came of a look at the wall clock. Returns what is to be said, if it is news.
    mutating func note(_ correction: EIDClock.Correction, at now: UInt64) -> (Supervisor.LogPriority, String)? {
        let before = ahead
        switch correction {
        case .none, .advanced:
            ahead = nil
            nextLook = nil
            return before.map { _ in (.notice, "the clock of ephemeral ids and the wall clock agree again") }
        case .setBack(let seconds):
            ahead = nil
            nextLook = nil
            return (
                .notice,
                "\(StatusText.eidClock(ahead: seconds)), which is known to be right: it is set back, and ids turn over"
            )
        case .doubted(let seconds):
            nextLook = now + Self.pause
            // They run at one pace: a second more or less is no news.
            if let before, abs(before - seconds) < 60 { return nil }
            ahead = seconds
            return (
                .warning,
                StatusText.eidClock(ahead: seconds)
                    + ", and nobody says which of them is right, so it goes on as it is; where NTP keeps the wall clock "
                    + "(`sudo timedatectl set-ntp true`) it is set right by itself"
            )
        }
    }
}
