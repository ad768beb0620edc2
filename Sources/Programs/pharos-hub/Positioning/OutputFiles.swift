internal import ArgumentParser
internal import Configuration
internal import LinuxHost

/// The files that one call of a command writes: none of them is another one of it, nor one that it reads.
enum OutputFiles {
    /// - Parameters:
    ///   - written: With the options that name them; `nil` and `-` are none.
    ///   - read: The files that the command reads.
    /// - Throws: where two of them are the same, before anything is lost.
    static func refuseOverwriting(_ written: [(option: String, path: String?)], read: [String?]) throws {
        var known: [(whole: String, what: String)] = read.compactMap { path in
            path.flatMap(whole).map { ($0, "the command reads this file") }
        }
        for (option, path) in written {
            guard let path, let whole = whole(path) else { continue }
            if let same = known.first(where: { $0.whole == whole }) {
                throw ValidationError("\(option) \(TerminalText.line(path)): \(same.what): name another one.")
            }
            known.append((whole, "\(option) names this file too"))
        }
    }

    /// The path as the kernel has it; `nil` for standard input and output, and for what is no file.
    private static func whole(_ path: String) -> String? {
        guard path != "-" else { return nil }
        if let resolved = Files.resolved(path) { return resolved.hasPrefix("/dev/") ? nil : resolved }
        let cut = path.lastIndex(of: "/")
        let name = cut.map { String(path[path.index(after: $0)...]) } ?? path
        return (Files.resolved(cut.map { String(path[...$0]) } ?? ".") ?? "") + "/" + name
    }
}
