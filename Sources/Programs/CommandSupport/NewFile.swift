internal import LinuxHost

/// A file that a command makes for the user, and that replaces no other file.
package enum NewFile {
    /// Writes a file that does not exist yet.
    ///
    /// - Throws: A ``Failure`` with the path if the file exists already or cannot be written.
    package static func write(_ text: String, to path: String) throws {
        do throws(SystemError) {
            try Files.create(path, with: Array(text.utf8), mode: 0o644)
        } catch  where error.errno == SystemError.alreadyThere {
            throw Failure(.usage, "\(path): this file exists; name another")
        } catch {
            throw Failure(error.errno == SystemError.noEntry ? .noInput : .osError, "\(path): \(error.text)")
        }
    }
}
