public import BeaconFrames
public import BluetoothTypes
public import Configuration

/// A beacon profile: what one box sends. The contents of one JSON file, checked and with all defaults filled in.
public struct BeaconProfile: Hashable, Sendable {
    /// The only version of the format so far.
    public static let version = 1
    /// What `"typical"` stands for: -59 dBm at 1 m, the middle of what vendors print on beacons that send at 0 dBm. A
    /// documented guess for trying things out; distances that listeners compute from it are as good as a guess.
    public static let typicalMeasuredPower = MeasuredPowerAtOneMeter(octet: UInt8(bitPattern: -59))

    /// `$schema`, kept for editors.
    public var schema: String?
    /// Letters, digits, `.`, `_` and `-`, at most 64: it names files and units.
    public var name: String
    /// As on the command line, such as `hci0`; `nil` takes the first that there is.
    public var adapter: String?
    public var address: ProfileAddress
    /// What the transmitter is asked for; `nil` leaves it as it is.
    public var radioPower: RadioPower?
    /// Measured power at 1 m by radio power.
    public var calibration: PowerCalibration?
    public var channels: AdvertisingChannels
    public var pdu: AdvertisingPDU
    /// When the beacon's counter for ephemeral ids was 65280.
    public var eidEpoch: RFC3339Time?
    /// At least one.
    public var advertisements: [ProfileAdvertisement]
    public var scanResponse: ScanResponse?

    public init(
        schema: String? = nil, name: String, adapter: String? = nil, address: ProfileAddress = .randomStatic,
        radioPower: RadioPower? = nil, calibration: PowerCalibration? = nil, channels: AdvertisingChannels = .all,
        pdu: AdvertisingPDU? = nil, eidEpoch: RFC3339Time? = nil, advertisements: [ProfileAdvertisement],
        scanResponse: ScanResponse? = nil
    ) {
        self.schema = schema
        self.name = name
        self.adapter = adapter
        self.address = address
        self.radioPower = radioPower
        self.calibration = calibration
        self.channels = channels
        self.pdu = pdu ?? (scanResponse == nil ? .nonconnectable : .scannable)
        self.eidEpoch = eidEpoch
        self.advertisements = advertisements
        self.scanResponse = scanResponse
    }

    /// Sent to scanners that ask.
    public struct ScanResponse: Hashable, Sendable {
        /// Sent as the complete local name, before the structures.
        public var localName: String?
        /// Whatever else; no flags (Core Specification Supplement, Part A 1.3).
        public var structures: [ADStructure]

        public init(localName: String? = nil, structures: [ADStructure] = []) {
            self.localName = localName
            self.structures = structures
        }

        /// - Throws: `AdvertisingDataError` over 31 octets.
        public func data() throws(AdvertisingDataError) -> AdvertisingData {
            try AdvertisingData((localName.map { [.completeLocalName($0)] } ?? []) + structures)
        }
    }
}

/// Which device address a profile asks for.
public enum ProfileAddress: Hashable, Sendable {
    /// The controller's own.
    case `public`
    /// A static random one that the box derives from its identity and the profile's name: always the same.
    case randomStatic
    /// This static random one.
    case explicit(DeviceAddress)
}
