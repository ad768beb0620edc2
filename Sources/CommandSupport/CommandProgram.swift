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
        _ root: Root.Type, working: Set<String>, own: ExitStatus.Classifier = { _ in nil }
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
            var command = try root.parseAsRoot(arguments)
            if let first = arguments.first, working.contains(first) { ProgressLine.saysThatItWorks() }
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
}
