/// The type of a value in a configuration file: how a decoder reads it, and what the JSON Schema says about it.
package struct ValueType<Value: Sendable>: Sendable {
    /// The members of the JSON Schema, without a description.
    package let schema: [JSONValue.Member]
    /// The definitions that the schema refers to, for `$defs`.
    package let definitions: [JSONValue.Member]
    /// The range with its unit for the description, such as `20...10240 ms`; `nil` for types without a range.
    let range: String?
    /// Returns a default as JSON; `nil` if the type has no defaults.
    let json: @Sendable (Value) -> JSONValue?
    /// Reads a value; returns `nil` after it has reported a problem.
    package let read: @Sendable (inout ConfigurationDecoder, JSONNode) -> Value?

    /// A type with its own schema and its own reader.
    ///
    /// - Parameters:
    ///   - schema: An object; its members are keywords of JSON Schema.
    ///   - definitions: The definitions of the types to which `schema` refers.
    package init(
        schema: JSONValue, definitions: [JSONValue.Member] = [], range: String? = nil,
        json: @escaping @Sendable (Value) -> JSONValue? = { _ in nil },
        read: @escaping @Sendable (inout ConfigurationDecoder, JSONNode) -> Value?
    ) {
        if case .object(let members) = schema { self.schema = members } else { self.schema = [] }
        self.definitions = definitions
        self.range = range
        self.json = json
        self.read = read
    }

    /// Returns this type with its schema in `$defs`. The schemas of the keys refer to it by `name`. Use this for a type
    /// that several keys have.
    package func defined(as name: String, _ description: String? = nil) -> ValueType {
        let description = description.map { [JSONValue.Member("description", .string($0))] } ?? []
        return ValueType(
            schema: ["$ref": .string("#/$defs/\(name)")],
            definitions: definitions + [.init(name, .object(description + schema))], range: range, json: json,
            read: read)
    }

    /// Returns a type that reads a value of this type and converts it with `convert`. `convert` returns `nil` after it
    /// has reported a problem.
    ///
    /// - Parameter json: Returns a default as JSON; omitted for types without defaults.
    package func map<Converted>(
        json: @escaping @Sendable (Converted) -> JSONValue? = { _ in nil },
        _ convert: @escaping @Sendable (inout ConfigurationDecoder, JSONNode, Value) -> Converted?
    ) -> ValueType<Converted> {
        let read = read
        return ValueType<Converted>(schema: .object(schema), definitions: definitions, range: range, json: json) {
            decoder, node in
            read(&decoder, node).flatMap { convert(&decoder, node, $0) }
        }
    }

    /// Returns the schema with a description.
    func schema(_ description: String) -> JSONValue {
        .object([.init("description", .string(description))] + schema.filter { $0.key != "description" })
    }
}

// MARK: Numbers

extension ValueType<Int> {
    /// A whole number.
    package static func integer(_ range: ClosedRange<Int>, unit: String = "") -> ValueType {
        ValueType(
            schema: [
                "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
            ],
            range: rangeText("\(range.lowerBound)", "\(range.upperBound)", unit), json: { .integer($0) }
        ) { $0.integer($1, in: range, unit: unit) }
    }

    /// A number with up to three decimals. The value is in thousandths.
    ///
    /// - Parameter range: The range in thousandths.
    package static func thousandths(_ range: ClosedRange<Int>, unit: String) -> ValueType {
        let (low, high) = (JSONNumber(thousandths: range.lowerBound), JSONNumber(thousandths: range.upperBound))
        return ValueType(
            schema: ["type": "number", "minimum": .number(low), "maximum": .number(high)],
            range: rangeText(low.text, high.text, unit), json: { .number(JSONNumber(thousandths: $0)) }
        ) { $0.thousandths($1, in: range, unit: unit) }
    }

