internal import BluetoothTypes

/// JSON to be written: a tree whose members keep their order.
public enum JSONValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// A key with its value. Keys are not checked for being there once.
    public struct Member: Hashable, Sendable {
        public var key: String
        public var value: JSONValue

        /// The key as it is, without quotes or escapes.
        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// A number without a fraction.
    public static func integer(_ value: some BinaryInteger) -> Self { .number(JSONNumber(value)) }

    /// Everything in one line without spaces, as JSON Lines has it.
    public var line: String {
        var writer = JSONWriter(isPretty: false)
        writer.write(self)
        return writer.text
    }

    /// Indented by two spaces a level; lists of plain values stay in one line. Ends with a line feed.
    public var pretty: String {
        var writer = JSONWriter(isPretty: true)
        writer.write(self)
        return writer.text + "\n"
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A number.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// A list.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object whose members stand in this order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}

/// What reports are made of.
extension JSONValue {
    /// An object whose members stand in this order.
    public static func record(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { Member($0.0, $0.1) })
    }

    /// `null` for `nil`.
    public static func optional<Value>(_ value: Value?, _ make: (Value) -> JSONValue) -> JSONValue {
        value.map(make) ?? .null
    }

    /// Lower-case digits without separators.
    public static func hex(_ octets: some Sequence<UInt8>) -> JSONValue { .string(Hexadecimal.text(octets)) }

    /// A number rounded to thousandths; null if it is `nil` or not finite.
    public static func rounded(_ value: Double?) -> JSONValue {
        guard let value, value.isFinite else { return .null }
        return .number(JSONNumber(thousandths: Int(min(1e15, max(-1e15, value * 1000)).rounded())))
    }

    /// A decimal number by its digits, such as `22.5`.
    public static func decimal(_ digits: String) -> JSONValue { JSONNumber(digits).map(JSONValue.number) ?? .null }
}

/// JSON to be written in which some values are not known yet.
package enum JSONTemplate: Sendable {
    case value(JSONValue)
    /// A value that comes later.
    case gap
    case array([JSONTemplate])
    case object([(key: String, value: JSONTemplate)])

    /// What ``JSONValue/pretty`` would give, cut at the gaps: one piece more than there are gaps. A gap counts as a plain
    /// value, which stays in the line of its list.
    package var prettyPieces: [String] {
        var writer = JSONWriter(isPretty: true)
        writer.write(self)
        return writer.pieces + [writer.text + "\n"]
    }

    fileprivate var isPlain: Bool {
        switch self {
        case .value(let value): value.isPlain
        case .gap: true
        case .array, .object: false
        }
    }
}

/// Turns a ``JSONValue`` or a ``JSONTemplate`` into text.
struct JSONWriter {
    /// What stands before each gap, from the one before it on; ``text`` is what follows the last.
    private(set) var pieces: [String] = []
    // In UTF-8: to put small pieces behind a list of octets is half the work of putting them behind a string.
    private var octets: [UInt8] = []
    private let isPretty: Bool
    private var level = 0

    init(isPretty: Bool) {
        self.isPretty = isPretty
    }

    var text: String { String(decoding: octets, as: UTF8.self) }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: octets += "null".utf8
        case .boolean(let value): octets += (value ? "true" : "false").utf8
        case .number(let number): octets += number.text.utf8
        case .string(let value): JSONText.append(quoted: value, to: &octets)
        case .array(let elements):
            list(elements, isBroken: isPretty && !elements.allSatisfy(\.isPlain)) { $0.write($1) }
        case .object(let members): object(members, key: { $0.key }) { $0.write($1.value) }
        }
    }

    mutating func write(_ template: JSONTemplate) {
        switch template {
        case .value(let value): write(value)
        case .gap:
            pieces.append(text)
            octets = []
        case .array(let elements):
            list(elements, isBroken: isPretty && !elements.allSatisfy(\.isPlain)) { $0.write($1) }
        case .object(let members): object(members, key: { $0.key }) { $0.write($1.value) }
        }
    }

    private mutating func list<Element>(
        _ elements: [Element], isBroken: Bool, write: (inout JSONWriter, Element) -> Void
    ) {
        octets.append(UInt8(ascii: "["))
        level += 1
        for (index, element) in elements.enumerated() {
            separate(index, isBroken: isBroken)
            write(&self, element)
        }
        close(UInt8(ascii: "]"), isBroken: isBroken)
    }

    private mutating func object<Member>(
        _ members: [Member], key: (Member) -> String, write: (inout JSONWriter, Member) -> Void
    ) {
        let isBroken = isPretty && !members.isEmpty
        octets.append(UInt8(ascii: "{"))
        level += 1
        for (index, member) in members.enumerated() {
            separate(index, isBroken: isBroken)
            JSONText.append(quoted: key(member), to: &octets)
            octets.append(UInt8(ascii: ":"))
            if isPretty { octets.append(UInt8(ascii: " ")) }
            write(&self, member)
        }
        close(UInt8(ascii: "}"), isBroken: isBroken)
    }

    private mutating func separate(_ index: Int, isBroken: Bool) {
        if index > 0 {
            octets.append(UInt8(ascii: ","))
            if isPretty, !isBroken { octets.append(UInt8(ascii: " ")) }
        }
        if isBroken { breakLine() }
    }

    private mutating func close(_ bracket: UInt8, isBroken: Bool) {
        level -= 1
        if isBroken { breakLine() }
        octets.append(bracket)
    }

    private mutating func breakLine() {
        octets.append(UInt8(ascii: "\n"))
        octets += repeatElement(UInt8(ascii: " "), count: 2 * level)
    }
}

extension JSONValue {
    fileprivate var isPlain: Bool {
        switch self {
        case .array, .object: false
        default: true
        }
    }
}
