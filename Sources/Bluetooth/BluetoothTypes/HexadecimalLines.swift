/// Splits a stream of text into lines. Usually, each line contains hexadecimal bytes.
///
/// The stream may arrive in pieces of any length. Empty lines are skipped, but line numbers count them. A byte order
/// mark at the start of the text is skipped too.
public struct HexadecimalLines: Sendable {
    /// A line that is not empty.
    public struct Line: Sendable {
        /// The number of the line, from 1.
        public let number: Int
        /// The text without its line end; `nil` for a line that is longer than ``HexadecimalLines/limit``.
        public let text: [UInt8]?
    }

    /// The reason why a line is not valid.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case spelling(HexadecimalError)
        case noOctets

        public var description: String {
            switch self {
            case .spelling(let error): error.description
            case .noOctets: "nothing to decode: there are no bytes"
            }
        }
    }

    /// The largest length of a line, in bytes of text. The longest advertising data has 1650 bytes.
    public static let limit = 1 << 16

    private var buffer: [UInt8] = []
    /// The offset of the next line in `buffer`.
    private var start = 0
    /// The offset in `buffer` from which the end of the next line is searched. No line ends between `start` and this
    /// offset.
    private var searchStart = 0
    /// The number of lines so far, including empty lines.
    private var lineCount = 0
    private var isFinished = false
    /// True if the current line was already reported as too long. The rest of it is skipped.
    private var isSkippingLine = false

    /// Starts without text. Add the text with ``push(_:)``.
    public init() {}

    /// Appends a piece of the text, of any length.
    public mutating func push(_ piece: [UInt8]) {
        buffer.removeFirst(start)
        searchStart -= start
        start = 0
        buffer += piece
    }

    /// Marks the end of the text.
    public mutating func finish() { isFinished = true }

    /// Returns the next line that is not empty; `nil` if more text is needed, or at the end of the text.
    public mutating func next() -> Line? {
        while let text = nextText() {
            lineCount += 1
            guard !isSkippingLine else {
                isSkippingLine = false
                continue
            }
            guard text.count <= Self.limit else { return Line(number: lineCount, text: nil) }
            let hasMark = lineCount == 1 && text.starts(with: Self.byteOrderMark)
            let line = hasMark ? text.dropFirst(Self.byteOrderMark.count) : text
            guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { continue }
            return Line(number: lineCount, text: Array(line))
        }
        guard buffer.count - start > Self.limit else { return nil }
        // The rest of the line is discarded as it arrives.
        start = buffer.count
        searchStart = buffer.count
        guard !isSkippingLine else { return nil }
        isSkippingLine = true
        lineCount += 1
        defer { lineCount -= 1 }
        return Line(number: lineCount, text: nil)
    }

    /// U+FEFF in UTF-8, which some editors write at the start of a text.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the next line without its line end; `nil` if the buffer contains no complete line.
    private mutating func nextText() -> ArraySlice<UInt8>? {
        while searchStart < buffer.count {
            let octet = buffer[searchStart]
            // A carriage return at the end of the buffer may be the start of a CR LF whose LF has not arrived yet.
            if octet == 0x0D, searchStart + 1 == buffer.count, !isFinished { return nil }
            let end = searchStart
            searchStart += 1
            guard octet == 0x0A || octet == 0x0D else { continue }
            if octet == 0x0D, searchStart < buffer.count, buffer[searchStart] == 0x0A { searchStart += 1 }
            defer { start = searchStart }
            return buffer[start..<end]
        }
        guard isFinished, start < buffer.count else { return nil }
        defer { start = buffer.count }
        return buffer[start...]
    }

    /// Returns true if these bytes from the start of a file can be text, which contains no zero byte.
    public static func looksLikeText(_ octets: [UInt8]) -> Bool {
        !octets.contains(0)
    }

    /// Returns the bytes of a hexadecimal text. Each group of digits may have `0x` before it and a comma after it, and
    /// brackets or braces may be around the whole text.
    public static func octets(_ text: some Collection<UInt8>) throws(Fault) -> [UInt8] {
        var digits = Array(text)
        var isStartOfGroup = true
        for index in digits.indices where "[]{},".utf8.contains(digits[index]) { digits[index] = 0x20 }
        for index in digits.indices {
            let next = index + 1 < digits.count ? digits[index + 1] : 0
            if isStartOfGroup, digits[index] == UInt8(ascii: "0"), next | 0x20 == UInt8(ascii: "x") {
                // Blanks replace `0x`, because removing it would change the offsets of the characters after it.
                digits[index] = 0x20
                digits[index + 1] = 0x20
            }
            isStartOfGroup = [0x20, 0x09, UInt8(ascii: ":"), UInt8(ascii: "-")].contains(digits[index])
        }
        let octets: [UInt8]
        do throws(HexadecimalError) {
            octets = try Hexadecimal.octets(String(decoding: digits, as: UTF8.self))
        } catch {
            throw .spelling(error)
        }
        guard !octets.isEmpty else { throw .noOctets }
        return octets
    }
}
