internal import LinuxHost

/// The right to change something of a fleet, which one process has at a time: from before it reads what it will change
/// until the new files are in their places.
enum FleetClaim {
    /// Takes the right; waits for another holder for some seconds.
    ///
    /// - Parameters:
    ///   - path: The lock's file; made, and removed with the right.
    ///   - subject: What is changed, as messages name it.
    ///   - purpose: The command, for whoever finds the right taken.
    /// - Returns: `nil` where this user may not write beside the files and so changes nothing there.
    /// - Throws: ``FleetStoreError/Kind/busy``, with who has it.
    static func take(
        _ path: String, of subject: String, purpose: String, waiting limit: Duration = .seconds(5)
    ) throws(FleetStoreError) -> FileLock? {
        do throws(FileLockError) {
            return try FileLock(path, purpose: purpose, waiting: limit)
        } catch {
            switch error {
            case .held(_, let holder):
                let who = holder.map { "`\($0.purpose)` (process \($0.process))" } ?? "another process"
                throw FleetStoreError(.busy, "\(subject): \(who) is changing it; try again when that has ended")
            case .system(let error):
                switch error.errno {
                case SystemError.readOnlyFileSystem, SystemError.accessDenied: return nil
                // Whoever reads the files says what is missing.
                case SystemError.noEntry, SystemError.notADirectory: return nil
                case SystemError.noSpace:
                    throw FleetStoreError(.system, "\(subject): the disk is full; nothing was changed")
                default: throw FleetStoreError(error, at: path)
                }
            }
        }
    }
}
