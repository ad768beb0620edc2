internal import EddystoneSecurity
internal import LinuxHost

/// Reads files that are named on the command line or in another file.
enum SourceFile {
    /// The contents of a regular file. Other kinds of files are refused, because reading them might not end.
    ///
    /// - Parameter limit: The maximum size in bytes. Larger files are refused before they are read.
    static func read(_ path: String, limit: Int) throws(FleetStoreError) -> [UInt8] {
        do throws(SystemError) {
            return try Files.read(path, limit: limit)
        } catch {
            throw refusal(error, path, limit)
        }
    }

    /// The contents of an argument of the command line: a file, a stream such as `<(command)` of the shell, or standard
    /// input for `-`.
    ///
    /// - Parameter limit: The maximum size in bytes.
    static func readArgument(_ path: String, limit: Int) throws(FleetStoreError) -> [UInt8] {
        do throws(SystemError) {
            return try Files.readInput(path, limit: limit)
        } catch {
            throw refusal(error, path, limit)
        }
    }

    static func refusal(_ error: SystemError, _ path: String, _ limit: Int) -> FleetStoreError {
        FleetStoreError(
            error.errno == SystemError.tooLarge ? .malformed : .missing,
            "\(Files.inputName(path)): \(error.readingReason(limit: limit))")
    }
}

/// A file with a key, which only its owner may read.
enum SecretFile {
    /// The maximum size of the file in bytes, far more than a key needs.
    static let sizeLimit = 1 << 20

    /// The contents of the file.
    static func read(_ path: String, limit: Int = sizeLimit) throws(FleetStoreError) -> [UInt8] {
        guard let octets = try readIfExisting(path, limit: limit) else {
            throw FleetStoreError(.missing, "\(path): there is no such file")
        }
        return octets
    }

    /// The identity key in the file; `nil` when the file does not exist.
    static func identityKey(_ path: String) throws(FleetStoreError) -> IdentityKey? {
        guard var octets = try readIfExisting(path, limit: sizeLimit) else { return nil }
        do {
            return try IdentityKey(wiping: &octets)
        } catch {
            throw FleetStoreError(.invalid, "\(path): \(error)")
        }
    }

    private static func readIfExisting(_ path: String, limit: Int) throws(FleetStoreError) -> [UInt8]? {
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

/// Writes files that are named on the command line, such as exports.
public enum ExportFile {
    /// The extensions of files that never contain text.
    private static let binaryFormats = ["png", "pdf", "jpg", "jpeg", "gif", "xlsx", "ods", "zip"]

    /// Replaces the file at `path` with `text`, or writes it to standard output for `-`.
    ///
    /// - Throws: ``FleetStoreError/Kind/request`` for a name with the extension of another format, such as
    ///   `labels.png`.
    public static func write(_ text: String, to path: String) throws(FleetStoreError) {
        guard path != "-" else { return Terminal.write(text) }
        try refuseBinaryFormat(path)
        try write(octets: Array(text.utf8), to: path)
    }

    /// Throws an error for a name with the extension of a format that is not text.
    static func refuseBinaryFormat(_ path: String) throws(FleetStoreError) {
        if let format = binaryFormats.first(where: { path.lowercased().hasSuffix("." + $0) }) {
            throw FleetStoreError(
                .request,
                "\(path): this command does not write \(format.uppercased()); choose a name with another extension")
        }
    }

    /// Replaces the regular file at `path`. Other kinds of files, such as directories, are not changed.
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
            FleetStoreError(.request, "\(path): this is not a regular file; it was not changed")
        case SystemError.notPermitted, SystemError.accessDenied: FleetStoreError(.notPermitted, "\(error)")
        default: FleetStoreError(.system, "\(error)")
        }
    }
}
