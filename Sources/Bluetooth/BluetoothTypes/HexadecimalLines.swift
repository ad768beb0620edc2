/// Cuts a stream of text into lines, which usually are hexadecimal bytes.
///
/// The result does not depend on how the stream is split into pieces. Empty lines are counted and skipped, and so is
/// the byte order mark at the start of a text.
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
    /// The offset in `buffer` up to which no further line end was found.
    private var searched = 0
    /// The number of lines so far, including empty lines.
    private var number = 0
    private var isFinished = false
    /// True if the current line was already reported as too long.
    private var skipsLine = false

    /// Starts without text. Add the text with ``push(_:)``.
    public init() {}

    /// Appends a piece of the text, of any length.
    public mutating func push(_ piece: [UInt8]) {
        buffer.removeFirst(start)
        searched -= start
        start = 0
        buffer += piece
    }

    /// Marks the end of the text.
    public mutating func finish() { isFinished = true }

    /// Returns the next line that is not empty; `nil` if more text is needed, or at the end of the text.
    public mutating func next() -> Line? {
        while let text = nextText() {
            number += 1
            guard !skipsLine else {
                skipsLine = false
                continue
            }
            guard text.count <= Self.limit else { return Line(number: number, text: nil) }
            let hasMark = number == 1 && text.starts(with: Self.byteOrderMark)
            let line = hasMark ? text.dropFirst(Self.byteOrderMark.count) : text
            guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { continue }
            return Line(number: number, text: Array(line))
        }
        guard buffer.count - start > Self.limit else { return nil }
        // The rest of the line is discarded as it arrives.
        start = buffer.count
        searched = buffer.count
        guard !skipsLine else { return nil }
        skipsLine = true
        number += 1
        defer { number -= 1 }
        return Line(number: number, text: nil)
    }

    /// U+FEFF in UTF-8, which some editors write at the start of a text.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the next line without its line end; `nil` if the buffer contains no complete line.
    private mutating func nextText() -> ArraySlice<UInt8>? {
        while searched < buffer.count {
            let octet = buffer[searched]
            // A carriage return may be the first half of a line end whose second half has not arrived yet.
            if octet == 0x0D, searched + 1 == buffer.count, !isFinished { return nil }
            let end = searched
            searched += 1
            guard octet == 0x0A || octet == 0x0D else { continue }
            if octet == 0x0D, searched < buffer.count, buffer[searched] == 0x0A { searched += 1 }
            defer { start = searched }
            return buffer[start..<end]
        }
        guard isFinished, start < buffer.count else { return nil }
        defer { start = buffer.count }
        return buffer[start...]
    }

    /// Returns true if the first bytes of a file can be text: none of them is zero.
    public static func looksLikeText(_ octets: [UInt8]) -> Bool {
        !octets.contains(0)
    }

    /// Returns the bytes of a hexadecimal text. Each group of digits may have `0x` before it and a comma after it, and
    /// brackets or braces may be around the whole text.
    public static func octets(_ text: some Collection<UInt8>) throws(Fault) -> [UInt8] {
        var spelled = Array(text)
        var isStart = true
        for index in spelled.indices where "[]{},".utf8.contains(spelled[index]) { spelled[index] = 0x20 }
        for index in spelled.indices {
            let next = index + 1 < spelled.count ? spelled[index + 1] : 0
            if isStart, spelled[index] == UInt8(ascii: "0"), next | 0x20 == UInt8(ascii: "x") {
                // Blanks replace `0x`, so that the offsets of all other characters stay the same.
                spelled[index] = 0x20
                spelled[index + 1] = 0x20
            }
            isStart = [0x20, 0x09, UInt8(ascii: ":"), UInt8(ascii: "-")].contains(spelled[index])
        }
        let octets: [UInt8]
        do throws(HexadecimalError) {
            octets = try Hexadecimal.octets(String(decoding: spelled, as: UTF8.self))
        } catch {
            throw .spelling(error)
        }
        guard !octets.isEmpty else { throw .noOctets }
        return octets
    }
}
