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
