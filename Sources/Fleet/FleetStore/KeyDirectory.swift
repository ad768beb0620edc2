public import BluetoothTypes
public import EddystoneSecurity
public import Fleet
internal import LinuxHost

/// A directory with the identity keys of a fleet, one file a beacon, which nobody but its owner may read.
public struct KeyDirectory: Sendable {
    /// With its last slash.
    public let path: String

    /// - Parameter path: With or without its last slash; nothing is looked at yet.
    public init(_ path: String) {
        self.path = path.hasSuffix("/") ? path : path + "/"
    }

    /// Makes the directory, for its owner alone, unless it is there, and takes the right to change what is in it.
    ///
    /// - Parameter purpose: The command, for whoever finds the right taken.
    func claim(_ purpose: String) throws(FleetStoreError) -> FileLock? {
        try named(path) { () throws(SystemError) in try Files.makeDirectory(path, mode: 0o700) }
        return try FleetClaim.take(path + ".lock", of: path, purpose: purpose)
    }

    /// Whether the beacon has a key already.
    public func hasKey(of rotation: BeaconRotation) -> Bool { Files.exists(path + rotation.keyName) }

    /// `nil` where there is none.
    public func key(of rotation: BeaconRotation) throws(FleetStoreError) -> IdentityKey? {
        try SecretFile.identityKey(path + rotation.keyName)
    }

    /// Keeps a beacon's first key. One that is there is never touched.
    ///
    /// - Returns: whether there was none before.
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

    /// Puts another key in the place of a beacon's.
    public func replace(_ key: IdentityKey, of rotation: BeaconRotation) throws(FleetStoreError) {
        let file = path + rotation.keyName
        try named(file) { () throws(SystemError) in
            try Files.replaceSecret(file, with: Self.text(key.octets))
        }
    }

    /// The beacon's public key, which anybody may read; `nil` where there is none.
    public func publicKey(of rotation: BeaconRotation) throws(FleetStoreError) -> FixedOctets<32>? {
        let file = path + rotation.publicKeyName
        guard Files.exists(file) else { return nil }
        return try AgreementKey.octets(try SourceFile.read(file, limit: 1 << 16), file)
    }

    /// Keeps a beacon's public key, in the place of one that is there.
    public func setPublicKey(_ key: FixedOctets<32>, of rotation: BeaconRotation) throws(FleetStoreError) {
        let file = path + rotation.publicKeyName
        try named(file) { () throws(SystemError) in
            try Files.replace(file, with: Self.text(key), mode: 0o644, isDurable: false)
        }
    }

    /// Waits until the disk has all of it.
    public func synchronize() throws(FleetStoreError) {
        try named(path) { () throws(SystemError) in try Files.synchronize(path) }
    }

    private func named(_ place: String, _ body: () throws(SystemError) -> Void) throws(FleetStoreError) {
        do throws(SystemError) { try body() } catch { throw FleetStoreError(error, at: place) }
    }

    private static func text<let count: Int>(_ octets: FixedOctets<count>) -> [UInt8] {
        Array("\(octets)\n".utf8)
    }
}

/// The private key of whoever agrees on keys by X25519, in a file for its owner alone.
public enum AgreementKey {
    /// Reads the private key at `path`, or makes one where there is no such file.
    public static func privateKey(_ path: String) throws(FleetStoreError) -> FixedOctets<32> {
        if !Files.exists(path) {
            let key = FixedOctets<32>.random()
            do throws(SystemError) {
                try Files.createSecret(path, with: Array("\(key)\n".utf8))
                return key
            } catch {
                // Somebody else was quicker.
                guard error.errno == SystemError.alreadyThere else { throw FleetStoreError(error, at: path) }
            }
        }
        return try octets(try SecretFile.read(path), path)
    }

    static func octets(_ text: [UInt8], _ file: String) throws(FleetStoreError) -> FixedOctets<32> {
        do {
            return try FixedOctets<32>(hexadecimal: String(decoding: text, as: UTF8.self))
        } catch {
            // Not what stands there: it may be a private key.
            throw FleetStoreError(.invalid, "\(file): a key of X25519 has 32 bytes: 64 hexadecimal digits")
        }
    }
}

extension FixedOctets {
    /// Octets from the system's generator, which is good for keys.
    static func random() -> Self {
        var generator = SystemRandomNumberGenerator()
        var octets = Self()
        for index in 0..<count { octets[index] = UInt8.random(in: 0...255, using: &generator) }
        return octets
    }
}
