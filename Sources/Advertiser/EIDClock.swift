public import EddystoneSecurity
public import HCI

/// The beacon's own seconds counter t, from which ephemeral ids and the nonces of encrypted telemetry are made.
///
/// It never goes backwards, whatever the wall clock does: t = max(saved + elapsed, 65280 + wall clock − epoch), the
/// latter only from the moment on when somebody knows that the wall clock is right.
/// A value: what of it must survive a restart is ``counter(at:)``, handed back as `saved`.
public struct EIDClock: Hashable, Sendable {
    /// The instant at which the counter was 65280, in seconds since 1970 (UTC); `nil` where nobody knows.
    public let epochUnixSeconds: Int?
    /// What the counter was, in microseconds, and when.
    private var microseconds: Int
    private var instant: HCIInstant

    private static let limit = Int(UInt32.max) * 1_000_000

    /// - Parameter saved: the counter that was saved last; a new beacon starts at 65280.
    public init(epochUnixSeconds: Int? = nil, saved: UInt32 = IdentityKey.firstCounter, at now: HCIInstant) {
        self.epochUnixSeconds = epochUnixSeconds
        microseconds = Int(saved) * 1_000_000
        instant = now
    }

    /// The wall clock is right and shows this: the counter advances to where it should be, and is never put back.
    ///
    /// - Returns: whether it was advanced. Without an epoch it never is.
    @discardableResult
    public mutating func synchronize(unixMicroseconds: Int, at now: HCIInstant) -> Bool {
        guard let epochUnixSeconds else { return false }
        let (epoch, epochOverflow) = epochUnixSeconds.multipliedReportingOverflow(by: 1_000_000)
        let (since, overflow) = unixMicroseconds.subtractingReportingOverflow(epoch)
        guard !epochOverflow, !overflow, since < Self.limit else { return false }
        let wanted = since + Int(IdentityKey.firstCounter) * 1_000_000
        guard wanted > microseconds(at: now) else { return false }
        microseconds = min(wanted, Self.limit)
        instant = max(instant, now)
        return true
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
