import BluetoothTypes
import Glibc
import LinuxHost
import Testing

/// Pseudo-terminals, which have the same line discipline as a UART.
@Suite struct SerialPortTests {
    private struct Pseudoterminal {
        let board: Descriptor
        let path: String
        /// Keeps the terminal open, so that it exists while the test has closed it.
        private let line: Descriptor

        init() throws {
            var board: Int32 = -1
            var line: Int32 = -1
            guard unsafe openpty(&board, &line, nil, nil, nil) == 0 else { throw SystemError("openpty", errno: errno) }
            self.board = Descriptor(owning: board)
            self.line = Descriptor(owning: line)
            try self.board.setNonblocking()
            var name = [CChar](repeating: 0, count: 128)
            let count = unsafe readlink("/proc/self/fd/\(line)", &name, name.count)
            path = String(decoding: name.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    @Test func everyOctetPassesUntouchedBothWays() throws {
        let terminal = try Pseudoterminal()
        let port = try SerialPort.open(terminal.path, rate: 115_200)
        let octets = (0...255).map { UInt8($0) }
        try port.writeAll(octets)
        #expect(try read(256, from: terminal.board) == octets)
        try terminal.board.writeAll(octets)
        #expect(try read(256, from: port) == octets)
        // There is no echo: written bytes do not return.
        #expect(try Poller.wait([.init(terminal.board, .read)], milliseconds: 20) == [false])
    }

    @Test(arguments: [9600, 115_200, 1_000_000, 4_000_000])
    func rateIsSet(_ rate: Int) throws {
        let terminal = try Pseudoterminal()
        let port = try SerialPort.open(terminal.path, rate: rate)
        var settings = termios()
        #expect(unsafe tcgetattr(port.number, &settings) == 0)
        let codes = [
            9600: speed_t(B9600), 115_200: speed_t(B115200), 1_000_000: speed_t(B1000000),
            4_000_000: speed_t(B4000000),
        ]
        #expect(unsafe cfgetospeed(&settings) == codes[rate] && cfgetispeed(&settings) == codes[rate])
        #expect(settings.c_cflag & tcflag_t(CSIZE) == tcflag_t(CS8))
        #expect(settings.c_cflag & tcflag_t(PARENB | CSTOPB | HUPCL) == 0)
        #expect(settings.c_cflag & tcflag_t(CLOCAL | CREAD) == tcflag_t(CLOCAL | CREAD))
    }

    @Test func discardsBytesReceivedBeforeOpening() throws {
        let terminal = try Pseudoterminal()
        do {
            _ = try SerialPort.open(terminal.path, rate: 115_200)
            let earlier = try Descriptor.open(terminal.path, .device)
            try terminal.board.writeAll([1, 2, 3])
            #expect(try Poller.wait([.init(earlier, .read)], milliseconds: 1000) == [true])
            let port = try SerialPort.open(terminal.path, rate: 115_200)
            #expect(try Poller.wait([.init(port, .read)], milliseconds: 20) == [false])
        }
    }

    @Test func refusesALineThatIsInUse() throws {
        let terminal = try Pseudoterminal()
        do {
            let port = try SerialPort.open(terminal.path, rate: 115_200)
            #expect(errorNumber { _ = try SerialPort.open(terminal.path, rate: 115_200) } == EBUSY)
            withExtendedLifetime(port) {}
        }
        #expect(throws: Never.self) { try SerialPort.open(terminal.path, rate: 115_200) }
        // Processes that have the file open are found.
        let holders = Privileges.processes(holding: terminal.path)
        #expect(holders.contains { $0.id == getpid() })
    }

    @Test func refusesNonSerialFilesAndUnsupportedRates() throws {
        #expect(errorNumber { _ = try SerialPort.open("/dev/null", rate: 115_200) } == ENOTTY)
        #expect(errorNumber { _ = try SerialPort.open("/dev/missing", rate: 115_200) } == ENOENT)
        let terminal = try Pseudoterminal()
        #expect(errorNumber { _ = try SerialPort.open(terminal.path, rate: 115_201) } == EINVAL)
        #expect(SerialPort.rates == AdapterName.serialRates)
    }
}
