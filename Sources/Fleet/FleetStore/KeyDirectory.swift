public import BluetoothTypes
public import EddystoneSecurity
public import Fleet
internal import LinuxHost

/// A directory with the identity keys of a fleet: a file of mode 0600 for each beacon.
public struct KeyDirectory: Sendable {
    /// The path with a slash at the end.
    public let path: String

    /// - Parameter path: The path of the directory, with or without a slash at the end. The directory is not read yet.
    public init(_ path: String) {
        self.path = path.hasSuffix("/") ? path : path + "/"
    }

    /// Creates the directory with mode 0700 if it does not exist, and takes the right to change its files.
    ///
    /// - Parameter purpose: The command, for the messages of other processes.
    func lock(_ purpose: String) throws(FleetStoreError) -> FileLock? {
        try Self.rethrowing(at: path) { () throws(SystemError) in try Files.makeDirectory(path, mode: 0o700) }
        return try FleetFileLock.acquire(path + ".lock", of: path, purpose: purpose)
    }

    /// Returns whether the beacon has a key.
    public func hasKey(of rotation: BeaconRotation) -> Bool { Files.exists(path + rotation.keyName) }

    /// The key of a beacon; `nil` when there is none.
    public func key(of rotation: BeaconRotation) throws(FleetStoreError) -> IdentityKey? {
        try SecretFile.identityKey(path + rotation.keyName)
    }

    /// Stores the first key of a beacon. A key that exists is not changed.
    ///
    /// - Returns: `true` if the key was stored, `false` if the beacon already has a key.
    public func add(_ key: IdentityKey, of rotation: BeaconRotation) throws(FleetStoreError) -> Bool {
        let file = path + rotation.keyName
        do throws(SystemError) {
            try Files.createSecret(file, with: Self.text(key.octets))
            return true
        } catch {
            guard error.errno == SystemError.alreadyThere else { throw FleetStoreError(error, at: file) }
            return false
        }
    }

    /// Replaces the key of a beacon.
    public func replace(_ key: IdentityKey, of rotation: BeaconRotation) throws(FleetStoreError) {
        let file = path + rotation.keyName
        try Self.rethrowing(at: file) { () throws(SystemError) in
            try Files.replaceSecret(file, with: Self.text(key.octets))
        }
    }

    /// The public key of a beacon; `nil` when there is none.
    public func publicKey(of rotation: BeaconRotation) throws(FleetStoreError) -> FixedOctets<32>? {
        let file = path + rotation.publicKeyName
        guard Files.exists(file) else { return nil }
        return try AgreementKey.octets(try SourceFile.read(file, limit: 1 << 16), file)
    }

    /// Stores the public key of a beacon. An existing public key is replaced.
    public func setPublicKey(_ key: FixedOctets<32>, of rotation: BeaconRotation) throws(FleetStoreError) {
        let file = path + rotation.publicKeyName
        try Self.rethrowing(at: file) { () throws(SystemError) in
            try Files.replace(file, with: Self.text(key), mode: 0o644, isDurable: false)
        }
    }

    /// Waits until all keys are on the disk.
    public func synchronize() throws(FleetStoreError) {
        try Self.rethrowing(at: path) { () throws(SystemError) in try Files.synchronize(path) }
    }

    /// Calls `body`, and throws its error as a ``FleetStoreError`` of the file or directory at `path`.
    private static func rethrowing(
        at path: String, _ body: () throws(SystemError) -> Void
    ) throws(FleetStoreError) {
        do throws(SystemError) { try body() } catch { throw FleetStoreError(error, at: path) }
    }

    private static func text<let count: Int>(_ octets: FixedOctets<count>) -> [UInt8] {
        Array("\(octets)\n".utf8)
    }
}

/// The private key of the resolver for X25519, in a file of mode 0600.
public enum AgreementKey {
    /// Reads the private key at `path`, or creates the file if it does not exist.
    public static func privateKey(_ path: String) throws(FleetStoreError) -> FixedOctets<32> {
        if !Files.exists(path) {
            let key = FixedOctets<32>.random()
            do throws(SystemError) {
                try Files.createSecret(path, with: Array("\(key)\n".utf8))
                return key
            } catch {
                // Another process has just created the file.
                guard error.errno == SystemError.alreadyThere else { throw FleetStoreError(error, at: path) }
            }
        }
        return try octets(try SecretFile.read(path), path)
    }

    static func octets(_ text: [UInt8], _ file: String) throws(FleetStoreError) -> FixedOctets<32> {
        do {
            return try FixedOctets<32>(hexadecimal: String(decoding: text, as: UTF8.self))
        } catch {
            // The message does not quote the text, because it may be a private key.
            throw FleetStoreError(.invalid, "\(file): a key of X25519 has 32 bytes: 64 hexadecimal digits")
        }
    }
}

extension FixedOctets {
    /// Random bytes from the system's generator, for keys.
    static func random() -> Self {
        var generator = SystemRandomNumberGenerator()
        var octets = Self()
        for index in 0..<count { octets[index] = UInt8.random(in: 0...255, using: &generator) }
        return octets
    }
}
