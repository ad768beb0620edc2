internal import ArgumentParser
internal import CommandSupport

/// The root command of the program `pharos`.
@main
struct Pharos: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pharos",
        abstract: "Turn a Linux machine into a Bluetooth beacon.",
        discussion: """
            pharos sample lobby-ibeacon --output lobby.json
            pharos advertise lobby.json --adapter virtual
            sudo pharos advertise lobby.json --adapter hci0
            """,
        version: CommandProgram.version,
        subcommands: [
            Encode.self, Decode.self, Adapters.self, Advertise.self, AdvertiseIBeacon.self, Run.self, Install.self,
            SetCommand.self, Remove.self, Scan.self, Audit.self, Qualify.self, Calibrate.self, Find.self,
            IdentityResolvingKeys.self, Status.self, Doctor.self, ControllerCommand.self,
            ProfileCommand.self, FleetCommand.self, PlanCommand.self, SiteCommand.self, SampleCommand.self,
        ] + HubProgram.commands)

    static func main() {
        HubProgram.takeOver()
        CommandProgram.main(
            Pharos.self, slowCommands: ["decode", "adapters", "doctor", "fleet", "plan"],
            rewriting: PlanCompare.expanded)
    }
}
