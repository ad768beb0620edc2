internal import BluetoothTypes

/// A string of a fleet file with `${variables}` in it.
///
/// `$${` stands for the two characters `${` themselves.
struct Expression: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        case literal(String)
        case variable(String)
    }

    var parts: [Part]

    /// The name of the variable if the string is exactly `${x}`; otherwise `nil`. The value of such a string has the
    /// type of the variable's value, for example a number.
    var wholeVariable: String? {
        guard parts.count == 1, case .variable(let name) = parts[0] else { return nil }
        return name
    }

    var variables: [String] {
        parts.compactMap { if case .variable(let name) = $0 { name } else { nil } }
    }

    /// The reason why a text is not an expression.
    enum Fault: Error, Hashable, CustomStringConvertible {
        case unclosed
        case name(String)

        var description: String {
            switch self {
            case .unclosed:
                "\"${\" begins a variable here that no \"}\" ends; write \"$${\" for the characters \"${\""
            case .name(let name):
                "\"${\(name)}\" is not a variable: use letters, digits and \"_\" for its name, starting with a letter "
                    + "or \"_\""
            }
        }
    }

    /// An expression that is exactly `${name}`.
    init(variable name: String) { parts = [.variable(name)] }

    init(_ text: String) throws(Fault) {
        parts = []
        var literal = ""
        var remainder = text[...]
        while let dollar = remainder.firstIndex(of: "$") {
            let suffix = remainder[dollar...]
            if suffix.hasPrefix("$${") {
                literal += remainder[..<dollar] + "${"
                remainder = suffix.dropFirst(3)
            } else if suffix.hasPrefix("${") {
                guard let end = suffix.firstIndex(of: "}") else { throw .unclosed }
                let name = String(suffix[suffix.index(suffix.startIndex, offsetBy: 2)..<end])
                guard Self.isName(name) else { throw .name(name) }
                literal += remainder[..<dollar]
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = ""
                parts.append(.variable(name))
                remainder = suffix[suffix.index(after: end)...]
            } else {
                literal += remainder[...dollar]
                remainder = suffix.dropFirst()
            }
        }
        literal += remainder
        if !literal.isEmpty || parts.isEmpty { parts.append(.literal(literal)) }
    }

    static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return name.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") }
    }
}
