internal import ArgumentParser
internal import LinuxHost

/// The root command. Synchronous: an asynchronous root costs 17 ms at every start of a static executable.
@main
struct Pharos: ParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "pharos",
        abstract: "Turns a Linux box into a Bluetooth beacon.",
        discussion: """
            Try `pharos advertise profiles/lobby-ibeacon.json --adapter virtual` without any hardware, then the same \
            with `--adapter hci0`.
            """,
        version: version,
        subcommands: [
            Encode.self, Decode.self, Adapters.self, Advertise.self, Run.self, Status.self, Doctor.self,
            ControllerCommand.self, ProfileCommand.self, FleetCommand.self, PlanCommand.self,
        ])

    static func main() {
        do {
            try Descriptor.fillStandardStreams()
            SignalDescriptor.ignoreBrokenPipes()
            var command = try parseAsRoot()
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
