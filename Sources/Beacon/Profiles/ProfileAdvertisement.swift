public import BeaconFrames
public import BluetoothTypes

/// One advertisement of a profile. What it does not override is the profile's.
public struct ProfileAdvertisement: Hashable, Sendable {
    public var content: Advertisement.Content
    /// `intervalMs` as it stands in the file, in microseconds.
    public var requestedMicroseconds: Int
    /// The nearest interval that a controller knows, half a unit rounded up.
    public var interval: AdvertisingInterval
    public var measuredPower: MeasuredPower
    public var radioPower: RadioPower?
    public var address: ProfileAddress?
    public var channels: AdvertisingChannels?
    public var pdu: AdvertisingPDU?

    /// - Parameter requestedMicroseconds: `nil` for those of the interval.
    public init(
        content: Advertisement.Content, interval: AdvertisingInterval, requestedMicroseconds: Int? = nil,
        measuredPower: MeasuredPower, radioPower: RadioPower? = nil, address: ProfileAddress? = nil,
        channels: AdvertisingChannels? = nil, pdu: AdvertisingPDU? = nil
    ) {
        self.content = content
        self.requestedMicroseconds = requestedMicroseconds ?? interval.microseconds
        self.interval = interval
        self.measuredPower = measuredPower
        self.radioPower = radioPower
        self.address = address
        self.channels = channels
        self.pdu = pdu
    }

    /// Where the measured power octet comes from.
    public enum MeasuredPower: Hashable, Sendable {
        /// The frame carries none.
        case none
        /// `"typical"`: ``BeaconProfile/typicalMeasuredPower``.
        case typical
        /// `measuredPower1mDbm`, and `measuredPowerDbm` of iBeacon and AltBeacon.
        case atOneMeter(MeasuredPowerAtOneMeter)
        /// `measuredPowerDbm` of the Eddystone frames.
        case atZeroMeters(MeasuredPowerAtZeroMeters)
        /// The profile's calibration.
        case calibrated
    }

    var kind: AdvertisementKind {
        switch content {
        case .iBeacon: .iBeacon
        case .altBeacon: .altBeacon
        case .eddystoneUID: .eddystoneUID
        case .eddystoneURL: .eddystoneURL
        case .eddystoneTLM: .eddystoneTLM
        case .eddystoneEID: .eddystoneEID
        case .btHome: .btHome
        case .raw: .raw
        }
    }

    /// The identity key that the advertisement needs, if any.
    public var rotatingKey: Advertisement.RotatingKey? {
        switch content {
        case .eddystoneEID(let key), .eddystoneTLM(_, encryption: .some(let key)): key
        default: nil
        }
    }
}

/// The value of `type`, and which keys it brings along.
enum AdvertisementKind: String, CaseIterable {
    case iBeacon = "ibeacon"
    case altBeacon = "altbeacon"
    case eddystoneUID = "eddystone-uid"
    case eddystoneURL = "eddystone-url"
    case eddystoneTLM = "eddystone-tlm"
    case eddystoneEID = "eddystone-eid"
    case btHome = "bthome"
    case raw = "raw"

    /// Whether `measuredPowerDbm` is at 0 m and not at 1 m.
    var isEddystone: Bool { rawValue.hasPrefix("eddystone-") }

    var hasMeasuredPower: Bool { self != .eddystoneTLM && self != .btHome && self != .raw }

    /// Every key that may stand in an advertisement of this type, in the order in which it is printed.
    var keys: [String] {
        var keys = ["type"] + ownKeys
        if hasMeasuredPower { keys += ["measuredPowerDbm", "measuredPower1mDbm"] }
        keys += ["intervalMs", "radioPowerDbm", "channels", "pdu"]
        // The address of an EID turns over with the id.
        if self != .eddystoneEID { keys.append("address") }
        return keys
    }

    /// The keys of the content.
    private var ownKeys: [String] {
        switch self {
        case .iBeacon: ["uuid", "major", "minor", "flags"]
        case .altBeacon: ["companyId", "id", "reserved", "flags"]
        case .eddystoneUID: ["namespace", "instance"]
        case .eddystoneURL: ["url"]
        case .eddystoneTLM: ["temperature", "battery", "encrypted", "identityKeyFile", "rotationExponent"]
        case .eddystoneEID: ["identityKeyFile", "rotationExponent"]
        case .btHome: ["temperature", "battery", "voltage", "advertisements", "uptime", "encryptionKeyFile"]
        case .raw: ["structures"]
        }
    }
}
