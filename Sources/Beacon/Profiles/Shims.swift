internal import BluetoothTypes
package import Configuration

extension BeaconSchema {
    package static var adapter: JSONValue { ProfileFormat.adapter.schema }
    package static func integer(_ d: String, _ range: ClosedRange<Int>) -> JSONValue {
        Key("", .integer(range), d).schema
    }
    package static func code(_ d: String, _ range: ClosedRange<Int>, digits: Int) -> JSONValue {
        Key("", .code(range, digits: digits), d).schema
    }
    package static func hexadecimal(_ d: String, _ count: Int, prefix: String = "") -> JSONValue {
        Key("", .octets(count), d).schema
    }
}
