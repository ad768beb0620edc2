internal import Glibc

/// Reads keys from the terminal on standard input, without the Enter key.
///
/// Keys such as Ctrl-C still send their signals. ``end()`` restores the settings of the terminal.
public final class TerminalKeys {
    /// The settings of the terminal before the first change.
    private var originalSettings: termios
    private var isOver = false

    /// Starts to read single keys; `nil` if standard input is not a terminal, or if this program runs in the
    /// background.
    public init?() {
        originalSettings = termios()
        guard tcgetpgrp(STDIN_FILENO) == getpgrp(), unsafe tcgetattr(STDIN_FILENO, &originalSettings) == 0 else {
            return nil
        }
        var settings = originalSettings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0 else { return nil }
    }

    deinit { end() }

    /// Returns the keys that were pressed since the last call, as bytes; empty if there were none.
    public func next() -> [UInt8] {
        guard !isOver, let ready = try? Poller.wait([.init(.standardInput, .read)], milliseconds: 0),
            ready.contains(true)
        else { return [] }
        return (try? Descriptor.standardInput.read(upTo: 64)) ?? []
    }

    /// Restores the settings of the terminal.
    public func end() {
        guard !isOver else { return }
        isOver = true
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &originalSettings)
    }
}
