public import Advertiser
public import BluetoothTypes
public import Configuration
internal import HCI
public import HCITransports
internal import LinuxHost

/// One adapter's row: what the kernel knows, and what the controller says where it may be asked.
public struct AdapterReport {
    /// As `--adapter` takes it.
    public let name: String
    public let address: DeviceAddress?
    /// `nil` for controllers that the kernel does not manage.
    public let isUp: Bool?
    /// The programs that use it, each with its process.
    public let users: [String]
    /// What the controller says of itself; `nil` where it was not asked.
    public let capabilities: ControllerCapabilities?
    /// Why the controller was not asked.
    public let note: String?
    /// Whether it can listen, and beside a beacon that it sends; `nil` where it was not asked, or does not say.
    public let canListen: Bool?
    public let canListenWhileSending: Bool?
    /// Who listens with it, of those on this box that say so; `nil` for nobody.
    public let listener: String?
    /// What was lost between the controller and the kernel; `nil` for controllers that the kernel does not manage.
    public let receiveErrors: Int?

    /// An hciN. An adapter that is down is not powered for the sake of a list.
    public init(_ adapter: BlueZAdapter) {
        name = adapter.name
        address = adapter.address
        isUp = adapter.isUp
        users = adapter.isUp ? Privileges.processes(named: "bluetoothd").map { "bluetoothd (\($0))" } : []
        receiveErrors = adapter.receiveErrors
        listener = AdapterLock.holder(of: adapter.address, .listen, in: AdapterClaim.defaultDirectory)?.instance
        guard adapter.supportsLE || !adapter.isUp else {
            capabilities = nil
            (canListen, canListenWhileSending) = (false, false)
            note = "no LE"
            return
        }
        guard adapter.isUp else {
            capabilities = nil
            (canListen, canListenWhileSending) = (nil, nil)
            note = "down: `hciconfig \(adapter.name) up` to see more"
            return
        }
        do {
            let (found, states) = try Self.ask(adapter.index)
            capabilities = found
            (canListen, canListenWhileSending) = (states?.scans ?? true, states?.scansWhileAdvertising)
            note = nil
        } catch {
            capabilities = nil
            (canListen, canListenWhileSending) = (nil, nil)
            note = "\(error)"
        }
    }

    private static func ask(
        _ index: UInt16
    ) throws -> (ControllerCapabilities, LEReadSupportedStates.ReturnParameters?) {
        let host = HCIHost(channel: try BlueZChannel(raw: index))
        return (try ControllerCapabilities.read(from: host, isExclusive: false), try states(host))
    }

    /// A controller that is ours alone: it is reset.
    ///
    /// - Throws: `transport` or `advertising` where it cannot be opened, or does not answer.
    public init(asking adapter: AdapterName) throws(BeaconServiceError) {
        do { try self.init(opening: adapter) } catch { throw BeaconServiceError(error) }
    }

    private init(opening adapter: AdapterName) throws {
        let opened = try OpenAdapter(adapter)
        let host = HCIHost(channel: opened.channel)
        let found = try ControllerCapabilities.read(from: host, isExclusive: opened.isExclusive)
        let states = try Self.states(host)
        (canListen, canListenWhileSending) = (states?.scans ?? true, states?.scansWhileAdvertising)
        (listener, receiveErrors) = (nil, nil)
        name = adapter.description
        address = found.publicAddress
        isUp = nil
        users = []
        capabilities = found
        note = nil
        try opened.close()
    }

    /// What the controller can do at the same time; `nil` where it does not know that question.
    private static func states(
        _ host: HCIHost
    ) throws(HCICommandError) -> LEReadSupportedStates.ReturnParameters? {
        do throws(HCICommandError) {
            return try host.execute(LEReadSupportedStates())
        } catch {
            guard case .refused = error else { throw error }
            return nil
        }
    }

    /// The adapters of this machine, or the one that is named.
    ///
    /// - Throws: where the named one is not there, or cannot be asked.
    public static func all(_ adapter: AdapterName? = nil) throws(BeaconServiceError) -> [AdapterReport] {
        guard let adapter else { return BlueZAdapter.all().map(AdapterReport.init) }
        guard case .raw(let index) = adapter else { return [try AdapterReport(asking: adapter)] }
        do throws(TransportError) {
            return [AdapterReport(try BlueZAdapter(index: index))]
        } catch {
            throw .transport(error)
        }
    }

    /// One line for each, below a line of headings.
    public static func table(_ rows: [AdapterReport]) -> String {
        var table = Table([
            "adapter", "address", "state", "Core", "manufacturer", "advertising", "sets", "interval min",
            "radio power", "listens", "used by",
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
                row.power, row.listening, row.users.isEmpty ? "-" : row.users.joined(separator: ", "),
            ])
        }
        return table.text
    }

    /// One object of `adapters --json`.
    public var json: JSONValue {
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
            ("canListen", .optional(canListen, JSONValue.boolean)),
            ("canListenWhileSending", .optional(canListenWhileSending, JSONValue.boolean)),
            ("extendedScanning", .optional(capabilities) { .boolean($0.hasExtendedAdvertising) }),
            ("listener", .optional(listener, JSONValue.string)),
            ("receiveErrors", .optional(receiveErrors) { .integer($0) }),
            ("usedBy", .array(users.map(JSONValue.string))),
            ("note", .optional(note, JSONValue.string)),
        ])
    }

    private var state: String { isUp.map { $0 ? "up" : "down" } ?? "ready" }

    private var listening: String {
        guard canListen == true else { return canListen == false ? "no" : "-" }
        return canListenWhileSending == false ? "not while sending" : "yes"
    }

    private var power: String {
        guard let capabilities else { return "-" }
        let range = capabilities.transmitPowerRange.map { "\($0.lowerBound.dBm)...\($0.upperBound.dBm) dBm, " } ?? ""
        return range + capabilities.powerControl.description
    }
}
