public import BluetoothTypes

/// An advertisement that should be on the air. A profile or the options of a command describe it, and the advertiser
/// sends it.
///
/// The value does not depend on a controller. The measured power depends on the radio power that the controller uses,
/// so ``measuredPower`` is a rule that gives the number later.
public struct Advertisement: Hashable, Sendable {
    /// The frame to send, without its measured power.
    public var content: Content
    /// The time between the starts of two advertising events, without the random advDelay. With a ``pattern``, this is
    /// the constant interval that gives the same mean number of events per second.
    public var interval: AdvertisingInterval
    /// A repeating schedule of intervals; `nil` for a constant interval.
    public var pattern: AdvertisingPattern?
    /// The requested transmit power; `nil` if the controller chooses the power.
    public var radioPower: RadioPower?
    /// The source of the frame's measured power byte; ``MeasuredPowerRule/none`` for content without this byte.
    public var measuredPower: MeasuredPowerRule
    public var address: AddressRule
    /// The primary advertising channels that each event uses.
    public var channels: AdvertisingChannels
    /// The type of the PDU. Most beacons are non-connectable.
    public var pdu: AdvertisingPDU
    /// The physical layers of an extended advertisement; `nil` for an advertisement in legacy PDUs, which every phone
    /// receives.
    public var phy: ExtendedPHY?
    /// The data of the answer to a scan request; empty if there is no scan response. It must be empty for an
    /// Eddystone-EID.
    public var scanResponse: AdvertisingData

    /// An advertisement with these values, which are not checked here. ``payload(_:)`` refuses values that the frame's
    /// specification forbids. The advertiser refuses values that the controller does not support.
    ///
    /// - Parameter pattern: The schedule of intervals. If it is not `nil`, its mean interval replaces `interval`.
    public init(
        content: Content, interval: AdvertisingInterval, pattern: AdvertisingPattern? = nil,
        radioPower: RadioPower? = nil, measuredPower: MeasuredPowerRule, address: AddressRule,
        channels: AdvertisingChannels = .all, pdu: AdvertisingPDU = .nonconnectable, phy: ExtendedPHY? = nil,
        scanResponse: AdvertisingData = AdvertisingData(octets: [])
    ) {
        self.content = content
        self.interval = pattern?.meanInterval ?? interval
        self.pattern = pattern
        self.radioPower = radioPower
        self.measuredPower = measuredPower
        self.address = address
        self.channels = channels
        self.pdu = pdu
        self.phy = phy
        self.scanResponse = scanResponse
    }

    /// A frame, or the source of a frame that changes over time, such as telemetry or an ephemeral id.
    public enum Content: Hashable, Sendable {
        case iBeacon(uuid: FixedOctets<16>, major: UInt16, minor: UInt16, flags: ADFlags?)
        case altBeacon(companyID: UInt16, beaconID: FixedOctets<20>, reserved: UInt8, flags: ADFlags?)
        case eddystoneUID(namespace: FixedOctets<10>, instance: FixedOctets<6>)
        case eddystoneURL(CompressedURL)
        case eddystoneTLM(TelemetrySource, encryption: RotatingKey?)
        case eddystoneEID(RotatingKey)
        case btHome(BTHomeSource)
        /// Fixed bytes of any layout.
        case raw(AdvertisingData)
    }

    /// The source of each telemetry value: a fixed value (for tests and `advertise tlm`), or a sensor.
    public struct TelemetrySource: Hashable, Sendable {
        /// The battery voltage in millivolts.
        public var battery: Reading<UInt16>
        /// The temperature in 1/256 °C.
        public var temperature: Reading<FixedPointTemperature>

        /// The source of one telemetry value.
        public enum Reading<Value: Hashable & Sendable>: Hashable, Sendable {
            case unknown
            case fixed(Value)
            /// The value of the sensor with this name, or of the sensor that `auto` selects.
            case sensor(String)
        }

        /// Telemetry with the battery in millivolts and the temperature in 1/256 °C.
        public init(battery: Reading<UInt16>, temperature: Reading<FixedPointTemperature>) {
            self.battery = battery
            self.temperature = temperature
        }
    }

