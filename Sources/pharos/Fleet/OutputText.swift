internal import LinuxHost

/// Files that a person asked for.
enum OutputText {
    /// Puts `text` in the place of the file at `path`, or writes it to standard output for `-`.
    static func write(_ text: String, to path: String) throws {
        guard path != "-" else { return Terminal.write(text) }
        try write(octets: Array(text.utf8), to: path)
    }

    /// Puts octets in the place of the file at `path`.
    static func write(octets: [UInt8], to path: String) throws {
        do throws(SystemError) {
            try Files.replace(path, with: octets)
        } catch {
            switch error.errno {
            case SystemError.noEntry, SystemError.notADirectory:
                throw Failure(.noInput, "\(path): there is no directory for this file")
            case SystemError.isDirectory: throw Failure(.usage, "\(path): this is a directory, not a file")
            case SystemError.invalid: throw Failure(.usage, "\(path): this is no regular file; it was left as it is")
            default: throw error
            }
        }
    }
}
