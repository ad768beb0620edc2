internal import ArgumentParser
internal import CommandSupport
internal import HCITransports
internal import LinuxHost
internal import VirtualController

struct ControllerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controller",
        abstract: "Serve virtual controllers over H4 to other programs and to the kernel.",
        discussion: """
            H4 is the packet format of controllers on a serial line. Each connection gets a new controller, and all \
            controllers receive each other. Each --listen vhci gives the kernel a new hciN.
            pharos controller --listen unix:/tmp/controller.sock --like raspberry-pi
            """)

    @Option(
        help: ArgumentHelp(
            "unix:PATH, tcp:HOST:PORT (port 0 chooses a free port) or vhci. May be repeated.", valueName: "address"),
        completion: .list(["unix:", "tcp:127.0.0.1:0", "vhci"]), transform: ListenAddress.init)
    var listen: [ListenAddress]

    @Option(
        help: ArgumentHelp("Controller to imitate: \(OptionValue.modelNames) (default: intel).", valueName: "model"),
        completion: .models, transform: OptionValue.model)
    var like: VirtualControllerModel = .intel

    @Option(help: ArgumentHelp("Seed of the random delays; the same seed gives the same delays.", valueName: "number"))
    var seed: UInt64 = 0

    func validate() throws {
        if listen.isEmpty { throw ValidationError("Give --listen unix:PATH, tcp:HOST:PORT or vhci.") }
    }

    func run() throws {
        let signals = try SignalDescriptor()
        let server = VirtualControllerServer(
            VirtualAirConfiguration(model: like, air: VirtualAir.Parameters(seed: seed)))
        var files: [SocketFile] = []
        // Remove only the socket files of this server. Another server may use a path that this server could not take,
        // or may have replaced a file since. The server must exist until its files are removed: while it listens, no
        // other file can have the inode number of one of its files.
        defer { withExtendedLifetime(server) { for file in files { file.remove() } } }
        for address in listen { try open(address, server, &files) }
        try server.run(until: signals)
    }

    private func open(
        _ address: ListenAddress, _ server: VirtualControllerServer, _ files: inout [SocketFile]
    ) throws {
        do throws(SystemError) {
            switch address {
            case .unix(let path):
                server.serve(listener: try StreamSocket.listen(path: path))
                if let file = SocketFile(path) { files.append(file) }
                Terminal.writeLine("listening unix:\(path)")
            case .tcp(let host, let port):
                let (socket, boundPort) = try StreamSocket.listen(host: host, port: port)
                server.serve(listener: socket)
                Terminal.writeLine("listening tcp:\(host.contains(":") ? "[\(host)]" : host):\(boundPort)")
            case .kernel:
                try server.serveKernel()
                Terminal.write("listening vhci\n")
            }
        } catch {
            throw Failure(
                error.errno == SystemError.accessDenied ? .notPermitted : .unavailable, remedy(address, error))
        }
    }

    private func remedy(_ address: ListenAddress, _ error: SystemError) -> String {
        guard address == .kernel else { return "\(error)" }
        return "\(error): serving the kernel needs root and the module hci_vhci (`modprobe hci_vhci`)"
    }
}
