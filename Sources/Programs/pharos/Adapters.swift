internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import HCITransports
internal import LinuxHost

struct Adapters: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adapters", abstract: "List the Bluetooth adapters and their capabilities.",
        discussion: """
            Without --adapter, every hciN is listed. To query a controller behind a serial line or a socket:
            pharos adapters --adapter serial:/dev/ttyACM0@115200
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Query only this adapter. Its name may have any form except hciN:mgmt.", valueName: "name"),
        completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let rows = try AdapterReport.all(adapter)
        if json {
            Terminal.write(JSONValue.record([("adapters", .array(rows.map(\.json)))]).line + "\n")
        } else if rows.isEmpty {
            Terminal.show(
                BlueZAdapter.kernelHasBluetooth
                    ? "There is no Bluetooth adapter. `--adapter virtual` works without one.\n"
                    : "This kernel has no Bluetooth. `--adapter virtual` works without it.\n")
        } else {
            Terminal.show(AdapterReport.table(rows))
        }
    }
}
