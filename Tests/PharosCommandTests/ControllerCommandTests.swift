import Glibc
import HCI
import LinuxHost
import TestSupport
import Testing

/// `pharos controller` with other pharos processes as its hosts.
@Suite(.serialized) struct ControllerCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func advertise(_ adapter: String, _ more: String...) throws -> Program.Result {
        try Program.run(
            ["advertise", "url", "--url", "http://a.info/x", "--measured-power-dbm", "0", "--adapter", adapter] + more)
    }

    @Test func unixSocketServesBeacons() throws {
        let path = folder.place("a.sock")
        let controller = try RunningProgram(["controller", "--listen", "unix:\(path)", "--like", "zephyr"])
        try #require(controller.prints("listening unix:\(path)\n"))
        let result = try advertise("unix:\(path)", "--json", "--duration-s", "0.5")
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(
            result.output.hasPrefix(
                "{\"event\":\"on-air\",\"name\":\"url\",\"adapter\":\"unix:\(path)\",\"family\":\"extended\""))
        #expect(result.output.contains("{\"event\":\"off-air\",\"events\":"))
        controller.signal(SIGTERM)
        #expect(controller.end() == Program.Result(output: "listening unix:\(path)\n", errors: "", code: 0))
        #expect(!Files.exists(path))
    }

    @Test func listensOnAFreePortForTCPPort0() throws {
        let controller = try RunningProgram(["controller", "--listen", "tcp:127.0.0.1:0", "--like", "core-4"])
        try #require(controller.prints("\n"))
        let address = try #require(controller.output.split(separator: "\n").first?.dropFirst("listening ".count))
        #expect(address.hasPrefix("tcp:127.0.0.1:") && !address.hasSuffix(":0"))
        let result = try advertise(String(address), "--json", "--duration-s", "0.3")
        #expect(result.code == 0 && result.output.contains("\"family\":\"legacy\""))
        controller.signal(SIGINT)
        #expect(controller.end().code == 0)
        let gone = try advertise(String(address))
        #expect(gone.code == 69)
        #expect(
            gone.errors
                == "pharos: \(address): Connection refused; is the controller's program running and listening there?\n")
    }

    /// If a host does not read and its backlog is full, no more commands are accepted from it.
    @Test func boundsMemoryForAHostThatDoesNotRead() throws {
        SignalDescriptor.ignoreBrokenPipes()
        let path = folder.place("a.sock")
        let controller = try RunningProgram(["controller", "--listen", "unix:\(path)"])
        try #require(controller.prints("listening"))
        let host = try StreamSocket.connect(path: path)
        let batch = (0..<1000).flatMap { _ in HCIReset().packet.h4 }
        try host.writeAll(batch)
        usleep(200_000)
        let before = try #require(controller.residentKilobytes)
        // Write until the controller accepts no more. The answer to each of these commands has seven octets.
        while (try? host.writeAll(batch, timeoutMilliseconds: 4000)) != nil {}
        #expect(try #require(controller.residentKilobytes) < before + 4096)
        // When the host reads again, it receives the waiting answers.
        var framer = H4Framer()
        var answers = 0
        while try Poller.wait([.init(host, .read)], milliseconds: 1000) == [true] {
            framer.push(try host.read(upTo: 65_536))
            while try framer.next() != nil { answers += 1 }
        }
        #expect(answers > 150_000)
        #expect(framer.pending == 0)
    }

    @Test func adaptersCommandQueriesTheController() throws {
        let path = folder.place("a.sock")
        let controller = try RunningProgram(["controller", "--listen", "unix:\(path)", "--like", "zephyr"])
        try #require(controller.prints("listening"))
        let table = try Program.run("adapters", "--adapter", "unix:\(path)")
        #expect(table.code == 0 && table.errors.isEmpty)
        let rows = table.output.split(separator: "\n").map { $0.split(separator: "  ").map { $0.drop { $0 == " " } } }
        try #require(rows.count == 2)
        #expect(
            rows[0] == [
                "adapter", "address", "state", "Core", "manufacturer", "advertising", "sets", "interval min",
                "radio power", "listens", "used by",
            ])
        #expect(
            rows[1] == [
                "unix:\(path)"[...], "00:00:5E:00:53:01", "ready", "Core 5.4", "The Linux Foundation (0x05F1)",
                "extended",
                "4", "20 ms", "-40...8 dBm, extended advertising", "yes", "-",
            ])
        let json = try Program.run("adapters", "-a", "unix:\(path)", "--json")
        #expect(
            json.output == "{\"adapters\":[{\"adapter\":\"unix:\(path)\",\"address\":\"00:00:5E:00:53:02\",\"up\":null,"
                + "\"hciVersion\":13,\"manufacturer\":1521,\"extendedAdvertising\":true,\"advertisingSets\":4,"
                + "\"minimumIntervalMs\":20,\"powerControl\":\"extended advertising\",\"radioPowerRangeDbm\":[-40,8],"
                + "\"canListen\":true,\"canListenWhileSending\":true,\"extendedScanning\":true,\"listener\":null,"
                + "\"receiveErrors\":null,\"usedBy\":[],\"note\":null}]}\n")
    }

    @Test func advertiseReportsALostController() throws {
        let path = folder.place("a.sock")
        let controller = try RunningProgram(["controller", "--listen", "unix:\(path)"])
        try #require(controller.prints("listening"))
        let beacon = try RunningProgram([
            "advertise", "tlm", "--adapter", "unix:\(path)", "--json",
        ])
        try #require(beacon.prints("on-air"))
        controller.signal(SIGKILL)
        _ = controller.end()
        let result = beacon.end()
        #expect(result.code == 69)
        #expect(result.errors.hasPrefix("pharos: the controller is gone: unix:\(path): "))
        // The socket file of the dead process does not hinder the next one.
        let next = try RunningProgram(["controller", "--listen", "unix:\(path)"])
        #expect(next.prints("listening unix:\(path)\n"))
    }

    @Test(arguments: [
        "tcp", "tcp:", "tcp::", "tcp:5000", "tcp:+1", "tcp:-0", "tcp::5000", "tcp:[]:5000", "tcp:[:5000",
        "tcp:localhost", "tcp:localhost:", "tcp:localhost:+1", "tcp:localhost:-0", "tcp:localhost:65536",
        "tcp:localhost:1 ", "tcp:localhost:0x10", "tcp:localhost:\u{661}", "tcp:\u{301}a:1", "unix:", "unix", ":", "",
    ])
    func refusesMalformedAddresses(_ address: String) throws {
        let result = try Program.run("controller", "--listen", address)
        #expect(result.code == 64 && result.output.isEmpty)
        #expect(result.errors.contains("use unix:PATH, tcp:HOST:PORT or vhci"))
    }

    @Test func addressInUseIsRefusedAndLeftAlone() throws {
        let first = folder.place("first.sock")
        let path = folder.place("a.sock")
        let controller = try RunningProgram(["controller", "--listen", "unix:\(path)"])
        try #require(controller.prints("listening"))
        let second = try Program.run("controller", "--listen", "unix:\(first)", "--listen", "unix:\(path)")
        #expect(
            second
                == Program.Result(
                    output: "listening unix:\(first)\n", errors: "pharos: \(path): bind: Address already in use\n",
                    code: 69))
        #expect(!Files.exists(first) && Files.exists(path))
        #expect(try advertise("unix:\(path)", "--quiet", "--duration-s", "0.1").code == 0)
    }

    @Test func socketFileOfAnotherServerIsLeftAlone() throws {
        let path = folder.place("a.sock")
        let controller = try RunningProgram(["controller", "--listen", "unix:\(path)"])
        try #require(controller.prints("listening"))
        StreamSocket.removeSocketFile(path)
        let listener = try StreamSocket.listen(path: path)
        controller.signal(SIGTERM)
        #expect(controller.end().code == 0)
        #expect(Files.exists(path))
        withExtendedLifetime(listener) {}
    }

    @Test func advertiseTimesOutOnASilentController() throws {
        let path = folder.place("silent.sock")
        let listener = try StreamSocket.listen(path: path)
        let begin = MonotonicClock.nanoseconds()
        let result = try advertise("unix:\(path)")
        #expect(
            result
                == Program.Result(
                    output: "", errors: "pharos: Reset (0x0C03) was not answered within 2 s\n", code: 75))
        #expect(MonotonicClock.nanoseconds() - begin < 20_000_000_000)
        withExtendedLifetime(listener) {}
    }

    @Test func refusesAPeerThatDoesNotSendHCI() throws {
        let path = folder.place("http.sock")
        let listener = try StreamSocket.listen(path: path)
        try BackgroundThread.start {
            guard (try? Poller.wait([.init(listener, .read)], milliseconds: 10_000)) == [true],
                let stream = try? StreamSocket.accept(listener)
            else { return }
            try? stream.writeAll(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
            _ = try? Poller.wait([.init(stream, .read)], milliseconds: 1000)
            usleep(500_000)
        }
        let result = try advertise("unix:\(path)")
        #expect(result.code == 76)
        #expect(result.errors.hasPrefix("pharos: the received bytes are not an HCI packet: unix:\(path): "))
    }

    /// A host that sends commands and does not read must not fill the controller's memory. The controller stops
    /// accepting its commands, and loses no answer.
    @Test func servesOtherHostsWhileOneDoesNotRead() throws {
        let path = folder.place("a.sock")
        let controller = try RunningProgram(["controller", "--listen", "unix:\(path)", "--like", "intel"])
        try #require(controller.prints("listening"))
        let other = try StreamSocket.connect(path: path)
        let deaf = try StreamSocket.connect(path: path)
        let command = ReadLocalSupportedCommands().packet.h4
        let batch = (0..<1000).flatMap { _ in command }
        #expect(try answers(other))
        let before = try #require(controller.residentKilobytes)
        // The answers to all commands would have 14 MB. The host stops when the stream accepts nothing for a second.
        var asked = 0
        while asked < 200_000 * command.count {
            let rest = batch[(asked % command.count)...]
            if let count = try? deaf.write(Array(rest)) {
                asked += count
            } else if try Poller.wait([.init(deaf, .write)], milliseconds: 1000) != [true] {
                break
            }
        }
        #expect(asked < 200_000 * command.count)
        #expect(try answers(other))
        let after = try #require(controller.residentKilobytes)
        #expect(after - before < 8000)
        // When the host reads, it receives the answer to each of its commands.
        let expected = asked / command.count * 71
        var octets = 0
        while octets < expected, try Poller.wait([.init(deaf, .read)], milliseconds: 5000) == [true] {
            let part = try deaf.read(upTo: 65_536)
            if part.isEmpty { break }
            octets += part.count
        }
        #expect(octets == expected)
        try deaf.writeAll(Array(command[(asked % command.count)...]))
        #expect(try Poller.wait([.init(deaf, .read)], milliseconds: 5000) == [true])
    }

    /// Returns true if a Reset is answered. Then earlier commands on other streams have been processed too.
    private func answers(_ stream: Descriptor) throws -> Bool {
        try stream.writeAll(HCIReset().packet.h4)
        guard try Poller.wait([.init(stream, .read)], milliseconds: 30_000) == [true] else { return false }
        return try stream.read(upTo: 100) == [4, 0x0E, 4, 1, 0x03, 0x0C, 0]
    }
}
