internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import LinuxHost

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find everything that prevents this machine from sending a beacon, and show how to repair it.",
        discussion: """
            Exits with 1 if it finds such a problem. Warnings do not change the exit code.
            Without --adapter, it checks the first adapter with LE, which `run` uses too. The check does not disturb \
            running beacons.
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The adapter, in the form that the beacon will use.", valueName: "name"),
        completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Flag(help: "Print one JSON object.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Read /sys, /etc, /usr and /run below this directory.", valueName: "directory", visibility: .hidden))
    var root = ""

    func run() throws {
        let report = DoctorReport(adapter, root: root)
        Terminal.show(report.text(color: Terminal.wantsColor), or: report.json, asJSON: json)
        if !report.isGood { throw Failure(.failure) }
    }
}
