/// A value of a JSON text with the place where it begins.
public struct JSONNode: Sendable {
    /// What stands at the place, with the places of what is in it.
    public enum Value: Sendable {
        case null
        case boolean(Bool)
        case number(JSONNumber)
        case string(String)
        case array([JSONNode])
        /// In the order of the text, each key once.
        case object([JSONMember])
        /// Something that is no JSON value. The reader has reported it, so nobody needs to complain again.
        case malformed
    }

    public let value: Value
    public let position: JSONPosition
    public let path: JSONPath

    /// For values that are read from something else than a text of JSON.
    public init(_ value: Value, at position: JSONPosition, path: JSONPath) {
        self.value = value
        self.position = position
        self.path = path
    }

    /// What the value is, as a part of a sentence: `a number`.
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

/// A key of an object with its value.
public struct JSONMember: Sendable {
    public let key: String
    public let keyPosition: JSONPosition
    public let value: JSONNode

    /// - Parameter keyPosition: Where the key begins, with its quote.
    public init(key: String, keyPosition: JSONPosition, value: JSONNode) {
        self.key = key
        self.keyPosition = keyPosition
        self.value = value
    }
}

extension JSONNode {
    /// The member of an object; `nil` for other keys and for anything but an object.
    public subscript(key: String) -> JSONNode? {
        guard case .object(let members) = value else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The element of an array; `nil` outside it and for anything but an array.
    public subscript(index: Int) -> JSONNode? {
        guard case .array(let elements) = value, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The text of a string; `nil` for anything else.
    public var string: String? {
        guard case .string(let text) = value else { return nil }
        return text
    }

    /// The whole number that a number is, such as `1`, `1.0` or `1e0`; `nil` for anything else.
    public var integer: Int? {
        guard case .number(let number) = value else { return nil }
        return number.integer
    }

    /// A number in thousandths, such as 22500 for `22.5`; `nil` for anything that has no such form.
    public var thousandths: Int? {
        guard case .number(let number) = value else { return nil }
        return number.thousandths
    }

    /// The elements of an array; `nil` for anything else.
    public var elements: [JSONNode]? {
        guard case .array(let elements) = value else { return nil }
        return elements
    }

    /// The members of an object; `nil` for anything else.
    public var members: [JSONMember]? {
        guard case .object(let members) = value else { return nil }
        return members
    }

    /// Whether this is `true`.
    public var isTrue: Bool {
        guard case .boolean(let isTrue) = value else { return false }
        return isTrue
    }
}

/// Where something stands in a JSON text, as editors count: lines and columns from 1.
///
/// A column is one Unicode scalar, so that letters outside ASCII count once. Lines end with LF, CR LF or CR.
public struct JSONPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
    public var line: Int
    public var column: Int

    /// - Parameters count from 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// By line, then by column.
    public static func < (left: Self, right: Self) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    /// `7:14`.
    public var description: String { "\(line):\(column)" }
}

/// The way from the root of a JSON text to one of its values: `advertisements[0].major`.
public struct JSONPath: Hashable, Sendable, CustomStringConvertible {
    /// One step: into an object or into a list.
    public enum Component: Hashable, Sendable {
        case key(String)
        case index(Int)
    }

    public var components: [Component]

    public static let root = JSONPath([])

    /// - Parameter components: From the root inwards; none for the root itself.
    public init(_ components: [Component]) {
        self.components = components
    }

    /// The path of a member of the object at this path.
    public func key(_ key: String) -> JSONPath { JSONPath(components + [.key(key)]) }

    /// The path of an element of the array at this path.
    public func index(_ index: Int) -> JSONPath { JSONPath(components + [.index(index)]) }

    /// Keys that are no plain words stand in brackets: `calibration["-4"]`. Empty for the root.
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
        return key.utf8.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"):
                true
            default: false
            }
        }
    }
}
