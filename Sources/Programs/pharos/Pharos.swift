internal import ArgumentParser
internal import CommandSupport

/// The root command.
@main
struct Pharos: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pharos",
        abstract: "Turn a Linux machine into a Bluetooth beacon.",
        discussion: """
            Try `pharos advertise profiles/lobby-ibeacon.json --adapter virtual` without any hardware, then the same \
            with `--adapter hci0`.
            """,
        version: CommandProgram.version, subcommands: subcommands.types)

    private static let commands: [Subcommands.Entry] = [
        ("encode", { Encode.self }), ("decode", { Decode.self }), ("adapters", { Adapters.self }),
        ("advertise", { Advertise.self }), ("ibeacon", { AdvertiseIBeacon.self }), ("run", { Run.self }),
        ("scan", { Scan.self }), ("audit", { Audit.self }),
        ("qualify", { Qualify.self }), ("calibrate", { Calibrate.self }), ("find", { Find.self }),
        ("status", { Status.self }), ("doctor", { Doctor.self }),
        ("controller", { ControllerCommand.self }),
        ("profile", { ProfileCommand.self }), ("fleet", { FleetCommand.self }), ("plan", { PlanCommand.self }),
    ]
    private static let subcommands = Subcommands(entries: commands + HubProgram.commands)

    static func main() {
        HubProgram.takeOver()
        CommandProgram.main(Pharos.self, working: ["decode", "adapters", "doctor", "fleet", "plan"])
    }
}
