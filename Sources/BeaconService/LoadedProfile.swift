public import BeaconFrames
public import BluetoothTypes
internal import Configuration
public import EddystoneSecurity
public import HCITransports
internal import LinuxHost
internal import Profiles

/// A profile from a file, as it is put on the air: refused when it has any fault.
public struct LoadedProfile {
    public let name: String
    /// `nil` where the profile leaves the choice to the machine.
    public let adapter: AdapterName?
    /// In the order of the profile, with the machine's own addresses.
    public let advertisements: [Advertisement]
    /// Tells one version of the file from another.
    public let hash: String
    /// What the file does not forbid and its author should know, one sentence each, with the file and the place in it.
    public let warnings: [String]
    private let profile: BeaconProfile
    private let path: String

    /// - Parameters:
    ///   - path: A file, a stream, or `-` for standard input.
    ///   - isReadAgain: A service reads its profile whenever it is told to: it has to be a regular file, so that nothing
    ///     in its place can hold the service up. What the service leaves is named after the profile, so a file of
    ///     another name gets a warning.
    /// - Throws: `refused` with everything that is wrong.
    public init(path: String, isReadAgain: Bool = false) throws(BeaconServiceError) {
        self.path = path
        let octets = try ProfileReport.read(path, isReadAgain: isReadAgain)
        hash = Fingerprint.text(of: octets)
        let report = ProfileReport(octets, file: path, checksName: isReadAgain)
        guard let profile = report.profile else { throw report.refusal }
        warnings = report.problems.map { $0.text(file: path) }
        self.profile = profile
        name = profile.name
        do {
            adapter = try profile.adapter.map { text throws(AdapterNameError) in try AdapterName(text) }
        } catch {
            throw .refused(.invalid, "\(path): adapter: \(error)")
        }
        do {
            advertisements = try profile.advertisements { StaticAddress.make(name: $0) }
        } catch {
            throw .refused(.invalid, "\(path): scanResponse: \(error)")
        }
    }

    /// The interval of an advertisement as the profile has it.
    ///
    /// - Parameter index: Its position in ``advertisements``.
    public func interval(of index: Int) -> RequestedInterval {
        let asked = profile.advertisements[index]
        return RequestedInterval(asked.interval, microseconds: asked.requestedMicroseconds)
    }

    /// What a receiver sees at 1 m of an advertisement, in dBm, by the profile's calibration at the radio power that it
    /// asks for; `nil` where the calibration does not say.
    ///
    /// - Parameter index: Its position in ``advertisements``.
    public func calibrationAtOneMeter(of index: Int) -> Int? {
        guard let calibration = profile.calibration else { return nil }
        let power = profile.advertisements[index].radioPower ?? profile.radioPower
        return (try? calibration.measuredPower(for: power)).map { Int($0.dBm) }
    }

    /// The key of a rotating advertisement, out of its file; `nil` for advertisements without a key.
    ///
    /// - Throws: see ``KeyFile/read(_:_:)``.
    public func identityKey(for advertisement: Advertisement) throws(BeaconServiceError) -> IdentityKey? {
        guard let file = advertisement.content.rotatingKey?.identityKeyFile else { return nil }
        return try KeyFile.read(file.hasPrefix("/") ? file : directory + file)
    }

    /// When the clock of ephemeral identifiers was 65280, in seconds since 1970; `nil` where nobody knows.
    public var eidEpochUnixSeconds: Int? { profile.eidEpoch?.secondsSince1970 }

    /// The beacon's own clock now, in seconds: it stood at 65280 when `eidEpoch` was, and a profile without one starts
    /// there.
    public func eidTime() -> UInt32 {
        guard let epoch = profile.eidEpoch else { return IdentityKey.firstCounter }
        let elapsed = Int(WallClock.microseconds() / 1_000_000) - epoch.secondsSince1970
        return IdentityKey.firstCounter &+ UInt32(truncatingIfNeeded: max(0, elapsed))
    }

    /// Files are named from the profile's own directory.
    private var directory: String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }
}

/// The machine's own static random address: the same after every restart, another for each profile name.
public enum StaticAddress {
    /// - Parameter name: The profile's.
    public static func make(name: String) -> DeviceAddress {
        // A machine without an id still gets an address, a new one each time.
        let machine = Privileges.machineID ?? Hexadecimal.text(Privileges.randomOctets(16))
        return DeviceAddress.staticRandom(machineID: machine, name: name)
    }
}

/// A key in a file of its own, which nobody else may read: 32 hexadecimal digits.
public enum KeyFile {
    /// Far more than any key needs, in octets.
    private static let sizeLimit = 1 << 20

    /// The key in the file at `path`. What was read is overwritten in memory.
    ///
    /// - Parameter what: How such a key is called in sentences.
    /// - Throws: `refused`: `missing` where there is no such file, `invalid` where it holds no key, or where others may
    ///   read or replace it.
    public static func read(
        _ path: String, _ what: String = "identity key"
    ) throws(BeaconServiceError) -> IdentityKey {
        // The only copy there is, so that wiping it leaves none.
        var octets = try octets(path, what)
        do {
            return try IdentityKey(wiping: &octets)
        } catch {
            throw .refused(.invalid, "\(path): an \(what) has 16 octets: 32 hexadecimal digits")
        }
    }

    private static func octets(_ path: String, _ what: String) throws(BeaconServiceError) -> [UInt8] {
        let secret: Files.Secret
        do throws(SystemError) {
            secret = try Files.readSecret(path, limit: sizeLimit)
        } catch {
            guard error.errno != SystemError.noEntry else {
                throw .refused(
                    .missing,
                    "\(path): there is no such file; the \(what) belongs there, 32 hexadecimal digits that nobody else "
                        + "may read")
            }
            throw BeaconServiceError(error, reading: path, limit: sizeLimit)
        }
        if let weakness = secret.weakness { throw .refused(.invalid, weakness.text(what, at: path)) }
        return secret.octets
    }
}
