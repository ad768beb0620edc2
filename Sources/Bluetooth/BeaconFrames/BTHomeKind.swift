internal import BluetoothTypes

/// A kind of object in BTHome v2: its object id and the format of its value (bthome.io/format).
public struct BTHomeKind: Sendable {
    /// The object id, the byte that is sent before the value.
    public let id: UInt8
    let form: Form
    /// The size of the value in bytes; 0 if the size varies and a length byte precedes the value.
    let size: Int
    /// The number of decimals. The number in the packet counts units of ``step`` × 10^-`decimals`.
    let decimals: Int
    /// The offset of the kind's name in ``table``.
    private let nameOffset: Int

    /// The format of a value's bytes. The raw value is the ASCII letter of the format in ``table``.
    enum Form: UInt8 {
        /// A number without a sign, least significant byte first.
        case unsigned = 0x75
        /// A number in two's complement, least significant byte first.
        case signed = 0x73
        /// A number in two's complement, in units of 35 × 10^-``decimals``.
        case thirtyFive = 0x78
        /// 0 or 1.
        case binary = 0x62
        /// A code for the kind of press.
        case button = 0x6B
        /// A code for the direction of rotation, and the number of steps.
        case dimmer = 0x64
        /// A length byte, a code and its arguments. The upper three bits of the length byte are reserved.
        case command = 0x63
        /// A length byte and a text in UTF-8.
        case text = 0x74
        /// A length byte and bytes of any meaning.
        case raw = 0x72
        /// The numbers of a version in reverse order: `1.2.3` is sent as 3, 2, 1.
        case version = 0x76
    }

    /// The kind with this object id; `nil` if BTHome defines no such id.
    public init?(id: UInt8) {
        let table = Self.table
        let digits = Array(Hexadecimal.text(id).utf8)
        var start = 0
        while start < table.count, table[start] != digits[0] || table[start + 1] != digits[1] {
            start = Self.offset(of: 0x3B, from: start) + 1
        }
        guard start < table.count, let form = Form(rawValue: table[start + 2]) else { return nil }
        self.id = id
        self.form = form
        size = Int(table[start + 3] - 0x30)
        decimals = Int(table[start + 4] - 0x30)
        nameOffset = start + 6
    }

    /// All kinds of objects of the format, in the order of their ids.
    public static var all: [BTHomeKind] { (0...255).compactMap { BTHomeKind(id: $0) } }

    /// The name in the BTHome format, with `_` for spaces. Several kinds may have the same name.
    public var name: String { String(decoding: Self.table[nameOffset..<nameEnd], as: UTF8.self) }
    /// The unit of the value; empty if it has none.
    public var unit: String {
        String(decoding: Self.table[nameEnd..<Self.offset(of: 0x3B, from: nameOffset)].dropFirst(), as: UTF8.self)
    }
    /// True if the value is a number.
    public var isNumber: Bool { form == .unsigned || form == .signed || form == .thirtyFive }
    /// True if the value is true or false.
    public var isBinary: Bool { form == .binary }

    var isSigned: Bool { form == .signed || form == .thirtyFive }
    /// The value of one unit of the number in the packet, as a multiple of 10^-``decimals``.
    var step: Int { form == .thirtyFive ? 35 : 1 }
    private var nameEnd: Int { min(Self.offset(of: 0x20, from: nameOffset), Self.offset(of: 0x3B, from: nameOffset)) }

    /// Returns the offset of the first byte of ``table`` at or after `start` that equals `octet`; the size of the table
    /// if no such byte follows.
    private static func offset(of octet: UInt8, from start: Int) -> Int {
        var offset = start
        while offset < table.count, table[offset] != octet { offset += 1 }
        return offset
    }

    /// All kinds as compact text. An entry contains the object id in hexadecimal, the letter of the form, the size, the
    /// number of decimals, the name and the unit.
    private static let table: [UInt8] = Array(
        """
        00u10 packet_id;01u10 battery %;02s22 temperature °C;03u22 humidity %;04u32 pressure hPa;
        05u32 illuminance lx;06u22 mass kg;07u22 mass lb;08s22 dewpoint °C;09u10 count;0au33 energy kWh;
        0bu32 power W;0cu23 voltage V;0du20 pm2.5 µg/m³;0eu20 pm10 µg/m³;0fb10 generic_boolean;10b10 power;
        11b10 opening;12u20 co2 ppm;13u20 tvoc µg/m³;14u22 moisture %;15b10 battery;16b10 battery_charging;
        17b10 carbon_monoxide;18b10 cold;19b10 connectivity;1ab10 door;1bb10 garage_door;1cb10 gas;1db10 heat;
        1eb10 light;1fb10 lock;20b10 moisture;21b10 motion;22b10 moving;23b10 occupancy;24b10 plug;25b10 presence;
        26b10 problem;27b10 running;28b10 safety;29b10 smoke;2ab10 sound;2bb10 tamper;2cb10 vibration;2db10 window;
        2eu10 humidity %;2fu10 moisture %;3ak10 button;3bc00 command;3cd20 dimmer;3du20 count;3eu40 count;
        3fs21 rotation °;40u20 distance mm;41u21 distance m;42u33 duration s;43u23 current A;44u22 speed m/s;
        45s21 temperature °C;46u11 uv_index;47u21 volume L;48u20 volume mL;49u23 volume_flow_rate m³/h;
        4au21 voltage V;4bu33 gas m³;4cu43 gas m³;4du43 energy kWh;4eu43 volume L;4fu43 water L;50u40 timestamp s;
        51u23 acceleration m/s²;52u23 gyroscope °/s;53t00 text;54r00 raw;55u43 volume_storage L;
        56u20 conductivity µS/cm;57s10 temperature °C;58x12 temperature °C;59s10 count;5as20 count;5bs40 count;
        5cs42 power W;5ds23 current A;5eu22 direction °;5fu21 precipitation mm;60u10 channel;
        61u20 rotational_speed rpm;62s46 speed m/s;63s46 acceleration m/s²;64u10 light_level;
        65u10 settings_revision;f0u20 device_type;f1v40 firmware_version;f2v30 firmware_version;
        """.utf8.filter { $0 != 0x0A })
}

