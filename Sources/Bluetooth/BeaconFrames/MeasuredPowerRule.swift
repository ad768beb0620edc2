public import BluetoothTypes

/// The source of an advertisement's measured power byte.
public enum MeasuredPowerRule: Hashable, Sendable {
    /// The frame contains no measured power (TLM, raw layouts).
    case none
    /// The power that the user measured at 1 m. iBeacon and AltBeacon frames contain this value. Eddystone frames
    /// contain a value that is 41 dB higher.
    case atOneMeter(MeasuredPowerAtOneMeter)
    /// The power at 0 m. Eddystone frames contain this value. iBeacon and AltBeacon frames contain a value that is 41
    /// dB lower.
    case atZeroMeters(MeasuredPowerAtZeroMeters)
    /// A calibration, which gives the measured power for the radio power that the controller uses.
    case calibrated(PowerCalibration)
}

/// The measured power at 1 m for several radio powers of one kind of device.
public struct PowerCalibration: Hashable, Sendable {
    /// The measurements, sorted by radio power.
    public let points: [Point]
    /// The measured power to use if the radio power is not known; `nil` if there is none.
    public let fallback: MeasuredPowerAtOneMeter?
    /// The receiver with which the powers were measured; `nil` if not known. Another receiver would measure other
    /// values.
    public var receiver: String?

    /// One measurement: the signal strength at 1 m of a device that sends with this radio power.
    public struct Point: Hashable, Sendable {
        /// The radio power in dBm.
        public var radioPower: RadioPower
        /// The received signal strength in dBm.
        public var measuredPower: MeasuredPowerAtOneMeter

        /// A measurement. Both powers are in dBm.
        public init(radioPower: RadioPower, measuredPower: MeasuredPowerAtOneMeter) {
            self.radioPower = radioPower
            self.measuredPower = measuredPower
        }
    }

    /// A calibration from points in any order. If several points have the same radio power, only the first is used.
    public init(points: [Point], fallback: MeasuredPowerAtOneMeter?, receiver: String? = nil) {
        self.receiver = receiver
        self.points = points.sorted { $0.radioPower < $1.radioPower }
        self.fallback = fallback
    }
}

extension MeasuredPowerRule {
    /// Returns the measured power in iBeacon and AltBeacon frames, which is the power at 1 m.
    ///
    /// - Parameter radioPower: The power that the controller granted or reported; `nil` if not known.
    /// - Throws: ``MeasuredPowerError`` if the rule gives no power, or a power that is out of range.
    public func atOneMeter(radioPower: RadioPower?) throws(MeasuredPowerError) -> MeasuredPowerAtOneMeter {
        switch self {
        case .none: throw .notGiven
        case .atOneMeter(let power): return power
        case .atZeroMeters(let power):
            do throws(ValueOutOfRange) { return try power.atOneMeter() } catch { throw .outOfRange(error) }
        case .calibrated(let calibration): return try calibration.measuredPower(for: radioPower)
        }
    }

    /// Returns the measured power in Eddystone frames, which is 41 dB higher than the power at 1 m.
    ///
    /// - Parameter radioPower: The power that the controller granted or reported; `nil` if not known.
    /// - Throws: ``MeasuredPowerError`` if the rule gives no power, or a power that is out of range.
    public func atZeroMeters(radioPower: RadioPower?) throws(MeasuredPowerError) -> MeasuredPowerAtZeroMeters {
        if case .atZeroMeters(let power) = self { return power }
        let power = try atOneMeter(radioPower: radioPower)
        do throws(ValueOutOfRange) { return try power.atZeroMeters() } catch { throw .outOfRange(error) }
    }
}

extension PowerCalibration {
    /// Returns the measured power at 1 m for a radio power: the power of the point with this radio power, or a linear
    /// interpolation between the two nearest points, rounded to the nearest dBm (half up).
    ///
    /// - Parameter radioPower: The power that the controller granted or reported. The result is the fallback if this
    ///   power is `nil` or no preference, or if the calibration has no points.
    /// - Throws: ``MeasuredPowerError`` if the radio power is below or above all points, or if a fallback is needed and
    ///   missing.
    public func measuredPower(for radioPower: RadioPower?) throws(MeasuredPowerError) -> MeasuredPowerAtOneMeter {
        guard let radioPower, radioPower != .noPreference, let lowest = points.first, let highest = points.last else {
            guard let fallback else { throw .noFallback }
            return fallback
        }
        if let point = points.first(where: { $0.radioPower == radioPower }) { return point.measuredPower }
        guard let upperIndex = points.firstIndex(where: { $0.radioPower > radioPower }), upperIndex > 0 else {
            throw .outsideCalibration(radioPower, lowest: lowest.radioPower, highest: highest.radioPower)
        }
        return try Self.interpolated(between: points[upperIndex - 1], and: points[upperIndex], at: radioPower)
    }

    private static func interpolated(
        between low: Point, and high: Point, at radioPower: RadioPower
    ) throws(MeasuredPowerError) -> MeasuredPowerAtOneMeter {
        let width = Int(high.radioPower.dBm) - Int(low.radioPower.dBm)
        let step = Int(radioPower.dBm) - Int(low.radioPower.dBm)
        let rise = Int(high.measuredPower.dBm) - Int(low.measuredPower.dBm)
        let doubled = 2 * rise * step + width
        let divisor = 2 * width
        let quotient = doubled / divisor
        let rounded = doubled % divisor < 0 ? quotient - 1 : quotient
        do throws(ValueOutOfRange) {
            return try MeasuredPowerAtOneMeter(dBm: Int(low.measuredPower.dBm) + rounded)
        } catch {
            throw .outOfRange(error)
        }
    }
}

/// The reason why the measured power of an advertisement cannot be determined.
public enum MeasuredPowerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The frame needs a measured power, and none is given.
    case notGiven
    /// The radio power is not known or the calibration has no points, and the calibration has no fallback.
    case noFallback
    /// The radio power is below or above all calibrated radio powers.
    case outsideCalibration(RadioPower, lowest: RadioPower, highest: RadioPower)
    /// The measured power is outside the range that the frame can send.
    case outOfRange(ValueOutOfRange)

    public var description: String {
        switch self {
        case .notGiven:
            "no measured power is given: measure the signal strength at 1 m, and give it as the measured power or in "
                + "a calibration"
        case .noFallback:
            "the controller does not report its radio power, and the calibration has no \"default\" for this case: "
                + "measure the signal strength at 1 m, and add it as \"default\""
        case .outsideCalibration(let power, let lowest, let highest):
            "the radio power of \(power) is outside the calibrated range \(lowest)...\(highest): measure the signal "
                + "strength at 1 m with this power, and add it to the calibration"
        case .outOfRange(let error): error.description
        }
    }
}
