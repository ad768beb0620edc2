internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import HCITransports
internal import HubService
internal import LinuxHost
internal import Listener
internal import Sightings

struct Proxy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy", abstract: "Hand all that is heard to Home Assistant, as its Bluetooth proxy.",
        discussion: """
            pharos proxy --listen tcp:0.0.0.0:6053
            pharos proxy --adapter virtual

            It speaks ESPHome's native API: in Home Assistant add the integration ESPHome with this machine's address. \
            Its iBeacon, Bermuda and Private BLE Device integrations then hear what this machine hears, each report of \
            it. Without --key-file whoever reaches the port hears it too.
            head -c 32 /dev/urandom | base64 | install -m 600 /dev/stdin proxy.key
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "hci0, hci0:user, tcp:HOST:PORT, unix:PATH, serial:PATH@RATE or virtual.", valueName: "name"),
        completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(
        help: ArgumentHelp(
            "Where clients come (default: tcp:127.0.0.1:6053, this machine alone).", valueName: "address"),
        completion: .list(["tcp:127.0.0.1:6053", "tcp:0.0.0.0:6053"]), transform: ListenAddress.init)
    var listen: ListenAddress = .tcp(host: "127.0.0.1", port: 6053)

    @Option(help: ArgumentHelp("How Home Assistant calls it (default: this machine's name).", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "By what Home Assistant tells it from other proxies (default: that of a network card).",
            valueName: "address"), transform: Self.address)
    var address: DeviceAddress?

    @Option(
        help: ArgumentHelp(
            "What clients must have, 32 octets in Base64, in a file that you alone may read; else all is plain text.",
            valueName: "file"), completion: .file())
    var keyFile: String?

    @Flag(help: "Ask for scan responses: names are heard, batteries of others pay.")
    var active = false

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Stop after so many seconds.", valueName: "seconds"),
        transform: OptionValue.duration)
    var durationS: Int?

    func validate() throws {
        if case .kernel = listen { throw ValidationError("--listen vhci is no place where clients come.") }
        if case .managed(let index)? = adapter {
            throw ValidationError("The kernel drops repeats on hci\(index):mgmt: use hci\(index).")
        }
    }

    func run() throws {
        guard let address = address ?? Self.networkAddress else {
            throw Failure(.unavailable, "no network card has an address to be known by: name one with --address")
        }
        let name = name ?? Files.firstLine("/proc/sys/kernel/hostname") ?? "pharos"
        let identity = ProxyIdentity(name: name, address: address, version: CommandProgram.version)
        var options = SightingSource.Options(adapter: adapter)
        let usual = ScanSettings.standard
        options.settings = try ScanSettings(isActive: active, interval: usual.interval, window: usual.window)
        options.durationMicroseconds = durationS
        options.purpose = "pharos proxy"
        let source = try SightingSource.live(options)
        let server = ProxyServer(try open(), identity, key: try key(), isActive: active) {
            Terminal.writeError("pharos: \($0)\n")
        }
        try server.start()
        let relay = ProxyRelay(server)
        try source.run(relay)
    }

    private func key() throws -> ProxyKey? {
        guard let keyFile else { return nil }
        let secret: Files.Secret
        do throws(SystemError) {
            secret = try Files.readSecret(keyFile, limit: 4096)
        } catch {
            throw BeaconServiceError(error, reading: keyFile, limit: 4096)
        }
        if let weakness = secret.weakness {
            throw Failure(.configuration, weakness.text("encryption key", at: keyFile))
        }
        guard let key = ProxyKey(base64: secret.octets) else {
            throw Failure(
                .dataFormat,
                "\(keyFile): it is not 32 octets in Base64, as `head -c 32 /dev/urandom | base64` makes them")
        }
        return key
    }

    private func open() throws -> Descriptor {
        do throws(SystemError) {
            switch listen {
            case .unix(let path):
                let socket = try StreamSocket.listen(path: path)
                Terminal.write("listening unix:\(path)\n")
                return socket
            case .tcp(let host, let port):
                let (socket, bound) = try StreamSocket.listen(host: host, port: port)
                Terminal.write("listening tcp:\(host.contains(":") ? "[\(host)]" : host):\(bound)\n")
                return socket
            case .kernel: throw SystemError("listen", "vhci", errno: SystemError.noEntry)
            }
        } catch {
            throw Failure(
                error.errno == SystemError.accessDenied ? .notPermitted : .unavailable, "--listen: \(error.text)")
        }
    }

    private static func address(_ text: String) throws -> DeviceAddress {
        guard let address = DeviceAddress(text) else { throw Mistake("it is no address such as 00:11:22:33:44:55") }
        return address
    }

    /// That of the first network card by name that has one. It stays the same for as long as the card does.
    private static var networkAddress: DeviceAddress? {
        let directory = "/sys/class/net"
        return Files.names(in: directory).lazy
            .compactMap { Files.firstLine("\(directory)/\($0)/address").flatMap { DeviceAddress($0) } }
            .first { $0.octets.octets.contains { $0 != 0 } }
    }
}

/// Hands on what is heard.
private final class ProxyRelay: SightingConsumer {
    private let server: ProxyServer

    init(_ server: ProxyServer) { self.server = server }

    func advance(to now: HeardInstant) {}

    func hear(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        server.hear(report.sighting, range.map { octets[$0] })
    }

    func change(_ state: ScanKeeper.State, at now: HeardInstant) { server.change(state) }

    func say(_ sentence: String, isWarning: Bool) { Terminal.writeError("pharos: \(sentence)\n") }

    func finish(at now: HeardInstant) { server.stop() }
}
