/// JSON to be written: a tree whose members keep their order.
public indirect enum JSONValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object([Member])

    public struct Member: Hashable, Sendable {
        public var key: String
        public var value: JSONValue

        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

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
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}
