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

    /// Nothing is checked; `decode` reads and checks a file.
    ///
    /// - Parameter pdu: `nil` for scannable where there is a scan response, else nonconnectable.
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

        /// Nothing is checked; ``data()`` says whether it fits.
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

extension BeaconProfile {
    /// What is wanted on the air.
    ///
    /// An EID, and encrypted telemetry with the same identity key, begin at the static random address; whoever sends
    /// them turns it over with the id.
    ///
    /// - Parameter staticAddress: Gives the box's static random address for a profile's name: 46 bits of SHA-256 of
    ///   the machine's id and the name.
    /// - Throws: `AdvertisingDataError` for a scan response over 31 octets, which no decoded profile has.
    public func advertisements(
        staticAddress: (_ profileName: String) -> DeviceAddress
    ) throws(AdvertisingDataError) -> [Advertisement] {
        let response = try scanResponse?.data() ?? AdvertisingData(octets: [])
        let ownAddress = staticAddress(name)
        let keysOfEIDs = Set(advertisements.filter { $0.kind == .eddystoneEID }.compactMap(\.rotatingKey))
        return advertisements.map { advertisement in
            let turnsOver = advertisement.rotatingKey.map(keysOfEIDs.contains) ?? false
            let pdu = advertisement.pdu ?? pdu
            let answers = pdu != .nonconnectable && !turnsOver
            let address: Advertisement.AddressRule
            switch turnsOver ? .randomStatic : advertisement.address ?? self.address {
            case .public: address = .public
            case .randomStatic: address = .staticRandom(ownAddress)
            case .explicit(let explicit): address = .staticRandom(explicit)
            }
            return Advertisement(
                content: advertisement.content, interval: advertisement.interval,
                radioPower: advertisement.radioPower ?? radioPower, measuredPower: rule(for: advertisement),
                address: address, channels: advertisement.channels ?? channels, pdu: pdu,
                scanResponse: answers ? response : AdvertisingData(octets: []))
        }
    }

    private func rule(for advertisement: ProfileAdvertisement) -> MeasuredPowerRule {
        switch advertisement.measuredPower {
        case .none: .none
        case .typical: .atOneMeter(Self.typicalMeasuredPower)
        case .atOneMeter(let power): .atOneMeter(power)
        case .atZeroMeters(let power): .atZeroMeters(power)
        case .calibrated: .calibrated(calibration ?? PowerCalibration(points: [], fallback: nil))
        }
    }
}