extension BTHomeKind: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.id == right.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// An object of a BTHome packet: its kind and the bytes of its value.
public struct BTHomeObject: Hashable, Sendable {
    public let kind: BTHomeKind
    /// The value, without the object id and the length byte.
    public let octets: [UInt8]

    /// A received object.
    init(_ kind: BTHomeKind, octets: [UInt8]) {
        self.kind = kind
        self.octets = octets
    }

    /// An object whose number in the packet is `raw`. If `raw` has more bytes than the kind, only the lowest bytes are
    /// sent.
    init(_ kind: BTHomeKind, raw: Int) {
        self.init(kind, octets: (0..<kind.size).map { UInt8(truncatingIfNeeded: raw >> (8 * $0)) })
    }

    /// Reads a value from text in the form of ``text``: a number in the kind's unit, rounded to the kind's step; `true`
    /// or `on`; an event, such as `press`, `rotate_left 3` or `step_up 05`; a version; or a text. The events of a
    /// dimmer or a command, raw data and versions may also be hexadecimal digits, and the event of a button may be a
    /// number. The result is `nil` for a value that is not valid for the kind.
    public init?(_ kind: BTHomeKind, text: String) {
        switch kind.form {
        case .unsigned, .signed, .thirtyFive:
            guard let value = Double(text), let raw = kind.raw(value) else { return nil }
            self.init(kind, raw: raw)
        case .binary:
            let word = text.lowercased()
            let value = ["true", "on"].contains(word) ? 1 : ["false", "off"].contains(word) ? 0 : Double(text)
            guard let value, let raw = kind.raw(value) else { return nil }
            self.init(kind, raw: raw)
        case .button:
            if let code = kind.code(of: text) {
                self.init(kind, octets: [code])
            } else {
                guard let value = Double(text), let raw = kind.raw(value) else { return nil }
                self.init(kind, raw: raw)
            }
        case .dimmer, .command:
            guard let octets = kind.event(text) ?? (try? Hexadecimal.octets(text)) else { return nil }
            self.init(kind, octets: octets)
        case .version:
            let numbers = text.split(separator: ".").compactMap { UInt8($0) }
            let octets = numbers.count == kind.size ? numbers.reversed() : try? Hexadecimal.octets(text)
            guard let octets else { return nil }
            self.init(kind, octets: octets)
        case .text: self.init(kind, octets: Array(text.utf8))
        case .raw:
            guard let octets = try? Hexadecimal.octets(text) else { return nil }
            self.init(kind, octets: octets)
        }
        guard kind.size == 0 ? (1...32).contains(octets.count) : octets.count == kind.size else { return nil }
    }

    /// The bytes on the air: the object id, the length byte if the kind has one, and the value.
    var encoded: [UInt8] {
        // The length byte of a command counts only the arguments, without the code.
        let length = kind.form == .command ? octets.count - 1 : octets.count
        return [kind.id] + (kind.size == 0 ? [UInt8(truncatingIfNeeded: length)] : []) + octets
    }
}

extension BTHomeKind {
    /// The valid texts for a value, in words for a message: `a number in °C`, `hexadecimal digits`.
    public var valueForms: String {
        switch form {
        case .unsigned, .signed, .thirtyFive: unit.isEmpty ? "a number" : "a number in \(unit)"
        case .binary: "true or false, on or off"
        case .button: "one of " + eventNames.sorted { $0.key < $1.key }.map(\.value).joined(separator: ", ")
        case .dimmer: "a direction and a number of steps, such as rotate_left 3"
        case .command: "one of " + eventNames.sorted { $0.key < $1.key }.map(\.value).joined(separator: ", ")
        case .text: "a text of at most 32 bytes"
        case .raw: "hexadecimal digits"
        case .version: "\(size) numbers, such as " + (1...size).map { "\($0)" }.joined(separator: ".")
        }
    }

