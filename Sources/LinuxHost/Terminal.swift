internal import Glibc
internal import Synchronization

/// The three standard streams, and whether a person sits before them.
public enum Terminal {
    public static var inputIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }
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

    /// Writes `text` to standard output at once, past all buffers. The first error is kept for ``finish()``.
    public static func write(_ text: String) {
        do throws(SystemError) {
            try Descriptor.standardOutput.writeAll(Array(text.utf8))
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
    /// - Throws: the first error of ``write(_:)``. A reader that has seen enough and closed its pipe is none.
    public static func finish() throws(SystemError) {
        guard let error = outputError.withLock({ $0 }), error.errno != EPIPE else { return }
        throw SystemError(error.call, "standard output", errno: error.errno)
    }

    private static let outputError = Mutex<SystemError?>(nil)

    /// Writes `text` to standard error at once.
    public static func writeError(_ text: String) {
        try? Descriptor.standardError.writeAll(Array(text.utf8))
    }
}

extension Descriptor {
    /// Duplicates, so that closing ours never closes theirs.
    public static let standardInput = Descriptor(owning: dup(STDIN_FILENO))
    static let standardOutput = Descriptor(owning: dup(STDOUT_FILENO))
    static let standardError = Descriptor(owning: dup(STDERR_FILENO))
}
