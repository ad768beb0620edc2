internal import Glibc
internal import Synchronization
internal import SystemPackage

/// Writes to the standard streams, and describes their terminals.
public enum Terminal {
    /// Whether standard input is a terminal.
    public static var inputIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }
    /// Whether standard output is a terminal.
    public static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    /// Whether standard error is a terminal.
    public static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether to write colours: only to a terminal, and not if NO_COLOR is set (no-color.org) or TERM is `dumb`.
    public static var wantsColor: Bool {
        outputIsTerminal && (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
    }

    /// The number of columns of the terminal on standard output; 80 if there is none.
    public static var columns: Int { columns(of: STDOUT_FILENO) }

    static func columns(of stream: CInt) -> Int {
        var size = winsize()
        guard unsafe ioctl(stream, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Returns the value of an environment variable; `nil` if it is not set.
    public static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// Writes `text` to standard output without a buffer. The first error is kept for ``finish()``.
    public static func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes text in UTF-8 to standard output without a buffer. The first error is kept for ``finish()``.
    public static func write(_ octets: [UInt8]) {
        ProgressLine.giveWay(toOutput: true)
        do throws(SystemError) {
            try Descriptor.standardOutput.writeAll(octets)
        } catch {
            outputError.withLock { $0 = $0 ?? error }
        }
    }

    /// Whether a write to standard output has failed, so that further output is useless.
    public static var outputIsGone: Bool { outputError.withLock { $0 != nil } }

    /// Returns whether standard output accepts bytes within `milliseconds`. A full pipe and a terminal that was stopped with
    /// Ctrl-S do not, so a write would wait.
    public static func takesOutput(within milliseconds: Int = 0) -> Bool {
        let ready = try? Poller.wait([.init(.standardOutput, .write)], milliseconds: max(0, milliseconds))
        return ready?.contains(true) ?? false
    }

    /// Call this after the last write.
    ///
    /// - Throws: The first error of writing, except EPIPE: a reader may close its pipe early.
    public static func finish() throws(SystemError) {
        ProgressLine.end()
        guard let error = outputError.withLock({ $0 }), error.errno != .brokenPipe else { return }
        throw SystemError(error.call, "standard output", errno: error.errno)
    }

    private static let outputError = Mutex<SystemError?>(nil)

    /// Writes `text` to standard error without a buffer.
    public static func writeError(_ text: String) {
        ProgressLine.giveWay(toOutput: false)
        try? Descriptor.standardError.writeAll(Array(text.utf8))
    }
}

extension Descriptor {
    /// A duplicate of standard input, so that the end of this object does not close standard input.
    public static let standardInput = Descriptor(owning: dup(STDIN_FILENO))
    static let standardOutput = Descriptor(owning: dup(STDOUT_FILENO))
    static let standardError = Descriptor(owning: dup(STDERR_FILENO))
}

/// Opens a serial line to the UART of a controller: 8 data bits, no parity, one stop bit, hardware flow control, raw mode.
///
/// Zephyr's hci_uart needs RTS/CTS. Lines without these wires (a pty, USB CDC) ignore the setting.
public enum SerialPort {
    /// The bit rates that Linux supports, in bit/s, with their termios codes.
    private static let speeds: [Int: speed_t] = [
        9600: speed_t(B9600), 19200: speed_t(B19200), 38400: speed_t(B38400), 57600: speed_t(B57600),
        115_200: speed_t(B115200), 230_400: speed_t(B230400), 460_800: speed_t(B460800),
        921_600: speed_t(B921600), 1_000_000: speed_t(B1000000), 2_000_000: speed_t(B2000000),
        3_000_000: speed_t(B3000000), 4_000_000: speed_t(B4000000),
    ]

    /// The bit rates for ``open(_:rate:)`` in bit/s, in ascending order.
    public static var rates: [Int] { speeds.keys.sorted() }

    /// Opens `path` at `rate` in bit/s exclusively, and discards the bytes in its buffers.
    ///
    /// - Throws: EBUSY, with the names of the other programs, if another pharos program has opened it; EINVAL for an
    ///   unsupported rate.
    public static func open(_ path: String, rate: Int) throws(SystemError) -> Descriptor {
        guard let speed = speeds[rate] else {
            throw SystemError("cfsetspeed", "\(path)@\(rate)", errno: .invalidArgument)
        }
        let port = try Descriptor.open(path, .device)
        do throws(SystemError) {
            try port.lock(path)
        } catch {
            guard error.errno == .wouldBlock || error.errno == .permissionDenied else { throw error }
            let holders = Privileges.processes(holding: path).filter { $0.id != getpid() }
            let names = holders.map { "\($0.name) (process \($0.id))" }.joined(separator: ", ")
            throw SystemError(
                "open", path, errno: .resourceBusy,
                reason: "it is in use by " + (names.isEmpty ? "another program" : names))
        }
        var settings = termios()
        try retryingInterrupts("tcgetattr", path) { unsafe tcgetattr(port.number, &settings) }
        unsafe cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD | CS8) | tcflag_t(CRTSCTS)
        settings.c_cflag &= ~tcflag_t(HUPCL | CSTOPB | PARENB)
        unsafe cfsetspeed(&settings, speed)
        try retryingInterrupts("tcsetattr", path) { unsafe tcsetattr(port.number, TCSANOW, &settings) }
        tcflush(port.number, TCIOFLUSH)
        return port
    }
}
