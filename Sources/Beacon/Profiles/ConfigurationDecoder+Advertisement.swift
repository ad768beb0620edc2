internal import BeaconFrames
internal import BluetoothTypes
package import Configuration

extension ConfigurationDecoder {
    /// One element of `advertisements`; `nil` when something of it is wrong.
    mutating func advertisement(_ node: JSONNode, _ context: AdvertisementContext) -> ProfileAdvertisement? {
        guard case .object = node.value else {
            wrongKind(node, expected: "an object")
            return nil
        }
        guard let kind = word(required("type", in: node, "which frame to send"), of: AdvertisementKind.self),
            let object = object(node, keys: kind.keys, hint: { KeyHint.advertisement($0, in: kind) })
        else { return nil }
        let content = content(object, kind)
        let requested = interval(required("intervalMs", in: object, "milliseconds between two advertising events"))
        let radioPower = radioPower(object["radioPowerDbm"])
        let channels = channels(object["channels"])
        let pdu = word(object["pdu"], of: AdvertisingPDU.self)
        let address = address(object["address"])
        let measuredPower = measuredPower(object, kind)
        if measuredPower == .calibrated {
            checkCalibration(object, kind, radioPower: radioPower ?? context.radioPower, context)
        }
        guard let content, let requested, let interval = AdvertisingInterval(microseconds: requested) else {
            return nil
        }
        checkInterval(interval, pdu: pdu ?? context.pdu, at: object["intervalMs"] ?? object)
        return ProfileAdvertisement(
            content: content, interval: interval, requestedMicroseconds: requested,
            measuredPower: measuredPower ?? .none, radioPower: radioPower, address: address, channels: channels,
            pdu: pdu)
    }

    private mutating func content(_ object: JSONNode, _ kind: AdvertisementKind) -> Advertisement.Content? {
        switch kind {
        case .iBeacon: return iBeacon(object)
        case .altBeacon: return altBeacon(object)
        case .eddystoneUID:
            let namespace = required("namespace", in: object, "10 bytes, the same for all your beacons")
            let instance = required("instance", in: object, "6 bytes, different for each beacon")
            let octets = (octets(namespace, count: 10), octets(instance, count: 6))
            guard let namespace = octets.0.flatMap({ FixedOctets<10>($0) }),
                let instance = octets.1.flatMap({ FixedOctets<6>($0) })
            else { return nil }
            return .eddystoneUID(namespace: namespace, instance: instance)
        case .eddystoneURL:
            return url(required("url", in: object, "the address to send, such as \"https://example.org\""))
        case .eddystoneTLM: return telemetry(object)
        case .eddystoneEID: return rotatingKey(object).map { .eddystoneEID($0) }
        case .btHome: return btHome(object)
        case .raw: return raw(required("structures", in: object, "the AD structures to send"))
        }
    }

    private mutating func iBeacon(_ object: JSONNode) -> Advertisement.Content? {
        let uuid = octets(required("uuid", in: object, "16 bytes, the same for all your beacons"), count: 16)
        let major = integer(required("major", in: object, "0...65535"), in: 0...65_535)
        let minor = integer(required("minor", in: object, "0...65535"), in: 0...65_535)
        let flags = flags(object["flags"])
        guard let uuid = uuid.flatMap({ FixedOctets<16>($0) }), let major, let minor else { return nil }
        return .iBeacon(
            uuid: uuid, major: UInt16(truncatingIfNeeded: major), minor: UInt16(truncatingIfNeeded: minor), flags: flags
        )
    }

    private mutating func altBeacon(_ object: JSONNode) -> Advertisement.Content? {
        let company = required("companyId", in: object, "the company identifier that the Bluetooth SIG assigned")
        let companyID = code(company, in: 0...65_535, digits: 4)
        let beaconID = required("id", in: object, "20 bytes; the first 16 are the same for all your beacons")
        let id = octets(beaconID, count: 20)
        let reserved = integer(object["reserved"], in: 0...255)
        let flags = flags(object["flags"])
        guard let companyID, let id = id.flatMap({ FixedOctets<20>($0) }) else { return nil }
        return .altBeacon(
            companyID: UInt16(truncatingIfNeeded: companyID), beaconID: id,
            reserved: UInt8(truncatingIfNeeded: reserved ?? 0), flags: flags)
    }

    /// The Flags octet, 0x06 where nothing is said; `null` leaves the structure out.
    private mutating func flags(_ node: JSONNode?) -> ADFlags? {
        guard let node else { return .beacon }
        if case .null = node.value { return nil }
        return code(node, in: 0...255, digits: 2).map { ADFlags(rawValue: UInt8(truncatingIfNeeded: $0)) }
    }

    private mutating func url(_ node: JSONNode?) -> Advertisement.Content? {
        guard let node, let text = text(node) else { return nil }
        do throws(URLEncodingError) {
            return .eddystoneURL(try CompressedURL(text))
        } catch {
            self.error(ProblemText.shortened(error.description, to: 400), at: node)
            return nil
        }
    }

    private mutating func telemetry(_ object: JSONNode) -> Advertisement.Content? {
        let battery: Advertisement.TelemetrySource.Reading<UInt16> = sensor(object["battery"])
        let temperature: Advertisement.TelemetrySource.Reading<FixedPointTemperature> = sensor(object["temperature"])
        let source = Advertisement.TelemetrySource(battery: battery, temperature: temperature)
        if boolean(object["encrypted"]) == true {
            guard let key = rotatingKey(object) else { return nil }
            return .eddystoneTLM(source, encryption: key)
        }
        for key in ["identityKeyFile", "rotationExponent"] {
            guard let node = object[key] else { continue }
            error("only encrypted telemetry has this: add \"encrypted\": true or take it out", at: node)
        }
        return .eddystoneTLM(source, encryption: nil)
    }

