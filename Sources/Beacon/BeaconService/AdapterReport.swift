public import Advertiser
public import BluetoothTypes
public import Configuration
internal import HCI
public import HCITransports
internal import LinuxHost

/// One adapter: the kernel's information, and the controller's capabilities if they could be read.
public struct AdapterReport {
    /// The name for `--adapter`.
    public let name: String
    public let address: DeviceAddress?
    /// `true` if the adapter is powered on; `nil` for controllers outside the kernel.
    public let isUp: Bool?
    /// The programs that use the adapter, each with its process id.
    public let users: [String]
    /// The controller's capabilities; `nil` if they were not read.
    public let capabilities: ControllerCapabilities?
    /// The reason why ``capabilities`` is `nil`.
    public let note: String?
    /// `true` if the adapter can scan; `nil` if unknown.
    public let canListen: Bool?
    /// `true` if the adapter can scan while it advertises; `nil` if unknown.
    public let canListenWhileSending: Bool?
    /// The instance or the command that listens with the adapter; `nil` if there is none.
    public let listener: String?
    /// The number of packets that were lost between controller and kernel; `nil` for controllers outside the kernel.
    public let receiveErrors: Int?

    /// Describes an hciN. An adapter that is down stays down.
    public init(_ adapter: BlueZAdapter) {
        name = adapter.name
        address = adapter.address
        isUp = adapter.isUp
        users = adapter.isUp ? Privileges.processes(named: "bluetoothd").map { "bluetoothd (\($0))" } : []
        receiveErrors = adapter.receiveErrors
        listener =
            AdapterLock.holder(of: LockedAdapter(adapter.address), .listen, in: AdapterClaim.defaultDirectory)?.purpose
        guard adapter.supportsLE || !adapter.isUp else {
            capabilities = nil
            (canListen, canListenWhileSending) = (false, false)
            note = "no LE"
            return
        }
        guard adapter.isUp else {
            capabilities = nil
            (canListen, canListenWhileSending) = (nil, nil)
            note = "down; run `hciconfig \(adapter.name) up` to see more"
            return
        }
        do {
            let (controller, states) = try Self.readCapabilities(adapter.index)
            capabilities = controller
            (canListen, canListenWhileSending) = (states?.scans ?? true, states?.scansWhileAdvertising)
            note = nil
        } catch {
            capabilities = nil
            (canListen, canListenWhileSending) = (nil, nil)
            note = "\(error)"
        }
    }

    private static func readCapabilities(
        _ index: UInt16
    ) throws -> (ControllerCapabilities, LEReadSupportedStates.ReturnParameters?) {
        let host = HCIHost(channel: try BlueZChannel(raw: index))
        return (try ControllerCapabilities.read(from: host, isExclusive: false), try states(host))
    }

    /// Describes a controller that no other program uses. It is reset.
    ///
    /// - Throws: `transport` or `advertising` if it cannot be opened or does not answer, `adapterLock` if another
    ///   instance uses it.
    public init(asking adapter: AdapterName) throws(BeaconServiceError) {
        do { try self.init(opening: adapter) } catch { throw BeaconServiceError(error) }
    }

    private init(opening adapter: AdapterName) throws {
        let claim = try AdapterClaim(adapter, .send, for: "pharos adapters")
        let opened = try OpenAdapter(adapter)
        try claim.add(opened)
        defer { withExtendedLifetime(claim) {} }
        let host = HCIHost(channel: opened.channel)
        let controller = try ControllerCapabilities.read(from: host, isExclusive: opened.isExclusive)
        let states = try Self.states(host)
        (canListen, canListenWhileSending) = (states?.scans ?? true, states?.scansWhileAdvertising)
        (listener, receiveErrors) = (nil, nil)
        name = adapter.description
        address = controller.publicAddress
        isUp = nil
        users = []
        capabilities = controller
        note = nil
        try opened.close()
    }

    /// Returns the states that the controller can combine; `nil` if it does not support the command.
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

    /// Returns the adapters of this machine, or only `adapter`.
    ///
    /// - Throws: The error if `adapter` is missing or does not answer.
    public static func all(_ adapter: AdapterName? = nil) throws(BeaconServiceError) -> [AdapterReport] {
        guard let adapter else { return BlueZAdapter.all().map(AdapterReport.init) }
        guard case .raw(let index) = adapter else { return [try AdapterReport(asking: adapter)] }
        do throws(TransportError) {
            return [AdapterReport(try BlueZAdapter(index: index))]
        } catch {
            throw .transport(error)
        }
    }

    /// A table with one line for each adapter.
    public static func table(_ rows: [AdapterReport]) -> String {
        var table = Table([
            "adapter", "address", "state", "Core", "manufacturer", "advertising", "sets", "interval min",
            "radio power", "listens", "used by",
        ])
        for row in rows {
            guard let capabilities = row.capabilities else {
                table.add([row.name, row.address?.description ?? "-", row.state, row.note ?? "-"])
                continue
            }
            table.add([
                row.name, row.address?.description ?? "-", row.state, capabilities.version.description,
                capabilities.manufacturer.description,
                capabilities.hasExtendedAdvertising ? "extended" : "legacy", String(capabilities.advertisingSets),
                capabilities.intervalRange(for: .nonconnectable).lowerBound.description, row.power, row.listening,
                row.users.isEmpty ? "-" : row.users.joined(separator: ", "),
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
                    .thousandths($0.intervalRange(for: .nonconnectable).lowerBound.microseconds)
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
