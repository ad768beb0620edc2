internal import Glibc
internal import Synchronization

/// The three standard streams, and whether a person sits before them.
public enum Terminal {
    /// Whether a person can type here: standard input is a terminal.
    public static var inputIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }
    /// Whether a person reads standard output.
    public static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    /// Whether a person reads standard error.
    public static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Colour only on a terminal, never with NO_COLOR set to anything (no-color.org) nor on a dumb one.
    public static var wantsColor: Bool {
        outputIsTerminal && (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
    }

    /// Columns of the terminal on standard output; 80 if there is none.
    public static var columns: Int { columns(of: STDOUT_FILENO) }

    static func columns(of stream: CInt) -> Int {
        var size = winsize()
        guard unsafe ioctl(stream, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// The value of an environment variable; `nil` if it is not set.
    public static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// Writes `text` to standard output at once, past all buffers. The first error is kept for ``finish()``.
    public static func write(_ text: String) { write(Array(text.utf8)) }

    /// The same of text in UTF-8.
    public static func write(_ octets: [UInt8]) {
        ProgressLine.giveWay(toOutput: true)
        do throws(SystemError) {
            try Descriptor.standardOutput.writeAll(octets)
        } catch {
            outputError.withLock { $0 = $0 ?? error }
        }
    }

    /// Whether something could not be written to standard output: writing more of it is of no use.
    public static var outputIsGone: Bool { outputError.withLock { $0 != nil } }

    /// Whether standard output takes something now or `milliseconds` from now at the latest. A terminal that was
    /// stopped with Ctrl-S does not, and neither does a full pipe; writing would wait without end.
    public static func takesOutput(within milliseconds: Int = 0) -> Bool {
        let ready = try? Poller.wait([.init(.standardOutput, .write)], milliseconds: max(0, milliseconds))
        return ready?.contains(true) ?? false
    }

    /// To be called when all has been written.
    ///
    /// - Throws: the first error of `write(_:)`. A reader that has seen enough and closed its pipe is none.
    public static func finish() throws(SystemError) {
        ProgressLine.end()
        guard let error = outputError.withLock({ $0 }), error.errno != EPIPE else { return }
        throw SystemError(error.call, "standard output", errno: error.errno)
    }

    private static let outputError = Mutex<SystemError?>(nil)

    /// Writes `text` to standard error at once.
    public static func writeError(_ text: String) {
        ProgressLine.giveWay(toOutput: false)
        try? Descriptor.standardError.writeAll(Array(text.utf8))
    }
}

extension Descriptor {
    /// Duplicates, so that closing ours never closes theirs.
    public static let standardInput = Descriptor(owning: dup(STDIN_FILENO))
    static let standardOutput = Descriptor(owning: dup(STDOUT_FILENO))
    static let standardError = Descriptor(owning: dup(STDERR_FILENO))
}

/// A serial line to a controller's UART: 8 data bits, no parity, one stop bit, hardware flow control, no translation.
///
/// Zephyr's hci_uart asks for RTS/CTS; lines without these wires (a pty, USB CDC) ignore the setting.
public enum SerialPort {
    /// Bit rates that Linux knows, in bit/s, with their termios codes.
    private static let speeds: [Int: speed_t] = [
        9600: speed_t(B9600), 19200: speed_t(B19200), 38400: speed_t(B38400), 57600: speed_t(B57600),
        115_200: speed_t(B115200), 230_400: speed_t(B230400), 460_800: speed_t(B460800),
        921_600: speed_t(B921600), 1_000_000: speed_t(B1000000), 2_000_000: speed_t(B2000000),
        3_000_000: speed_t(B3000000), 4_000_000: speed_t(B4000000),
    ]

    /// The bit rates that ``open(_:rate:)`` takes, in bit/s, rising: `AdapterName.serialRates`.
    public static var rates: [Int] { speeds.keys.sorted() }

    /// Opens `path` at `rate` for this program alone, and throws away what was left in its buffers.
    ///
    /// - Throws: also EBUSY, with who holds it, if another program of ours has opened it.
    public static func open(_ path: String, rate: Int) throws(SystemError) -> Descriptor {
        guard let speed = speeds[rate] else { throw SystemError("cfsetspeed", "\(path)@\(rate)", errno: EINVAL) }
        let port = try Descriptor.open(path, .device)
        do throws(SystemError) {
            try port.lock(path)
        } catch {
            guard error.errno == EAGAIN || error.errno == EACCES else { throw error }
            let holders = Privileges.processes(holding: path).filter { $0.id != getpid() }
            let names = holders.map { "\($0.name) (process \($0.id))" }.joined(separator: ", ")
            throw SystemError(
                "open", path, errno: EBUSY,
                reason: "it is in use by " + (names.isEmpty ? "another program" : names))
        }
        var settings = termios()
        _ = try retryingInterrupts("tcgetattr", path) { unsafe tcgetattr(port.number, &settings) }
        unsafe cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD | CS8) | tcflag_t(CRTSCTS)
        settings.c_cflag &= ~tcflag_t(HUPCL | CSTOPB | PARENB)
        unsafe cfsetspeed(&settings, speed)
        _ = try retryingInterrupts("tcsetattr", path) { unsafe tcsetattr(port.number, TCSANOW, &settings) }
        tcflush(port.number, TCIOFLUSH)
        return port
    }
}
