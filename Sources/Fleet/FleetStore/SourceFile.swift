internal import EddystoneSecurity
internal import LinuxHost

/// Reading of files that a person or another file has named.
enum SourceFile {
    /// The contents of a file that was found beside another, or that another names: a regular one, because whatever else
    /// lies in its place might never end.
    ///
    /// - Parameter limit: In octets; larger files are refused before they are read.
    static func read(_ path: String, limit: Int) throws(FleetStoreError) -> [UInt8] {
        do throws(SystemError) {
            return try Files.read(path, limit: limit)
        } catch {
            throw refusal(error, path, limit)
        }
    }

    /// The contents of what a person has named: a file, a stream such as the shell's `<(command)`, or standard input for
    /// `-`.
    ///
    /// - Parameter limit: In octets.
    static func readNamed(_ path: String, limit: Int) throws(FleetStoreError) -> [UInt8] {
        do throws(SystemError) {
            return try Files.readInput(path, limit: limit)
        } catch {
            throw refusal(error, path, limit)
        }
    }

    static func refusal(_ error: SystemError, _ path: String, _ limit: Int) -> FleetStoreError {
        let name = path == "-" ? "standard input" : path
        return FleetStoreError(
            error.errno == SystemError.tooLarge ? .malformed : .missing, "\(name): \(reason(error, limit))")
    }

    /// Why a file cannot be read, as the end of a sentence.
    static func reason(_ error: SystemError, _ limit: Int) -> String {
        switch error.errno {
        case SystemError.noEntry, SystemError.notADirectory: "there is no such file"
        case SystemError.isDirectory: "this is a directory, not a file"
        case SystemError.accessDenied: "this user may not read it"
        case SystemError.tooLarge: "it is larger than \(limit >> 20) MiB"
        default: error.reason ?? "\(error.call): \(error.text)"
        }
    }

    /// The directory of a path with its last slash; empty for the directory where we are.
    static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }
}

/// A file with a key in it, which nobody but its owner may read.
enum SecretFile {
    /// Far more than any key needs.
    static let sizeLimit = 1 << 20

    /// What stands in it.
    static func read(_ path: String, limit: Int = sizeLimit) throws(FleetStoreError) -> [UInt8] {
        guard let octets = try readIfThere(path, limit: limit) else {
            throw FleetStoreError(.missing, "\(path): there is no such file")
        }
        return octets
    }

    /// The identity key in it; `nil` where there is no such file.
    static func identityKey(_ path: String) throws(FleetStoreError) -> IdentityKey? {
        guard var octets = try readIfThere(path, limit: sizeLimit) else { return nil }
        do {
            return try IdentityKey(wiping: &octets)
        } catch {
            throw FleetStoreError(.invalid, "\(path): \(error)")
        }
    }

    private static func readIfThere(_ path: String, limit: Int) throws(FleetStoreError) -> [UInt8]? {
        let secret: Files.Secret
        do throws(SystemError) {
            secret = try Files.readSecret(path, limit: limit)
        } catch {
            if error.errno == SystemError.noEntry { return nil }
            throw SourceFile.refusal(error, path, limit)
        }
        if let weakness = secret.weakness {
            throw FleetStoreError(.invalid, weakness.text("identity key", at: path))
        }
        return secret.octets
    }
}

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
