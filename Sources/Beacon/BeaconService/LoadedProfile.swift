public import Advertiser
public import BeaconFrames
public import BluetoothTypes
public import Configuration
public import EddystoneSecurity
internal import LinuxHost
public import Profiles

/// A valid profile from a file, with this machine's addresses.
public struct LoadedProfile: Sendable {
    public let name: String
    /// The profile's adapter; `nil` if it names none.
    public let adapter: AdapterName?
    /// The advertisements in the order of the profile.
    public let advertisements: [Advertisement]
    /// A fingerprint of the file.
    public let hash: String
    /// One sentence for each warning, with the file and the place in it.
    public let warnings: [String]
    private let profile: BeaconProfile
    private let path: String

    /// - Parameters:
    ///   - path: A file, a stream, or `-` for standard input.
    ///   - isReadAgain: `true` if the file is read again at each reload. It must then be a regular file, because
    ///     reading a stream could block the service. A file name that differs from the profile's name gets a warning,
    ///     because the service names its own files after the profile.
    ///   - isNamedInFile: `true` if another file names this file. This file must then be a regular file, too.
    /// - Throws: `refused` with all errors of the file.
    public init(path: String, isReadAgain: Bool = false, isNamedInFile: Bool = false) throws(BeaconServiceError) {
        self.path = path
        let octets = try ProfileReport.read(path, isReadAgain: isReadAgain || isNamedInFile)
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

    /// The interval of an advertisement as it is written in the profile.
    ///
    /// - Parameter index: The advertisement's position in ``advertisements``.
    public func interval(of index: Int) -> RequestedInterval {
        let advertisement = profile.advertisements[index]
        return RequestedInterval(advertisement.interval, microseconds: advertisement.requestedMicroseconds)
    }

    /// The RSSI of an advertisement at 1 m, in dBm, from the profile's calibration for the requested radio power; `nil`
    /// if the calibration does not contain it.
    ///
    /// - Parameter index: The advertisement's position in ``advertisements``.
    public func calibrationAtOneMeter(of index: Int) -> Int? {
        guard let calibration = profile.calibration else { return nil }
        let power = profile.advertisements[index].radioPower ?? profile.radioPower
        return (try? calibration.measuredPower(for: power)).map { Int($0.dBm) }
    }

    /// Returns an advertisement with its key, if it has one.
    ///
    /// - Throws: The errors of ``KeyFile/read(_:_:)``.
    public func source(_ advertisement: Advertisement) throws(BeaconServiceError) -> PayloadSource {
        PayloadSource(
            advertisement, identityKey: try identityKey(for: advertisement), firstPacket: Self.firstPacket)
    }

    /// The number of the first BTHome packet of a run: the seconds since 1970. If the clock is never set back, no
    /// earlier packet had this number.
    public static var firstPacket: UInt32 { UInt32(clamping: WallClock.microseconds() / 1_000_000) }

    /// Reads the key of an advertisement; `nil` for advertisements without a key.
    ///
    /// - Throws: The errors of ``KeyFile/read(_:_:)``.
    public func identityKey(for advertisement: Advertisement) throws(BeaconServiceError) -> IdentityKey? {
        try KeyFile.read(of: advertisement.content, inProfile: path)
    }

    /// The time at which the clock of ephemeral ids was 65280, in seconds since 1970; `nil` if unknown.
    public var eidEpochUnixSeconds: Int? { profile.eidEpoch?.secondsSince1970 }

    /// The beacon's own clock now, in seconds. It was 65280 at `eidEpoch`; without an epoch it starts at 65280 now.
    public func eidTime() -> UInt32 { Self.eidTime(since: profile.eidEpoch) }

    /// The clock of a beacon now, in seconds, if it was 65280 at `epoch`; without an epoch it starts at 65280 now.
    package static func eidTime(since epoch: RFC3339Time?) -> UInt32 {
        guard let epoch else { return IdentityKey.firstCounter }
        let elapsed = RFC3339Time.now.secondsSince1970 - epoch.secondsSince1970
        return IdentityKey.firstCounter &+ UInt32(truncatingIfNeeded: max(0, elapsed))
    }
}

/// This machine's static random address for a profile name. It stays the same after a restart.
public enum StaticAddress {
    /// - Parameter name: The profile's name.
    public static func make(name: String) -> DeviceAddress {
        // A machine without an id gets a new address each time.
        let machine = Privileges.machineID ?? Hexadecimal.text(Privileges.randomOctets(16))
        return DeviceAddress.staticRandom(machineID: machine, name: name)
    }
}

/// A file with one key in 32 hexadecimal digits, which other users cannot read.
public enum KeyFile {
    /// The largest size of a key file, in bytes.
    private static let sizeLimit = 1 << 20

    /// Reads the key in the file at `path`. The file's bytes are overwritten in memory afterwards.
    ///
    /// - Parameter kind: The name of this kind of key in messages.
    /// - Throws: `refused` as `missing` without such a file, as `invalid` if it contains no key, or if other users may
    ///   read or replace it.
    public static func read(
        _ path: String, _ kind: String = "identity key"
    ) throws(BeaconServiceError) -> IdentityKey {
        // This array is the only copy of the key in memory. It is overwritten after use.
        var octets = try octets(path, kind)
        do {
            return try IdentityKey(wiping: &octets)
        } catch {
            throw .refused(.invalid, "\(path): an \(kind) has 16 bytes: 32 hexadecimal digits")
        }
    }

