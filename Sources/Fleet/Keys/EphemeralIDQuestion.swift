public import BluetoothTypes
public import Configuration
public import EddystoneSecurity

/// Which beacon was it? An ephemeral id, when it was heard, and how far a beacon's clock may be off by then.
///
/// A beacon counts seconds from 65280 at its epoch on (eid-computation.md); what it sends turns over with its counter
/// every 2^K seconds.
public struct EphemeralIDQuestion: Hashable, Sendable {
    public let id: FixedOctets<8>
    public let time: RFC3339Time
    /// `nil` asks for the window that the time falls into and for one more on each side.
    public let driftSeconds: Int?

    /// - Parameter driftSeconds: Negative ones count as 0.
    public init(_ id: FixedOctets<8>, at time: RFC3339Time, driftSeconds: Int? = nil) {
        self.id = id
        self.time = time
        self.driftSeconds = driftSeconds.map { max(0, $0) }
    }

    /// When a beacon sent the id.
    public struct Answer: Hashable, Sendable {
        /// The beacon's counter at the start of the window.
        public let counter: UInt32
        public let exponent: RotationExponent
        /// The window by the wall clock, if the beacon's clock were right.
        public let from: RFC3339Time
        public let to: RFC3339Time
    }

    /// `nil` where the beacon with this key does not send the id at that time; also where it has no epoch.
    public func answer(
        _ rotation: BeaconRotation, key: IdentityKey
    ) throws(EddystoneSecurityError) -> Answer? {
        guard let epoch = rotation.epoch else { return nil }
        return try answer(key, epoch: epoch, exponents: rotation.exponents)
    }

    /// The same for a key of a ring.
    public func answer(_ entry: KeyRingReader.Entry) throws(EddystoneSecurityError) -> Answer? {
        try answer(entry.key, epoch: entry.epoch, exponents: entry.exponents)
    }

    private func answer(
        _ key: IdentityKey, epoch: RFC3339Time, exponents: [RotationExponent]
    ) throws(EddystoneSecurityError) -> Answer? {
        for exponent in exponents {
            guard let seconds = counters(since: epoch, exponent),
                let counter = try key.turnOver(to: id, in: seconds, exponent: exponent)
            else { continue }
            let from = epoch.secondsSince1970 + Int(counter) - Int(IdentityKey.firstCounter)
            return Answer(
                counter: counter, exponent: exponent, from: RFC3339Time(secondsSince1970: from),
                to: RFC3339Time(secondsSince1970: from + Int(exponent.periodSeconds)))
        }
        return nil
    }

    /// The counters that a beacon may have had; `nil` before and after all that there are.
    private func counters(since epoch: RFC3339Time, _ exponent: RotationExponent) -> ClosedRange<UInt32>? {
        let now = time.secondsSince1970 - epoch.secondsSince1970 + Int(IdentityKey.firstCounter)
        let period = Int(exponent.periodSeconds)
        let (earliest, latest): (Int, Int)
        if let driftSeconds {
            // More than any counter can be off, and far from overflow.
            let drift = min(driftSeconds, Int(UInt32.max))
            (earliest, latest) = (now - drift, now + drift)
        } else {
            let start = now - ((now % period) + period) % period
            (earliest, latest) = (start - period, start + 2 * period - 1)
        }
        guard latest >= 0, earliest <= Int(UInt32.max) else { return nil }
        return UInt32(max(0, earliest))...UInt32(min(latest, Int(UInt32.max)))
    }
}
