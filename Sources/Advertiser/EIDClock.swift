internal import EddystoneSecurity
public import HCI

/// The beacon's own seconds counter t, from which ephemeral ids and the nonces of encrypted telemetry are made.
///
/// It goes on by itself, from what was saved, and is compared with the wall clock, at which it should be
/// 65280 + wall clock − epoch. It advances to there, but not by more than ``tolerance`` unless somebody says that the
/// wall clock is right: one that is wrong for a moment must not spoil the counter. It never goes backwards, but for a
/// counter that is ahead by more than that of a wall clock which is right.
/// A value: what of it must survive a restart is ``counter(at:)``, handed back as `saved`.
public struct EIDClock: Hashable, Sendable {
    /// The instant at which the counter was 65280, in seconds since 1970 (UTC); `nil` where nobody knows.
    public let epochUnixSeconds: Int?
    /// What the counter was, in microseconds, and when.
    private var microseconds: Int
    private var instant: HCIInstant
    /// Whether the counter was saved, or has been compared: a new beacon believes the first time that it is told.
    private var isSettled: Bool

    private static let limit = Int(UInt32.max) * 1_000_000

    /// How far the wall clock may be from the counter while nobody says that it is right: one day, in seconds.
    public static let tolerance = 86_400

    /// What came of a look at the wall clock. Times are in seconds.
    public enum Correction: Hashable, Sendable {
        /// The counter is where it should be, or a little ahead, or has no epoch.
        case none
        /// The counter was behind, and is right now.
        case advanced
        /// The counter was far ahead by this, and is right now: ids turn over at once.
        case setBack(seconds: Int)
        /// The counter stays, which is ahead of the wall clock by this, or behind it where it is negative: by more than
        /// ``tolerance``, and nobody says that the wall clock is right.
        case doubted(ahead: Int)
    }

    /// - Parameters:
    ///   - epochUnixSeconds: When the counter was 65280; `nil` where nobody knows.
    ///   - saved: The counter that was saved last; `nil` for a new beacon, which starts at 65280.
    public init(epochUnixSeconds: Int? = nil, saved: UInt32? = nil, at now: HCIInstant) {
        self.epochUnixSeconds = epochUnixSeconds
        microseconds = Int(saved ?? IdentityKey.firstCounter) * 1_000_000
        isSettled = saved != nil
        instant = now
    }

    /// The wall clock shows this.
    ///
    /// - Parameters:
    ///   - unixMicroseconds: Since 1970.
    ///   - isTrusted: Whether somebody says that it is right.
    @discardableResult
    public mutating func synchronize(unixMicroseconds: Int, isTrusted: Bool, at now: HCIInstant) -> Correction {
        guard let epochUnixSeconds else { return .none }
        let (epoch, epochOverflow) = epochUnixSeconds.multipliedReportingOverflow(by: 1_000_000)
        let (since, overflow) = unixMicroseconds.subtractingReportingOverflow(epoch)
        guard !epochOverflow, !overflow, since < Self.limit, since > -Self.limit else { return .none }
        // Before its epoch a beacon stands at its start.
        let wanted = min(max(0, since) + Int(IdentityKey.firstCounter) * 1_000_000, Self.limit)
        let ahead = (microseconds(at: now) - wanted) / 1_000_000
        let isFar = abs(ahead) > Self.tolerance
        if isFar, !isTrusted, isSettled { return .doubted(ahead: ahead) }
        isSettled = true
        guard wanted > microseconds(at: now) || isFar else { return .none }
        microseconds = wanted
        instant = max(instant, now)
        return ahead > 0 ? .setBack(seconds: ahead) : .advanced
    }

    /// t in seconds. It stands still at 2³² − 1, after 136 years.
    public func counter(at now: HCIInstant) -> UInt32 {
        UInt32(clamping: microseconds(at: now) / 1_000_000)
    }

    /// t in microseconds.
    func microseconds(at now: HCIInstant) -> Int {
        let elapsed = max(0, now.microseconds(since: instant))
        return min(microseconds + min(elapsed, Self.limit), Self.limit)
    }

    /// When the counter shows so many microseconds.
    func instant(ofMicroseconds wanted: Int) -> HCIInstant {
        instant.advanced(byMicroseconds: wanted - microseconds)
    }
}
