public import BluetoothTypes

/// The meaning of one byte of a payload.
public struct ByteNote: Hashable, Sendable, CustomStringConvertible {
    /// The position of the byte in the advertising data, from 0.
    public let offset: Int
    public let octet: UInt8
    /// The field's name, such as `measured power`.
    public let field: String
    /// The value of the field, such as `-59 dBm at 1 m`. If the field has several bytes, the text also says which of
    /// them this byte is.
    public let meaning: String

    /// A note about the byte at `offset`, from 0.
    public init(offset: Int, octet: UInt8, field: String, meaning: String) {
        self.offset = offset
        self.octet = octet
        self.field = field
        self.meaning = meaning
    }

    public var description: String { "\(offset): \(Hexadecimal.text(octet)) \(field): \(meaning)" }
}

extension AdvertisingData {
    /// Returns one note for each byte, in order. Invalid data is explained as far as possible.
    public func explained() -> [ByteNote] {
        var explainer = ByteExplainer(octets)
        explainer.explainStructures()
        return explainer.notes
    }
}

/// Writes one note for each byte, from the first to the last.
///
/// The next byte to explain is always the byte after the last note, and no note is written beyond ``end``. Therefore
/// each byte gets exactly one note, even in invalid data. A truncated field gets fewer notes.
struct ByteExplainer {
    private let octets: [UInt8]
    private(set) var notes: [ByteNote] = []
    /// The offset at which the current AD structure ends.
    private var end = 0

    init(_ octets: [UInt8]) {
        self.octets = octets
        notes.reserveCapacity(octets.count)
    }

    /// The number of bytes in the current structure that are not explained yet.
    var remainingCount: Int { end - notes.count }

    /// Returns the byte that is `ahead` bytes after the next byte to explain; `nil` beyond the end of the structure.
    func peek(_ ahead: Int = 0) -> UInt8? {
        ahead < remainingCount ? octets[notes.count + ahead] : nil
    }

    /// Returns the next `count` bytes; `nil` if fewer bytes of the structure remain.
    func peek(count: Int) -> ArraySlice<UInt8>? {
        count <= remainingCount ? octets[notes.count..<notes.count + count] : nil
    }

    /// Explains the next byte, if there is one.
    mutating func note(_ field: String, _ meaning: String) {
        guard let octet = peek() else { return }
        notes.append(ByteNote(offset: notes.count, octet: octet, field: field, meaning: meaning))
    }

    /// Explains the next `count` bytes as the parts of one `value`. If the structure has fewer bytes left, the notes
    /// say "cut off" instead of the value.
    mutating func noteBytes(_ field: String, count: Int, value: String) {
        let isCut = remainingCount < count
        for index in 0..<min(count, remainingCount) {
            note(field, (isCut ? "cut off" : value) + ", byte \(index + 1) of \(count)")
        }
    }

    /// Explains a 16-bit number. `bigEndian` is true if its most significant byte is sent first.
    mutating func noteNumber16(_ field: String, bigEndian: Bool, _ describe: (UInt16) -> String) {
        guard let high = peek(bigEndian ? 0 : 1), let low = peek(bigEndian ? 1 : 0) else {
            return noteBytes(field, count: 2, value: "")
        }
        let value = describe(UInt16(high) << 8 | UInt16(low))
        note(field, "\(value), \(bigEndian ? "most" : "least") significant byte")
        note(field, "\(value), \(bigEndian ? "least" : "most") significant byte")
    }

    /// Explains a 32-bit number, most significant byte first.
    mutating func noteNumber32(_ field: String, _ describe: (UInt32) -> String) {
        let value = peek(count: 4)?.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        noteBytes(field, count: 4, value: value.map(describe) ?? "")
    }

    /// Explains all remaining bytes of the structure with the same text.
    mutating func noteRemaining(_ field: String, _ meaning: String) {
        while remainingCount > 0 { note(field, meaning) }
    }

    /// Explains all remaining bytes as parts of a value of unknown meaning.
    mutating func noteRemainingAsData(_ field: String) {
        let count = remainingCount
        for index in 0..<count { note(field, "byte \(index + 1) of \(count)") }
    }

