internal import ArgumentParser
internal import Configuration

/// The subcommands of one level of the command line, by name.
///
/// The argument parser looks at every subcommand that it is given, and for each of them it searches all conformances of
/// the program: milliseconds for the whole tree. So it gets only the one that the arguments name, and all of them where
/// they name none: for help, for completions, and for mistakes.
struct Subcommands: Sendable {
    typealias Entry = (name: String, type: @Sendable () -> any ParsableCommand.Type)

    private let entries: [Entry]
    /// The words before these subcommands, such as `encode`; none for the first level.
    private let path: [String]

    init(below path: String..., entries: [Entry]) {
        self.entries = entries
        self.path = path
    }

    /// What the parser gets for the arguments that this program was started with.
    var types: [any ParsableCommand.Type] { types(for: Array(CommandLine.arguments.dropFirst())) }

    func types(for arguments: [String]) -> [any ParsableCommand.Type] {
        if arguments == ["--version"] { return [] }
        guard arguments.starts(with: path), arguments.count > path.count,
            let named = entries.first(where: { $0.name == arguments[path.count] })
        else { return entries.map { $0.type() } }
        return [named.type()]
    }
}

/// Words that should name a command and name none.
enum UnknownCommand {
    /// What is wrong with the commands that `arguments` begin with, also behind `help`; `nil` where all are known.
    static func problem(in arguments: [String]) -> String? {
        let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        var command: any ParsableCommand.Type = Pharos.self
        var path = "pharos"
        for word in words.prefix(while: { !$0.hasPrefix("-") }) {
            let configuration = command.configuration
            if configuration.subcommands.isEmpty { return nil }
            if let next = configuration.subcommands.first(where: { $0._commandName == word }) {
                command = next
                path += " " + word
                continue
            }
            if configuration.defaultSubcommand != nil { return nil }
            let names = configuration.subcommands.map { $0._commandName }
            let advice =
                NearestWord.find(word, among: names).map { "did you mean `\(path) \($0)`?" }
                ?? "there are " + names.joined(separator: ", ")
            return "\(path) has no command \(ProblemText.quoted(word)); \(advice)"
        }
        return nil
    }
}
