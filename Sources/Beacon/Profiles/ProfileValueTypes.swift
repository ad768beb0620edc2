internal import BeaconFrames
package import BluetoothTypes
package import Configuration
internal import LinuxHost

// The types of the values in a beacon profile.

extension ValueType<AdapterName> {
    /// The name of a Bluetooth adapter, such as `hci0`.
    package static var adapter: ValueType<AdapterName> {
        let rates = AdapterName.serialRates.map(String.init).joined(separator: "|")
        let pattern =
            "^(hci(0|[1-9][0-9]{0,4})(:user|:mgmt)?|virtual(\\?path=tour)?|unix:[^\\u0000-\\u001f\\u007f]+"
            + "|tcp:(?!\\[\\]:)[^\\u0000-\\u0020\\u007f]+:[1-9][0-9]{0,4}"
            + "|serial:([^\\u0000-\\u001f\\u007f@]+|[^\\u0000-\\u001f\\u007f]+@(\(rates))))$"
        return ValueType(schema: ["type": "string", "pattern": .string(pattern)]) { decoder, node in
            guard let text = decoder.text(node) else { return nil }
            do throws(AdapterNameError) {
                return try AdapterName(text)
            } catch {
                decoder.error("\(ProblemText.quoted(text)) \(error.fault)", at: node)
                return nil
            }
        }
    }
}

extension ValueType<ProfileAddress> {
    /// `public`, `random-static`, or a static random address.
    static var profileAddress: ValueType {
        ValueType(
            schema: [
                "anyOf": [
                    ["enum": ["public", "random-static"]],
                    ["type": "string", "pattern": "^[C-Fc-f][0-9A-Fa-f](:[0-9A-Fa-f]{2}){5}$"],
                ]
            ], json: { $0.json }
        ) { $0.address($1) }.defined(as: "address")
    }
}

extension ConfigurationDecoder {
    fileprivate mutating func address(_ node: JSONNode) -> ProfileAddress? {
        guard let text = text(node) else { return nil }
        if text == "public" { return .public }
        if text == "random-static" { return .randomStatic }
        guard text.utf8.count == 17, text.utf8.enumerated().allSatisfy({ ($0 % 3 == 2) == ($1 == UInt8(ascii: ":")) }),
            let address = DeviceAddress(text)
        else {
            error(
                "\(ProblemText.quoted(text)) is not an address: use public, random-static, or an address such as "
                    + "\"F0:01:02:03:04:05\"", at: node)
            return nil
        }
        guard address.randomKind == .staticDevice else {
            error(
                "\(address) is not a static random address: its two top bits must be 11, so the first byte is C0...FF",
                at: node)
            return nil
        }
        guard address.isValidStaticRandom else {
            error("\(address) is reserved: the bits below the two top bits may not be all 0 or all 1", at: node)
            return nil
        }
        return .explicit(address)
    }

    /// Reads a name: a string with at least one character.
    mutating func nonemptyText(_ node: JSONNode) -> String? {
        guard let text = text(node) else { return nil }
        guard !text.isEmpty else {
            error("the name is empty", at: node)
            return nil
        }
        return text
    }
}

extension ValueType<RadioPower> {
    /// A transmit power in dBm.
    static var radioPower: ValueType {
        ValueType<Int>.integer(RadioPower.range, unit: "dBm").defined(as: "radioPowerDbm").map { _, _, dBm in
            try? RadioPower(dBm: dBm)
        }
    }
}

extension ValueType<AdvertisingChannels> {
    /// A list of advertising channels, each at most once.
    static var channels: ValueType {
        ValueType(
            schema: ["type": "array", "minItems": 1, "uniqueItems": true, "items": ["enum": [37, 38, 39]]],
            json: { $0.json }
        ) { decoder, node in
            guard let elements = decoder.list(node, of: "channels") else { return nil }
            var numbers: [Int] = []
            for element in elements {
                guard let number = decoder.integer(element, in: 37...39) else { continue }
                if numbers.contains(number) { decoder.error("channel \(number) is in the list twice", at: element) }
                numbers.append(number)
            }
            return AdvertisingChannels(numbers: numbers)
        }.defined(as: "channels")
    }
}

extension ValueType<AdvertisingPDU> {
    static var pdu: ValueType { ValueType.word.defined(as: "pdu") }
}

extension ValueType<ExtendedPHY> {
    static var phy: ValueType { ValueType.word.defined(as: "phy") }
}

