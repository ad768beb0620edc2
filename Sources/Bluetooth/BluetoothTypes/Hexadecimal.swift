/// Bytes as people write them.
///
/// Reading accepts either case and single spaces, colons, dashes or line ends between bytes (`02 01 06`,
/// `02:01:06`, `020106`); writing gives lower case without separators.
public enum Hexadecimal {
    /// The bytes that `text` spells.
    ///
    /// - Throws: ``HexadecimalError`` with the offset, in characters, of the first thing that is no byte.
    @inlinable
    public static func octets(_ text: some StringProtocol) throws(HexadecimalError) -> [UInt8] {
        try octets(in: String(text))
    }

    // Not generic: the runtime would search all conformances of the program for those of the kind of text.
    @usableFromInline
    static func octets(in text: String) throws(HexadecimalError) -> [UInt8] {
        if let octets = plainOctets(text.utf8) { return octets }
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        var offset = 0
        for character in text {
            if let digit = digit(character) {
                if let first = high {
                    result.append(first << 4 | digit)
                    high = nil
                } else {
                    high = digit
                }
            } else if !isSeparator(character) {
                throw HexadecimalError(.notADigit(character), at: offset)
            } else if high != nil {
                throw HexadecimalError(.halfOctet, at: offset)
            }
            offset += 1
        }
        if high != nil { throw HexadecimalError(.halfOctet, at: offset) }
        return result
    }

    /// The same for texts of ASCII without faults, which are almost all that there are: no characters have to be made.
    private static func plainOctets(_ text: String.UTF8View) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.count / 2)
        var high: UInt8?
        for letter in text {
            let value: UInt8
            switch letter {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = letter - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = letter - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = letter - UInt8(ascii: "A") + 10
            case UInt8(ascii: " "), UInt8(ascii: ":"), UInt8(ascii: "-"), 0x09, 0x0A, 0x0D:
                if high != nil { return nil }
                continue
            default: return nil
            }
            if let first = high {
                result.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? result : nil
    }

    /// `octets` in lower case, with `separator` between them.
    @inlinable
    public static func text(_ octets: some Sequence<UInt8>, separator: String = "") -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(octets.underestimatedCount * (2 + separator.utf8.count))
        for octet in octets {
            if !separator.isEmpty, !digits.isEmpty { digits += separator.utf8 }
            digits.append(digit(octet >> 4))
            digits.append(digit(octet & 0xF))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// The digits in upper case.
    static func upperCaseText(_ octets: [UInt8], separator: String) -> String {
        let digits = text(octets, separator: separator).utf8.map { $0 >= UInt8(ascii: "a") ? $0 - 0x20 : $0 }
        return String(decoding: digits, as: UTF8.self)
    }

    @inlinable
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? value + UInt8(ascii: "0") : value - 10 + UInt8(ascii: "a")
    }

    /// Two lower-case digits.
    public static func text(_ octet: UInt8) -> String {
        let digits = String(octet, radix: 16)
        return octet < 16 ? "0" + digits : digits
    }

    /// `0x` and `width` upper-case digits, as opcodes and company identifiers are printed.
    public static func number(_ value: some BinaryInteger, width: Int) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func digit(_ character: Character) -> UInt8? {
        character.isASCII ? character.hexDigitValue.map(UInt8.init) : nil
    }

    private static func isSeparator(_ character: Character) -> Bool {
        character == " " || character == ":" || character == "-" || character.isNewline || character == "\t"
    }
}

/// Why a text is not the hexadecimal bytes that were asked for. Its offset counts characters.
public typealias HexadecimalError = PositionedError<HexadecimalFault>

/// The reason why a text is not hexadecimal bytes.
public enum HexadecimalFault: PositionedReason {
    /// A character that is neither a digit nor a separator.
    case notADigit(Character)
    /// One digit of a byte without the other: the number of digits is odd.
    case halfOctet
    /// Well-formed, but not as many bytes as the field has.
    case wrongLength(expected: Int, found: Int)

    /// One sentence, with the character's number counted from 1.
    public func sentence(at offset: Int) -> String {
        switch self {
        case .notADigit(let character):
            "\"\(Self.escaped(character))\" at character \(offset + 1) is not a hexadecimal digit"
        case .halfOctet:
            "half a byte before character \(offset + 1): every byte has two digits"
        case .wrongLength(let expected, let found):
            "\(found) bytes where \(expected) are needed (\(2 * expected) hexadecimal digits)"
        }
    }

    /// In ASCII: what a file or an argument holds does not reach a terminal as it is.
    private static func escaped(_ character: Character) -> String {
        character.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
    }
}

/// A reason for an error at an offset in bytes or in a text.
public protocol PositionedReason: Hashable, Sendable {
    /// The sentence about it: what is wrong, and where.
    ///
    /// - Parameter offset: As in ``PositionedError/offset``.
    func sentence(at offset: Int) -> String
}

/// A reason and the place where it was found: the error of everything that reads bytes or text from front to back.
///
/// Each reader has one of its own, such as ``HexadecimalError``, which says what its offset counts.
public struct PositionedError<Fault: PositionedReason>: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reasons of this error.
    public typealias Reason = Fault

    /// The reason.
    public let reason: Reason
    /// The offset of the fault, from 0.
    public let offset: Int

    /// An error behind `offset` bytes or characters.
    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// The reason's sentence.
    public var description: String { reason.sentence(at: offset) }
}
