public import BeaconFrames
public import BluetoothTypes

/// An advertisement of a profile. If an optional value is `nil`, the value of the whole profile applies.
public struct ProfileAdvertisement: Hashable, Sendable {
    public var content: Advertisement.Content
    /// The value of `intervalMs` in the file, in microseconds. With a ``pattern``, it equals ``interval``.
    public var requestedMicroseconds: Int
    /// The interval to send: ``requestedMicroseconds`` rounded to the nearest multiple of 0.625 ms, half a unit rounded
    /// up. With a ``pattern``, it is the constant interval that gives the same number of events.
    public var interval: AdvertisingInterval
    /// A repeating schedule of intervals; `nil` for a constant interval.
    public var pattern: AdvertisingPattern?
    public var measuredPower: MeasuredPower
    public var radioPower: RadioPower?
    public var address: ProfileAddress?
    public var channels: AdvertisingChannels?
    public var pdu: AdvertisingPDU?
    /// The physical layers of an extended advertisement; `nil` for legacy PDUs.
    public var phy: ExtendedPHY?

    /// - Parameters:
    ///   - requestedMicroseconds: The interval that the user wrote, in microseconds; `nil` if it equals `interval`.
    ///   - pattern: A repeating schedule of intervals. If it is not `nil`, its mean interval replaces `interval` and
    ///     `requestedMicroseconds`.
    public init(
        content: Advertisement.Content, interval: AdvertisingInterval, requestedMicroseconds: Int? = nil,
        pattern: AdvertisingPattern? = nil, measuredPower: MeasuredPower, radioPower: RadioPower? = nil,
        address: ProfileAddress? = nil,
        channels: AdvertisingChannels? = nil, pdu: AdvertisingPDU? = nil, phy: ExtendedPHY? = nil
    ) {
        self.content = content
        let interval = pattern?.meanInterval ?? interval
        self.requestedMicroseconds = (pattern == nil ? requestedMicroseconds : nil) ?? interval.microseconds
        self.interval = interval
        self.pattern = pattern
        self.measuredPower = measuredPower
        self.radioPower = radioPower
        self.address = address
        self.channels = channels
        self.pdu = pdu
        self.phy = phy
    }

    /// The source of the measured power byte.
    public enum MeasuredPower: Hashable, Sendable {
        /// The frame has no measured power.
        case none
        /// `"typical"`: ``BeaconProfile/typicalMeasuredPower``.
        case typical
        /// The value of `measuredPower1mDbm`, or of `measuredPowerDbm` in an iBeacon or AltBeacon.
        case atOneMeter(MeasuredPowerAtOneMeter)
        /// The value of `measuredPowerDbm` in an Eddystone frame.
        case atZeroMeters(MeasuredPowerAtZeroMeters)
        /// The measured power results from the profile's calibration.
        case calibrated
    }

    var kind: FrameKind { content.kind }

    /// The identity key that the advertisement needs; `nil` if it needs none.
    public var rotatingKey: Advertisement.RotatingKey? { content.rotatingKey }
}

extension FrameKind {
    /// `true` if `measuredPowerDbm` is the value at 0 m, not at 1 m.
    var isEddystone: Bool { rawValue.hasPrefix("eddystone-") }
}
