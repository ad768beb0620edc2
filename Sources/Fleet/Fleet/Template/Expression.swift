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
        var rest = text[...]
        while let dollar = rest.firstIndex(of: "$") {
            let after = rest[dollar...]
            if after.hasPrefix("$${") {
                literal += rest[..<dollar] + "${"
                rest = after.dropFirst(3)
            } else if after.hasPrefix("${") {
                guard let end = after.firstIndex(of: "}") else { throw .unclosed }
                let name = String(after[after.index(after.startIndex, offsetBy: 2)..<end])
                guard Self.isName(name) else { throw .name(name) }
                literal += rest[..<dollar]
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = ""
                parts.append(.variable(name))
                rest = after[after.index(after: end)...]
            } else {
                literal += rest[...dollar]
                rest = after.dropFirst()
            }
        }
        literal += rest
        if !literal.isEmpty || parts.isEmpty { parts.append(.literal(literal)) }
    }

    static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return name.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") }
    }
}
