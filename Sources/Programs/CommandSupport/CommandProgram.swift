package import ArgumentParser
internal import Configuration
internal import Glibc
internal import LinuxHost

/// The common main function of the programs `pharos` and `pharos-hub`.
package enum CommandProgram {
    package static let version = "0.2.0"

    /// The command line of this process, quoted for a shell, with the program name `pharos`.
    package static var commandLine: String { ShellText.line(["pharos"] + CommandLine.arguments.dropFirst()) }

    /// Parses the arguments, runs the command that they name, and ends the process with its exit status.
    ///
    /// - Parameters:
    ///   - root: The root command. It is synchronous, because an asynchronous root command takes
    ///     17 ms at every start of a static program.
    ///   - slowCommands: The names of commands that may compute for more than a second. They show progress on a
    ///     terminal.
    ///   - rewriting: Converts the arguments into equivalent arguments before they are parsed.
    ///   - programErrors: Returns the exit status of errors that only this program has.
    package static func main<Root: ParsableCommand>(
        _ root: Root.Type, slowCommands: [String], rewriting: ([String]) -> [String] = { $0 },
        programErrors: ExitStatus.Classifier = { _ in nil }
    ) {
        do {
            try Descriptor.fillStandardStreams()
        } catch {
            ExitStatus.end(with: error)
        }
        SignalDescriptor.ignoreBrokenPipes()
        let arguments = rewriting(Array(CommandLine.arguments.dropFirst()))
        exit(run(root, arguments, slowCommands: slowCommands, programErrors: programErrors))
    }

    /// Parses the arguments, and runs the command that they name.
    ///
    /// - Returns: The exit status. Errors are printed on standard error.
    package static func run<Root: ParsableCommand>(
        _ root: Root.Type, _ arguments: [String], slowCommands: [String],
        programErrors: ExitStatus.Classifier = { _ in nil }
    ) -> Int32 {
        do {
            if arguments.first == "help", let problem = UnknownCommand.problem(in: arguments, of: root) {
                throw Failure(.usage, problem)
            }
            var command = try root.parseAsRoot(arguments)
            if let name = arguments.first, slowCommands.contains(name) { ProgressLine.startHeartbeat() }
            do {
                try command.run()
            } catch let failure as Failure where failure.messages.isEmpty {
                // The command has already printed its result on standard output. If the output cannot be written, that
                // error is reported instead of this failure.
                try Terminal.finish()
                throw failure
            }
            try Terminal.finish()
            return 0
        } catch {
            return ExitStatus.report(error, of: root, arguments, programErrors: programErrors)
        }
    }
}

/// Formats the messages of the argument parser: `pharos: `, a sentence, and how to get help.
enum ArgumentMessages {
    /// Returns the message for standard error.
    ///
    /// - Parameters:
    ///   - message: The message of the parser: a sentence, the help of the option, the usage, and how to get help.
    ///   - arguments: The arguments of the program without its name.
    ///   - root: The root command.
    static func formatted(_ message: String, arguments: [String], of root: any ParsableCommand.Type) -> String {
        if let problem = UnknownCommand.problem(in: arguments, of: root) { return "pharos: \(problem)\n" }
        if let problem = UnknownOption.problem(in: arguments, of: root) { return "pharos: \(problem)\n" }
        let lines = message.split(separator: "\n").map(String.init)
        guard var sentence = lines.first else { return message }
        sentence = sentence.hasPrefix("Error: ") ? String(sentence.dropFirst(7)) : sentence
        let usage = lines.first { $0.hasPrefix("Usage: ") }
        if sentence.hasPrefix("Missing expected argument '"), let usage {
            let missing = requiredOptions(in: usage).filter { option in
                !arguments.contains { $0 == option.name || $0.hasPrefix(option.name + "=") }
            }
            if missing.count > 1 {
                let names = missing.map(\.text)
                sentence =
                    "Missing expected arguments " + names.dropLast().map { "'\($0)'" }.joined(separator: ", ")
                    + " and '\(names[names.count - 1])'"
            }
        }
        if sentence.hasPrefix("Missing value for '"), let negative = negativeValue(in: arguments, after: sentence) {
            sentence = "The value '\(negative)' of \(option(in: sentence)) is negative; write a number above 0"
        }
        sentence += signAdvice(sentence)
        let help = lines.last { $0.hasPrefix("  See '") }
        return (["pharos: " + sentence] + (help.map { [$0] } ?? [])).joined(separator: "\n") + "\n"
    }

