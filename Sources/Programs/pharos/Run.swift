internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport

/// `run PROFILE`: runs the service of a beacon.
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Keep a profile on the air as a service.",
        discussion: """
            Meant for systemd (systemctl enable --now pharos@NAME), but works without it: SIGHUP reloads the profile, \
            SIGTERM ends the service. The service waits for a missing adapter, and puts the beacon back on the air \
            when the adapter was unplugged, powered down or reset.
            """)

    @Argument(help: "Beacon profile, such as /etc/pharos/lobby-north.json.", completion: .file())
    var profile: String

    @Option(name: .shortAndLong, help: .sendingAdapter, completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(
        help: ArgumentHelp("Directory of the saved state (default: /var/lib/pharos).", valueName: "directory"),
        completion: .directory)
    var stateDir: String?

    @Option(
        help: ArgumentHelp("Directory of status files and locks (default: /run/pharos).", valueName: "directory"),
        completion: .directory)
    var runtimeDir: String?

    @Option(
        help: ArgumentHelp(
            "File for the Prometheus metrics (default: NAME.prom in the runtime directory).", valueName: "file"),
        completion: .file())
    var metricsFile: String?

    func run() throws {
        try Service.run(
            profile: profile, adapter: adapter,
            directories: ServiceDirectories(state: stateDir, runtime: runtimeDir, metrics: metricsFile))
    }
}
