public import BluetoothTypes

/// Eddystone-TLM, unencrypted: `20 00 | battery mV u16 | temperature s8.8 | ADV_CNT u32 | SEC_CNT u32`. All numbers are
/// sent most significant byte first.
///
/// The frame does not identify its beacon. Receivers assign it to the beacon's other frames by the device address, so
/// all of them are sent with the same address.
public struct EddystoneTLM: EncodableFrame {
    /// The battery voltage in millivolts; `nil` if unknown, which is sent as 0.
    public var batteryMillivolts: UInt16?
    /// The temperature; `nil` if unknown, which is sent as 0x8000.
    public var temperature: FixedPointTemperature?
    /// The number of advertising events of all frame types since power-on.
    public var advertisements: UInt32
    /// The time since power-on in 0.1 s.
    public var uptimeDeciseconds: UInt32

    /// A frame with these values.
    public init(
        batteryMillivolts: UInt16?, temperature: FixedPointTemperature?, advertisements: UInt32,
        uptimeDeciseconds: UInt32
    ) {
        self.batteryMillivolts = batteryMillivolts
        self.temperature = temperature
        self.advertisements = advertisements
        self.uptimeDeciseconds = uptimeDeciseconds
    }
}

extension EddystoneTLM {
    static let frameLength = 14

    /// Reads a frame that starts with its type byte; `nil` if it does not have 14 bytes or its version is not 00.
    @inline(__always)
    init?(frame: Span<UInt8>) {
        guard frame.count == Self.frameLength, frame[1] == 0x00 else { return nil }
        self.init(telemetryIn: frame, at: 2)
    }

    /// Reads the twelve bytes after the version: battery, temperature, ADV_CNT and SEC_CNT.
    public init(telemetry octets: FixedOctets<12>) {
        self.init(telemetryIn: octets.octets.span, at: 0)
    }

    @inline(__always)
    private init(telemetryIn span: Span<UInt8>, at start: Int) {
        let battery = span.uint16BigEndian(at: start)
        self.init(
            batteryMillivolts: battery == 0 ? nil : battery,
            temperature: FixedPointTemperature(rawValue: Int16(bitPattern: span.uint16BigEndian(at: start + 2))),
            advertisements: span.uint32BigEndian(at: start + 4),
            uptimeDeciseconds: span.uint32BigEndian(at: start + 8))
    }

    /// The twelve bytes after the version: battery, temperature, ADV_CNT and SEC_CNT.
    public var telemetry: FixedOctets<12> {
        var result = FixedOctets<12>()
        result.put(batteryMillivolts ?? 0, at: 0)
        result.put(temperature?.rawValue ?? .min, at: 2)
        result.put(advertisements, at: 4)
        result.put(uptimeDeciseconds, at: 8)
        return result
    }

    /// The list of service UUIDs and the service data, without Flags.
    public var adStructures: [ADStructure] { Eddystone.structures([0x20, 0x00] + telemetry.octets) }
    public func validate() {}

    /// The time since power-on in seconds.
    public var uptimeSeconds: Double { Double(uptimeDeciseconds) / 10 }
}

extension FixedOctets<12> {
    /// Writes `value` at `offset`, most significant byte first.
    fileprivate mutating func put(_ value: some FixedWidthInteger, at offset: Int) {
        let size = value.bitWidth / 8
        for index in 0..<size {
            self[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - index)))
        }
    }
}

/// Eddystone-TLM, encrypted: `20 01 | ciphertext[12] | salt[2] | MIC[2]`. EddystoneSecurity encrypts and decrypts it.
public struct EddystoneEncryptedTLM: EncodableFrame {
    /// The twelve bytes of ``EddystoneTLM/telemetry``, encrypted with AES-128-EAX.
    public var encrypted: FixedOctets<12>
    /// The part of the nonce that changes with each frame; big-endian on the air.
    public var salt: UInt16
    /// Message integrity check: the first two bytes of the EAX tag.
    public var mic: UInt16

    /// A frame with these values. The MIC is not checked here, because this requires the identity key.
    public init(encrypted: FixedOctets<12>, salt: UInt16, mic: UInt16) {
        self.encrypted = encrypted
        self.salt = salt
        self.mic = mic
    }
}

extension EddystoneEncryptedTLM {
    static let frameLength = 18

    /// Reads a frame that starts with its type byte; `nil` if it does not have 18 bytes or its version is not 01.
    @inline(__always)
    init?(frame: Span<UInt8>) {
        guard frame.count == Self.frameLength, frame[1] == 0x01,
            let encrypted = FixedOctets<12>(frame, at: 2)
        else { return nil }
        self.init(
            encrypted: encrypted, salt: frame.uint16BigEndian(at: 14),
            mic: frame.uint16BigEndian(at: 16))
    }

    /// The list of service UUIDs and the service data, without Flags.
    public var adStructures: [ADStructure] {
        var frame: [UInt8] = [0x20, 0x01] + encrypted.octets
        frame.append(bigEndian: salt)
        frame.append(bigEndian: mic)
        return Eddystone.structures(frame)
    }

    public func validate() {}
}

/// A temperature in 1/256 °C: the signed 8.8 fixed point of Eddystone-TLM.
public struct FixedPointTemperature: RawRepresentable, Hashable, Sendable {
    /// The temperature in 1/256 °C; never -32768, which means "unknown" on the air.
    public let rawValue: Int16

    /// A temperature in 1/256 °C; `nil` for -32768, which means "unknown" on the air.
    public init?(rawValue: Int16) {
        guard rawValue != .min else { return nil }
        self.rawValue = rawValue
    }
}

extension FixedPointTemperature {
    /// The multiple of 1/256 °C that is nearest to `celsius`.
    ///
    /// -128 °C becomes -127.996 °C, because the number for -128 °C means "unknown" on the air. The largest value is
    /// 127.996 °C.
    ///
    /// - Throws: ``TemperatureOutOfRange`` if the rounded temperature is outside -128...127.996 °C, or if `celsius` is
    ///   infinite or not-a-number.
    public init(celsius: Double) throws(TemperatureOutOfRange) {
        guard celsius >= -128, celsius < 128 else { throw TemperatureOutOfRange(celsius: celsius) }
        // The rounding is done here (halves away from zero), because `rounded()` would need a C library, which this
        // module does not link.
        let exact = celsius * 256
        let whole = Int(exact)
        let fraction = exact - Double(whole)
        let steps = fraction >= 0.5 ? whole + 1 : fraction <= -0.5 ? whole - 1 : whole
        guard let value = Int16(exactly: steps) else { throw TemperatureOutOfRange(celsius: celsius) }
        rawValue = max(value, -Int16.max)
    }

    /// The exact temperature in degrees Celsius.
    public var celsius: Double { Double(rawValue) / 256 }
}

extension FixedPointTemperature: CustomStringConvertible {
    /// The temperature rounded to thousandths of a degree, without zeros at its end: `21.25 °C`, `-0.102 °C`.
    public var description: String {
        let steps = Int(rawValue) * 1000
        let rounded = (steps + (steps < 0 ? -128 : 128)) / 256
        return "\(DecimalText.thousandths(rounded)) °C"
    }
}

/// The error for a temperature outside the range of signed 8.8 fixed point, -128...127.996 °C.
public struct TemperatureOutOfRange: Error, Equatable, Sendable, CustomStringConvertible {
    /// The refused temperature in degrees Celsius, which may be not-a-number.
    public let celsius: Double

    /// An error about a temperature in degrees Celsius.
    public init(celsius: Double) {
        self.celsius = celsius
    }

    public var description: String { "temperature: \(celsius) is out of range -128...127.996 °C" }
}
