import BluetoothTypes

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

    /// A decimal number by its digits, such as `22.5`.
    public static func decimal(_ digits: String) -> JSONValue { JSONNumber(digits).map(JSONValue.number) ?? .null }
}
