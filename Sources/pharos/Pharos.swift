internal import ArgumentParser
internal import Configuration
internal import LinuxHost

/// The root command. Synchronous: an asynchronous root costs 17 ms at every start of a static executable.
@main
struct Pharos: ParsableCommand {
    static let version = "0.2.0"

    static let configuration = CommandConfiguration(
        commandName: "pharos",
        abstract: "Turn a Linux machine into a Bluetooth beacon.",
        discussion: """
            Try `pharos advertise profiles/lobby-ibeacon.json --adapter virtual` without any hardware, then the same \
            with `--adapter hci0`.
            """,
        version: version, subcommands: subcommands.types)

    private static let subcommands = Subcommands(entries: [
        ("encode", { Encode.self }), ("decode", { Decode.self }), ("adapters", { Adapters.self }),
        ("advertise", { Advertise.self }), ("ibeacon", { AdvertiseIBeacon.self }), ("run", { Run.self }),
        ("scan", { Scan.self }), ("listen", { Listen.self }), ("audit", { Audit.self }),
        ("qualify", { Qualify.self }), ("calibrate", { Calibrate.self }), ("find", { Find.self }),
        ("status", { Status.self }), ("doctor", { Doctor.self }),
        ("controller", { ControllerCommand.self }),
        ("profile", { ProfileCommand.self }), ("fleet", { FleetCommand.self }), ("plan", { PlanCommand.self }),
    ])

    /// Commands that may take long, and wait for nobody.
    private static let working: Set = ["decode", "adapters", "doctor", "fleet", "plan"]

    static func main() {
        do {
            try Descriptor.fillStandardStreams()
            SignalDescriptor.ignoreBrokenPipes()
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "help", let problem = UnknownCommand.problem(in: arguments) {
                throw Failure(.usage, problem)
            }
            var command = try parseAsRoot(arguments)
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
            ExitStatus.end(with: error)
        }
    }
}

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
