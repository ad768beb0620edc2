internal import BluetoothTypes
internal import Profiles

/// What the commands print with `--json`, made from what they have at hand.
extension JSONValue {
    /// An object whose members stand in this order.
    static func record(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { Member($0.0, $0.1) })
    }

    /// `null` for `nil`.
    static func optional<Value>(_ value: Value?, _ make: (Value) -> JSONValue) -> JSONValue {
        value.map(make) ?? .null
    }

    /// Lower-case digits without separators.
    static func hex(_ octets: some Sequence<UInt8>) -> JSONValue { .string(Hexadecimal.text(octets)) }

    /// A decimal number by its digits, such as `22.5`.
    static func decimal(_ digits: String) -> JSONValue { JSONNumber(digits).map(JSONValue.number) ?? .null }
}
