internal import BluetoothTypes

/// A value of a JSON text with the position at which it begins.
public struct JSONNode: Sendable {
    /// The kinds of values. The nodes in lists and objects have their own positions.
    public enum Value: Sendable {
        case null
        case boolean(Bool)
        case number(JSONNumber)
        case string(String)
        case array([JSONNode])
        /// The members in the order of the text. Each key appears once.
        case object([JSONMember])
        /// Text that is not a JSON value. The parser has reported it, so decoders need not report it again.
        case malformed
    }

    public let value: Value
    public let position: JSONPosition
    public let path: JSONPath

    /// Creates a node. Parsers of other formats use this, so that their values can be decoded like JSON.
    public init(_ value: Value, at position: JSONPosition, path: JSONPath) {
        self.value = value
        self.position = position
        self.path = path
    }

    /// The kind of the value as a part of a sentence: `a number`.
    public var kind: String {
        switch value {
        case .null: "null"
        case .boolean: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        case .malformed: "malformed"
        }
    }
}

/// A member of an object: a key with its value.
public struct JSONMember: Sendable {
    public let key: String
    public let keyPosition: JSONPosition
    public let value: JSONNode

    /// Creates a member.
    ///
    /// - Parameter keyPosition: The position of the key's opening quote.
    public init(key: String, keyPosition: JSONPosition, value: JSONNode) {
        self.key = key
        self.keyPosition = keyPosition
        self.value = value
    }
}

extension JSONNode {
    /// The value of a member; `nil` if the key is missing or this is not an object.
    public subscript(key: String) -> JSONNode? {
        guard case .object(let members) = value else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The element of a list at `index`; `nil` if there is no such element or this is not a list.
    public subscript(index: Int) -> JSONNode? {
        guard case .array(let elements) = value, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The text of a string; `nil` for other kinds of values.
    public var string: String? {
        guard case .string(let text) = value else { return nil }
        return text
    }

    /// The value of a whole number, such as `1`, `1.0` or `1e0`; `nil` for other values.
    public var integer: Int? {
        guard case .number(let number) = value else { return nil }
        return number.integer
    }

    /// The value of a number in thousandths, such as 22500 for `22.5`; `nil` for other values.
    public var thousandths: Int? {
        guard case .number(let number) = value else { return nil }
        return number.thousandths
    }

    /// The elements of a list; `nil` for other kinds of values.
    public var elements: [JSONNode]? {
        guard case .array(let elements) = value else { return nil }
        return elements
    }

    /// The members of an object; `nil` for other kinds of values.
    public var members: [JSONMember]? {
        guard case .object(let members) = value else { return nil }
        return members
    }

    /// True if the value is `true`.
    public var isTrue: Bool {
        guard case .boolean(let isTrue) = value else { return false }
        return isTrue
    }
}

/// A position in a text as editors show it: a line and a column, both counted from 1.
///
/// Columns are counted in Unicode scalars. Lines end with LF, CR LF or CR.
public struct JSONPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
    public var line: Int
    public var column: Int

    /// Creates a position from a line and a column, both from 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Compares the lines, then the columns.
    public static func < (left: Self, right: Self) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    /// The line and the column: `7:14`.
    public var description: String { "\(line):\(column)" }
}

/// The path from the root of a JSON text to one of its values: `advertisements[0].major`.
public struct JSONPath: Hashable, Sendable, CustomStringConvertible {
    /// A step into an object or into a list.
    public enum Component: Hashable, Sendable {
        case key(String)
        case index(Int)
    }

    public var components: [Component]

    public static let root = JSONPath([])

    /// Creates a path.
    ///
    /// - Parameter components: The steps from the root to the value; empty for the root.
    public init(_ components: [Component]) {
        self.components = components
    }

    /// Returns the path of a member of the object at this path.
    public func key(_ key: String) -> JSONPath { JSONPath(components + [.key(key)]) }

    /// Returns the path of an element of the list at this path.
    public func index(_ index: Int) -> JSONPath { JSONPath(components + [.index(index)]) }

    /// The path as text; empty for the root. Keys that are not words are written in brackets: `calibration["-4"]`.
    public var description: String {
        var text = ""
        for component in components {
            switch component {
            case .index(let index): text += "[\(index)]"
            case .key(let key) where Self.isWord(key): text += text.isEmpty ? key : "." + key
            case .key(let key): text += "[\(JSONValue.string(key).line)]"
            }
        }
        return text
    }

    private static func isWord(_ key: String) -> Bool {
        guard let first = key.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return key.utf8.allSatisfy { $0.isASCIILetterOrDigit || "_$".utf8.contains($0) }
    }
}
