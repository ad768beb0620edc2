internal import ArgumentParser
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
        ("calibrate", { Calibrate.self }), ("find", { Find.self }), ("status", { Status.self }),
        ("doctor", { Doctor.self }),
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