extension ValueType<PowerCalibration> {
    /// The measured power for each radio power.
    static var calibration: ValueType {
        ValueType(
            schema: [
                "type": "object", "minProperties": 1,
                "propertyNames": [
                    "pattern": "^(default|receiver|0|[1-9]|1[0-9]|20|-[1-9]|-[1-9][0-9]|-1[01][0-9]|-12[0-7])$"
                ],
                "properties": ["receiver": ["description": "Name of the device that measured.", "type": "string"]],
                "additionalProperties": Key(
                    "", .integer(MeasuredPowerAtOneMeter.range, unit: "dBm"), "Signal strength at 1 m."
                ).schema,
            ]
        ) { $0.calibration($1) }
    }
}

extension ConfigurationDecoder {
    /// The number of keys that a calibration can have: one for each radio power, "default" and "receiver".
    private static let maximumCalibrationKeys = RadioPower.range.count + 2

    fileprivate mutating func calibration(_ node: JSONNode) -> PowerCalibration? {
        guard let members = node.members else {
            wrongKind(node, expected: "an object with a measured power for each radio power, such as { \"0\": -59 },")
            return nil
        }
        guard !members.isEmpty else {
            error("the calibration is empty; give the signal strength at 1 m, such as { \"0\": -59 }", at: node)
            return nil
        }
        let powers = "\(RadioPower.range.lowerBound)...\(RadioPower.range.upperBound) dBm"
        guard members.count <= Self.maximumCalibrationKeys else {
            error("there are \(members.count) keys, more than the number of radio powers (\(powers))", at: node)
            return nil
        }
        var points: [PowerCalibration.Point] = []
        var fallback: MeasuredPowerAtOneMeter?
        var receiver: String?
        for member in members {
            if member.key == "receiver" {
                receiver = text(member.value)
                continue
            }
            let measured = integer(member.value, in: MeasuredPowerAtOneMeter.range, unit: "dBm at 1 m")
                .flatMap { try? MeasuredPowerAtOneMeter(dBm: $0) }
            if member.key == "default" {
                fallback = measured
            } else if let dBm = Int(member.key), String(dBm) == member.key, let power = try? RadioPower(dBm: dBm) {
                if let measured { points.append(.init(radioPower: power, measuredPower: measured)) }
            } else {
                error(
                    "the key \(ProblemText.quoted(member.key)) is not \"default\", \"receiver\" or a radio power of "
                        + powers, at: member)
            }
        }
        return PowerCalibration(points: points, fallback: fallback, receiver: receiver)
    }
}

extension ValueType<RFC3339Time> {
    /// A date with a time and an offset from UTC.
    static var time: ValueType {
        let pattern =
            "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
            + "(\\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
        return ValueType(schema: ["type": "string", "format": "date-time", "pattern": .string(pattern)]) {
            decoder, node in
            guard let text = decoder.text(node) else { return nil }
            if let time = RFC3339Time(text) { return time }
            decoder.error(
                "\(ProblemText.quoted(text)) is not a time such as \"2026-03-01T12:00:00Z\" (RFC 3339)", at: node)
            return nil
        }
    }
}

extension ValueType<Int> {
    /// An advertising interval in milliseconds, read as microseconds.
    static var interval: ValueType {
        let range = AdvertisingInterval.extendedRange
        return ValueType.thousandths(range.lowerBound.microseconds...range.upperBound.microseconds, unit: "ms")
            .defined(as: "intervalMs")
    }
}

extension ValueType<ProfileAdvertisement.MeasuredPower> {
    /// The measured power byte of iBeacon and AltBeacon in dBm, or `typical`.
    static var sentAtOneMeter: ValueType {
        sentByte(MeasuredPowerAtOneMeter.range, "dBm at 1 m") { dBm in
            (try? MeasuredPowerAtOneMeter(dBm: dBm)).map { .atOneMeter($0) }
        }.defined(as: "measuredPower1m")
    }

    /// The measured power byte of the Eddystone frames in dBm, or `typical`.
    static var sentAtZeroMeters: ValueType {
        sentByte(MeasuredPowerAtZeroMeters.range, "dBm at 0 m") { dBm in
            (try? MeasuredPowerAtZeroMeters(dBm: dBm)).map { .atZeroMeters($0) }
        }.defined(as: "measuredPower0m")
    }

    /// The signal strength at 1 m in dBm.
    static func atOneMeter(upTo highest: Int) -> ValueType {
        ValueType<Int>.integer(MeasuredPowerAtOneMeter.range.lowerBound...highest, unit: "dBm at 1 m")
            .map { _, _, dBm in (try? MeasuredPowerAtOneMeter(dBm: dBm)).map { .atOneMeter($0) } }
    }

    private static func sentByte(
        _ range: ClosedRange<Int>, _ unit: String, _ power: @escaping @Sendable (Int) -> Value?
    ) -> ValueType {
        ValueType(
            schema: [
                "anyOf": [
                    ["const": "typical"],
                    [
                        "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
                    ],
                ]
            ], range: "\(range.lowerBound)...\(range.upperBound) \(unit)"
        ) { decoder, node in
            if node.string == "typical" { return .typical }
            return decoder.integer(node, in: range, unit: unit, expected: "a whole number, or \"typical\",")
                .flatMap(power)
        }
    }
}

