internal import ArgumentParser
internal import Configuration

/// The argument parser's messages in the shape of ours: `pharos: `, then one sentence, then how to get help.
enum ArgumentMessages {
    /// - Parameters:
    ///   - message: The parser's: a sentence, what the option is for, the usage, and where help is.
    ///   - arguments: What the program was started with, without its name.
    ///   - root: Its command.
    static func spoken(_ message: String, arguments: [String], of root: any ParsableCommand.Type) -> String {
        if let problem = UnknownCommand.problem(in: arguments, of: root) { return "pharos: \(problem)\n" }
        let lines = message.split(separator: "\n").map(String.init)
        guard var sentence = lines.first else { return message }
        sentence = sentence.hasPrefix("Error: ") ? String(sentence.dropFirst(7)) : sentence
        let usage = lines.first { $0.hasPrefix("Usage: ") }
        if sentence.hasPrefix("Missing expected argument '"), let usage {
            let missing = required(usage).filter { option in
                !arguments.contains { $0 == option.name || $0.hasPrefix(option.name + "=") }
            }
            if missing.count > 1 {
                let names = missing.map(\.text)
                sentence =
                    "Missing expected arguments " + names.dropLast().map { "'\($0)'" }.joined(separator: ", ")
                    + " and '\(names[names.count - 1])'"
            }
        }
        let help = lines.last { $0.hasPrefix("  See '") }
        return (["pharos: " + sentence] + (help.map { [$0] } ?? [])).joined(separator: "\n") + "\n"
    }

    /// The options that a usage line shows outside of brackets.
    private static func required(_ usage: String) -> [(name: String, text: String)] {
        var depth = 0
        let outside = usage.filter { character in
            if character == "[" { depth += 1 }
            defer { if character == "]" { depth -= 1 } }
            return depth == 0
        }
        let words = outside.split(separator: " ").map(String.init)
        return words.indices.filter { words[$0].hasPrefix("--") }.map { index in
            let value = index + 1 < words.count && words[index + 1].hasPrefix("<") ? " " + words[index + 1] : ""
            return (words[index], words[index] + value)
        }
    }
}

/// Words that should name a command and name none.
enum UnknownCommand {
    /// What is wrong with the commands that `arguments` begin with, also behind `help`; `nil` where all are known.
    static func problem(in arguments: [String], of root: any ParsableCommand.Type) -> String? {
        let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        var command: any ParsableCommand.Type = root
        var path = "pharos"
        for word in words.prefix(while: { !$0.hasPrefix("-") }) {
            let configuration = command.configuration
            if configuration.subcommands.isEmpty { return nil }
            if let next = configuration.subcommands.first(where: { $0.configuration.commandName == word }) {
                command = next
                path += " " + word
                continue
            }
            if configuration.defaultSubcommand != nil { return nil }
            let names = configuration.subcommands.compactMap { $0.configuration.commandName }
            let advice =
                NearestWord.find(word, among: names).map { "did you mean `\(path) \($0)`?" }
                ?? "there are " + names.joined(separator: ", ")
            return "\(path) has no command \(ProblemText.quoted(word)); \(advice)"
        }
        return nil
    }
}
