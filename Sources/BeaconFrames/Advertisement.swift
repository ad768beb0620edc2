public import BluetoothTypes

/// What is wanted on the air: the one value that configurations produce and the advertiser consumes.
///
/// Nothing here depends on a controller. What cannot be known before one has been asked (the measured power for the
/// radio power that was granted) is kept as a rule, not as a number.
public struct Advertisement: Hashable, Sendable {
    /// What the payload says.
    public var content: Content
    public var interval: AdvertisingInterval
    /// What the transmitter is asked for; `nil` leaves it as it is.
    public var radioPower: RadioPower?
    public var measuredPower: MeasuredPowerRule
    public var address: AddressRule
    public var channels: AdvertisingChannels
    public var pdu: AdvertisingPDU
    /// Sent to scanners that ask; empty for none. Never beside an EID.
    public var scanResponse: AdvertisingData

    public init(
        content: Content, interval: AdvertisingInterval, radioPower: RadioPower? = nil,
        measuredPower: MeasuredPowerRule, address: AddressRule, channels: AdvertisingChannels = .all,
        pdu: AdvertisingPDU = .nonconnectable, scanResponse: AdvertisingData = AdvertisingData(octets: [])
    ) {
        self.content = content
        self.interval = interval
        self.radioPower = radioPower
        self.measuredPower = measuredPower
        self.address = address
        self.channels = channels
        self.pdu = pdu
        self.scanResponse = scanResponse
    }

    /// A frame, or what it is made from while it is on the air.
    public enum Content: Hashable, Sendable {
        case iBeacon(uuid: FixedOctets<16>, major: UInt16, minor: UInt16, flags: ADFlags?)
        case altBeacon(companyID: UInt16, beaconID: FixedOctets<20>, reserved: UInt8, flags: ADFlags?)
        case eddystoneUID(namespace: FixedOctets<10>, instance: FixedOctets<6>)
        case eddystoneURL(CompressedURL)
        case eddystoneTLM(TelemetrySource, encryption: RotatingKey?)
        case eddystoneEID(RotatingKey)
        /// Fixed octets of any layout.
        case raw(AdvertisingData)
    }

    /// Where telemetry comes from. Fixed values hold for tests and for `advertise tlm`; sensors are read by name.
    public struct TelemetrySource: Hashable, Sendable {
        public var battery: Reading<UInt16>
        public var temperature: Reading<FixedPointTemperature>

        public enum Reading<Value: Hashable & Sendable>: Hashable, Sendable {
            case unknown
            case fixed(Value)
            /// A sensor's name, or `auto`.
            case sensor(String)
        }

        public init(battery: Reading<UInt16>, temperature: Reading<FixedPointTemperature>) {
            self.battery = battery
            self.temperature = temperature
        }
    }

    /// An identity key that stays in its file until it is needed, and how often what it makes turns over.
    public struct RotatingKey: Hashable, Sendable {
        /// The key's file as the profile names it; `nil` for a key that is handed over beside the advertisement.
        public var identityKeyFile: String?
        /// K, 0...15: turns over every 2^K seconds.
        public var rotationExponent: UInt8

        public init(identityKeyFile: String?, rotationExponent: UInt8) {
            self.identityKeyFile = identityKeyFile
            self.rotationExponent = rotationExponent
        }
    }

    /// Which device address the advertisement is sent from.
    public enum AddressRule: Hashable, Sendable {
        /// The controller's own.
        case `public`
        /// A static random address.
        case staticRandom(DeviceAddress)
    }
}