extension ValueType where Value: FixedWidthInteger & UnsignedInteger {
    /// A whole number in the range of the type.
    static var number: ValueType {
        ValueType<Int>.integer(Int(Value.min)...Int(Value.max))
            .map(json: { .integer($0) }) { _, _, number in Value(truncatingIfNeeded: number) }
    }
}

extension ValueType<UInt16> {
    /// A company identifier, as a number or in hexadecimal.
    static var companyID: ValueType {
        ValueType<Int>.code(0...65_535, digits: 4).defined(as: "companyId")
            .map { _, _, companyID in UInt16(truncatingIfNeeded: companyID) }
    }
}

extension ValueType<ADFlags?> {
    /// The Flags byte as a number or in hexadecimal; `null` for no Flags.
    static var flags: ValueType {
        ValueType(
            schema: [
                "type": ["integer", "string", "null"], "minimum": 0, "maximum": 255,
                "pattern": "^0[xX][0-9A-Fa-f]{1,2}$",
            ], range: "0...255", json: { $0.map { .integer($0.rawValue) } ?? .null }
        ) { decoder, node in
            if case .null = node.value { return .some(nil) }
            return decoder.code(node, in: 0...255, digits: 2).map { ADFlags(rawValue: UInt8(truncatingIfNeeded: $0)) }
        }.defined(as: "flagsByte")
    }
}

extension ValueType<CompressedURL> {
    /// A URL that Eddystone-URL can send.
    static var eddystoneURL: ValueType {
        ValueType(schema: ["type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+$"]) { decoder, node in
            guard let text = decoder.text(node) else { return nil }
            do throws(URLEncodingError) {
                return try CompressedURL(text)
            } catch {
                decoder.error(ProblemText.shortened(error.description, to: 400), at: node)
                return nil
            }
        }
    }
}

extension ValueType<String?> {
    /// The name of a sensor of `quantity`, `auto`, or `null` for no value. Decoding does not check that the machine has
    /// the sensor; this is checked when the beacon starts.
    ///
    /// - Parameter ownValue: Returns the advice for a user who wrote this number in the place of a sensor.
    static func sensor(
        _ quantity: SensorQuantity, ownValue: @escaping @Sendable (_ number: String) -> String
    ) -> ValueType {
        let sources = quantity.sources.map(\.rawValue).joined(separator: "|")
        return ValueType(
            schema: ["type": ["string", "null"], "pattern": .string("^(auto|(\(sources)):.+)$")],
            json: { $0.map { .string($0) } ?? .null }
        ) { decoder, node in
            if case .null = node.value { return .some(nil) }
            if case .number(let number) = node.value {
                let advice = ownValue(ProblemText.shortened(number.text))
                decoder.error(
                    "a sensor's name, \"auto\" or null is expected, not a number; \(advice)", at: node)
                return nil
            }
            guard case .string(let name) = node.value else {
                decoder.wrongKind(node, expected: "a sensor's name, \"auto\" or null")
                return nil
            }
            do throws(SensorNameError) {
                _ = try SensorChoice(name, for: quantity)
                return .some(name)
            } catch {
                decoder.error(error.description, at: node)
                return nil
            }
        }.defined(as: "\(quantity)Sensor")
    }
}

extension ValueType<String> {
    /// The word `word`. The caller has checked that the node has this value.
    static func constant(_ word: String) -> ValueType {
        ValueType(schema: ["const": .string(word)]) { $0.text($1) }
    }
}

extension ValueType {
    /// An object whose key `type` selects one of several sections.
    ///
    /// - Parameters:
    ///   - name: The name of this type in the `$defs` of the schema.
    ///   - meaning: The description of the key `type`.
    static func choice(
        _ name: String, _ meaning: String, of sections: [(type: String, section: Section)],
        read: @escaping @Sendable (inout ConfigurationDecoder, JSONNode) -> Value?
    ) -> ValueType {
        let alternatives = sections.map { type, _ in
            [
                "if": ["properties": ["type": ["const": .string(type)]], "required": ["type"]],
                "then": ["$ref": .string("#/$defs/" + type)],
            ] as JSONValue
        }
        return ValueType(
            schema: [
                "type": "object",
                "properties": [
                    "type": ["description": .string(meaning), "enum": .array(sections.map { .string($0.type) })]
                ],
                "required": ["type"], "allOf": .array(alternatives),
            ],
            definitions: sections.flatMap { [.init($0.type, $0.section.schema)] + $0.section.definitions }, read: read
        ).defined(as: name)
    }
}
