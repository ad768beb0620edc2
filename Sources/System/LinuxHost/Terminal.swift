internal import BluetoothTypes
internal import Configuration
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// Writes to the standard streams, and describes their terminals.
public enum Terminal {
    /// True if standard input is a terminal.
    public static var inputIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }
    /// True if standard input is the end of a pipe, as in `program | pharos`.
    public static var inputIsPipe: Bool { (try? Stat(FileDescriptor.standardInput))?.type == .fifo }
    /// True if standard output is a terminal.
    public static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    /// True if standard error is a terminal.
    public static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// True if text for people must be plain: ASCII without escape sequences. This is the case if TERM is `dumb`, and
    /// in a locale that is not UTF-8, such as C. If no locale is set, text is UTF-8.
    public static let isPlain = isPlain(
        term: environment("TERM"), locale: ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment))

    static func isPlain(term: String?, locale: some Sequence<String>) -> Bool {
        let locale = locale.first { !$0.isEmpty }
        return term == "dumb" || !(locale?.uppercased().contains("UTF") ?? true)
    }

    /// True if lines on standard output can be drawn again: standard output is a terminal, and text is not plain.
    public static var canRedraw: Bool { outputIsTerminal && !isPlain }

    /// True if output should have colours: standard output is a terminal, NO_COLOR is not set (no-color.org), and text
    /// is not plain.
    public static var wantsColor: Bool { canRedraw && (environment("NO_COLOR") ?? "").isEmpty }

    /// The number of columns of the terminal on standard output; 80 if it is not known.
    public static var columns: Int { columns(of: STDOUT_FILENO) }

    static func columns(of stream: CInt) -> Int { size(of: stream).columns }

    /// The size of the terminal on standard output; 80 columns and 24 rows if it is not known.
    static var size: Size { size(of: STDOUT_FILENO) }

    struct Size: Hashable {
        var columns = 80
        var rows = 24
    }

    private static func size(of stream: CInt) -> Size {
        var size = winsize()
        var result = Size()
        guard unsafe ioctl(stream, UInt(TIOCGWINSZ), &size) == 0 else { return result }
        if size.ws_col > 0 { result.columns = Int(size.ws_col) }
        if size.ws_row > 0 { result.rows = Int(size.ws_row) }
        return result
    }

    /// The number of rows of the terminal on standard output; 24 if it is not known.
    public static var rows: Int { size.rows }

    /// Returns the value of an environment variable; `nil` if it is not set.
    public static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// Writes `text` to standard output at once, without a buffer. The first error is kept for ``finish()``.
    public static func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes text in UTF-8 to standard output at once, without a buffer. The first error is kept for ``finish()``.
    public static func write(_ octets: [UInt8]) {
        ProgressLine.erase(beforeOutput: true)
        do throws(SystemError) {
            try Descriptor.standardOutput.writeAll(octets)
        } catch {
            outputError.withLock { $0 = $0 ?? error }
        }
    }

    /// Writes text for people to standard output, in ASCII without escape sequences if ``isPlain`` is true. On a
    /// terminal, lines that are wider than the terminal are broken between words.
    public static func show(_ text: String) {
        let text = isPlain ? plain(text) : text
        write(outputIsTerminal ? TerminalText.wrapped(text, to: columns) : text)
    }

    /// Returns the text in ASCII; an escape character becomes `\u001b`. Most common signs become one similar character,
    /// so that columns stay aligned; other characters become `\u` and hexadecimal digits.
    static func plain(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar == "\u{1B}" {
                result += "\\u001b"
            } else if scalar.isASCII {
                result.unicodeScalars.append(scalar)
            } else if let sign = signs[scalar] {
                result += sign
            } else {
                result += scalar.value > 0xFFFF ? "\\U" : "\\u"
                result += NumberFormat.padded(scalar.value, to: 4, radix: 16)
            }
        }
        return result
    }

    private static let signs: [Unicode.Scalar: String] = [
        "…": "~", "–": "-", "—": "-", "−": "-", "·": "-", "•": "*", "●": "*", "°": "", "µ": "u", "×": "x", "±": "+-",
        "≤": "<=", "≥": ">=", "≠": "!=", "→": "->", "Ω": "Ohm", "²": "2", "³": "3", "“": "\"", "”": "\"", "’": "'",
        "✓": "+",
        "✗": "x",
        "▁": "1", "▂": "2", "▃": "3", "▄": "4", "▅": "5", "▆": "6", "▇": "7", "█": "8",
        "░": ".", "▒": "+", "▓": "#", "◆": "*", "▸": ">", "─": "-", "━": "-", "│": "|", "┊": "|", "┤": "|", "└": "+",
        "┬": "+", "∞": "inf", "σ": "sigma", "\u{3BC}": "u", "\u{A0}": " ", "\u{202F}": " ",
    ]

    /// True if a write to standard output has failed. Further output is useless then.
    public static var outputIsGone: Bool { outputError.withLock { $0 != nil } }

    /// Returns true if standard output accepts bytes within `milliseconds`. A full pipe and a terminal that was stopped
    /// with Ctrl-S accept none, so a write to them would wait.
    public static func takesOutput(within milliseconds: Int = 0) -> Bool {
        let ready = try? Poller.wait([.init(.standardOutput, .write)], milliseconds: max(0, milliseconds))
        return ready?.contains(true) ?? false
    }

    /// Ends the output, and throws an earlier error of writing. Call this after the last write.
    ///
    /// - Throws: The first error of writing, except EPIPE: a reader may close its pipe early.
    public static func finish() throws(SystemError) {
        ProgressLine.end()
        guard let error = outputError.withLock({ $0 }), error.errno != .brokenPipe else { return }
        throw SystemError(error.call, "standard output", errno: error.errno)
    }

    private static let outputError = Mutex<SystemError?>(nil)

    /// Writes lines to standard error at once, without a buffer. Invisible and control characters other than line feeds
    /// are escaped as in `TerminalText.line`, because names and paths in the text may come from files or from received
    /// packets.
    public static func writeError(_ text: String) {
        ProgressLine.erase(beforeOutput: false)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { TerminalText.line(String($0)) }
        let escaped = lines.joined(separator: "\n")
        try? Descriptor.standardError.writeAll(Array((isPlain ? plain(escaped) : escaped).utf8))
    }

    /// Writes one line to standard error: the program's name and a sentence. Line feeds in the sentence are escaped as
    /// well, so that a name or path in it cannot start a new line.
    public static func writeMessage(_ sentence: some CustomStringConvertible) {
        writeError("pharos: \(TerminalText.line(sentence.description))\n")
    }

    /// Writes one line to standard output, escaped as in ``writeMessage(_:)``.
    public static func writeLine(_ sentence: some CustomStringConvertible) {
        show(TerminalText.line(sentence.description) + "\n")
    }

    /// Writes a question to standard error, and waits for a line from the user. The progress line does not appear in the
    /// meantime.
    ///
    /// - Returns: The line; `nil` if standard input has ended.
    public static func answer(to question: String) -> String? {
        ProgressLine.pausing {
            writeError(question)
            return readLine()
        }
    }

    /// Rings the bell of the terminal on standard error; does nothing without a terminal.
    public static func ringBell() {
        if errorIsTerminal { try? Descriptor.standardError.writeAll([0x07]) }
    }
}

extension Descriptor {
    /// A duplicate of standard input. Standard input stays open when this object is released.
    public static let standardInput = duplicate(of: STDIN_FILENO)
    static let standardOutput = duplicate(of: STDOUT_FILENO)
    static let standardError = duplicate(of: STDERR_FILENO)

    /// Returns a duplicate of a standard stream. Programs that this program starts do not inherit the duplicate.
    static func duplicate(of stream: Int32) -> Descriptor {
        Descriptor(owning: fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1))
    }
}

/// Opens a serial line to the UART of a controller: 8 data bits, no parity, one stop bit, hardware flow control, raw
/// mode.
///
/// Zephyr's hci_uart needs hardware flow control (RTS/CTS). Serial lines without these wires (a pty, USB CDC) ignore
/// the setting.
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
