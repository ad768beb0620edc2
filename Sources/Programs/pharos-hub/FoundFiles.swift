internal import CommandSupport
internal import LinuxHost

/// Reads files that were found in a directory instead of named by the user, such as all databases of the directory.
enum FoundFiles {
    /// Returns the contents of the files that can be used. The errors of the other files are printed on standard error.
    ///
    /// - Throws: The first error, if no file can be used.
    static func usable<Contents>(_ paths: [String], _ read: (String) throws -> Contents) throws -> [Contents] {
        var contents: [Contents] = []
        var errors: [any Error] = []
        for path in paths {
            do {
                contents.append(try read(path))
            } catch {
                errors.append(error)
            }
        }
        for error in contents.isEmpty ? errors.dropFirst() : errors[...] {
            for message in ExitStatus.messages(of: error, programErrors: PharosHub.classify) {
                Terminal.writeMessage(message)
            }
        }
        if let firstError = errors.first, contents.isEmpty { throw firstError }
        return contents
    }
}