    mutating func explainStructures() {
        while notes.count < octets.count {
            let available = octets.count - notes.count - 1
            let length = Int(octets[notes.count])
            guard length > 0 else { return explainTermination() }
            end = notes.count + 1 + min(length, available)
            let isTruncated = length > available
            note(
                "length",
                "\(length) \(length == 1 ? "byte follows" : "bytes follow"): type and data"
                    + (isTruncated ? ", but only \(available) are there" : ""))
            guard let type = peek().map(ADType.init(rawValue:)) else { continue }
            note("AD type", type.name)
            explainData(of: type)
            noteRemaining("surplus", "bytes after the last field of this structure")
        }
    }

    private mutating func explainTermination() {
        end = octets.count
        note("length", "0: early termination, no structure follows")
        while let octet = peek() {
            note("padding", octet == 0 ? "zero after the early termination" : "must be zero after early termination")
        }
    }
}

/// Explains the formats of the Core Specification Supplement, Part A.
extension ByteExplainer {
    mutating func explainData(of type: ADType) {
        switch type {
        case .flags: explainFlags()
        case .incomplete16BitUUIDs, .complete16BitUUIDs:
            while remainingCount > 0 { noteNumber16("service UUID", bigEndian: false, AssignedNames.service) }
        case .incomplete32BitUUIDs, .complete32BitUUIDs:
            while remainingCount > 0 { explainUUID(count: 4) }
        case .incomplete128BitUUIDs, .complete128BitUUIDs:
            while remainingCount > 0 { explainUUID(count: 16) }
        case .shortenedLocalName, .completeLocalName: explainText("local name")
        case .txPowerLevel: explainRadioPower()
        case .appearance:
            noteNumber16("appearance", bigEndian: false) { Hexadecimal.number($0, width: 4) }
        case .serviceData16: explainServiceData16()
        case .serviceData32:
            explainUUID(count: 4)
            noteRemainingAsData("service data")
        case .serviceData128:
            explainUUID(count: 16)
            noteRemainingAsData("service data")
        case .manufacturerData: explainManufacturerData()
        default: noteRemainingAsData("data")
        }
    }

    private mutating func explainFlags() {
        guard let octet = peek() else { return }
        let names = [
            "LE limited discoverable", "LE general discoverable", "BR/EDR not supported",
            "simultaneous LE and BR/EDR (controller)", "simultaneous LE and BR/EDR (host)",
            "reserved bit 5", "reserved bit 6", "reserved bit 7",
        ]
        let setFlags = names.enumerated().filter { octet & 1 << UInt8($0.offset) != 0 }.map(\.element)
        note("flags", setFlags.isEmpty ? "none" : setFlags.joined(separator: ", "))
        noteRemaining("flags", "reserved for future use")
    }

    /// Explains the next UUID of 4 or 16 bytes, least significant byte first.
    private mutating func explainUUID(count: Int) {
        let uuid = peek(count: count).flatMap { BluetoothUUID(bigEndian: $0.reversed()) }
        noteBytes("service UUID", count: count, value: uuid.map { "\($0), least significant byte first" } ?? "")
    }

    private mutating func explainText(_ field: String) {
        let octets = peek(count: remainingCount) ?? []
        let text = String(validating: octets, as: UTF8.self)
        let ofText = text.map { " of \"\(Self.harmless($0))\"" } ?? ", of a text that is not UTF-8"
        for octet in octets {
            let character = (0x20...0x7E).contains(octet) ? "\"\(UnicodeScalar(octet))\"" : "a byte"
            note(field, character + ofText)
        }
    }

