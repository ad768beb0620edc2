public import BeaconFrames
public import BluetoothTypes
public import Configuration

/// A beacon profile: the advertisements that one machine sends. It contains the values of one JSON file, checked and
/// with all defaults.
public struct BeaconProfile: Hashable, Sendable {
    /// The only version of the format so far.
    public static let version = 1
    /// The measured power that `"typical"` stands for: -59 dBm at 1 m. It is the middle of the values that vendors
    /// state for beacons with a radio power of 0 dBm. It is only a guess, so distances that receivers compute from it
    /// are guesses too.
    public static let typicalMeasuredPower = MeasuredPowerAtOneMeter(octet: UInt8(bitPattern: -59))

    /// The value of the key `$schema`. Pharos ignores it; editors use it to find the schema.
    public var schema: String?
    /// The name of the beacon, of its files and of its systemd unit: at most 64 letters, digits, `.`, `_` and `-`.
    public var name: String
    /// The adapter in the form of the option `--adapter`, such as `hci0`; `nil` for the first adapter.
    public var adapter: String?
    public var address: ProfileAddress
    /// The requested transmit power; `nil` if no power is requested.
    public var radioPower: RadioPower?
    /// The measured power at 1 m for each radio power.
    public var calibration: PowerCalibration?
    public var channels: AdvertisingChannels
    public var pdu: AdvertisingPDU
    /// The time at which the beacon's counter for ephemeral ids was 65280.
    public var eidEpoch: RFC3339Time?
    /// The advertisements, at least one.
    public var advertisements: [ProfileAdvertisement]
    public var scanResponse: ScanResponse?

    /// Creates a profile without checking its values; `decode` reads and checks a file.
    ///
    /// - Parameter pdu: The type of the PDUs. `nil` means scannable if there is a scan response, and nonconnectable if
    ///   there is none.
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

    /// The scan response: data that a scanner receives only if it sends a scan request.
    public struct ScanResponse: Hashable, Sendable {
        /// The complete local name. It is sent before ``structures``.
        public var localName: String?
        /// All other structures. Flags are not allowed (Core Specification Supplement, Part A 1.3).
        public var structures: [ADStructure]

        /// Creates a scan response without checking its values; ``data()`` throws if the data is too long.
        public init(localName: String? = nil, structures: [ADStructure] = []) {
            self.localName = localName
            self.structures = structures
        }

        /// The bytes of the scan response.
        ///
        /// - Throws: `AdvertisingDataError` for more than 31 bytes.
        public func data() throws(AdvertisingDataError) -> AdvertisingData {
            try AdvertisingData((localName.map { [.completeLocalName($0)] } ?? []) + structures)
        }
    }
}

/// The device address that a profile requests.
public enum ProfileAddress: Hashable, Sendable {
    /// The controller's public address.
    case `public`
    /// A static random address that is derived from the machine's id and the profile's name, so it never changes.
    case randomStatic
    /// A static random address that the profile states.
    case explicit(DeviceAddress)
}

extension BeaconProfile {
    /// Returns the advertisements that the machine should send.
    ///
    /// An Eddystone-EID starts with the static random address, and so does encrypted telemetry with the same identity
    /// key. Each time the ephemeral id changes, the advertiser changes their address too.
    ///
    /// - Parameter staticAddress: Returns the static random address of this machine for a profile's name: 46 bits of
    ///   the SHA-256 of the machine id and the name.
    /// - Throws: `AdvertisingDataError` for a scan response of more than 31 bytes, which no decoded profile has.
    public func advertisements(
        staticAddress: (_ profileName: String) -> DeviceAddress
    ) throws(AdvertisingDataError) -> [Advertisement] {
        let response = try scanResponse?.data() ?? AdvertisingData(octets: [])
        let randomStaticAddress = staticAddress(name)
        let keysOfEIDs = Set(advertisements.filter { $0.kind == .eddystoneEID }.compactMap(\.rotatingKey))
        return advertisements.map { advertisement in
            let hasRotatingAddress = advertisement.rotatingKey.map(keysOfEIDs.contains) ?? false
            let pdu = advertisement.pdu ?? pdu
            let sendsScanResponse = pdu != .nonconnectable && !hasRotatingAddress && advertisement.phy == nil
            let address: Advertisement.AddressRule
            switch hasRotatingAddress ? .randomStatic : advertisement.address ?? self.address {
            case .public: address = .public
            case .randomStatic: address = .staticRandom(randomStaticAddress)
            case .explicit(let explicit): address = .staticRandom(explicit)
            }
            return Advertisement(
                content: advertisement.content, interval: advertisement.interval, pattern: advertisement.pattern,
                radioPower: advertisement.radioPower ?? radioPower,
                measuredPower: measuredPowerRule(for: advertisement), address: address,
                channels: advertisement.channels ?? channels, pdu: pdu, phy: advertisement.phy,
                scanResponse: sendsScanResponse ? response : AdvertisingData(octets: []))
        }
    }

    private func measuredPowerRule(for advertisement: ProfileAdvertisement) -> MeasuredPowerRule {
        switch advertisement.measuredPower {
        case .none: .none
        case .typical: .atOneMeter(Self.typicalMeasuredPower)
        case .atOneMeter(let power): .atOneMeter(power)
        case .atZeroMeters(let power): .atZeroMeters(power)
        case .calibrated: .calibrated(calibration ?? PowerCalibration(points: [], fallback: nil))
        }
    }
}

