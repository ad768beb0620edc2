internal import Advertiser
internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import HCI
internal import HCITransports
internal import LinuxHost

struct Adapters: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adapters", abstract: "List the Bluetooth adapters and what each supports.",
        discussion: """
            Without --adapter, every hciN is listed. To query a controller behind a serial line or a socket:
            pharos adapters --adapter serial:/dev/ttyACM0@115200
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Query only this adapter; any form of name but hciN:mgmt.", valueName: "name"),
        completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let rows: [AdapterReport]
        if let adapter {
            if case .raw(let index) = adapter {
                rows = [AdapterReport(try BlueZAdapter(index: index))]
            } else {
                rows = [try AdapterReport(asking: adapter)]
            }
        } else {
            rows = BlueZAdapter.all().map(AdapterReport.init)
        }
        if json {
            Terminal.write(JSONValue.record([("adapters", .array(rows.map(\.json)))]).line + "\n")
        } else if rows.isEmpty {
            Terminal.write(
                BlueZAdapter.kernelHasBluetooth
                    ? "There is no Bluetooth adapter. `--adapter virtual` works without one.\n"
                    : "This kernel has no Bluetooth. `--adapter virtual` works without it.\n")
        } else {
            Terminal.write(AdapterReport.table(rows))
        }
    }
}

/// One adapter's row: what the kernel knows, and what the controller says where it may be asked.
struct AdapterReport {
    let name: String
    let address: DeviceAddress?
    /// `nil` for controllers that the kernel does not manage.
    let isUp: Bool?
    let users: [String]
    let capabilities: ControllerCapabilities?
    /// Why the controller was not asked.
    let note: String?

    /// An hciN. An adapter that is down is not powered for the sake of a list.
    init(_ adapter: BlueZAdapter) {
        name = adapter.name
        address = adapter.address
        isUp = adapter.isUp
        users = adapter.isUp ? Privileges.processes(named: "bluetoothd").map { "bluetoothd (\($0))" } : []
        guard adapter.supportsLE || !adapter.isUp else {
            capabilities = nil
            note = "no LE"
            return
        }
        guard adapter.isUp else {
            capabilities = nil
            note = "down: `hciconfig \(adapter.name) up` to see more"
            return
        }
        do {
            let channel = try BlueZChannel(raw: adapter.index)
            capabilities = try ControllerCapabilities.read(from: HCIHost(channel: channel), isExclusive: false)
            note = nil
        } catch {
            capabilities = nil
            note = "\(error)"
        }
    }

    /// A controller that is ours alone: it is reset.
    init(asking adapter: AdapterName) throws {
        let opened = try OpenAdapter(adapter)
        let found = try ControllerCapabilities.read(
            from: HCIHost(channel: opened.channel), isExclusive: opened.isExclusive)
        name = adapter.description
        address = found.publicAddress
        isUp = nil
        users = []
        capabilities = found
        note = nil
        try opened.close()
    }

    static func table(_ rows: [AdapterReport]) -> String {
        var table = Table([
            "adapter", "address", "state", "Core", "manufacturer", "advertising", "sets", "interval min",
            "radio power", "used by",
        ])
        for row in rows {
            guard let found = row.capabilities else {
                table.add([row.name, row.address?.description ?? "-", row.state, row.note ?? "-"])
                continue
            }
            table.add([
                row.name, row.address?.description ?? "-", row.state, found.version.description,
                found.manufacturer.description, found.hasExtendedAdvertising ? "extended" : "legacy",
                String(found.advertisingSets), found.intervalRange(for: .nonconnectable).lowerBound.description,
                row.power, row.users.isEmpty ? "-" : row.users.joined(separator: ", "),
            ])
        }
        return table.text
    }

    var json: JSONValue {
        .record([
            ("adapter", .string(name)),
            ("address", .optional(address) { .string($0.description) }),
            ("up", .optional(isUp, JSONValue.boolean)),
            ("hciVersion", .optional(capabilities) { .integer(Int($0.version.rawValue)) }),
            ("manufacturer", .optional(capabilities) { .integer(Int($0.manufacturer.rawValue)) }),
            ("extendedAdvertising", .optional(capabilities) { .boolean($0.hasExtendedAdvertising) }),
            ("advertisingSets", .optional(capabilities) { .integer($0.advertisingSets) }),
            (
                "minimumIntervalMs",
                .optional(capabilities) {
                    .decimal(DecimalText.thousandths($0.intervalRange(for: .nonconnectable).lowerBound.microseconds))
                }
            ),
            ("powerControl", .optional(capabilities) { .string($0.powerControl.description) }),
            (
                "radioPowerRangeDbm",
                .optional(capabilities?.transmitPowerRange) {
                    .array([.integer(Int($0.lowerBound.dBm)), .integer(Int($0.upperBound.dBm))])
                }
            ),
            ("usedBy", .array(users.map(JSONValue.string))),
            ("note", .optional(note, JSONValue.string)),
        ])
    }

    private var state: String { isUp.map { $0 ? "up" : "down" } ?? "ready" }

    private var power: String {
        guard let capabilities else { return "-" }
        let range = capabilities.transmitPowerRange.map { "\($0.lowerBound.dBm)...\($0.upperBound.dBm) dBm, " } ?? ""
        return range + capabilities.powerControl.description
    }
}