    /// Returns a received text in which control characters are escaped, such as `\u{1B}`. These are the control
    /// characters of terminals and the characters that set the direction of writing or break a line.
    static func harmless(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar.value {
            case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069:
                "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            default: String(scalar)
            }
        }.joined()
    }

    private mutating func explainRadioPower() {
        guard let octet = peek() else { return }
        note("TX power level", "\(Int8(bitPattern: octet)) dBm, the power of the transmitter")
    }

    private mutating func explainServiceData16() {
        let isEddystone = peek() == 0xAA && peek(1) == 0xFE
        let isFindHub = isEddystone && peek(2).flatMap(FindHub.FrameType.init(rawValue:)) != nil
        let isBTHome = peek() == 0xD2 && peek(1) == 0xFC
        noteNumber16("service UUID", bigEndian: false) {
            isFindHub ? Hexadecimal.number($0, width: 4) + " Find Hub" : AssignedNames.service($0)
        }
        if isFindHub {
            explainFindHub()
        } else if isEddystone {
            explainEddystone()
        } else if isBTHome {
            explainBTHome()
        } else {
            noteRemainingAsData("service data")
        }
    }

    private mutating func explainFindHub() {
        let isProtected = peek() == FindHub.FrameType.unwantedTrackingProtection.rawValue
        note("frame type", "Find Hub" + (isProtected ? ", protection against unwanted tracking on" : ""))
        let length = FindHub.idLengths.last { $0 <= remainingCount } ?? FindHub.idLengths[0]
        noteBytes("ephemeral id", count: length, value: peek(count: length).map { Hexadecimal.text($0) } ?? "")
        note("hashed flags", "battery level and tracking protection, hashed with the tag's key")
    }
}

/// Explains iBeacon, AltBeacon, and manufacturer data of any other layout.
extension ByteExplainer {
    mutating func explainManufacturerData() {
        let isApple = peek() == 0x4C && peek(1) == 0x00
        noteNumber16("company id", bigEndian: false, AssignedNames.company)
        if isApple, peek() == 0x02, peek(1) == 0x15 {
            explainIBeacon()
        } else if peek() == 0xBE, peek(1) == 0xAC {
            explainAltBeacon()
        } else {
            noteRemainingAsData("manufacturer data")
        }
    }

    private mutating func explainIBeacon() {
        note("Apple type", "iBeacon")
        note("Apple length", "21 bytes follow")
        let uuid = peek(count: 16).flatMap { FixedOctets<16>($0) }
        noteBytes("UUID", count: 16, value: uuid?.uuidText ?? "")
        noteNumber16("major", bigEndian: true) { "\($0)" }
        noteNumber16("minor", bigEndian: true) { "\($0)" }
        explainPowerAtOneMeter("measured power")
    }

    private mutating func explainAltBeacon() {
        note("beacon code", "AltBeacon, most significant byte")
        note("beacon code", "AltBeacon, least significant byte")
        noteBytes("beacon id", count: 20, value: peek(count: 20).map { Hexadecimal.text($0) } ?? "")
        explainPowerAtOneMeter("reference RSSI")
        note("manufacturer reserved", "\(Hexadecimal.number(peek() ?? 0, width: 2)), free for the manufacturer")
    }

    private mutating func explainPowerAtOneMeter(_ field: String) {
        guard let octet = peek() else { return }
        let power = MeasuredPowerAtOneMeter(octet: octet)
        note(field, power.isInRange ? power.description : "\(power), out of range -127...0 dBm")
    }
}

/// Explains the Eddystone frames (github google/eddystone).
extension ByteExplainer {
    mutating func explainEddystone() {
        guard let octet = peek() else { return }
        let frame: String
        switch Eddystone.FrameType(rawValue: octet & 0xF0) {
        case .uid: frame = "Eddystone-UID"
        case .url: frame = "Eddystone-URL"
        case .tlm: frame = "Eddystone-TLM"
        case .eid: frame = "Eddystone-EID"
        case nil: frame = "unknown to Eddystone"
        }
        note("frame type", frame + (octet & 0x0F == 0 ? "" : ", but the low four bits must be 0"))
        switch Eddystone.FrameType(rawValue: octet) {
        case .uid: explainUID()
        case .url: explainURL()
        case .tlm: explainTLM()
        case .eid: explainEID()
        case nil: noteRemainingAsData("frame data")
        }
    }

    private mutating func explainPowerAtZeroMeters() {
        guard let octet = peek() else { return }
        let power = MeasuredPowerAtZeroMeters(octet: octet)
        note("measured power", power.isInRange ? power.description : "\(power), out of range -100...20 dBm")
    }

