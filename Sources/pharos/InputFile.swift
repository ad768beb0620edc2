internal import LinuxHost

/// Files that are read whole.
enum InputFile {
    /// The contents of what a person has named on the command line: a file, a stream such as the shell's `<(command)`,
    /// or standard input for `-`.
    static func read(_ path: String, limit: Int = 1 << 30) throws -> [UInt8] {
        do throws(SystemError) {
            return try Files.readInput(path, limit: limit)
        } catch {
            throw failure(error, path == "-" ? "standard input" : path, limit)
        }
    }

    /// The contents of a file that is found beside another, or read again: a regular one, because whatever else lies in
    /// its place might never end.
    static func readFound(_ path: String, limit: Int = 1 << 30) throws -> [UInt8] {
        do throws(SystemError) {
            return try Files.read(path, limit: limit)
        } catch {
            throw failure(error, path, limit)
        }
    }

    /// The directory of a path with its last slash; empty for the directory where we are.
    static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// A beacon profile; where there is none of that name, the error says where one lies.
    ///
    /// - Parameter isReadAgain: Whether only a regular file will do: see ``readFound(_:limit:)``.
    static func readProfile(_ path: String, isReadAgain: Bool = false) throws -> [UInt8] {
        let limit = ProfileReport.sizeLimit
        do throws(SystemError) {
            return try isReadAgain ? Files.read(path, limit: limit) : Files.readInput(path, limit: limit)
        } catch {
            let failure = failure(error, path == "-" ? "standard input" : path, ProfileReport.sizeLimit)
            guard error.errno == SystemError.noEntry else { throw failure }
            throw Failure(failure.status, failure.messages.map { $0 + SampleProfile.advice(for: path) })
        }
    }

    static func failure(_ error: SystemError, _ name: String, _ limit: Int = 0) -> Failure {
        switch error.errno {
        case SystemError.noEntry, SystemError.notADirectory: Failure(.noInput, "\(name): there is no such file")
        case SystemError.isDirectory: Failure(.noInput, "\(name): this is a directory, not a file")
        case SystemError.accessDenied: Failure(.noInput, "\(name): this user may not read it")
        case _ where error.reason != nil: Failure(.noInput, "\(name): \(error.text)")
        case SystemError.tooLarge: Failure(.dataFormat, "\(name): it is larger than \(limit >> 20) MiB")
        default: Failure(.noInput, "\(name): \(error.call): \(error.text)")
        }
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
            throw InputFile.failure(error, name)
        }
    }

    /// The next octets, at most 64 KiB; empty at the end.
    func next() throws -> [UInt8] {
        do throws(SystemError) {
            return try descriptor.read(upTo: Self.size)
        } catch {
            throw InputFile.failure(error, name)
        }
    }
}