    /// Returns advice to append to a message of the parser about a number with a decimal comma or a typographic minus
    /// sign; empty for any other message.
    private static func signAdvice(_ sentence: String) -> String {
        guard sentence.hasPrefix("The value '"), sentence.hasSuffix("'"),
            let end = sentence.firstRange(of: "' is invalid for '")
        else { return "" }
        let value = String(sentence[..<end.lowerBound].dropFirst("The value '".count))
        guard !OptionValue.plainNumberAdvice(value).isEmpty else { return "" }
        return value.contains(",") ? ": write a decimal point, not a comma" : ": write the minus sign as '-'"
    }

    /// Returns the option in quotes in a message of the parser, without its value: `--name`.
    private static func option(in sentence: String) -> String {
        let quoted = sentence.drop { $0 != "'" }.dropFirst().prefix { $0 != "'" }
        return String(quoted.prefix { $0 != " " })
    }

    /// Returns the negative number that follows the option of a message. The parser reads such a number as another
    /// option.
    private static func negativeValue(in arguments: [String], after sentence: String) -> String? {
        let name = option(in: sentence)
        return zip(arguments, arguments.dropFirst()).first { $0 == name && $1.hasPrefix("-") && Double($1) != nil }.map
        {
            TerminalText.line($1)
        }
    }

