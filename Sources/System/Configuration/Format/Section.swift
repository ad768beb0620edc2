/// A key of a ``Section``, with any type of value.
package protocol DeclaredKey: Sendable {
    var name: String { get }
    /// The meaning of the value: one or two sentences for the schema, the manual page and the message about a missing
    /// key.
    var meaning: String { get }
    var isRequired: Bool { get }
    /// The range of the value with its unit; `nil` if its type has none.
    var range: String? { get }
    /// The schema of the value, with the meaning, the range and the default in its description.
    var schema: JSONValue { get }
    /// The definitions to which the schema refers, for `$defs`.
    var definitions: [JSONValue.Member] { get }
}

/// A key of a ``Section``, with the type of its value and its default.
package struct Key<Value: Sendable>: DeclaredKey {
    package let name: String
    package let type: ValueType<Value>
    package let meaning: String
    package let isRequired: Bool
    package let preset: Value?

    /// Declares a key.
    ///
    /// - Parameters:
    ///   - meaning: The meaning of the value in one or more sentences, each with a period. The schema appends the range
    ///     and the default.
    ///   - preset: The default, which is used if the file does not have the key; `nil` for no default.
    package init(
        _ name: String, _ type: ValueType<Value>, _ meaning: String, isRequired: Bool = false,
        default preset: Value? = nil
    ) {
        self.name = name
        self.type = type
        self.meaning = meaning
        self.isRequired = isRequired
        self.preset = preset
    }

    package var range: String? { type.range }

    package var schema: JSONValue {
        let preset = preset.flatMap(type.json)
        var description = meaning
        if let range { description += " Range: \(range)." }
        if case .string(let word)? = preset {
            description += " Default: \(word)."
        } else if let preset {
            description += " Default: \(preset.line)."
        }
        guard case .object(var members) = type.schema(description) else { return .null }
        if let preset { members.append(.init("default", preset)) }
        return .object(members)
    }

    package var definitions: [JSONValue.Member] { type.definitions }
}

/// The declaration of an object in a configuration file: its keys and the rules between the keys. The decoder, the JSON
/// Schema and the manual page are made from the declaration.
package struct Section: Sendable {
    package let description: String
    package let keys: [any DeclaredKey]
    package let rules: [Rule]
    /// Returns advice for an unknown key, if users often expect this key. If it returns `nil`, the message suggests the
    /// most similar key.
    let hint: @Sendable (String) -> String?

    package init(
        _ description: String, _ keys: [any DeclaredKey], rules: [Rule] = [],
        hint: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        self.description = description
        self.keys = keys
        self.rules = rules
        self.hint = hint
    }

    /// The JSON Schema of the object.
    package var schema: JSONValue {
        let required = keys.filter(\.isRequired).map { JSONValue.string($0.name) }
        var members: [JSONValue.Member] = [
            .init("description", .string(description)), .init("type", "object"),
            .init("properties", .object(keys.map { .init($0.name, $0.schema) })),
        ]
        if !required.isEmpty { members.append(.init("required", .array(required))) }
        if !rules.isEmpty { members.append(.init("allOf", .array(rules.map(\.schema)))) }
        members.append(.init("additionalProperties", false))
        return .object(members)
    }

    package var definitions: [JSONValue.Member] { keys.flatMap(\.definitions) }

    /// Returns the text of the JSON Schema (draft 2020-12) for a file whose root object is this section.
    package func schemaFile(title: String) -> String { schemaDocument(title: title).pretty }

    /// Returns the JSON Schema (draft 2020-12) for a file whose root object is this section.
    package func schemaDocument(title: String) -> JSONValue {
        guard case .object(let members) = schema else { return .null }
        var names: Set<String> = []
        let definitions = definitions.filter { names.insert($0.key).inserted }
        let header: [JSONValue.Member] = [
            .init("$schema", "https://json-schema.org/draft/2020-12/schema"), .init("title", .string(title)),
        ]
        return .object(header + members + [.init("$defs", .object(definitions))])
    }
}

/// Keys that every kind of file has.
package enum FileHeader {
    package static let schema = Key("$schema", .text, "Path or URL of the JSON Schema of this file, for editors.")
    package static let version = Key("version", .version, "Version of the format, which is 1.", isRequired: true)
}