    /// The file of an identity key, and the key's rotation exponent. This value does not contain the key.
    public struct RotatingKey: Hashable, Sendable {
        /// The path of the key's file as written in the profile; `nil` if the key is passed separately.
        public var identityKeyFile: String?
        /// The rotation exponent K, 0...15: the ephemeral id or the nonce changes every 2^K seconds.
        public var rotationExponent: UInt8

        /// A key with its file and its rotation exponent K, 0...15. No value is checked here.
        public init(identityKeyFile: String?, rotationExponent: UInt8) {
            self.identityKeyFile = identityKeyFile
            self.rotationExponent = rotationExponent
        }
    }

    /// The device address of the advertisement.
    public enum AddressRule: Hashable, Sendable {
        /// The controller's public address.
        case `public`
        /// A static random address.
        case staticRandom(DeviceAddress)
        /// Any random address, such as the resolvable private address of a phone, sent unchanged.
        case random(DeviceAddress)
    }
}

/// The type of an advertisement, with its name in profiles, manifests and `--json`.
public enum FrameKind: String, Hashable, Sendable, CaseIterable {
    case iBeacon = "ibeacon"
    case altBeacon = "altbeacon"
    case eddystoneUID = "eddystone-uid"
    case eddystoneURL = "eddystone-url"
    case eddystoneTLM = "eddystone-tlm"
    case eddystoneEID = "eddystone-eid"
    case btHome = "bthome"
    /// Any AD structures.
    case raw
}

