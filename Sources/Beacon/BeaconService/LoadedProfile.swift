public import Advertiser
public import BeaconFrames
public import BluetoothTypes
public import Configuration
public import EddystoneSecurity
internal import LinuxHost
public import Profiles

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

    /// An advertisement with its key, out of its file, where it has one.
    ///
    /// - Throws: see ``KeyFile/read(_:_:)``.
    public func source(_ advertisement: Advertisement) throws(BeaconServiceError) -> PayloadSource {
        PayloadSource(
            advertisement, identityKey: try identityKey(for: advertisement), firstPacket: Self.firstPacket)
    }

    /// Seconds since 1970: no packet of BTHome had this number before, as long as the clock is not set back.
    public static var firstPacket: UInt32 { UInt32(clamping: WallClock.microseconds() / 1_000_000) }

    /// The key of an advertisement, out of its file; `nil` for advertisements without a key.
    ///
    /// - Throws: see ``KeyFile/read(_:_:)``.
    public func identityKey(for advertisement: Advertisement) throws(BeaconServiceError) -> IdentityKey? {
        let content = advertisement.content
        guard let file = content.keyFile else { return nil }
        let what = content.rotatingKey == nil ? "encryption key" : "identity key"
        return try KeyFile.read(file.hasPrefix("/") ? file : directory + file, what)
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
            throw .refused(.invalid, "\(path): an \(what) has 16 bytes: 32 hexadecimal digits")
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

/// A profile's file as it was read: the profile, or what is wrong with it.
public struct ProfileReport {
    /// What a profile's file may hold at most, in octets: 4 MiB, far more than any profile needs.
    public static let sizeLimit = 1 << 22

    /// The file as it is called in messages.
    public let file: String
    /// `nil` where there is an error.
    public let profile: BeaconProfile?
    /// Errors and warnings in the order of the file.
    public let problems: [FileProblem]

    /// - Parameters:
    ///   - octets: The file's contents.
    ///   - file: Its path, or `-` for standard input.
    ///   - checksName: Whether a profile is warned of that is not called as its file.
    public init(_ octets: [UInt8], file: String, checksName: Bool = false) {
        self.file = file == "-" ? "standard input" : file
        (profile, problems) = BeaconProfile.decode(octets, expectedName: checksName ? Self.stem(file) : nil)
    }

    /// The name of a profile's file: of `/etc/pharos/lobby.json` it is `lobby`; `nil` for files that are called otherwise.
    private static func stem(_ path: String) -> String? {
        guard path.hasSuffix(".json") else { return nil }
        return path.split(separator: "/").last.map { String($0.dropLast(5)) }
    }

    /// All errors at once, for whoever needs a good profile.
    public var refusal: BeaconServiceError {
        let lines = problems.filter(\.isError).map { $0.text(file: file) }
        return .refused(problems.refusal == .malformed ? .malformed : .invalid, lines)
    }

    /// One object of `profile check --json`.
    public var json: JSONValue {
        .record([
            ("file", .string(file)), ("good", .boolean(profile != nil)),
            ("problems", .array(problems.map(\.json))),
        ])
    }

    /// The contents of a profile's file; where there is none of that name, the error says where one lies.
    ///
    /// - Parameters:
    ///   - path: A file, a stream such as the shell's `<(command)`, or `-` for standard input.
    ///   - isReadAgain: Whether only a regular file will do: whatever else lies in its place might never end.
    public static func read(_ path: String, isReadAgain: Bool = false) throws(BeaconServiceError) -> [UInt8] {
        do throws(SystemError) {
            return try isReadAgain ? Files.read(path, limit: sizeLimit) : Files.readInput(path, limit: sizeLimit)
        } catch {
            let failure = BeaconServiceError(
                error, reading: path == "-" ? "standard input" : path, limit: sizeLimit)
            guard error.errno == SystemError.noEntry, case .refused(let kind, let messages) = failure else {
                throw failure
            }
            throw .refused(kind, messages.map { $0 + advice(for: path) })
        }
    }

    /// Where profiles lie that people name without their directory: installed ones, and the samples.
    private static let directories = ["profiles", "/etc/pharos", "/usr/share/pharos/profiles"]

    /// Where a profile of that name lies, as advice behind "there is no such file"; empty where there is none.
    private static func advice(for name: String) -> String {
        guard !name.isEmpty, !name.hasPrefix("-") else { return "" }
        let file = name.hasSuffix(".json") ? name : name + ".json"
        let found = (name.contains("/") ? [file] : ["./\(file)"] + directories.map { "\($0)/\(file)" })
            .first { Files.exists($0) && $0 != name }
        return found.map { "; did you mean \($0.hasPrefix("./") ? String($0.dropFirst(2)) : $0)?" } ?? ""
    }
}
