/// Bytes as hexadecimal text.
///
/// Reading accepts either case and single spaces, colons, dashes or line ends between bytes (`02 01 06`,
/// `02:01:06`, `020106`); writing gives lower case without separators.
public enum Hexadecimal {
    /// Returns the bytes of a hexadecimal text.
    ///
    /// - Throws: ``HexadecimalError`` with the offset, in characters, of the first part that is not a byte.
    @inlinable
    public static func octets(_ text: some StringProtocol) throws(HexadecimalError) -> [UInt8] {
        try octets(in: String(text))
    }

    // This function takes a `String` because a generic function would be slow: the runtime would search all protocol
    // conformances of the program for those of the text's type.
    @usableFromInline
    static func octets(in text: String) throws(HexadecimalError) -> [UInt8] {
        if let octets = plainOctets(text.utf8) { return octets }
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        var offset = 0
        for character in text {
            if let digit = digit(character) {
                if let highDigit = high {
                    result.append(highDigit << 4 | digit)
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

    /// The characters that may be between bytes, in ASCII.
    package static let separators = Array(" \t\r\n:-".utf8)

    /// Returns the bytes of a valid hexadecimal text in ASCII, without creating a `Character` for each digit, which is
    /// fast. Returns `nil` for all other texts, which are rare.
    private static func plainOctets(_ text: String.UTF8View) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.count / 2)
        var high: UInt8?
        for letter in text {
            guard let value = letter.hexadecimalValue else {
                guard high == nil, separators.contains(letter) else { return nil }
                continue
            }
            if let highDigit = high {
                result.append(highDigit << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? result : nil
    }

    /// Returns `octets` as lower-case hexadecimal digits, with `separator` between the bytes.
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

    /// Returns `octets` as upper-case hexadecimal digits, with `separator` between the bytes.
    static func upperCaseText(_ octets: [UInt8], separator: String) -> String {
        let digits = text(octets, separator: separator).utf8.map { $0 >= UInt8(ascii: "a") ? $0 - 0x20 : $0 }
        return String(decoding: digits, as: UTF8.self)
    }

    @inlinable
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? value + UInt8(ascii: "0") : value - 10 + UInt8(ascii: "a")
    }

    /// Returns a byte as two lower-case hexadecimal digits.
    public static func text(_ octet: UInt8) -> String {
        let digits = String(octet, radix: 16)
        return octet < 16 ? "0" + digits : digits
    }

    /// Returns `value` as `0x` and at least `width` upper-case hexadecimal digits. Opcodes and company identifiers are
    /// printed in this form.
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

/// An error in a hexadecimal text. Its offset counts characters.
public typealias HexadecimalError = PositionedError<HexadecimalFault>

/// The reason why a text is not hexadecimal bytes.
public enum HexadecimalFault: PositionedReason {
    /// A character that is neither a digit nor a separator.
    case notADigit(Character)
    /// A byte has only one digit.
    case halfOctet
    /// A valid text with more or fewer bytes than the field has.
    case wrongLength(expected: Int, found: Int)

    /// Returns one sentence about the fault. The sentence counts characters from 1.
    public func sentence(at offset: Int) -> String {
        switch self {
        case .notADigit(let character):
            "\"\(Self.escaped(character))\" at character \(offset + 1) is not a hexadecimal digit"
        case .halfOctet:
            "a digit is missing before character \(offset + 1): every byte has two digits"
        case .wrongLength(let expected, let found):
            "\(NumberFormat.count(found, "byte")) where \(expected) are needed (\(2 * expected) hexadecimal digits)"
        }
    }

    /// Returns the character as printable ASCII text, so that no control character reaches a terminal.
    private static func escaped(_ character: Character) -> String {
        character.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
    }
}

/// The reason for an error at an offset in bytes or in a text.
public protocol PositionedReason: Hashable, Sendable {
    /// Returns a sentence with the reason and the place of the error.
    ///
    /// - Parameter offset: The offset, as in ``PositionedError/offset``.
    func sentence(at offset: Int) -> String
}

/// An error of a reader of bytes or text: a reason and an offset.
///
/// Each reader has its own error, such as ``HexadecimalError``. The documentation of each error says if the offset
/// counts bytes or characters.
public struct PositionedError<Fault: PositionedReason>: Error, Hashable, Sendable, CustomStringConvertible {
    /// The type of the reason.
    public typealias Reason = Fault

    /// The reason.
    public let reason: Reason
    /// The offset of the fault, from 0.
    public let offset: Int

    /// An error at `offset`, the number of bytes or characters before the fault.
    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// A sentence with the reason and the place of the error.
    public var description: String { reason.sentence(at: offset) }
}
