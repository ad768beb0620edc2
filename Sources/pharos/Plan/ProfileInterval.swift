internal import Airtime
internal import BeaconService
internal import BluetoothTypes
internal import LinuxHost
internal import Planner
internal import Profiles

/// Puts an advised interval into a beacon profile.
enum ProfileInterval {
    /// - Parameters:
    ///   - spread: Gives the profile its own interval of it, by its name; `nil` gives it the advised one.
    ///   - numbers: Which advertisements, counted from 1; none for the most frequent one.
    /// - Returns: What was changed, and what speaks against it, as sentences.
    static func write(
        _ advised: AdvertisingInterval, spread: IntervalSpread?, to path: String, advertisements numbers: [Int]
    ) throws -> [String] {
        let text = try InputFile.read(path, limit: ProfileReport.sizeLimit)
        let report = ProfileReport(text, file: path)
        guard let profile = report.profile else { throw report.refusal }
        let revision: ProfileRevision
        do throws(PlanError) {
            revision = try ProfileRevision(
                of: text, profile: profile, interval: spread?.interval(of: profile.name) ?? advised,
                advertisements: numbers)
        } catch {
            throw PlanError(error.kind, "\(path): \(error.message)")
        }
        if !revision.changes.isEmpty {
            do throws(SystemError) {
                try Files.rewrite(path, with: revision.text)
            } catch {
                throw Failure(.osError, "\(path): it cannot be written: \(error.text)")
            }
        }
        let changes = revision.changes.map { "\($0)" }.joined(separator: ", ")
        let what = changes.isEmpty ? "it has this interval already" : "\(changes); nothing else was changed"
        return ["\(path): \(what)."] + (revision.caution.map { ["\(path): \($0)."] } ?? [])
    }
}
