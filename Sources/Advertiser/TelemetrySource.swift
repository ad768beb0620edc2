public import BeaconFrames

/// The box's sensors, as far as Eddystone-TLM tells of them. Asked once a second at most.
///
/// The names are those of the profile; `auto` leaves the choice to the source. What is not known is `nil`, and sent as
/// unknown.
public protocol TelemetrySource: AnyObject {
    /// In millivolts.
    func batteryMillivolts(_ sensor: String) -> UInt16?
    func temperature(_ sensor: String) -> FixedPointTemperature?
}

/// What Eddystone-TLM counts since power-on.
public struct TelemetryCounters: Hashable, Sendable {
    /// ADV_CNT: advertising events of every frame.
    public var advertisements: UInt32
    /// SEC_CNT, in 0.1 s.
    public var uptimeDeciseconds: UInt32

    /// Counts advertising events, and tenths of a second, since power-on.
    public init(advertisements: UInt32 = 0, uptimeDeciseconds: UInt32 = 0) {
        self.advertisements = advertisements
        self.uptimeDeciseconds = uptimeDeciseconds
    }

    /// Later by so much; both wrap round together with their octets.
    func advanced(byEvents events: UInt64, microseconds: Int) -> TelemetryCounters {
        TelemetryCounters(
            advertisements: advertisements &+ UInt32(truncatingIfNeeded: events),
            uptimeDeciseconds: uptimeDeciseconds &+ UInt32(truncatingIfNeeded: microseconds / 100_000))
    }
}
