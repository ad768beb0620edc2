internal import ArgumentParser
internal import CommandSupport
internal import LinuxHost

/// The commands of the second program, `pharos-hub`: the receiving services, and `crowd`, which tests receivers.
/// pharos-hub links C libraries that a static program cannot link. So `pharos` replaces its process with pharos-hub to
/// run one of these commands.
enum HubProgram {
    static let commands: [any ParsableCommand.Type] = [
        Collect.self, Crowd.self, History.self, InventoryCommand.self, Listen.self, Locate.self, MapCommand.self,
        Proxy.self, RehearseCommand.self, Where.self, Zones.self,
    ]

    /// The directories in which this program looks for pharos-hub: the directory of this program, as after a build;
    /// ../libexec/pharos, as after an installation with any prefix; and the directory of the package.
    private static var directories: [String] {
        let relativeToProgram = ThisProgram.directory.map { [$0, "\($0)/../libexec/pharos"] } ?? []
        return relativeToProgram + ["/usr/libexec/pharos"]
    }

    /// Returns true for `find --map`, which is a command of pharos-hub. `find` without a map is a command of this
    /// program.
    private static func isFindOnMap(_ words: ArraySlice<String>) -> Bool {
        words.first == "find" && words.contains { $0 == "--map" || $0.hasPrefix("--map=") }
    }

    /// Replaces this process with pharos-hub if the arguments name one of its commands.
    static func takeOver() {
        let words = CommandLine.arguments.dropFirst()
        let name = words.first == "help" ? words.dropFirst().first : words.first
        guard let name, commands.contains(where: { $0.configuration.commandName == name }) || isFindOnMap(words) else {
            return
        }
        let command = isFindOnMap(words) ? "find --map" : name
        for directory in directories {
            let failure = ThisProgram.become("\(directory)/pharos-hub", Array(words))
            guard failure.errno == SystemError.noEntry else { ExitStatus.end(with: failure) }
        }
        ExitStatus.end(
            with: Failure(
                .unavailable,
                "\(command) needs the package pharos-hub, which this machine does not have: "
                    + "apt install pharos-hub"))
    }
}

/// A command of pharos-hub. This declaration is only for help and completions; pharos-hub itself parses the arguments.
protocol HubCommand: ParsableCommand {}

extension HubCommand {
    func run() throws {
        throw Failure(.software, "\(Self.configuration.commandName ?? "this") is a command of pharos-hub")
    }
}

/// The arguments that the commands of pharos-hub share, for completions.
struct HubArguments: ParsableArguments {
    @Argument(help: "Files that the command reads.", completion: .file()) var files: [String] = []
    @Option(name: .shortAndLong, help: "Adapter that receives, such as hci0.", completion: .adapters)
    var adapter: String?
    @Option(help: "Capture to read instead of an adapter.", completion: .file()) var replay: String?
}

struct Listen: HubCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Run a listener: zones, history, hooks and messages from received beacons.")
    @OptionGroup var arguments: HubArguments
}

struct History: HubCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show what happened to a beacon or in a zone.")
    @OptionGroup var arguments: HubArguments
}

struct Zones: HubCommand {
    static let configuration = CommandConfiguration(
        commandName: "zones", abstract: "Show when beacons enter and leave the zones of a listener file.")
    @OptionGroup var arguments: HubArguments
}

struct MapCommand: HubCommand {
    static let configuration = CommandConfiguration(
        commandName: "map", abstract: "Make a map of received levels, and measure its errors.")
    @OptionGroup var arguments: HubArguments
}

struct Locate: HubCommand {
    static let configuration = CommandConfiguration(
        commandName: "locate", abstract: "Show where this receiver is on a map.")
    @OptionGroup var arguments: HubArguments
}

struct Proxy: HubCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy", abstract: "Send received advertisements to Home Assistant as its Bluetooth proxy.")
    @OptionGroup var arguments: HubArguments
}

struct RehearseCommand: HubCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearse",
        abstract: "Rehearse a fleet on simulated air, and compare each value of its plan with the received value.")
    @OptionGroup var arguments: HubArguments
}

struct InventoryCommand: HubCommand {
    static let configuration = CommandConfiguration(
        commandName: "inventory", abstract: "Keep an inventory of items with beacons, and count them.")
    @OptionGroup var arguments: HubArguments
}

struct Collect: HubCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: "Combine the reports of all receivers of a site to find the room of each beacon.")
    @OptionGroup var arguments: HubArguments
}

struct Crowd: HubCommand {
    static let configuration = CommandConfiguration(
        commandName: "crowd", abstract: "Send many beacons in turn from one radio, to test receivers.")
    @OptionGroup var arguments: HubArguments
}

struct Where: HubCommand {
    static let configuration = CommandConfiguration(
        commandName: "where", abstract: "Show the rooms of all beacons, or the room of one beacon.")
    @OptionGroup var arguments: HubArguments
}
