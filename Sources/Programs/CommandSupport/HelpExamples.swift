internal import ArgumentParser

/// The examples in the help texts of a program: lines of a command's discussion that are command lines.
///
/// The argument parser wraps examples like prose. A wrapped command line cannot be copied, so each example is joined
/// again into one line.
struct HelpExamples {
    private let examples: [String]

    /// Finds the examples of `root` and of all its subcommands.
    init(of root: any ParsableCommand.Type) {
        examples = Self.examples(of: root)
    }

    private static func examples(of command: any ParsableCommand.Type) -> [String] {
        let lines = command.configuration.discussion.split(separator: "\n").map { $0.drop { $0 == " " } }
        return lines.filter(isCommandLine).map(String.init) + command.configuration.subcommands.flatMap(examples)
    }

    private static func isCommandLine(_ line: Substring) -> Bool {
        !line.hasSuffix(".") && (["pharos ", "sudo "].contains(where: line.hasPrefix) || line.contains(" | "))
    }

    /// Returns the help with each example on one line, indented by two spaces.
    func restored(in help: String) -> String {
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        var result: [String] = []
        var index = lines.startIndex
        while index < lines.endIndex {
            if let (example, count) = example(in: lines[index...]) {
                result.append("  " + example)
                index += count
            } else {
                result.append(String(lines[index]))
                index += 1
            }
        }
        return result.joined(separator: "\n")
    }

    /// Returns the longest example that begins at the first line, and the number of lines into which it was wrapped;
    /// `nil` if there is none.
    private func example(in lines: ArraySlice<Substring>) -> (example: String, count: Int)? {
        var longest: (example: String, count: Int)?
        var text = ""
        for (count, line) in zip(1..., lines) {
            let words = line.drop { $0 == " " }
            guard !words.isEmpty else { break }
            text += text.isEmpty ? words : " " + words
            guard examples.contains(where: { $0.hasPrefix(text) }) else { break }
            if examples.contains(text) { longest = (text, count) }
        }
        return longest
    }
}