extension Advertisement.Content {
    /// The type of the frame.
    public var kind: FrameKind {
        switch self {
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

    /// The name of the type in profiles and in `--json`.
    public var typeName: String { kind.rawValue }

    /// The identity key that the payload needs; `nil` if it needs none.
    public var rotatingKey: Advertisement.RotatingKey? {
        switch self {
        case .eddystoneEID(let key): key
        case .eddystoneTLM(_, let encryption): encryption
        case .iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL, .btHome, .raw: nil
        }
    }

    /// The file with the key of the payload; `nil` for payloads that need no key, and for a key that is passed
    /// separately.
    public var keyFile: String? {
        if case .btHome(let source) = self { return source.keyFile }
        return rotatingKey?.identityKeyFile
    }
}

extension Advertisement {
    /// The values of a payload that are only known when it is sent.
    public struct LiveValues: Hashable, Sendable {
        /// The power that the controller granted or reported; `nil` if it reports none.
        public var radioPower: RadioPower?
        /// The contents of an unencrypted Eddystone-TLM frame.
        public var telemetry: EddystoneTLM?
        /// The contents of an encrypted Eddystone-TLM frame. EddystoneSecurity encrypts it.
        public var encryptedTelemetry: EddystoneEncryptedTLM?
        /// The ephemeral id of an Eddystone-EID frame. EddystoneSecurity computes it.
        public var ephemeralID: FixedOctets<8>?
        /// The BTHome packet. If it is encrypted, EddystoneSecurity has encrypted it.
        public var btHome: BTHome?

        /// The values that are known. Each kind of content needs only some of them. For example, an Eddystone-EID needs
        /// the ephemeral id.
        public init(
            radioPower: RadioPower? = nil, telemetry: EddystoneTLM? = nil,
            encryptedTelemetry: EddystoneEncryptedTLM? = nil, ephemeralID: FixedOctets<8>? = nil,
            btHome: BTHome? = nil
        ) {
            self.radioPower = radioPower
            self.telemetry = telemetry
            self.encryptedTelemetry = encryptedTelemetry
            self.ephemeralID = ephemeralID
            self.btHome = btHome
        }
    }

    /// Returns the bytes to send now: see ``Content/payload(measuredPower:_:)``.
    public func payload(_ live: LiveValues = LiveValues()) throws(PayloadError) -> AdvertisingData {
        try content.payload(measuredPower: measuredPower, live)
    }
}

extension Advertisement.Content {
    /// The values of a payload that are only known when it is sent.
    public typealias LiveValues = Advertisement.LiveValues

    /// Returns the bytes to send now.
    ///
    /// - Parameter measuredPower: The source of the measured power byte.
    /// - Throws: ``PayloadError`` if a live value is missing, the measured power is not known, or the frame may not
    ///   be sent.
    public func payload(
        measuredPower: MeasuredPowerRule, _ live: LiveValues = LiveValues()
    ) throws(PayloadError) -> AdvertisingData {
        let flags: ADFlags?
        switch self {
        case .raw(let data): return data
        case .iBeacon(_, _, _, let contentFlags), .altBeacon(_, _, _, let contentFlags): flags = contentFlags
        case .eddystoneUID, .eddystoneURL, .eddystoneTLM, .eddystoneEID, .btHome: flags = .beacon
        }
        guard let frame = try frame(measuredPower: measuredPower, live) else { throw .missing("frame") }
        do throws(BeaconFrameError) {
            return try frame.advertisingData(flags: flags)
        } catch {
            throw .frame(error)
        }
    }

    /// Returns the frame to send now; `nil` for raw bytes.
    ///
    /// - Throws: ``PayloadError`` if a live value is missing or the measured power is not known.
    public func frame(
        measuredPower: MeasuredPowerRule, _ live: LiveValues = LiveValues()
    ) throws(PayloadError) -> BeaconFrame? {
        switch self {
        case .iBeacon(let uuid, let major, let minor, _):
            let power = try Self.powerAtOneMeter(measuredPower, live)
            return .iBeacon(IBeacon(uuid: .uuid128(uuid), major: major, minor: minor, measuredPower: power))
        case .altBeacon(let companyID, let beaconID, let reserved, _):
            let power = try Self.powerAtOneMeter(measuredPower, live)
            return .altBeacon(
                AltBeacon(companyID: companyID, beaconID: beaconID, measuredPower: power, reserved: reserved))
        case .eddystoneUID(let namespace, let instance):
            let power = try Self.powerAtZeroMeters(measuredPower, live)
            return .eddystoneUID(EddystoneUID(namespace: namespace, instance: instance, measuredPower: power))
        case .eddystoneURL(let url):
            let power = try Self.powerAtZeroMeters(measuredPower, live)
            return .eddystoneURL(EddystoneURL(url: url, measuredPower: power))
        case .eddystoneTLM(_, nil):
            guard let telemetry = live.telemetry else { throw .missing("telemetry") }
            return .eddystoneTLM(telemetry)
        case .eddystoneTLM(_, .some):
            guard let telemetry = live.encryptedTelemetry else { throw .missing("encrypted telemetry") }
            return .eddystoneEncryptedTLM(telemetry)
        case .eddystoneEID:
            guard let id = live.ephemeralID else { throw .missing("ephemeral id") }
            let power = try Self.powerAtZeroMeters(measuredPower, live)
            return .eddystoneEID(EddystoneEID(id: id, measuredPower: power))
        case .btHome:
            guard let packet = live.btHome else { throw .missing("BTHome packet") }
            return .btHome(packet)
        case .raw:
            return nil
        }
    }

    private static func powerAtOneMeter(_ rule: MeasuredPowerRule, _ live: LiveValues) throws(PayloadError)
        -> MeasuredPowerAtOneMeter
    {
        do throws(MeasuredPowerError) {
            return try rule.atOneMeter(radioPower: live.radioPower)
        } catch {
            throw .measuredPower(error)
        }
    }

    private static func powerAtZeroMeters(_ rule: MeasuredPowerRule, _ live: LiveValues) throws(PayloadError)
        -> MeasuredPowerAtZeroMeters
    {
        do throws(MeasuredPowerError) {
            return try rule.atZeroMeters(radioPower: live.radioPower)
        } catch {
            throw .measuredPower(error)
        }
    }
}

extension Advertisement.TelemetrySource {
    /// Returns the frame to send. A fixed value has priority over the reading of a sensor.
    ///
    /// - Parameters:
    ///   - sensorBattery: The reading of the battery's sensor in millivolts; `nil` if there is no sensor.
    ///   - sensorTemperature: The reading of the temperature sensor; `nil` if there is no sensor.
    ///   - advertisements: The number of advertising events of all frame types since power-on.
    ///   - uptimeDeciseconds: The time since power-on in 0.1 s.
    public func telemetry(
        sensorBattery: UInt16?, sensorTemperature: FixedPointTemperature?, advertisements: UInt32,
        uptimeDeciseconds: UInt32
    ) -> EddystoneTLM {
        EddystoneTLM(
            batteryMillivolts: battery.value(sensor: sensorBattery),
            temperature: temperature.value(sensor: sensorTemperature), advertisements: advertisements,
            uptimeDeciseconds: uptimeDeciseconds)
    }
}

extension Advertisement.TelemetrySource.Reading {
    fileprivate func value(sensor: Value?) -> Value? {
        switch self {
        case .unknown: nil
        case .fixed(let value): value
        case .sensor: sensor
        }
    }
}

/// The reason why an advertisement cannot be encoded.
public enum PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The caller did not pass a live value that the content needs.
    case missing(String)
    case measuredPower(MeasuredPowerError)
    case frame(BeaconFrameError)

    public var description: String {
        switch self {
        case .missing(let what): "the advertisement needs a value that is not known yet: \(what)"
        case .measuredPower(let error): error.description
        case .frame(let error): error.description
        }
    }
}

extension Advertisement {
    /// The name of the PDU in the Core Specification, such as `ADV_NONCONN_IND`.
    public var pduName: String { phy == nil ? pdu.specificationName : "ADV_EXT_IND (\(pdu.rawValue))" }