    /// A sensor's name, `auto` (also when absent), or `null` for a value that is not known.
    private mutating func sensor<Value>(_ node: JSONNode?) -> Advertisement.TelemetrySource.Reading<Value> {
        guard let node else { return .sensor("auto") }
        if case .null = node.value { return .unknown }
        guard case .string(let name) = node.value else {
            wrongKind(node, expected: "a sensor's name, \"auto\" or null")
            return .unknown
        }
        if name.isEmpty { error("a sensor's name, \"auto\" or null is expected, not an empty string", at: node) }
        return .sensor(name)
    }

    private mutating func rotatingKey(_ object: JSONNode) -> Advertisement.RotatingKey? {
        let file = required("identityKeyFile", in: object, "a file of mode 0600 that holds the key as 32 digits")
        let exponent = required("rotationExponent", in: object, "K, 0...15: the id turns over every 2^K s")
        let value = integer(exponent, in: 0...15)
        guard let file, let path = keyFile(file) else { return nil }
        return value.map { .init(identityKeyFile: path, rotationExponent: UInt8(truncatingIfNeeded: $0)) }
    }

    /// The name of a file with a key.
    private mutating func keyFile(_ file: JSONNode) -> String? {
        guard let path = text(file) else { return nil }
        guard !path.isEmpty, !path.utf8.contains(0) else {
            error("the name of a file is expected", at: file)
            return nil
        }
        if path.utf8.count == 32, path.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) {
            error("this looks like the key itself; put it into a file of mode 0600 and give the file's name", at: file)
            return nil
        }
        return path
    }

    /// Values of the box, in packets that fit an advertisement.
    private mutating func btHome(_ object: JSONNode) -> Advertisement.Content? {
        var source = Advertisement.BTHomeSource()
        source.hasPacketID = true
        source.temperature = sensorName(object["temperature"])
        source.battery = sensorName(object["battery"])
        source.voltage = sensorName(object["voltage"])
        source.countsAdvertisements = boolean(object["advertisements"]) ?? true
        source.countsUptime = boolean(object["uptime"]) ?? false
        if let file = object["encryptionKeyFile"] {
            guard let path = keyFile(file) else { return nil }
            source.isEncrypted = true
            source.keyFile = path
        }
        let content = Advertisement.Content.btHome(source)
        do throws(PayloadError) {
            _ = try content.payload(measuredPower: .none, content.sampleValues(0))
        } catch {
            self.error("with all values \(error); take one out, such as \"advertisements\": false", at: object)
            return nil
        }
        guard source.hasValues else {
            self.error("there is no value to send: leave out what is null or false", at: object)
            return nil
        }
        return content
    }

    private mutating func sensorName(_ node: JSONNode?) -> String? {
        let reading: Advertisement.TelemetrySource.Reading<UInt16> = sensor(node)
        if case .sensor(let name) = reading { return name }
        return nil
    }

    /// An advertising interval in milliseconds, as microseconds.
    package mutating func interval(_ node: JSONNode?) -> Int? {
        guard let node, let number = number(node) else { return nil }
        let range = AdvertisingInterval.extendedRange
        let (low, high) = (range.lowerBound.microseconds, range.upperBound.microseconds)
        guard let value = number.thousandths, !number.isLess(thanThousandths: low),
            !number.isGreater(thanThousandths: high)
        else {
            error(
                "\(ProblemText.shortened(number.text)) is out of range \(DecimalText.thousandths(low))..."
                    + "\(DecimalText.thousandths(high)) ms", at: node)
            return nil
        }
        return value
    }

    private mutating func measuredPower(
        _ object: JSONNode, _ kind: AdvertisementKind
    ) -> ProfileAdvertisement.MeasuredPower? {
        guard kind.hasMeasuredPower else { return ProfileAdvertisement.MeasuredPower.none }
        let (own, atOneMeter) = (object["measuredPowerDbm"], object["measuredPower1mDbm"])
        if own != nil, let atOneMeter {
            error("\"measuredPowerDbm\" is there already; only one of the two may be", at: atOneMeter)
            return nil
        }
        if let atOneMeter {
            // Eddystone sends 41 dB more, and at most 20 dBm.
            let high = kind.isEddystone ? MeasuredPowerAtZeroMeters.range.upperBound - 41 : 0
            return integer(atOneMeter, in: MeasuredPowerAtOneMeter.range.lowerBound...high, unit: "dBm at 1 m")
                .flatMap { try? .atOneMeter(MeasuredPowerAtOneMeter(dBm: $0)) }
        }
        guard let own else { return .calibrated }
        if own.string == "typical" { return .typical }
        let expected = "a whole number, or \"typical\","
        if kind.isEddystone {
            return integer(own, in: MeasuredPowerAtZeroMeters.range, unit: "dBm at 0 m", expected: expected)
                .flatMap { try? .atZeroMeters(MeasuredPowerAtZeroMeters(dBm: $0)) }
        }
        return integer(own, in: MeasuredPowerAtOneMeter.range, unit: "dBm at 1 m", expected: expected)
            .flatMap { try? .atOneMeter(MeasuredPowerAtOneMeter(dBm: $0)) }
    }
}

/// What an advertisement is read against: the profile's own settings.
struct AdvertisementContext {
    let root: JSONNode
    let radioPower: RadioPower?
    /// What could be read of the calibration.
    let calibration: PowerCalibration?
    let pdu: AdvertisingPDU
}
