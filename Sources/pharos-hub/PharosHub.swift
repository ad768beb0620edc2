internal import ArgumentParser
internal import CommandSupport

/// The root command of the program that keeps what is heard. People call it by way of `pharos`, whose name it bears.
@main
struct PharosHub: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pharos",
        abstract: "Keep what is heard: listen, and know where things are.",
        version: CommandProgram.version, subcommands: subcommands.types)

    private static let subcommands = Subcommands(entries: [
        ("listen", { Listen.self }),
        ("map", { MapCommand.self }),
        ("proxy", { Proxy.self }),
        ("zones", { ZonesCommand.self }),
    ])

    static func main() {
        CommandProgram.main(PharosHub.self, working: ["map"])
    }
}
