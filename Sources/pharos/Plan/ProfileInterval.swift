internal import BluetoothTypes
internal import Configuration
internal import LinuxHost
internal import Profiles

/// Puts a recommended interval into a beacon profile.
enum ProfileInterval {
    /// Writes the whole file anew, in the order in which profiles are printed, or not at all.
    static func write(_ interval: AdvertisingInterval, to path: String, advertisement: Int?) throws {
        let report = ProfileReport(try InputFile.readFound(path, limit: ProfileReport.sizeLimit), file: path)
        guard var profile = report.profile else { throw report.refusal }
        let count = profile.advertisements.count
        if let advertisement, !(1...count).contains(advertisement) {
            throw Failure(.usage, "--advertisement \(advertisement): \(path) has \(count) of them")
        }
        for index in profile.advertisements.indices where advertisement.map({ $0 - 1 == index }) ?? true {
            profile.advertisements[index].interval = interval
            profile.advertisements[index].requestedMicroseconds = interval.microseconds
        }
        do throws(SystemError) {
            try Files.replace(path, with: Array(profile.json.pretty.utf8), keepsRights: true)
        } catch {
            throw Failure(.osError, "\(path): it cannot be written: \(error.text)")
        }
    }
}
