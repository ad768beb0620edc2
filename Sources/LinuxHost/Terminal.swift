internal import Glibc

/// The three standard streams, and whether a person sits before them.
public enum Terminal {
    public static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    public static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Colour only on a terminal, never with NO_COLOR set to anything (no-color.org) nor on a dumb one.
    public static var wantsColor: Bool {
        outputIsTerminal && (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
    }

    /// Columns of the terminal on standard output; 80 where there is none.
    public static var columns: Int {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    public static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// Writes `text` to standard output at once, past all buffers.
    public static func write(_ text: String) {
        try? Descriptor.standardOutput.writeAll(Array(text.utf8))
    }

    /// Writes `text` to standard error at once.
    public static func writeError(_ text: String) {
        try? Descriptor.standardError.writeAll(Array(text.utf8))
    }
}

extension Descriptor {
    /// Duplicates, so that closing ours never closes theirs.
    static let standardOutput = Descriptor(owning: dup(STDOUT_FILENO))
    static let standardError = Descriptor(owning: dup(STDERR_FILENO))
}