    /// Returns the required options of a usage line, with the placeholders of their values. Only options in brackets
    /// are optional.
    private static func requiredOptions(in usage: String) -> [(name: String, text: String)] {
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

/// Finds arguments that are in the place of a command, but are not the name of a command.
enum UnknownCommand {
    /// Returns a sentence about the first unknown command in `arguments`, also after `help`; `nil` if all are known.
    static func problem(in arguments: [String], of root: any ParsableCommand.Type) -> String? {
        let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        var command: any ParsableCommand.Type = root
        var path = "pharos"
        for word in words.prefix(while: { !$0.hasPrefix("-") }) {
            let configuration = command.configuration
            if configuration.subcommands.isEmpty { return nil }
            if let next = configuration.subcommands.first(where: { $0.hasName(word) }) {
                command = next
                path += " " + word
                continue
            }
            if configuration.defaultSubcommand != nil { return nil }
            if path == "pharos", let advice = serviceAdvice(word, arguments.dropFirst().first) { return advice }
            let shownCommands = configuration.subcommands.filter { $0.configuration.shouldDisplay }
            let names = shownCommands.compactMap { $0.configuration.commandName }
            let advice =
                subcommandAdvice(word, in: shownCommands, path)
                ?? NearestWord.find(word, among: names).map { "did you mean `\(path) \($0)`?" }
                ?? "there are " + names.joined(separator: ", ")
            return "\(path) has no command \(ProblemText.quoted(word)); \(advice)"
        }
        return nil
    }

    /// Returns a question such as "did you mean `pharos site check`?" that names every command in `commands` with a
    /// subcommand `word`; `nil` if there is none.
    private static func subcommandAdvice(
        _ word: String, in commands: [any ParsableCommand.Type], _ path: String
    ) -> String? {
        let parents = commands.filter { command in
            command.configuration.subcommands.contains {
                $0.configuration.commandName == word && $0.configuration.shouldDisplay
            }
        }
        let calls = parents.compactMap { $0.configuration.commandName }.map { "`\(path) \($0) \(word)`" }
        guard let last = calls.last else { return nil }
        return "did you mean " + (calls.count > 1 ? calls.dropLast().joined(separator: ", ") + " or " : "") + "\(last)?"
    }
}

extension UnknownCommand {
    /// Words that users try as commands of Pharos, each with the command of `systemctl` to use instead.
    private static let serviceVerbs = [
        "start": "start", "stop": "stop", "restart": "restart", "enable": "enable --now", "disable": "disable --now",
        "reload": "reload",
    ]

    /// Returns a sentence that names the command to use instead of `edit` or a word of `serviceVerbs`; `nil` for other
    /// words.
    private static func serviceAdvice(_ word: String, _ beacon: String?) -> String? {
        let name = beacon.flatMap { $0.hasPrefix("-") ? nil : TerminalText.line($0) } ?? "NAME"
        if word == "edit" {
            return "beacons are services of systemd: use `sudo pharos set \(name) KEY=VALUE`, or edit "
                + "/etc/pharos/\(name).json and use `sudo systemctl reload pharos@\(name)`"
        }
        return serviceVerbs[word].map {
            "beacons are services of systemd: use `sudo systemctl \($0) pharos@\(name)`"
        }
    }
}

extension ParsableCommand {
    /// Returns true if `word` is the name of this command or one of its aliases.
    fileprivate static func hasName(_ word: String) -> Bool {
        configuration.commandName == word || configuration.aliases.contains(word)
    }
}

/// A command that runs a sibling command. Its arguments are the name and the options of that command.
package protocol ForwardingCommand: ParsableCommand {}

/// Finds options that a command does not have. The argument parser checks whether required options are present before
/// it checks for unknown options. So for a misspelled option, it may only report that a required option is missing.
enum UnknownOption {
    /// Returns a sentence about the first unknown option in `arguments`; `nil` if all are known.
    static func problem(in arguments: [String], of root: any ParsableCommand.Type) -> String? {
        var (command, path): (any ParsableCommand.Type, String) = (root, "pharos")
        let words = arguments.prefix { !$0.hasPrefix("-") }
        for word in words {
            let next = command.configuration.subcommands.first { $0.hasName(word) }
            guard let next else { break }
            // The next word is the sibling command, to which the options belong.
            if next is any ForwardingCommand.Type { continue }
            (command, path) = (next, path + " " + word)
        }
        let siblings = command.configuration.subcommands
        let chosen = command.configuration.defaultSubcommand ?? command
        let known = options(of: chosen)
        for argument in arguments.dropFirst(words.count).prefix(while: { $0 != "--" }) where argument.hasPrefix("--") {
            let name = String(argument.prefix { $0 != "=" })
            guard !known.contains(name), !name.hasPrefix("--experimental-"), !name.hasPrefix("--generate-") else {
                continue
            }
            let owner = siblings.first { options(of: $0).contains(name) }
            if owner != nil, path == "pharos advertise", let file = arguments.first(where: { $0.hasSuffix(".json") }) {
                return "Unknown option '\(ProblemText.shortened(name))'. In a profile, write \"\(key(of: name))\" into "
                    + "\(TerminalText.line(file)).\n  See '\(path) --help' for more information."
            }
            let advice =
                owner.map { ". Did you mean `\(path) \($0.configuration.commandName ?? "") \(name)`?" }
                ?? nearest(name, among: known).map { ". Did you mean '\($0)'?" } ?? ""
            return
                "Unknown option '\(ProblemText.shortened(name))'\(advice)\n  See '\(path) --help' for more information."
        }
        return nil
    }

    /// Options that have the same meaning in different commands, although their names are not similar.
    private static let synonyms = ["--duration-s": "--seconds", "--seconds": "--duration-s"]

    /// Returns the JSON key that corresponds to an option: `radioPowerDbm` for `--radio-power-dbm`.
    private static func key(of option: String) -> String {
        var key = ""
        for word in option.split(separator: "-") {
            key += key.isEmpty ? String(word) : word.prefix(1).uppercased() + String(word.dropFirst())
        }
        return key
    }

    /// Returns the most similar option. An option with the same name and a unit is preferred: `--interval-ms` for
    /// `--interval`.
    private static func nearest(_ name: String, among options: [String]) -> String? {
        options.first { $0.hasPrefix(name + "-") } ?? options.first { $0 == synonyms[name] }
            ?? NearestWord.find(name, among: options)
    }

    /// Returns the long options of a command, read from its help.
    private static func options(of command: any ParsableCommand.Type) -> [String] {
        command.helpMessage(includeHidden: true, columns: 1000).split(separator: "\n").flatMap { line in
            line.split { " ,/".contains($0) }.prefix { $0.hasPrefix("-") }.filter { $0.hasPrefix("--") }.map(
                String.init)
        }
    }
}
