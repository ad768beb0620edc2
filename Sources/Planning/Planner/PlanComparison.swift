public import Configuration

/// The answers to one question for several values of its options, next to each other.
public struct PlanComparison: Sendable {
    /// One answer with the values of the options that differ between the answers.
    public struct Alternative: Sendable {
        /// The options that differ, without dashes, and their values, such as `beacons` and `100`, in the order of the
        /// command line.
        public var settings: [Setting]
        public var answer: PlanAnswer

        public init(settings: [Setting], answer: PlanAnswer) {
            self.settings = settings
            self.answer = answer
        }
    }

    /// An option and its value, as they were typed.
    public struct Setting: Sendable {
        public var option: String
        public var value: String

        public init(option: String, value: String) {
            self.option = option
            self.value = value
        }
    }

    private let alternatives: [Alternative]

    /// - Parameter alternatives: The answers. All have settings for the same options; a single answer has no settings.
    public init(_ alternatives: [Alternative]) { self.alternatives = alternatives }

    /// False if an answer does not reach its target.
    public var holds: Bool { alternatives.allSatisfy(\.answer.holds) }

    /// Returns a table with a column for each answer. If it would be wider than `columns` characters, returns several
    /// tables below each other.
    public func text(columns: Int) -> String {
        var tables: [String] = []
        var rest = alternatives[...]
        while !rest.isEmpty {
            var (count, text) = (1, table(of: rest.prefix(1)))
            while count < rest.count {
                let wider = table(of: rest.prefix(count + 1))
                guard wider.split(separator: "\n").allSatisfy({ $0.count <= columns }) else { break }
                (count, text) = (count + 1, wider)
            }
            tables.append(text)
            rest = rest.dropFirst(count)
        }
        return tables.joined(separator: "\n")
    }

    private func table(of shown: ArraySlice<Alternative>) -> String {
        var table = Table([""] + shown.map { _ in "" }, alignment: [.left] + shown.map { _ in .right })
        for (row, setting) in (shown.first?.settings ?? []).enumerated() {
            table.add(["--" + setting.option] + shown.map { TerminalText.line($0.settings[row].value) })
        }
        for label in labels { table.add([TerminalText.line(label)] + shown.map { $0.answer.cell(label) }) }
        if !holds { table.add(["target"] + shown.map { $0.answer.holds ? "met" : "not met" }) }
        return table.text
    }

    /// The labels of the rows, in the order of the answers' values.
    private var labels: [String] {
        var labels: [String] = []
        for fact in alternatives.flatMap(\.answer.facts) {
            if let label = fact.label, !labels.contains(label) { labels.append(label) }
        }
        return labels
    }

    /// A list with one object for each answer: `settings` contains the options, `holds` is false if the target is
    /// missed, and `answer` is the JSON object of the answer.
    public var json: JSONValue {
        .array(
            alternatives.map { alternative in
                .record([
                    (
                        "settings",
                        .record(alternative.settings.map { ($0.option, .string($0.value)) })
                    ),
                    ("holds", .boolean(alternative.answer.holds)),
                    ("answer", alternative.answer.json),
                ])
            })
    }

    /// A table in CSV with a line for each answer, and numbers with all digits. The columns are the options that differ
    /// and the keys of the JSON. A key inside an object is written with a dot, such as `latencyS.p50`. A list of
    /// positions is one cell, such as `(2.5 4) (7.5 4)`. Other lists and keys that repeat an option are left out.
    public var csv: String {
        let repeated = Set(alternatives.first?.settings.map(\.option).compactMap(repeatedKey) ?? [])
        let rows = alternatives.map { alternative in
            alternative.settings.map { ($0.option, Self.cell($0.value)) }
                + [("holds", alternative.answer.holds ? "true" : "false")]
                + Self.cells(alternative.answer.record, "").filter { !repeated.contains($0.0) }
        }
        var names: [String] = []
        for (name, _) in rows.joined() where !names.contains(name) { names.append(name) }
        let lines = rows.map { row in
            let cells = Dictionary(row, uniquingKeysWith: { first, _ in first })
            return names.map { cells[$0] ?? "" }
        }
        return ([names] + lines).map { $0.joined(separator: ",") + "\r\n" }.joined()
    }

    /// Returns the key that repeats the values of an option, such as `intervalMs` for `interval-ms`. Returns nil if
    /// there is no such key, or if one of its values differs from the option, for example because controllers round it.
    private func repeatedKey(of option: String) -> String? {
        let words = option.split(separator: "-")
        guard words.count > 1, let first = words.first else { return nil }
        let key = String(first) + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let isRepeated = alternatives.allSatisfy { alternative in
            let typed = alternative.settings.first { $0.option == option }.flatMap { Double($0.value) }
            return typed != nil && typed == alternative.answer[key]?.value
        }
        return isRepeated ? key : nil
    }

    /// Returns a number unchanged, and other text in quotes.
    private static func cell(_ text: String) -> String { Double(text) == nil ? SpreadsheetText.text(text) : text }

    /// Returns a list of positions as text, such as `(2.5 4) (7.5 4)`; nil for other lists.
    private static func positions(_ items: [PlanQuantity]) -> String? {
        var texts: [String] = []
        for item in items {
            guard case .list(let coordinates) = item else { return nil }
            texts.append("(" + coordinates.map(\.json.line).joined(separator: " ") + ")")
        }
        return texts.isEmpty ? nil : texts.joined(separator: " ")
    }

    private static func cells(_ quantity: PlanQuantity, _ path: String) -> [(String, String)] {
        switch quantity {
        case .record(let members):
            members.flatMap { name, value in cells(value, path.isEmpty ? name : "\(path).\(name)") }
        case .list(let items): positions(items).map { [(path, SpreadsheetText.text($0))] } ?? []
        case .nothing: [(path, "")]
        case .word(let text): [(path, cell(text))]
        default: [(path, quantity.json == .null ? "" : quantity.json.line)]
        }
    }
}

extension PlanAnswer {
    /// Returns the value that has this label, with its unit; empty if the answer has no such value.
    fileprivate func cell(_ label: String) -> String {
        guard let fact = facts.first(where: { $0.label == label }) else { return "" }
        let value = fact.shown ?? fact.quantity.text
        return TerminalText.line(fact.unit.isEmpty ? value : "\(value) \(fact.unit)")
    }
}
