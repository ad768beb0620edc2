internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import HCITransports
internal import LinuxHost
internal import Profiles

/// A profile from a file, as `advertise` takes it: refused when it has any fault.
struct LoadedProfile {
    let name: String
    let adapter: AdapterName?
    let advertisements: [Advertisement]
    /// Tells one version of the file from another.
    let hash: String
    private let profile: BeaconProfile
    private let path: String

    /// - Parameter isReadAgain: A service reads its profile whenever it is told to: it has to be a regular file, so that
    ///   nothing in its place can hold the service up.
    init(path: String, isReadAgain: Bool = false) throws {
        self.path = path
        let octets = try InputFile.readProfile(path, isReadAgain: isReadAgain)
        hash = Fingerprint.text(of: octets)
        let report = ProfileReport(octets, file: path)
        guard let profile = report.profile else { throw report.refusal }
        for problem in report.problems { Terminal.writeError("pharos: \(problem.text(file: path))\n") }
        self.profile = profile
        name = profile.name
        do {
            adapter = try profile.adapter.map { text throws(AdapterNameError) in try AdapterName(text) }
        } catch {
            throw Failure(.configuration, "\(path): adapter: \(error)")
        }
        do {
            advertisements = try profile.advertisements { StaticAddress.make(name: $0) }
        } catch {
            throw Failure(.configuration, "\(path): scanResponse: \(error)")
        }
    }

    /// The interval of an advertisement as the profile has it.
    func interval(of index: Int) -> RequestedInterval {
        let asked = profile.advertisements[index]
        return RequestedInterval(asked.interval, microseconds: asked.requestedMicroseconds)
    }

    /// The key of a rotating advertisement, out of its file. Others must not be able to read it.
    func identityKey(for advertisement: Advertisement) throws -> IdentityKey? {
        guard let file = advertisement.content.rotatingKey?.identityKeyFile else { return nil }
        let place = file.hasPrefix("/") ? file : directory + file
        return try KeyFile.read(place)
    }

    /// When the clock of ephemeral ids was 65280.
    var eidEpochUnixSeconds: Int? { profile.eidEpoch?.secondsSince1970 }

    /// The beacon's own clock now: it stood at 65280 when `eidEpoch` was, and a profile without one starts there.
    func eidTime() -> UInt32 {
        guard let epoch = profile.eidEpoch else { return IdentityKey.firstCounter }
        let elapsed = Int(WallClock.microseconds() / 1_000_000) - epoch.secondsSince1970
        return IdentityKey.firstCounter &+ UInt32(truncatingIfNeeded: max(0, elapsed))
    }

    /// Files are named from the profile's own folder.
    private var directory: String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }
}