    /// A whole number, or a string of `0x` and up to `digits` hexadecimal digits.
    package static func code(_ range: ClosedRange<Int>, digits: Int) -> ValueType {
        ValueType(
            schema: [
                "type": ["integer", "string"], "minimum": .integer(range.lowerBound),
                "maximum": .integer(range.upperBound), "pattern": .string("^0[xX][0-9A-Fa-f]{1,\(digits)}$"),
            ],
            range: rangeText("\(range.lowerBound)", "\(range.upperBound)", ""), json: { .integer($0) }
        ) { $0.code($1, in: range, digits: digits) }
    }

    /// The version of the format: 1.
    package static var version: ValueType {
        ValueType(schema: ["const": .integer(ConfigurationDecoder.version)]) { decoder, node in
            decoder.version(node)
            return ConfigurationDecoder.version
        }
    }
}

extension ValueType<Double> {
    /// A number.
    package static func real(_ range: ClosedRange<Double>, unit: String = "") -> ValueType {
        let (low, high) = (JSONValue.real(range.lowerBound), JSONValue.real(range.upperBound))
        return ValueType(
            schema: ["type": "number", "minimum": low, "maximum": high],
            range: rangeText(low.line, high.line, unit), json: { .real($0) }
        ) { $0.real($1, in: range, unit: unit) }
    }

    /// A share: a fraction of one, such as 0.95, or a percentage of at least 10, such as 95. The value is the fraction.
    package static func share(_ range: ClosedRange<Double>) -> ValueType {
        let (low, high) = (JSONValue.real(range.lowerBound), JSONValue.real(range.upperBound))
        let (least, most) = (ConfigurationDecoder.leastPercent, 100 * range.upperBound)
        return ValueType(
            schema: [
                "type": "number",
                "anyOf": [
                    ["minimum": low, "maximum": high], ["minimum": .real(least), "maximum": .real(most)],
                ],
            ],
            range: rangeText(low.line, high.line, "") + ", or percent: "
                + rangeText(JSONValue.real(least).line, JSONValue.real(most).line, ""), json: { .real($0) }
        ) { $0.share($1, in: range) }
    }
}

extension ValueType {
    fileprivate static func rangeText(_ low: String, _ high: String, _ unit: String) -> String {
        "\(low)...\(high)" + (unit.isEmpty ? "" : " " + unit)
    }
}

extension JSONValue {
    /// Returns the number as JSON. A whole number is written without a fraction: `3`, not `3.0`.
    static func real(_ value: Double) -> JSONValue {
        Int(exactly: value).map { .integer($0) } ?? .decimal("\(value)")
    }
}

// MARK: Texts and words

extension ValueType<Bool> {
    /// `true` or `false`.
    package static var boolean: ValueType {
        ValueType(schema: ["type": "boolean"], json: { .boolean($0) }) { $0.boolean($1) }
    }
}

extension ValueType<String> {
    /// Any string.
    package static var text: ValueType { ValueType(schema: ["type": "string"]) { $0.text($1) } }

    /// A name that can be used for files and systemd units.
    package static var name: ValueType {
        ValueType(
            schema: [
                "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$",
                "maxLength": .integer(ConfigurationDecoder.nameLimit),
            ]
        ) { $0.name($1) }
        .defined(as: "name", "Letters, digits, \".\", \"_\" and \"-\", starting with a letter or a digit.")
    }

    /// A text that is shown to people, such as a title.
    ///
    /// - Parameter limit: The largest number of characters.
    package static func label(
        _ limit: Int = ConfigurationDecoder.labelLimit, isEmptyGood: Bool = false
    ) -> ValueType {
        let minimum: [JSONValue.Member] = isEmptyGood ? [] : [.init("minLength", 1)]
        return ValueType(
            schema: .object([.init("type", "string")] + minimum + [.init("maxLength", .integer(limit))])
        ) { $0.label($1, limit: limit, isEmptyGood: isEmptyGood) }
    }

    /// The path of a file or directory, which is not opened.
    ///
    /// - Parameter what: The kind of file for the error message, such as `a file`.
    package static func path(of what: String = "a file") -> ValueType {
        ValueType(schema: ["type": "string", "pattern": "^[^\\u0000]+$"]) { $0.filePath($1, of: what) }
    }

