internal import BluetoothTypes

/// A JSON value to be written. The members of objects keep their order.
public enum JSONValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// A key with its value. Duplicate keys are not detected.
    public struct Member: Hashable, Sendable {
        public var key: String
        public var value: JSONValue

        /// Creates a member. The key is given without quotes and escapes.
        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// Returns a whole number.
    public static func integer(_ value: some BinaryInteger) -> Self { .number(JSONNumber(value)) }

    /// The JSON text in one line without spaces, for JSON Lines.
    public var line: String {
        var writer = JSONWriter()
        writer.write(self)
        return writer.text
    }

    /// The JSON text with two spaces of indentation for each level, ending with a line feed. A list that contains
    /// neither lists nor objects is written in one line.
    public var pretty: String {
        var writer = JSONWriter(isPretty: true)
        writer.write(self)
        return writer.text + "\n"
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a number.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Creates a list.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object with its members in this order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}

extension JSONValue {
    /// Creates the value of a node, without the positions in the text.
    public init(_ node: JSONNode) {
        switch node.value {
        case .null, .malformed: self = .null
        case .boolean(let value): self = .boolean(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .array(let elements): self = .array(elements.map { JSONValue($0) })
        case .object(let members): self = .object(members.map { Member($0.key, JSONValue($0.value)) })
        }
    }

    /// Returns an object with its members in this order.
    public static func record(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { Member($0.0, $0.1) })
    }

    /// Returns the JSON value of an optional value; `null` for `nil`.
    public static func optional<Value>(_ value: Value?, _ make: (Value) -> JSONValue) -> JSONValue {
        value.map(make) ?? .null
    }

    /// Returns bytes as a string of lower-case hexadecimal digits without separators.
    public static func hex(_ octets: some Sequence<UInt8>) -> JSONValue { .string(Hexadecimal.text(octets)) }

    /// Returns a number rounded to thousandths; `null` if it is `nil` or not finite.
    public static func rounded(_ value: Double?) -> JSONValue {
        guard let value, value.isFinite else { return .null }
        return .thousandths(Int(min(1e15, max(-1e15, value * 1000)).rounded()))
    }

    /// Returns `value` thousandths as a number, such as `22.5` for 22500; `null` for `nil`.
    public static func thousandths(_ value: Int?) -> JSONValue {
        .optional(value) { .number(JSONNumber(thousandths: $0)) }
    }

    /// Returns a time in microseconds as a number of seconds, rounded to thousandths; `null` for `nil`.
    public static func seconds(_ microseconds: Int?) -> JSONValue {
        .thousandths(microseconds.map { ($0 + 500) / 1000 })
    }

    /// Returns the number with these digits, such as `22.5`; `null` if the text is not a number.
    public static func decimal(_ digits: String) -> JSONValue { JSONNumber(digits).map(JSONValue.number) ?? .null }
}

extension JSONValue {
    /// True if the value is neither a list nor an object.
    var isPlain: Bool {
        switch self {
        case .array, .object: false
        default: true
        }
    }
}

/// A JSON value with gaps, into which values are inserted later.
package enum JSONTemplate: Sendable {
    case value(JSONValue)
    /// The position at which a value is inserted later.
    case gap
    case array([JSONTemplate])
    case object([(key: String, value: JSONTemplate)])

    /// The text in the form of ``JSONValue/pretty``, split at the gaps, so that there is one more piece than gaps. A
    /// gap is treated like a plain value: a list of gaps is written in one line.
    package var prettyPieces: [String] {
        var writer = JSONWriter(isPretty: true)
        var pieces: [String] = []
        write(to: &writer, &pieces)
        return pieces + [writer.text + "\n"]
    }

    private func write(to writer: inout JSONWriter, _ pieces: inout [String]) {
        switch self {
        case .value(let value): writer.write(value)
        case .gap:
            pieces.append(writer.text)
            writer.removeAll()
        case .array(let elements):
            writer.write(list: elements, isMultiline: !elements.allSatisfy(\.isPlain)) { $1.write(to: &$0, &pieces) }
        case .object(let members):
            writer.write(object: members, key: \.key) { $1.value.write(to: &$0, &pieces) }
        }
    }

    private var isPlain: Bool {
        switch self {
        case .value(let value): value.isPlain
        case .gap: true
        case .array, .object: false
        }
    }
}
