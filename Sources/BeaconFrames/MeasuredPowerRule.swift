public import BluetoothTypes

/// How an advertisement comes by its measured power octet.
public enum MeasuredPowerRule: Hashable, Sendable {
    /// The frame carries none (TLM, raw layouts).
    case none
    /// Measured at 1 m by the user; Eddystone frames send 41 dB more.
    case atOneMeter(MeasuredPowerAtOneMeter)
    /// Eddystone's own octet.
    case atZeroMeters(MeasuredPowerAtZeroMeters)
    /// Looked up by the radio power that the controller granted.
    case calibrated(PowerCalibration)
}

/// Measured power at 1 m by radio power: what somebody measured once for a kind of box.
public struct PowerCalibration: Hashable, Sendable {
    /// Sorted by radio power, each radio power once.
    public let points: [Point]
    /// Used where the granted power is not known.
    public let fallback: MeasuredPowerAtOneMeter?

    public struct Point: Hashable, Sendable {
        public var radioPower: RadioPower
        public var measuredPower: MeasuredPowerAtOneMeter

        public init(radioPower: RadioPower, measuredPower: MeasuredPowerAtOneMeter) {
            self.radioPower = radioPower
            self.measuredPower = measuredPower
        }
    }

    public init(points: [Point], fallback: MeasuredPowerAtOneMeter?) {
        self.points = points.sorted { $0.radioPower < $1.radioPower }
        self.fallback = fallback
    }
}
