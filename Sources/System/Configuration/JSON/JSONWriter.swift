internal import BluetoothTypes

/// Writes JSON as UTF-8.
///
/// ``JSONValue`` uses it to write its text. For objects that are written thousands of times a second, use the writer
/// directly, which needs no tree of values:
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.add("rssi", -71)
/// writer.endObject()
/// ```
///
/// Members are written in the order of the calls. Keys must not contain characters that need escapes; neither keys nor
/// nesting are checked.
public struct JSONWriter: Sendable {
    /// The text so far, in UTF-8.
    public private(set) var octets: [UInt8] = []
    private let isPretty: Bool
    /// The number of lists and objects that are open.
    private var level = 0

    /// Creates a writer without text.
    public init() { self.init(isPretty: false) }

    /// Creates a writer without text.
    ///
    /// - Parameter isPretty: True to write values in the form of ``JSONValue/pretty``.
    init(isPretty: Bool) {
        self.isPretty = isPretty
    }

    var text: String { String(decoding: octets, as: UTF8.self) }

    /// Removes the text, and keeps its memory for the next text.
    public mutating func removeAll() { octets.removeAll(keepingCapacity: true) }

    // MARK: Writing an object part by part

    /// Begins an object: the whole text, or an element of a list.
    public mutating func beginObject() {
        separate()
        octets.append(UInt8(ascii: "{"))
    }

    /// Begins an object that is the value of `key`.
    public mutating func beginObject(_ key: String) {
        beginMember(key)
        octets.append(UInt8(ascii: "{"))
    }

    /// Begins a list that is the value of `key`.
    public mutating func beginArray(_ key: String) {
        beginMember(key)
        octets.append(UInt8(ascii: "["))
    }

    /// Ends the innermost object.
    public mutating func endObject() { octets.append(UInt8(ascii: "}")) }

    /// Ends the innermost list.
    public mutating func endArray() { octets.append(UInt8(ascii: "]")) }

    /// Adds a member with a text; `null` for `nil`.
    public mutating func add(_ key: String, _ text: String?) {
        beginMember(key)
        guard let text else { return write(.null) }
        JSONText.append(quoted: text, to: &octets)
    }

    /// Adds a member with a whole number; `null` for `nil`.
    public mutating func add(_ key: String, _ number: Int?) {
        beginMember(key)
        guard let number else { return write(.null) }
        DecimalText.append(number, to: &octets)
    }

    /// Adds a member with a number that is given in thousandths: 152500 is `152.5`; `null` for `nil`.
    public mutating func add(_ key: String, thousandths number: Int?) {
        beginMember(key)
        guard let number else { return write(.null) }
        DecimalText.append(thousandths: number, to: &octets)
    }

    /// Adds a member with any value.
    public mutating func add(_ key: String, _ value: JSONValue) {
        beginMember(key)
        write(value)
    }

    /// Adds an element to the innermost list.
    public mutating func add(_ value: JSONValue) {
        separate()
        write(value)
    }

    /// Writes a key and its colon.
    private mutating func beginMember(_ key: String) {
        separate()
        octets.append(UInt8(ascii: "\""))
        octets += key.utf8
        octets.append(UInt8(ascii: "\""))
        octets.append(UInt8(ascii: ":"))
    }

    /// Writes a comma, except at the start of the text, of an object and of a list.
    private mutating func separate() {
        switch octets.last {
        case nil, UInt8(ascii: "{"), UInt8(ascii: "["): break
        default: octets.append(UInt8(ascii: ","))
        }
    }

    // MARK: Writing whole values

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: octets += "null".utf8
        case .boolean(let value): octets += (value ? "true" : "false").utf8
        case .number(let number): octets += number.text.utf8
        case .string(let value): JSONText.append(quoted: value, to: &octets)
        case .array(let elements):
            write(list: elements, isMultiline: !elements.allSatisfy(\.isPlain)) { $0.write($1) }
        case .object(let members): write(object: members, key: \.key) { $0.write($1.value) }
        }
    }

    /// Writes a list.
    ///
    /// - Parameter isMultiline: True to write each element on its own line, if the text is pretty.
    mutating func write<Element>(
        list elements: [Element], isMultiline: Bool, write: (inout JSONWriter, Element) -> Void
    ) {
        let isMultiline = isPretty && isMultiline
        octets.append(UInt8(ascii: "["))
        level += 1
        for (index, element) in elements.enumerated() {
            separate(index, isMultiline: isMultiline)
            write(&self, element)
        }
        close(UInt8(ascii: "]"), isMultiline: isMultiline)
    }

    mutating func write<Member>(
        object members: [Member], key: (Member) -> String, write: (inout JSONWriter, Member) -> Void
    ) {
        let isMultiline = isPretty && !members.isEmpty
        octets.append(UInt8(ascii: "{"))
        level += 1
        for (index, member) in members.enumerated() {
            separate(index, isMultiline: isMultiline)
            JSONText.append(quoted: key(member), to: &octets)
            octets.append(UInt8(ascii: ":"))
            if isPretty { octets.append(UInt8(ascii: " ")) }
            write(&self, member)
        }
        close(UInt8(ascii: "}"), isMultiline: isMultiline)
    }

    private mutating func separate(_ index: Int, isMultiline: Bool) {
        if index > 0 {
            octets.append(UInt8(ascii: ","))
            if isPretty, !isMultiline { octets.append(UInt8(ascii: " ")) }
        }
        if isMultiline { breakLine() }
    }

    private mutating func close(_ bracket: UInt8, isMultiline: Bool) {
        level -= 1
        if isMultiline { breakLine() }
        octets.append(bracket)
    }

    private mutating func breakLine() {
        octets.append(UInt8(ascii: "\n"))
        octets += repeatElement(UInt8(ascii: " "), count: 2 * level)
    }
}
