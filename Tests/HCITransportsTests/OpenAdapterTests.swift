import BluetoothTypes
import Glibc
import HCI
import HCITransports
import LinuxHost
import Testing
import VirtualController

@Suite struct OpenAdapterTests {
    private func refusal(_ text: String) throws -> TransportError? {
        let name = try AdapterName(text)
        do throws(TransportError) {
            _ = try OpenAdapter(name)
            return nil
        } catch {
            return error
        }
    }

    @Test func virtualAdapterAnswers() throws {
        let adapter = try OpenAdapter(.virtual)
        #expect(adapter.isExclusive && adapter.name == .virtual)
        let host = HCIHost(channel: adapter.channel)
        try host.execute(HCIReset())
        #expect(try host.execute(ReadLocalVersionInformation()).company == .broadcom)
        try adapter.close()
        try adapter.close()
    }

    @Test func virtualAdapterUsesTheGivenAir() throws {
        let air = try VirtualAirServer(VirtualAirConfiguration(model: .zephyr))
        let adapter = try OpenAdapter(.virtual, air: air)
        let host = HCIHost(channel: adapter.channel)
        #expect(try host.execute(ReadLocalVersionInformation()).company == .linuxFoundation)
    }

    @Test func controllersAreReachedOverTCPAndUnixSockets() throws {
        let (tcp, port) = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        let path = "/tmp/pharos-open-\(getpid()).sock"
        let unix = try StreamSocket.listen(path: path)
        defer { StreamSocket.removeSocketFile(path) }
        try BackgroundThread.start {
            let server = VirtualControllerServer(VirtualAirConfiguration(model: .core4))
            server.serve(listener: tcp)
            server.serve(listener: unix)
            try? server.run()
        }
        for name in [AdapterName.tcp(host: "127.0.0.1", port: port), .unix(path: path)] {
            let adapter = try OpenAdapter(name)
            #expect(adapter.isExclusive)
            let host = HCIHost(channel: adapter.channel)
            #expect(try host.execute(ReadLocalVersionInformation()).version == .core42)
        }
    }

    @Test func unreachableAdaptersAreReported() throws {
        let port: UInt16
        do { (_, port) = try StreamSocket.listen(host: "127.0.0.1", port: 0) }
        let missing = "/tmp/pharos-missing-\(getpid())"
        let table = [
            (
                "tcp:127.0.0.1:\(port)", "Connection refused; is the controller's program running and listening there?"
            ),
            ("unix:\(missing)", "there is no such socket; is the controller's program running?"),
            (
                "unix:/dev/null", "Connection refused; is the controller's program running and listening there?"
            ),
            (
                "serial:\(missing)@115200",
                "there is no such serial line; is the board plugged in? "
                    + "`ls /dev/ttyACM* /dev/ttyUSB*` lists the serial lines"
            ),
            ("serial:/dev/null@115200", "this is not a serial line"),
        ]
        for (text, sentence) in table {
            let error = try #require(try refusal(text))
            #expect(error.description == "\(text): \(sentence)")
            #expect(error.reason == .unreachable && error.adapter == text)
        }
    }

    /// This is true with and without Bluetooth in the kernel, because no machine has four thousand adapters.
    @Test(arguments: ["hci4000", "hci4000:user"])
    func absentAdapterIsReportedAsMissing(_ text: String) throws {
        let error = try #require(try refusal(text))
        #expect(error.reason == .missing)
        #expect(error.adapter == "hci4000")
        #expect(
            error.description
                == (BlueZAdapter.kernelHasBluetooth
                    ? "hci4000: there is no such adapter; `pharos adapters` lists the adapters of this machine"
                    : "hci4000: this kernel has no Bluetooth, or this is a container without the host's network; "
                        + "`--adapter virtual` works without one"))
    }

    @Test func listOfAdaptersNeedsNoBluetooth() {
        let adapters = BlueZAdapter.all()
        #expect(BlueZAdapter.kernelHasBluetooth || adapters.isEmpty)
        #expect(adapters.map(\.index) == adapters.map(\.index).sorted())
    }
}
