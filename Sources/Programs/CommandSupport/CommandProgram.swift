package import ArgumentParser
internal import LinuxHost

/// The start and the end that both programs have in common.
package enum CommandProgram {
    package static let version = "0.2.0"

    /// Parses the arguments, runs the command that they name, and ends the process with its exit status.
    ///
    /// - Parameters:
    ///   - root: The root command. It is synchronous, because an asynchronous root takes 17 ms at every start of a static program.
    ///   - working: Commands that may compute for more than a second, so that they show progress on a terminal.
    ///   - own: The exit status of errors that only this program has.
    package static func main<Root: ParsableCommand>(
        _ root: Root.Type, working: [String], own: ExitStatus.Classifier = { _ in nil }
    ) {
        do {
            try Descriptor.fillStandardStreams()
            SignalDescriptor.ignoreBrokenPipes()
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "help", let problem = UnknownCommand.problem(in: arguments, of: root) {
                throw Failure(.usage, problem)
            }
            var command = try root.parseAsRoot(arguments)
            if let first = arguments.first, working.contains(first) { ProgressLine.startHeartbeat() }
            do {
                try command.run()
            } catch let failure as Failure where failure.messages.isEmpty {
                // The command has printed its findings on standard output. A failure to write them counts more.
                try Terminal.finish()
                throw failure
            }
            try Terminal.finish()
        } catch {
            ExitStatus.end(with: error, of: root, own: own)
        }
    }
}
