internal import ArgumentParser
internal import BeaconService
internal import Configuration
internal import LinuxHost

/// Reads files that the user names on the command line.
package enum InputFile {
    /// Returns the contents of a file, of a stream such as the shell's `<(command)`, or of standard input for `-`.
    ///
    /// - Parameter limit: The largest size in bytes. The default, 64 MiB, is larger than any settings file.
    package static func read(_ path: String, limit: Int = 64 << 20) throws -> [UInt8] {
        do throws(SystemError) {
            return try Files.readInput(path, limit: limit)
        } catch {
            throw BeaconServiceError(error, reading: Files.inputName(path), limit: limit)
        }
    }

    /// Passes each line of a recording, without its line end, to `take`, together with the number of the line. The
    /// first line has the number 1.
    ///
    /// - Throws: An error if the file cannot be read, is larger than 1 GiB, or has a line longer than 16 MiB.
    package static func forEachLine(of path: String, _ take: (ArraySlice<UInt8>, Int) -> Void) throws {
        let (lineLimit, limit) = (16 << 20, 1 << 30)
        // The last line that was read may be incomplete.
        var (line, lineNumber, size): ([UInt8], Int, Int) = ([], 0, 0)
        do throws(SystemError) {
            let file = path == "-" ? Descriptor.standardInput : try Descriptor.open(path, .read)
            while true {
                let octets = try file.read(upTo: 1 << 20)
                if octets.isEmpty { break }
                size += octets.count
                let parts = octets.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                for part in parts.dropLast() {
                    line += part
                    lineNumber += 1
                    take(line[...], lineNumber)
                    line.removeAll(keepingCapacity: true)
                }
                line += parts.last ?? []
                if size > limit { throw SystemError("read", path, errno: SystemError.tooLarge) }
                if line.count > lineLimit { break }
            }
        } catch {
            throw BeaconServiceError(error, reading: path, limit: limit)
        }
        guard line.count <= lineLimit else {
            throw Failure(.dataFormat, "\(path): line \(lineNumber + 1) is longer than 16 MiB: this is not a recording")
        }
        if !line.isEmpty { take(line[...], lineNumber + 1) }
    }

    /// Returns the file name of a path, without the ending `.json`.
    package static func stem(of path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        return name.hasSuffix(".json") ? String(name.dropLast(5)) : name
    }
}

/// Writes files for the user, and does not replace existing files.
package enum NewFile {
    /// Throws an error if the directory of a file does not exist.
    package static func checkDirectory(of path: String) throws {
        let folder = Files.directory(of: path)
        guard folder.isEmpty || Files.isDirectory(folder) else {
            throw Failure(.noInput, "\(path): the directory \(folder) does not exist")
        }
    }

    /// Writes a file that does not exist yet.
    ///
    /// - Parameter canReplace: True if the command has the option --force. The error message then suggests this option.
    /// - Throws: A ``Failure`` with the path if the file exists already or cannot be written.
    package static func write(_ octets: [UInt8], to path: String, canReplace: Bool = false) throws {
        do throws(SystemError) {
            try Files.create(path, with: octets, mode: 0o644)
        } catch  where error.errno == SystemError.alreadyThere {
            throw Failure(
                .usage, "\(path): this file exists; choose another name" + (canReplace ? ", or use --force" : ""))
        } catch {
            if error.errno == SystemError.noEntry { try checkDirectory(of: path) }
            throw Failure(error.errno == SystemError.noEntry ? .noInput : .osError, "\(path): \(error.text)")
        }
    }
}

/// Writes the web pages that commands make.
package enum PageFile {
    /// Replaces the file at `path` with a page.
    ///
    /// - Throws: A ``Failure`` with the path if the file cannot be written.
    package static func write(_ page: String, to path: String) throws {
        do throws(SystemError) {
            try Files.replace(path, with: Array(page.utf8), isDurable: false)
        } catch {
            throw Failure(.osError, "\(path): the page cannot be written: \(error.text)")
        }
    }
}

/// Checks that the files that a command writes differ from each other and from the files that the command reads.
package enum OutputFiles {
    /// - Parameters:
    ///   - written: The paths of the files that the command writes, with the options that name them. `nil` and `-` are
    ///     ignored.
    ///   - read: The paths of the files that the command reads. `nil` and `-` are ignored.
    /// - Throws: An error if a file to write is named twice, or is also a file to read.
    package static func refuseOverwriting(_ written: [(option: String, path: String?)], read: [String?]) throws {
        var usedFiles: [(path: String, use: String)] = read.compactMap { path in
            path.flatMap(absolutePath).map { ($0, "the command reads this file") }
        }
        for (option, path) in written {
            guard let path, let absolutePath = absolutePath(path) else { continue }
            if let sameFile = usedFiles.first(where: { $0.path == absolutePath }) {
                throw ValidationError("\(option) \(TerminalText.line(path)): \(sameFile.use): give another file.")
            }
            usedFiles.append((absolutePath, "\(option) names this file too"))
        }
    }

    /// Returns the absolute path without symbolic links; `nil` for standard input and output, and for devices.
    private static func absolutePath(_ path: String) -> String? {
        guard path != "-" else { return nil }
        if let resolved = Files.resolved(path) { return resolved.hasPrefix("/dev/") ? nil : resolved }
        let lastSlash = path.lastIndex(of: "/")
        let name = lastSlash.map { String(path[path.index(after: $0)...]) } ?? path
        return (Files.resolved(lastSlash.map { String(path[...$0]) } ?? ".") ?? "") + "/" + name
    }
}
