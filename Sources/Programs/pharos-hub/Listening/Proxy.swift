internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import HCITransports
internal import HubService
internal import LinuxHost
internal import Listener

struct Proxy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy", abstract: "Send received advertisements to Home Assistant as its Bluetooth proxy.",
        discussion: """
            pharos proxy --listen tcp:0.0.0.0:6053
            pharos proxy --adapter virtual

            The proxy uses ESPHome's native API. In Home Assistant, add the integration ESPHome with this machine's \
            address. The integrations iBeacon, Bermuda and Private BLE Device then receive every advertisement that \
            this machine receives. Home Assistant chooses between an active and a passive scan, also in its mode \
            "Auto"; --active is for clients that do not choose. Without --key-file, every device that can reach the \
            port receives the advertisements too. To make a key:

            head -c 32 /dev/urandom | base64 | install -m 600 /dev/stdin proxy.key
            """)

    @Option(name: .shortAndLong, help: .hciAdapter, completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(
        help: ArgumentHelp(
            "Address for clients to connect to (default: tcp:127.0.0.1:6053, for this machine only).",
            valueName: "address"),
        completion: .list(["tcp:127.0.0.1:6053", "tcp:0.0.0.0:6053"]), transform: Self.listenAddress)
    var listen: ListenAddress = .tcp(host: "127.0.0.1", port: 6053)

    @Option(help: ArgumentHelp("Name in Home Assistant (default: the host name).", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "Address by which Home Assistant distinguishes proxies (default: that of a network card).",
            valueName: "address"), transform: Self.address)
    var address: DeviceAddress?

    @Option(
        help: ArgumentHelp(
            "File with the encryption key, 32 bytes in Base64, that only you can read (default: no encryption).",
            valueName: "file"), completion: .file())
    var keyFile: String?

    @Flag(
        help:
            "Request scan responses unless a client asks for another mode. Shows names, but costs other devices' batteries."
    )
    var active = false

    @Option(parsing: .unconditional, help: .timeLimit, transform: OptionValue.duration)
    var durationS: Int?

    func validate() throws {
        if case .managed(let index)? = adapter {
            throw ValidationError("The kernel drops repeated advertisements on hci\(index):mgmt: use hci\(index).")
        }
    }

    func run() throws {
        let identity = try ProxyIdentity(ofThisMachine: name, address: address, version: CommandProgram.version)
        let key = try keyFile.map { try ProxyKey(file: $0) }
        let server = try ProxyServer(listen, identity, key: key, isActive: active) {
            Terminal.writeMessage($0)
        }
        Terminal.writeLine("listening \(server.address)")
        let end = durationS.map { MonotonicClock.nanoseconds() + UInt64($0) * 1000 }
        let signals = try SignalDescriptor()
        try server.run { (isActive, isNext) throws(ListenerServiceError) in
            var options = SightingSource.Options(adapter: adapter)
            let standard = ScanSettings.standard
            let settings = try? ScanSettings(isActive: isActive, interval: standard.interval, window: standard.window)
            options.settings = settings ?? standard
            options.durationMicroseconds = end.map { Int($0 - min($0, MonotonicClock.nanoseconds())) / 1000 }
            options.purpose = "pharos proxy"
            options.signals = signals
            options.waitsForAdapter = isNext
            return try .live(options)
        }
    }

    /// Parses an address to which clients can connect. Clients cannot connect to `vhci`, so it is refused.
    private static func listenAddress(_ text: String) throws -> ListenAddress {
        let address = try? ListenAddress(text)
        guard let address, address != .kernel else {
            let isTCP = (try? ListenAddress("tcp:" + text)) != nil
            throw Mistake("use tcp:HOST:PORT or unix:PATH" + (isTCP ? "; did you mean tcp:\(text)?" : ""))
        }
        return address
    }

    private static func address(_ text: String) throws -> DeviceAddress {
        guard let address = DeviceAddress(text) else { throw Mistake("use an address such as 00:11:22:33:44:55") }
        return address
    }
}
