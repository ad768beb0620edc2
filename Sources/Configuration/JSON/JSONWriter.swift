internal import TextEscaping

/// Turns a ``JSONValue`` into text.
struct JSONWriter {
    private(set) var text = ""
    private let isPretty: Bool
    private var level = 0

    init(isPretty: Bool) {
        self.isPretty = isPretty
    }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .number(let number): text += number.text
        case .string(let value): text += JSONText.quoted(value)
        case .array(let elements):
            let isBroken = isPretty && !elements.allSatisfy(Self.isPlain)
            text += "["
            level += 1
            for (index, element) in elements.enumerated() {
                separate(index, isBroken: isBroken)
                write(element)
            }
            close("]", isBroken: isBroken)
        case .object(let members):
            let isBroken = isPretty && !members.isEmpty
            text += "{"
            level += 1
            for (index, member) in members.enumerated() {
                separate(index, isBroken: isBroken)
                text += JSONText.quoted(member.key)
                text += isPretty ? ": " : ":"
                write(member.value)
            }
            close("}", isBroken: isBroken)
        }
    }

    private mutating func separate(_ index: Int, isBroken: Bool) {
        if index > 0 { text += isPretty && !isBroken ? ", " : "," }
        if isBroken { breakLine() }
    }

    private mutating func close(_ bracket: String, isBroken: Bool) {
        level -= 1
        if isBroken { breakLine() }
        text += bracket
    }

    private mutating func breakLine() {
        text += "\n" + String(repeating: "  ", count: level)
    }

    private static func isPlain(_ value: JSONValue) -> Bool {
        switch value {
        case .array, .object: false
        default: true
        }
    }
}