    private mutating func explainUID() {
        explainPowerAtZeroMeters()
        noteBytes("namespace", count: 10, value: peek(count: 10).map { Hexadecimal.text($0) } ?? "")
        noteBytes("instance", count: 6, value: peek(count: 6).map { Hexadecimal.text($0) } ?? "")
        for _ in 0..<2 {
            note("reserved", peek() == 0 ? "reserved for future use, 0" : "reserved for future use, must be 0")
        }
    }

    private mutating func explainURL() {
        explainPowerAtZeroMeters()
        if let scheme = peek() {
            let text = Int(scheme) < CompressedURL.schemes.count ? CompressedURL.schemes[Int(scheme)] : nil
            note("URL scheme", text ?? "reserved")
        }
        while let octet = peek() {
            let text = CompressedURL.text(of: octet)
            if CompressedURL.literals.contains(octet) {
                note("URL text", "\"\(text ?? "")\"")
            } else {
                note("URL code", text ?? "reserved")
            }
        }
    }

    private mutating func explainEID() {
        explainPowerAtZeroMeters()
        noteBytes("ephemeral id", count: 8, value: peek(count: 8).map { Hexadecimal.text($0) } ?? "")
    }

    private mutating func explainTLM() {
        switch peek() {
        case 0x00:
            note("TLM version", "0, not encrypted")
            explainTelemetry()
        case 0x01:
            note("TLM version", "1, encrypted")
            noteBytes("encrypted telemetry", count: 12, value: peek(count: 12).map { Hexadecimal.text($0) } ?? "")
            noteNumber16("salt", bigEndian: true) { Hexadecimal.number($0, width: 4) }
            noteNumber16("message integrity check", bigEndian: true) { Hexadecimal.number($0, width: 4) }
        default:
            note("TLM version", "unknown")
            noteRemainingAsData("frame data")
        }
    }

    private mutating func explainTelemetry() {
        noteNumber16("battery", bigEndian: true) { $0 == 0 ? "unknown" : "\($0) mV" }
        noteNumber16("temperature", bigEndian: true) {
            FixedPointTemperature(rawValue: Int16(bitPattern: $0))?.description ?? "unknown"
        }
        noteNumber32("advertisements", { "\($0) advertising events since power-on" })
        noteNumber32("uptime", { "\(DecimalText.thousandths(Int($0) * 100)) s since power-on" })
    }
}

/// The names of company identifiers and service UUIDs that are common in beacon payloads (Bluetooth SIG, Assigned
/// Numbers 3.4, 3.8 and 7.1).
private enum AssignedNames {
    /// Returns a company identifier with its name, such as `0x004C Apple`; only the number if ``companies`` does not
    /// contain it.
    static func company(_ identifier: UInt16) -> String {
        named(identifier, companies[identifier])
    }

    /// Returns a 16-bit service UUID with its name, such as `0xFEAA Eddystone`; only the number if ``services`` does
    /// not contain it.
    static func service(_ uuid: UInt16) -> String {
        named(uuid, services[uuid])
    }

    private static func named(_ number: UInt16, _ name: String?) -> String {
        Hexadecimal.number(number, width: 4) + (name.map { " " + $0 } ?? "")
    }

    private static let companies: [UInt16: String] = [
        0x0000: "Ericsson", 0x0002: "Intel", 0x0006: "Microsoft", 0x000D: "Texas Instruments", 0x000F: "Broadcom",
        0x004C: "Apple", 0x0059: "Nordic Semiconductor", 0x0075: "Samsung", 0x00E0: "Google",
        0x0118: "Radius Networks", 0x015D: "Estimote", 0x02E5: "Espressif", 0x02FF: "Silicon Laboratories",
        0x0499: "Ruuvi", 0x05F1: "The Linux Foundation", 0xFFFF: "for tests only",
    ]

    private static let services: [UInt16: String] = [
        0x1800: "Generic Access", 0x1801: "Generic Attribute", 0x180A: "Device Information", 0x180F: "Battery",
        0x181A: "Environmental Sensing", 0xFD6F: "Exposure Notification", 0xFCD2: "BTHome", 0xFEAA: "Eddystone",
    ]
}
