internal import BluetoothTypes
internal import EddystoneSecurity
internal import Fleet
internal import LinuxHost

/// A directory with the identity keys of a fleet, one file a beacon, which nobody but its owner may read.
struct KeyDirectory {
    /// With its last slash.
    let path: String

    init(_ path: String) {
        self.path = path.hasSuffix("/") ? path : path + "/"
    }

    /// Makes the directory, for its owner alone, unless it is there.
    func make() throws { try Files.makeDirectory(path, mode: 0o700) }

    /// Whether the beacon has a key already.
    func hasKey(of rotation: BeaconRotation) -> Bool { Files.exists(path + rotation.keyName) }

    /// `nil` where there is none.
    func key(of rotation: BeaconRotation) throws -> IdentityKey? {
        try KeyFile.readIfThere(path + rotation.keyName)
    }

    /// Keeps a beacon's first key. One that is there is never touched.
    ///
    /// - Returns: whether there was none before.
    func add(_ key: IdentityKey, of rotation: BeaconRotation) throws -> Bool {
        do throws(SystemError) {
            try Files.create(path + rotation.keyName, with: Self.text(key.octets))
            return true
        } catch {
            guard error.errno == SystemError.alreadyThere else { throw error }
            return false
        }
    }

    /// Puts another key in the place of a beacon's.
    func replace(_ key: IdentityKey, of rotation: BeaconRotation) throws {
        try Files.replace(path + rotation.keyName, with: Self.text(key.octets), mode: 0o600)
    }

    /// The beacon's public key, which anybody may read; `nil` where there is none.
    func publicKey(of rotation: BeaconRotation) throws -> FixedOctets<32>? {
        let file = path + rotation.publicKeyName
        guard Files.exists(file) else { return nil }
        return try KeyText.octets(try InputFile.read(file, limit: 1 << 16), file)
    }

    func setPublicKey(_ key: FixedOctets<32>, of rotation: BeaconRotation) throws {
        try Files.replace(path + rotation.publicKeyName, with: Self.text(key), mode: 0o644, isDurable: false)
    }

    /// Waits until the disk has all of it.
    func synchronize() throws { try Files.synchronize(path) }

    private static func text<let count: Int>(_ octets: FixedOctets<count>) -> [UInt8] {
        Array("\(octets)\n".utf8)
    }
}

/// Keys of X25519 as hexadecimal text.
enum KeyText {
    static func octets(_ text: [UInt8], _ file: String) throws -> FixedOctets<32> {
        do {
            return try FixedOctets<32>(hexadecimal: String(decoding: text, as: UTF8.self))
        } catch {
            // Not what stands there: it may be a private key.
            throw Failure(.configuration, "\(file): a key of X25519 has 32 octets: 64 hexadecimal digits")
        }
    }

    /// An option's value.
    static func publicKey(_ text: String) throws -> FixedOctets<32> {
        do {
            return try FixedOctets<32>(hexadecimal: text)
        } catch {
            throw Mistake("a public key has 64 hexadecimal digits: \(error)")
        }
    }
}