    /// The smallest and the largest value of a number, in its unit: `-327.68...327.67`; `nil` for other kinds.
    public var limits: String? {
        guard isNumber else { return nil }
        let range = rawRange
        let bounds = [range.lowerBound, range.upperBound].map { BTHomeObject.decimal($0 * step, places: decimals) }
        return bounds.joined(separator: "...")
    }

    /// The names of the event codes of a button, dimmer or command; empty for other kinds.
    var eventNames: [UInt8: String] {
        let words =
            switch form {
            case .button: "none press double_press triple_press long_press long_double_press long_triple_press"
            case .dimmer: "none rotate_left rotate_right"
            case .command: "off on toggle step_up step_down"
            default: ""
            }
        var names: [UInt8: String] = form == .button ? [0x80: "hold_press", 0x81: "hold_release"] : [:]
        for (code, word) in words.split(separator: " ").enumerated() { names[UInt8(code)] = String(word) }
        return names
    }

    fileprivate func code(of name: some StringProtocol) -> UInt8? { eventNames.first { $0.value == name }?.key }

    /// Returns the bytes of an event, or `nil` for other texts. A dimmer's event may have a number of steps, as in
    /// `rotate_left 3`; a command's event may have arguments in hexadecimal.
    fileprivate func event(_ text: String) -> [UInt8]? {
        let words = text.split(separator: " ")
        guard let first = words.first, let code = code(of: first) else { return nil }
        guard form == .dimmer else {
            return (try? Hexadecimal.octets(words.dropFirst().joined())).map { [code] + $0 }
        }
        guard words.count == 2, let steps = UInt8(words[1]) else { return words.count == 1 ? [code, 0] : nil }
        return [code, steps]
    }

    /// Returns the number in the packet that is nearest to `value`; `nil` if it is out of range.
    fileprivate func raw(_ value: Double) -> Int? {
        let scaled = value * Double((0..<decimals).reduce(1) { power, _ in power * 10 }) / Double(step)
        guard scaled > -1e10, scaled < 1e10 else { return nil }
        // The rounding is done here (halves away from zero), because `rounded()` would need a C library, which this
        // module does not link.
        let raw = Int(scaled < 0 ? scaled - 0.5 : scaled + 0.5)
        return rawRange.contains(raw) ? raw : nil
    }

    /// The range of the number in the packet. A percentage may be above 100, so that any received value can be sent
    /// again.
    private var rawRange: ClosedRange<Int> {
        if form == .binary { return 0...1 }
        let limit = 1 << (8 * size - (isSigned ? 1 : 0))
        return (isSigned ? -limit : 0)...(limit - 1)
    }
}

extension BTHomeObject: CustomStringConvertible {
    /// The value without its unit: a number, `true` or `false`, a text, the name of an event, a version, or hexadecimal
    /// digits.
    public var text: String {
        switch kind.form {
        case .unsigned, .signed, .thirtyFive: Self.decimal(number * kind.step, places: kind.decimals)
        case .binary: number == 0 ? "false" : "true"
        case .button: name(octets[0])
        case .dimmer: name(octets[0]) + " \(octets[1])"
        case .command: name(octets[0]) + (octets.count == 1 ? "" : " " + Hexadecimal.text(octets[1...]))
        case .text: String(validating: octets, as: UTF8.self) ?? Hexadecimal.text(octets)
        case .raw: Hexadecimal.text(octets)
        case .version: octets.reversed().map { String($0) }.joined(separator: ".")
        }
    }

    /// Name, value and unit: `temperature 25.06 °C`.
    public var description: String { kind.name + " " + valueText }

    /// The value and its unit. Control characters of received texts are escaped.
    var valueText: String {
        let unit = kind.unit
        return ByteExplainer.harmless(text) + (unit.isEmpty ? "" : " " + unit)
    }

    private var number: Int {
        let unsigned = octets.reversed().reduce(0) { $0 << 8 | Int($1) }
        let isNegative = kind.isSigned && octets.last.map { $0 >= 0x80 } == true
        return isNegative ? unsigned - 1 << (8 * octets.count) : unsigned
    }

    private func name(_ code: UInt8) -> String { kind.eventNames[code] ?? Hexadecimal.number(code, width: 2) }

    /// Returns `value` times 10^-`places`, without trailing zeros after the decimal point.
    fileprivate static func decimal(_ value: Int, places: Int) -> String {
        var digits = Array(String(value.magnitude).utf8)
        if places > 0 {
            while digits.count <= places { digits.insert(0x30, at: 0) }
            digits.insert(0x2E, at: digits.count - places)
            while digits.last == 0x30 { digits.removeLast() }
            if digits.last == 0x2E { digits.removeLast() }
        }
        return (value < 0 ? "-" : "") + String(decoding: digits, as: UTF8.self)
    }
}