    /// The path of a file that contains a key of 16 bytes. The key itself is refused, because other users may read this
    /// configuration file.
    package static var keyFile: ValueType {
        ValueType(
            schema: [
                "type": "string", "pattern": "^[^\\u0000]+$", "not": ["pattern": "^[0-9A-Fa-f]{32}$"],
            ]
        ) { decoder, node in
            guard let path = decoder.filePath(node, of: "a file") else { return nil }
            if path.utf8.count == 32, path.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) {
                decoder.error(
                    "this looks like the key itself; put it into a file of mode 0600 and give the file's name",
                    at: node)
                return nil
            }
            return path
        }
    }
}

extension ValueType where Value: RawRepresentable<String> & CaseIterable {
    /// One of the words of an enumeration.
    package static var word: ValueType {
        ValueType(
            schema: ["enum": .array(Value.allCases.map { .string($0.rawValue) })], json: { .string($0.rawValue) }
        ) { $0.word($1, of: Value.self) }
    }
}

extension ValueType<[UInt8]> {
    /// Bytes as hexadecimal digits, with or without a space, a colon or a dash between two bytes.
    package static func octets(_ count: Int) -> ValueType {
        ValueType(
            schema: [
                "type": "string",
                "pattern": .string("^[0-9A-Fa-f]{2}([ :-]?[0-9A-Fa-f]{2}){\(count - 1)}$"),
            ]
        ) { $0.octets($1, count: count) }
    }
}

// MARK: Objects and lists

extension ValueType<JSONNode> {
    /// An object with the keys of `section`. The value is the node, from which the caller reads the keys.
    package static func section(_ section: Section) -> ValueType {
        ValueType(schema: section.schema, definitions: section.definitions) { $0.open(section, $1) }
    }
}

extension ValueType {
    /// A list of values of one type.
    ///
    /// - Parameters:
    ///   - what: The elements in plural, for messages: `walls`.
    ///   - count: The smallest and the largest number of elements.
    ///   - isWhole: True to return no list if one of its elements has a problem; false to omit only this element.
    package static func list<Element>(
        _ what: String, _ count: ClosedRange<Int>, of element: ValueType<Element>, isUnique: Bool = false,
        isWhole: Bool = false
    ) -> ValueType where Value == [Element] {
        var schema: [JSONValue.Member] = [.init("type", "array")]
        if count.lowerBound > 0 { schema.append(.init("minItems", .integer(count.lowerBound))) }
        if count.upperBound < Int.max { schema.append(.init("maxItems", .integer(count.upperBound))) }
        if isUnique { schema.append(.init("uniqueItems", true)) }
        schema.append(.init("items", .object(element.schema)))
        return ValueType(schema: .object(schema), definitions: element.definitions) { decoder, node in
            guard let nodes = decoder.list(node, of: what, count: count) else { return nil }
            let elements = nodes.compactMap { element.read(&decoder, $0) }
            return isWhole && elements.count < nodes.count ? nil : elements
        }
    }

    /// A position `[x, y]`: metres east and metres north. The value has two elements.
    package static func position<Element>(_ element: ValueType<Element>) -> ValueType where Value == [Element] {
        ValueType(
            schema: [
                "type": "array", "minItems": 2, "maxItems": 3,
                "items": element.schema("Metres. Range: \(element.range ?? "")."),
            ]
        ) { decoder, node in
            guard let parts = node.elements, (2...3).contains(parts.count) else {
                decoder.wrongKind(node, expected: "a position such as [3.5, 12], metres east and north,")
                return nil
            }
            let numbers = parts.compactMap { element.read(&decoder, $0) }
            // A third number, a height as in GeoJSON, is checked but not used.
            return numbers.count == parts.count ? Array(numbers.prefix(2)) : nil
        }.defined(
            as: "position",
            "Position on the floor plan: [metres east, metres north]. A third number, the height, is ignored.")
    }
}
