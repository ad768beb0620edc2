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

/// A file of any size, or standard input, read in pieces as they come: nothing is kept of those before.
final class InputPieces {
    /// The file's name, or what stands for it in messages.
    let name: String
    private let descriptor: Descriptor
    private static let size = 1 << 16

    /// - Parameter path: A file, a named pipe, or `-` for standard input.
    init(_ path: String) throws {
        name = path == "-" ? "standard input" : path
        do throws(SystemError) {
            descriptor = path == "-" ? .standardInput : try Descriptor.open(path, .read)
        } catch {
            throw BeaconServiceError(error, reading: name)
        }
    }

    /// The next octets, at most 64 KiB; empty at the end.
    func next() throws -> [UInt8] {
        do throws(SystemError) {
            return try descriptor.read(upTo: Self.size)
        } catch {
            throw BeaconServiceError(error, reading: name)
        }
    }
}
