internal import LinuxHost

/// Files that a person asked for, such as an export.
public enum OutputFile {
    /// Puts `text` in the place of the file at `path`, or writes it to standard output for `-`.
    public static func write(_ text: String, to path: String) throws(FleetStoreError) {
        guard path != "-" else { return Terminal.write(text) }
        try write(octets: Array(text.utf8), to: path)
    }

    /// Puts octets in the place of the file at `path`. What is no regular file is left as it is.
    public static func write(octets: [UInt8], to path: String) throws(FleetStoreError) {
        do throws(SystemError) {
            try Files.replace(path, with: octets)
        } catch {
            throw refusal(error, path)
        }
    }

    private static func refusal(_ error: SystemError, _ path: String) -> FleetStoreError {
        switch error.errno {
        case SystemError.noEntry, SystemError.notADirectory:
            FleetStoreError(.missing, "\(path): there is no directory for this file")
        case SystemError.isDirectory: FleetStoreError(.request, "\(path): this is a directory, not a file")
        case SystemError.invalid:
            FleetStoreError(.request, "\(path): this is no regular file; it was left as it is")
        case SystemError.notPermitted, SystemError.accessDenied: FleetStoreError(.notPermitted, "\(error)")
        default: FleetStoreError(.system, "\(error)")
        }
    }
}