/// A rule about the keys of an object, both for the schema and for the decoder.
package struct Rule: Sendable {
    /// The JSON Schema that objects must satisfy.
    let schema: JSONValue
    /// Reports an error if an object breaks the rule.
    let check: @Sendable (inout ConfigurationDecoder, JSONNode) -> Void

    package init(
        schema: JSONValue, check: @escaping @Sendable (inout ConfigurationDecoder, JSONNode) -> Void
    ) {
        self.schema = schema
        self.check = check
    }

    /// Requires at least one of the keys. The error is reported at the object.
    package static func oneOrMore(of keys: [String], otherwise message: String) -> Rule {
        Rule(schema: ["anyOf": .array(keys.map { ["required": [.string($0)]] })]) { decoder, object in
            if keys.allSatisfy({ object[$0] == nil }) { decoder.error(message, at: object) }
        }
    }

    /// Allows at most one of two keys. The error is reported at the value of the second key.
    package static func notBoth(_ first: String, _ second: String, otherwise message: String) -> Rule {
        Rule(schema: ["not": ["required": [.string(first), .string(second)]]]) { decoder, object in
            if object[first] != nil, let node = object[second] { decoder.error(message, at: node) }
        }
    }

    /// Allows `key` only together with the key `partner`. The error is reported at the value of `key`.
    package static func with(_ key: String, needs partner: String, otherwise message: String) -> Rule {
        Rule(schema: ["dependentRequired": .object([.init(key, [.string(partner)])])]) { decoder, object in
            if object[partner] == nil, let node = object[key] { decoder.error(message, at: node) }
        }
    }
}

extension ConfigurationDecoder {
    /// Reads a whole file.
    ///
    /// - Returns: The result of `read`, which is `nil` if the file has an error, and every problem in the order of the
    ///   file.
    package static func decode<File>(
        _ octets: [UInt8], _ read: (inout ConfigurationDecoder, JSONNode) -> File?
    ) -> (file: File?, problems: [FileProblem]) {
        let (root, faults) = JSONDocument.parse(octets)
        var decoder = ConfigurationDecoder()
        let file = root.flatMap { read(&decoder, $0) }
        let problems = faults + decoder.problems
        let hasErrors = problems.contains(where: \.isError)
        return (hasErrors ? nil : file, problems.sorted { $0.position < $1.position })
    }

    /// Checks the keys of an object against its declaration: unknown keys, missing keys, and the rules between keys.
    /// Returns the node if it is an object. The values are only checked when they are read.
    package mutating func open(_ section: Section, _ node: JSONNode?) -> JSONNode? {
        guard let object = object(node, keys: section.keys.map(\.name), hint: section.hint) else { return nil }
        for key in section.keys where key.isRequired && object[key.name] == nil { reportMissing(key, in: object) }
        for rule in section.rules { rule.check(&self, object) }
        return object
    }

    /// Reports that an object does not have a required key.
    package mutating func reportMissing(_ key: some DeclaredKey, in object: JSONNode) {
        let range = key.range.map { ", \($0)" } ?? ""
        error("the key \"\(key.name)\" is missing: \(Self.clause(key.meaning))\(range)", at: object)
    }

    /// Returns the value of a key. If the object does not have the key, returns the default of the key. Returns `nil`
    /// if there is no default either, or if the value has a problem.
    package mutating func read<Value>(_ key: Key<Value>, in object: JSONNode) -> Value? {
        guard let node = object[key.name] else { return key.preset }
        return key.type.read(&self, node)
    }

    /// Returns the first sentence of a meaning as part of another sentence: without its period, and with a lower-case
    /// first letter unless it begins with an abbreviation.
    private static func clause(_ meaning: String) -> String {
        var text = Substring(meaning)
        if let end = text.firstRange(of: ". ") { text = text[..<end.lowerBound] }
        if text.last == "." { text.removeLast() }
        let isWord = text.dropFirst().first?.isLowercase ?? true
        return (isWord ? text.prefix(1).lowercased() : String(text.prefix(1))) + text.dropFirst()
    }
}
