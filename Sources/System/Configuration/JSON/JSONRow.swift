internal import BluetoothTypes

/// One line of JSON Lines, written straight into octets: for objects of which there are thousands a second. Everything
/// else is a ``JSONValue``, whose line is the same text.
///
/// Members stand in the order of the calls. Neither the keys nor the nesting are checked.
public struct JSONRow: Sendable {
    /// The text so far, in UTF-8.
    public private(set) var octets: [UInt8] = []

    /// Nothing written.
    public init() {}

    /// Forgets the text and keeps its storage.
    public mutating func removeAll() { octets.removeAll(keepingCapacity: true) }

    /// Begins an object: an element of a list, or the whole.
    public mutating func beginObject() { begin(UInt8(ascii: "{")) }

    /// Begins an object that is a member.
    public mutating func beginObject(_ key: String) {
        member(key)
        octets.append(UInt8(ascii: "{"))
    }

    /// Begins a list that is a member.
    public mutating func beginArray(_ key: String) {
        member(key)
        octets.append(UInt8(ascii: "["))
    }

    /// Ends the last object that was begun.
    public mutating func endObject() { octets.append(UInt8(ascii: "}")) }

    /// Ends the last list that was begun.
    public mutating func endArray() { octets.append(UInt8(ascii: "]")) }

    /// Text; `null` for `nil`.
    public mutating func add(_ key: String, _ text: String?) {
        member(key)
        guard let text else { return null() }
        JSONText.append(quoted: text, to: &octets)
    }

    /// A whole number; `null` for `nil`.
    public mutating func add(_ key: String, _ number: Int?) {
        member(key)
        guard let number else { return null() }
        DecimalText.append(number, to: &octets)
    }

    /// A number of thousandths: 152500 is `152.5`; `null` for `nil`.
    public mutating func add(_ key: String, thousandths number: Int?) {
        member(key)
        guard let number else { return null() }
        DecimalText.append(thousandths: number, to: &octets)
    }

    /// Any value.
    public mutating func add(_ key: String, _ value: JSONValue) {
        member(key)
        if case .null = value { return null() }
        octets += value.line.utf8
    }

    /// Any value, as an element of a list.
    public mutating func add(_ value: JSONValue) {
        separate()
        octets += value.line.utf8
    }

    private mutating func null() { octets += "null".utf8 }

    /// The key, which needs no escapes.
    private mutating func member(_ key: String) {
        begin(UInt8(ascii: "\""))
        octets += key.utf8
        octets.append(UInt8(ascii: "\""))
        octets.append(UInt8(ascii: ":"))
    }

    private mutating func begin(_ octet: UInt8) {
        separate()
        octets.append(octet)
    }

    /// A comma before all but the first of an object or a list.
    private mutating func separate() {
        switch octets.last {
        case nil, UInt8(ascii: "{"), UInt8(ascii: "["): break
        default: octets.append(UInt8(ascii: ","))
        }
    }
}
