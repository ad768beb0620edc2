internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import LinuxHost

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find everything that stops a beacon on this machine, with the remedy for each.",
        discussion: """
            It ends with 1 when something does; what only is not as expected is a warning.
            Without --adapter it looks at the first adapter with LE, as `run` would take it. A beacon that runs is not \
            disturbed.
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The adapter, in the form that the beacon shall use.", valueName: "name"),
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
        if json {
            Terminal.write(report.json.line + "\n")
        } else {
            Terminal.write(report.text(color: Terminal.wantsColor))
        }
        if !report.isGood { throw Failure(.failure) }
    }
}
