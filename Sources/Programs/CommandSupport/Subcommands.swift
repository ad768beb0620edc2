package import ArgumentParser

/// The subcommands of one level of the command line, by name.
///
/// The argument parser looks at every subcommand that it is given, and for each of them it searches all conformances of
/// the program: milliseconds for the whole tree. So it gets only the one that the arguments name, and all of them where
/// they name none: for help, for completions, and for mistakes.
package struct Subcommands: Sendable {
    package typealias Entry = (name: String, type: @Sendable () -> any ParsableCommand.Type)

    private let entries: [Entry]
    /// The words before these subcommands, such as `encode`; none for the first level.
    private let path: [String]

    package init(below path: String..., entries: [Entry]) {
        self.entries = entries
        self.path = path
    }

    /// What the parser gets for the arguments that this program was started with.
    package var types: [any ParsableCommand.Type] { types(for: Array(CommandLine.arguments.dropFirst())) }

    /// - Parameter arguments: Without the program's name.
    func types(for arguments: [String]) -> [any ParsableCommand.Type] {
        guard arguments.starts(with: path), arguments.count > path.count,
            let named = entries.first(where: { $0.name == arguments[path.count] })
        else { return entries.map { $0.type() } }
        return [named.type()]
    }
}
