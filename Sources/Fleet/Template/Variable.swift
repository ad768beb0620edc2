internal import BluetoothTypes
package import Configuration

/// A variable as `defaults`, a group or a beacon sets it.
struct Variable: Sendable {
    enum Value: Sendable {
        /// A string, with other variables in it or without.
        case text(Expression)
        /// Any other JSON value, as it is.
        case json(JSONValue)
        /// An interval of these, for each beacon its own.
        case spread(ClosedRange<AdvertisingInterval>)
    }

    /// What `intervalSpread` sets.
    static let spreadName = "intervalMs"

    var value: Value
    /// Where it is set.
    var node: JSONNode

    /// Names that a variable cannot have, because something else gives them their value.
    static let reserved = ["name", "group", "site", "floor", "room", "host", "serial", "address", "eidEpoch"]
}

extension JSONValue {
    /// The value that a text holds, without its places.
    package init(_ node: JSONNode) {
        switch node.value {
        case .null, .malformed: self = .null
        case .boolean(let value): self = .boolean(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .array(let elements): self = .array(elements.map { JSONValue($0) })
        case .object(let members): self = .object(members.map { Member($0.key, JSONValue($0.value)) })
        }
    }
}
