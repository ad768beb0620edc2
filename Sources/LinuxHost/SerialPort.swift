internal import Glibc

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

    /// The bit rates that ``open(_:rate:)`` takes, in bit/s, rising.
    public static var rates: [Int] { speeds.keys.sorted() }

    /// Opens `path` at `rate` and throws away what was left in its buffers.
    public static func open(_ path: String, rate: Int) throws(SystemError) -> Descriptor {
        guard let speed = speeds[rate] else { throw SystemError("cfsetspeed", "\(path)@\(rate)", errno: EINVAL) }
        let port = try Descriptor.open(path, .device)
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