    /// Reads the key of an advertisement of the profile at `path`; `nil` if the advertisement needs no key. Relative
    /// paths begin in the profile's directory.
    fileprivate static func read(
        of content: Advertisement.Content, inProfile path: String
    ) throws(BeaconServiceError) -> IdentityKey? {
        guard let file = content.keyFile else { return nil }
        let directory = Files.directory(of: path)
        let kind = content.rotatingKey == nil ? "encryption key" : "identity key"
        return try read(file.hasPrefix("/") ? file : directory + file, kind)
    }

    /// Reads an identity resolving key, which may be in hexadecimal digits or Base64, and in either byte order.
    ///
    /// - Throws: As ``read(_:_:)`` does.
    public static func readIdentityResolvingKey(_ path: String) throws(BeaconServiceError) -> IdentityResolvingKey {
        var octets = try octets(path, "identity resolving key", form: "32 hexadecimal digits, or Base64")
        do {
            return IdentityResolvingKey(try IdentityKey(wipingExported: &octets))
        } catch {
            throw .refused(
                .invalid,
                "\(path): an identity resolving key has 16 bytes: 32 hexadecimal digits, or 24 characters of Base64")
        }
    }

    /// - Parameter form: The form of the key, for messages.
    private static func octets(
        _ path: String, _ kind: String, form: String = "32 hexadecimal digits"
    ) throws(BeaconServiceError) -> [UInt8] {
        let secret: Files.Secret
        do throws(SystemError) {
            secret = try Files.readSecret(path, limit: sizeLimit)
        } catch {
            guard error.errno != SystemError.noEntry else {
                throw .refused(
                    .missing,
                    "\(path): there is no such file; write the \(kind) there: \(form), in a file that only its owner can "
                        + "read")
            }
            throw BeaconServiceError(error, reading: path, limit: sizeLimit)
        }
        if let weakness = secret.weakness { throw .refused(.invalid, weakness.text(kind, at: path)) }
        return secret.octets
    }
}

/// The result of reading a profile: the profile, and all problems of the file.
public struct ProfileReport {
    /// The largest size of a profile, in bytes: 4 MiB.
    public static let sizeLimit = 1 << 22

    /// The file's name in messages.
    public let file: String
    /// The profile; `nil` if the file has an error.
    public let profile: BeaconProfile?
    /// All errors and warnings, in the order of the file.
    public let problems: [FileProblem]

    /// - Parameters:
    ///   - octets: The file's contents.
    ///   - file: Its path, or `-` for standard input.
    ///   - checksName: `true` if a file name that differs from the profile's name is a problem.
    public init(_ octets: [UInt8], file: String, checksName: Bool = false) {
        self.file = Files.inputName(file)
        (profile, problems) = BeaconProfile.decode(octets, expectedName: checksName ? Self.stem(file) : nil)
    }

    /// The name of a profile's file: `lobby` for `/etc/pharos/lobby.json`; `nil` for a file without the extension
    /// .json.
    private static func stem(_ path: String) -> String? {
        guard path.hasSuffix(".json") else { return nil }
        return path.split(separator: "/").last.map { String($0.dropLast(5)) }
    }

    /// All errors as one refusal.
    public var refusal: BeaconServiceError {
        let lines = problems.filter(\.isError).map { $0.text(file: file) }
        return .refused(problems.refusal == .malformed ? .malformed : .invalid, lines)
    }

    /// One sentence for each advertisement whose key file is not usable on this machine.
    public var keyProblems: [String] {
        guard let profile else { return [] }
        var problems: [String] = []
        for (index, advertisement) in profile.advertisements.enumerated() {
            do {
                _ = try KeyFile.read(of: advertisement.content, inProfile: file)
            } catch {
                problems += error.messages.map { "\(file): advertisements[\(index)]: \($0)" }
            }
        }
        return problems
    }

    /// An element of `files` of `profile check --json`.
    public var json: JSONValue {
        .record([
            ("file", .string(file)), ("good", .boolean(profile != nil)),
            ("problems", .array(problems.map(\.json))),
        ])
    }

    /// Reads a profile's file. If it is missing, the error names a file of that name in another directory.
    ///
    /// - Parameters:
    ///   - path: A file, a stream such as the shell's `<(command)`, or `-` for standard input.
    ///   - isReadAgain: `true` if it must be a regular file, because a stream might never end.
    public static func read(_ path: String, isReadAgain: Bool = false) throws(BeaconServiceError) -> [UInt8] {
        do throws(SystemError) {
            return try isReadAgain ? Files.read(path, limit: sizeLimit) : Files.readInput(path, limit: sizeLimit)
        } catch {
            let failure = BeaconServiceError(error, reading: Files.inputName(path), limit: sizeLimit)
            guard error.errno == SystemError.noEntry, case .refused(let kind, let messages) = failure else {
                throw failure
            }
            throw .refused(kind, messages.map { $0 + advice(for: path) })
        }
    }

    /// The directories of installed profiles and of samples.
    private static let directories = [
        "profiles", "/etc/pharos", "/usr/local/share/pharos/profiles", "/usr/share/pharos/profiles",
    ]

    /// The advice that follows "there is no such file": a profile of that name in another directory; empty if there is
    /// none.
    private static func advice(for name: String) -> String {
        guard !name.isEmpty, !name.hasPrefix("-") else { return "" }
        let file = name.hasSuffix(".json") ? name : name + ".json"
        let existingPath = (name.contains("/") ? [file] : ["./\(file)"] + directories.map { "\($0)/\(file)" })
            .first { Files.exists($0) && $0 != name }
        return existingPath.map { "; did you mean \($0.hasPrefix("./") ? String($0.dropFirst(2)) : $0)?" } ?? ""
    }
}
