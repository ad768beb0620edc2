/// A value of a JSON text with the place where it begins.
public struct JSONNode: Sendable {
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
