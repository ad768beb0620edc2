/// The argument parser's messages in the shape of ours: `pharos: `, then one sentence, then how to get help.
enum ArgumentMessages {
    static func spoken(_ message: String) -> String {
        var lines = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let first = lines.first else { return message }
        lines[0] = "pharos: " + (first.hasPrefix("Error: ") ? String(first.dropFirst(7)) : first)
        return lines.joined(separator: "\n") + "\n"
    }
}
