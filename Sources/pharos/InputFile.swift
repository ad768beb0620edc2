internal import BeaconService
internal import LinuxHost

/// Files that are read whole.
enum InputFile {
    /// The contents of what a person has named on the command line: a file, a stream such as the shell's `<(command)`,
    /// or standard input for `-`.
    static func read(_ path: String, limit: Int = 1 << 30) throws -> [UInt8] {
        do throws(SystemError) {
            return try Files.readInput(path, limit: limit)
        } catch {
            throw BeaconServiceError(error, reading: path == "-" ? "standard input" : path, limit: limit)
        }
    }

    /// The directory of a path with its last slash; empty for the directory where we are.
    static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }
}
