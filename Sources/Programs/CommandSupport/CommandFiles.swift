internal import BeaconService
internal import LinuxHost

/// Reads files that the user names on the command line.
package enum InputFile {
    /// Returns the contents of a file, of a stream such as the shell's `<(command)`, or of standard input for `-`.
    ///
    /// - Parameter limit: The largest size in bytes.
    package static func read(_ path: String, limit: Int = 1 << 30) throws -> [UInt8] {
        do throws(SystemError) {
            return try Files.readInput(path, limit: limit)
        } catch {
            throw BeaconServiceError(error, reading: path == "-" ? "standard input" : path, limit: limit)
        }
    }

    /// Returns the directory of a path with a slash at its end; empty for the working directory.
    package static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }
}

/// Writes files for the user that replace no other files.
package enum NewFile {
    /// Writes a file that does not exist yet.
    ///
    /// - Throws: A ``Failure`` with the path if the file exists already or cannot be written.
    package static func write(_ text: String, to path: String) throws {
        do throws(SystemError) {
            try Files.create(path, with: Array(text.utf8), mode: 0o644)
        } catch  where error.errno == SystemError.alreadyThere {
            throw Failure(.usage, "\(path): this file exists; choose another name")
        } catch {
            throw Failure(error.errno == SystemError.noEntry ? .noInput : .osError, "\(path): \(error.text)")
        }
    }
}
