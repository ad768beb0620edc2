internal import Configuration

/// What a place of a profile takes, as far as it matters for filling it and for telling good values fast.
enum SlotKind: Hashable, Sendable {
    /// `major` and `minor`.
    case integer16
    /// Other numbers, and what may be a number.
    case number
    case boolean
    /// Octets in hexadecimal.
    case hexadecimal
    case url
    /// A text of which only the length matters.
    case sizedText
    case keyFile
    /// The profile's own name, which the beacon's is.
    case name
    /// The address and the epoch that are allocated.
    case allocated
    /// Any other string.
    case text

    init(_ path: JSONPath) {
        guard case .key(let key) = path.components.last else {
            // An element of `channels`, or of a list of UUIDs.
            self = path.components.contains(.key("channels")) ? .number : .text
            return
        }
        if path.components.count == 2, path.components[0] == .key("calibration") {
            self = key == "receiver" ? .text : .number
            return
        }
        switch key {
        case "major", "minor": self = .integer16
        case "intervalMs", "radioPowerDbm", "measuredPowerDbm", "measuredPower1mDbm", "companyId", "reserved", "flags",
            "rotationExponent", "powerDbm", "version":
            self = .number
        case "encrypted": self = .boolean
        case "uuid", "namespace", "instance", "id", "data": self = .hexadecimal
        case "url": self = .url
        case "localName": self = .sizedText
        case "name": self = path.components.count == 1 ? .name : .sizedText
        case "identityKeyFile": self = .keyFile
        default: self = .text
        }
    }

    /// Whether a cell of a table that looks like a number is one here.
    var takesNumbers: Bool { self == .integer16 || self == .number }

    /// Whether only a string can stand here, so that a number is written as one.
    var takesStringsOnly: Bool {
        switch self {
        case .hexadecimal, .url, .sizedText, .keyFile, .name, .allocated: true
        case .integer16, .number, .boolean, .text: false
        }
    }
}

/// Sorts a slot's values into classes within which all are good or none is, so that a million beacons are checked by
/// looking at one of each kind. Values of no class stand for themselves.
enum SlotClass {
    /// Appends the class of a value to a key.
    static func append(
        _ kind: SlotKind, _ type: BeaconPlan.ValueType, _ text: [UInt8], _ range: Range<Int>, to key: inout [UInt8]
    ) {
        if let (mark, size) = known(kind, type, text, range) {
            key.append(mark)
            key.append(size)
            return
        }
        key.append(0)
        key.append(type.rawValue)
        for shift in stride(from: 0, to: 32, by: 8) { key.append(UInt8(truncatingIfNeeded: range.count >> shift)) }
        key.append(contentsOf: text[range])
    }

    /// Whether the value is of a class, so that other beacons of the same shape may have another.
    static func isGeneral(
        _ kind: SlotKind, _ type: BeaconPlan.ValueType, _ text: [UInt8], _ range: Range<Int>
    ) -> Bool {
        known(kind, type, text, range) != nil
    }

    private static func known(
        _ kind: SlotKind, _ type: BeaconPlan.ValueType, _ text: [UInt8], _ range: Range<Int>
    ) -> (UInt8, UInt8)? {
        switch kind {
        case .name, .allocated: return (1, 0)
        case .integer16:
            guard type == .number, let value = PlainNumber.whole(text, range), value <= 65_535 else { return nil }
            return (2, 0)
        case .hexadecimal:
            guard type == .string, let digits = digits(text, range) else { return nil }
            return (3, digits)
        case .url:
            guard type == .string, let length = URLLength.encoded(text, range) else { return nil }
            return (4, length)
        case .sizedText:
            guard type == .string, (1...255).contains(range.count) else { return nil }
            return (5, UInt8(truncatingIfNeeded: range.count))
        case .keyFile:
            // 32 octets may be a key that somebody took for a file.
            guard type == .string, !range.isEmpty, range.count != 32 else { return nil }
            let span = text.span
            for index in range where span[index] == 0 { return nil }
            return (6, 0)
        case .number, .boolean, .text: return nil
        }
    }

    /// How many hexadecimal digits the text is made of, and nothing else; a UUID's dashes do not count.
    private static func digits(_ text: [UInt8], _ range: Range<Int>) -> UInt8? {
        guard range.count <= 62 else { return nil }
        let span = text.span
        let isDashed = range.count == 36
        for index in range {
            let place = index - range.lowerBound
            if isDashed, place == 8 || place == 13 || place == 18 || place == 23 {
                guard span[index] == UInt8(ascii: "-") else { return nil }
            } else if TextCursor.digit(span[index]) == nil {
                return nil
            }
        }
        let count = isDashed ? 32 : range.count
        return count % 2 == 0 && count > 0 ? UInt8(truncatingIfNeeded: count) : nil
    }
}
