/// Where something stands in a JSON text, as editors count: lines and columns from 1.
///
/// A column is one Unicode scalar, so that letters outside ASCII count once. Lines end with LF, CR LF or CR.
public struct JSONPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    /// `7:14`.
    public var description: String { "\(line):\(column)" }
}

/// The way from the root of a JSON text to one of its values: `advertisements[0].major`.
public struct JSONPath: Hashable, Sendable, CustomStringConvertible {
    public enum Component: Hashable, Sendable {
        case key(String)
        case index(Int)
    }

    public var components: [Component]

    public static let root = JSONPath([])

    public init(_ components: [Component]) {
        self.components = components
    }

    /// The path of a member of the object at this path.
    public func key(_ key: String) -> JSONPath { JSONPath(components + [.key(key)]) }

    /// The path of an element of the array at this path.
    public func index(_ index: Int) -> JSONPath { JSONPath(components + [.index(index)]) }

    /// Keys that are no plain words stand in brackets: `calibration["-4"]`. Empty for the root.
    public var description: String {
        var text = ""
        for component in components {
            switch component {
            case .index(let index): text += "[\(index)]"
            case .key(let key) where Self.isWord(key): text += text.isEmpty ? key : "." + key
            case .key(let key): text += "[\(JSONValue.string(key).line)]"
            }
        }
        return text
    }

    private static func isWord(_ key: String) -> Bool {
        guard let first = key.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return key.utf8.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"):
                true
            default: false
            }
        }
    }
}
