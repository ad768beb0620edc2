package import ArgumentParser
internal import LinuxHost

/// What all programs of the package do around their commands.
package enum CommandProgram {
    package static let version = "0.2.0"

    /// Parses the arguments, runs the command that they name, and ends with its status.
    ///
    /// - Parameters:
    ///   - root: The root command. Synchronous: an asynchronous root costs 17 ms at every start of a static executable.
    ///   - working: Commands that may take long, and wait for nobody.
    ///   - own: Errors that only this program has.
    package static func main<Root: ParsableCommand>(
        _ root: Root.Type, working: [String], own: ExitStatus.Classifier = { _ in nil }
    ) {
        do {
            try Descriptor.fillStandardStreams()
            SignalDescriptor.ignoreBrokenPipes()
            let arguments = Array(CommandLine.arguments.dropFirst())
            // Needs none of the parser's tables, which take most of the time that such a short program lives.
            if arguments == ["--version"] {
                Terminal.write(version + "\n")
                return try Terminal.finish()
            }
            if arguments.first == "help", let problem = UnknownCommand.problem(in: arguments, of: root) {
                throw Failure(.usage, problem)
            }
            var command = try parse(arguments, of: root)
            if let first = arguments.first, working.contains(first) { ProgressLine.startHeartbeat() }
            do {
                try command.run()
            } catch let failure as Failure where failure.messages.isEmpty {
                // All was said on standard output, if that took it.
                try Terminal.finish()
                throw failure
            }
            try Terminal.finish()
        } catch {
            ExitStatus.end(with: error, of: root, own: own)
        }
    }

    /// The command that the first words name is parsed alone: the parser would do all of its work once more for each level
    /// above it. What it does not take as it stands is told by the whole tree: help, versions, completions, mistakes.
    private static func parse(_ arguments: [String], of root: any ParsableCommand.Type) throws -> any ParsableCommand {
        var named = root
        var rest = arguments[...]
        while let word = rest.first,
            let next = named.configuration.subcommands.first(where: { $0._commandName == word })
        {
            named = next
            rest.removeFirst()
        }
        if named != root, named.configuration.subcommands.isEmpty,
            let command = try? named.parseAsRoot(Array(rest)), type(of: command) == named
        {
            return command
        }
        return try root.parseAsRoot(arguments)
    }
}
