/// Reads an HTML page. Reports tags that are not closed in order, and each `id` that appears twice.
public struct MarkupReader {
    public struct Unfinished: Error {}

    public private(set) var problems: [String] = []
    public private(set) var tags: [String] = []
    public private(set) var identifiers: Set<String> = []

    private static let void: Set<String> = ["meta", "link", "input", "br"]
    private static let optional: Set<String> = ["!doctype"]

    public init(_ html: String) throws {
        var open: [String] = []
        let octets = Array(html.utf8)
        var index = 0
        while let start = octets[index...].firstIndex(of: UInt8(ascii: "<")) {
            guard let end = Self.end(of: octets, from: start) else { throw Unfinished() }
            let tag = String(decoding: octets[start...end], as: UTF8.self)
            index = end + 1
            tags.append(tag)
            let name = tag.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "/" || $0 == "!" }
            let isClosing = name.hasPrefix("/")
            let word = String(name.drop { $0 == "/" })
            if isClosing {
                if open.popLast() != word { problems.append("unexpected \(tag)") }
                continue
            }
            if let id = Self.attribute("id", of: tag), !identifiers.insert(id).inserted {
                problems.append("two of id \(id)")
            }
            if tag.hasSuffix("/>") || Self.void.contains(word) || Self.optional.contains(word) { continue }
            open.append(word)
            // The contents of these elements are not markup.
            if word == "script" || word == "style" { index = Self.skip(octets, from: index, to: "</\(word)>") }
        }
        if !open.isEmpty { problems.append("not closed: \(open)") }
    }

    public static func attribute(_ name: String, of tag: String) -> String? {
        guard let start = tag.firstRange(of: " \(name)=\"") else { return nil }
        return String(tag[start.upperBound...].prefix { $0 != "\"" })
    }

    /// Returns the index of the `>` that ends a tag: the first one outside quotes.
    private static func end(of octets: [UInt8], from start: Int) -> Int? {
        var isQuoted = false
        for index in start..<octets.count {
            if octets[index] == UInt8(ascii: "\"") { isQuoted.toggle() }
            if octets[index] == UInt8(ascii: ">"), !isQuoted { return index }
        }
        return nil
    }

    private static func skip(_ octets: [UInt8], from start: Int, to end: String) -> Int {
        let wanted = Array(end.utf8)
        var index = start
        while index + wanted.count <= octets.count, !octets[index..<index + wanted.count].elementsEqual(wanted) {
            index += 1
        }
        return min(index, octets.count)
    }
}