extension BeaconProfile {
    /// The profile as JSON with all defaults. Decoding this JSON gives an equal profile.
    public var json: JSONValue {
        var members: [JSONValue.Member] = []
        func add(_ key: String, _ value: JSONValue?) {
            if let value { members.append(.init(key, value)) }
        }
        add("$schema", schema.map { .string($0) })
        add("version", .integer(Self.version))
        add("name", .string(name))
        add("adapter", adapter.map { .string($0) })
        add("address", address.json)
        add("radioPowerDbm", radioPower.map { .integer($0.dBm) })
        add("channels", channels.json)
        add("pdu", .string(pdu.rawValue))
        add("calibration", calibration?.json)
        add("eidEpoch", eidEpoch.map { .string($0.description) })
        add("advertisements", .array(advertisements.map(\.json)))
        add("scanResponse", scanResponse?.json)
        return .object(members)
    }
}

extension BeaconProfile.ScanResponse {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = []
        if let localName { members.append(.init("localName", .string(localName))) }
        if !structures.isEmpty { members.append(.init("structures", .array(structures.map(\.json)))) }
        return .object(members)
    }
}

extension ProfileAddress {
    var json: JSONValue {
        switch self {
        case .public: "public"
        case .randomStatic: "random-static"
        case .explicit(let address): .string(address.description)
        }
    }
}

extension AdvertisingChannels {
    var json: JSONValue { .array(numbers.map { .integer($0) }) }
}

extension PowerCalibration {
    fileprivate var json: JSONValue {
        var members = points.map { JSONValue.Member(String($0.radioPower.dBm), .integer($0.measuredPower.dBm)) }
        if let fallback { members.append(.init("default", .integer(fallback.dBm))) }
        if let receiver { members.append(.init("receiver", .string(receiver))) }
        return .object(members)
    }
}

extension ProfileAdvertisement {
    fileprivate var json: JSONValue {
        var values = contentValues
        values["type"] = .string(kind.rawValue)
        switch measuredPower {
        case .none, .calibrated: break
        case .typical: values["measuredPowerDbm"] = "typical"
        case .atOneMeter(let power):
            values[kind.isEddystone ? "measuredPower1mDbm" : "measuredPowerDbm"] = .integer(power.dBm)
        case .atZeroMeters(let power): values["measuredPowerDbm"] = .integer(power.dBm)
        }
        if let pattern {
            values["pattern"] = pattern.json
        } else {
            values["intervalMs"] = .thousandths(requestedMicroseconds)
        }
        values["radioPowerDbm"] = radioPower.map { .integer($0.dBm) }
        values["channels"] = channels?.json
        values["pdu"] = pdu.map { .string($0.rawValue) }
        values["phy"] = phy.map { .string($0.rawValue) }
        values["address"] = address?.json
        return .object(AdvertisementFormat.keys(of: kind).compactMap { key in values[key].map { .init(key, $0) } })
    }

    /// The values of the frame.
    private var contentValues: [String: JSONValue] {
        switch content {
        case .iBeacon(let uuid, let major, let minor, let flags):
            return [
                "uuid": .string(uuid.uuidText), "major": .integer(major), "minor": .integer(minor), "flags": flags.json,
            ]
        case .altBeacon(let companyID, let beaconID, let reserved, let flags):
            return [
                "companyId": .string(Hexadecimal.number(companyID, width: 4)),
                "id": .string(beaconID.description), "reserved": .integer(reserved), "flags": flags.json,
            ]
        case .eddystoneUID(let namespace, let instance):
            return ["namespace": .string(namespace.description), "instance": .string(instance.description)]
        case .eddystoneURL(let url): return ["url": .string(url.text)]
        case .eddystoneTLM(let source, let encryption):
            let values: [String: JSONValue] = [
                "temperature": source.temperature.json, "battery": source.battery.json,
                "encrypted": .boolean(encryption != nil),
            ]
            return values.merging(encryption?.values ?? [:]) { $1 }
        case .eddystoneEID(let key): return key.values
        case .btHome(let source):
            func name(_ sensor: String?) -> JSONValue { sensor.map { .string($0) } ?? .null }
            var values: [String: JSONValue] = [
                "temperature": name(source.temperature), "battery": name(source.battery),
                "voltage": name(source.voltage), "advertisements": .boolean(source.countsAdvertisements),
                "uptime": .boolean(source.countsUptime),
            ]
            values["values"] = BTHomeValues(objects: source.objects, measurements: source.measurements).json
            values["encryptionKeyFile"] = source.keyFile.map { .string($0) }
            return values
        case .raw(let data): return ["structures": .array(data.structures.map(\.json))]
        }
    }
}

extension ADFlags? {
    fileprivate var json: JSONValue { map { .string(Hexadecimal.number($0.rawValue, width: 2)) } ?? .null }
}

extension Advertisement.RotatingKey {
    fileprivate var values: [String: JSONValue] {
        var values: [String: JSONValue] = ["rotationExponent": .integer(rotationExponent)]
        values["identityKeyFile"] = identityKeyFile.map { .string($0) }
        return values
    }
}

extension Advertisement.TelemetrySource.Reading {
    /// The sensor's name; `null` for fixed values, which the telemetry of profiles cannot have.
    fileprivate var json: JSONValue {
        switch self {
        case .sensor(let name): .string(name)
        case .unknown, .fixed: .null
        }
    }
}