    /// Returns the reason why the Core Specification does not allow this extended advertisement; `nil` if it is
    /// allowed, and for an advertisement in legacy PDUs.
    ///
    /// - Parameter octets: The number of bytes of advertising data.
    public func extendedFault(octets: Int) -> String? {
        guard let phy else { return nil }
        if pdu == .scannable {
            return
                "a scannable extended advertisement has no data of its own, only a scan response: make it nonconnectable, "
                + "or send legacy PDUs"
        }
        if !scanResponse.octets.isEmpty {
            return "a connectable extended advertisement has no scan response: put the data into the advertisement"
        }
        let limit = pdu == .connectable ? ExtendedEvent.firstPacketLimit : AdvertisingData.extendedLimit
        guard octets <= limit else {
            return
                "\(octets) bytes are \(octets - limit) more than the \(limit) of a \(pdu.rawValue) extended advertisement"
        }
        let event = ExtendedEvent(phy, octets: octets).shortestMicroseconds(channels: channels.numbers.count)
        let shortest = pattern?.shortestInterval ?? interval
        guard event > shortest.microseconds else { return nil }
        return "\(octets) bytes on \(phy.name) take \(DecimalText.thousandths(event)) ms, longer than the interval "
            + "\(shortest): choose a longer interval, less data or a faster PHY"
    }

    /// Returns the size of the advertising data in bytes. The size does not depend on the live values or on the
    /// measured power.
    ///
    /// - Throws: ``PayloadError`` if the frame may not be sent at all.
    public func payloadOctetCount() throws(PayloadError) -> Int {
        var sample = self
        // The measured power takes one byte, so any value gives the right size. 0xC5 is -59 dBm.
        if case .calibrated = measuredPower { sample.measuredPower = .atOneMeter(MeasuredPowerAtOneMeter(octet: 0xC5)) }
        return try sample.payload(content.sampleValues(0)).octets.count
    }
}

extension Advertisement.Content {
    /// Returns live values whose bytes all equal `octet`. A caller can use them to find the size of the values, or
    /// their offset in a payload. A BTHome packet contains zeros instead; see `BTHomeSource.sample()`.
    ///
    /// - Throws: ``PayloadError`` if the values do not fit.
    public func sampleValues(_ octet: UInt8) throws(PayloadError) -> LiveValues {
        let twoOctets = UInt16(octet) * 0x101
        var values = LiveValues(
            telemetry: EddystoneTLM(telemetry: FixedOctets(repeating: octet)),
            encryptedTelemetry: EddystoneEncryptedTLM(
                encrypted: FixedOctets(repeating: octet), salt: twoOctets, mic: twoOctets),
            ephemeralID: FixedOctets(repeating: octet))
        if case .btHome(let source) = self {
            do throws(BeaconFrameError) { values.btHome = try source.sample() } catch { throw .frame(error) }
        }
        return values
    }
}
