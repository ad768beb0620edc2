public import Configuration
internal import LinuxHost
public import Profiles

/// A profile's file as it was read: the profile, or what is wrong with it.
public struct ProfileReport {
    /// What a profile's file may hold at most, in octets: 4 MiB, far more than any profile needs.
    public static let sizeLimit = 1 << 22

    /// The file as it is called in messages.
    public let file: String
    /// `nil` where there is an error.
    public let profile: BeaconProfile?
    /// Errors and warnings in the order of the file.
    public let problems: [FileProblem]

    /// - Parameters:
    ///   - octets: The file's contents.
    ///   - file: Its path, or `-` for standard input.
    ///   - checksName: Whether a profile is warned of that is not called as its file.
    public init(_ octets: [UInt8], file: String, checksName: Bool = false) {
        self.file = file == "-" ? "standard input" : file
        (profile, problems) = BeaconProfile.decode(octets, expectedName: checksName ? Self.stem(file) : nil)
    }

    /// The name of a profile's file: of `/etc/pharos/lobby.json` it is `lobby`; `nil` for files that are called otherwise.
    private static func stem(_ path: String) -> String? {
        guard path.hasSuffix(".json") else { return nil }
        return path.split(separator: "/").last.map { String($0.dropLast(5)) }
    }

    /// All errors at once, for whoever needs a good profile.
    public var refusal: BeaconServiceError {
        let lines = problems.filter(\.isError).map { $0.text(file: file) }
        return .refused(problems.refusal == .malformed ? .malformed : .invalid, lines)
    }

    /// One object of `profile check --json`.
    public var json: JSONValue {
        .record([
            ("file", .string(file)), ("good", .boolean(profile != nil)),
            ("problems", .array(problems.map(\.json))),
        ])
    }

    /// The contents of a profile's file; where there is none of that name, the error says where one lies.
    ///
    /// - Parameters:
    ///   - path: A file, a stream such as the shell's `<(command)`, or `-` for standard input.
    ///   - isReadAgain: Whether only a regular file will do: whatever else lies in its place might never end.
    public static func read(_ path: String, isReadAgain: Bool = false) throws(BeaconServiceError) -> [UInt8] {
        do throws(SystemError) {
            return try isReadAgain ? Files.read(path, limit: sizeLimit) : Files.readInput(path, limit: sizeLimit)
        } catch {
            let failure = BeaconServiceError(
                error, reading: path == "-" ? "standard input" : path, limit: sizeLimit)
            guard error.errno == SystemError.noEntry, case .refused(let kind, let messages) = failure else {
                throw failure
            }
            throw .refused(kind, messages.map { $0 + advice(for: path) })
        }
    }

    /// Where profiles lie that people name without their directory: installed ones, and the samples.
    private static let directories = ["profiles", "/etc/pharos", "/usr/share/pharos/profiles"]

    /// Where a profile of that name lies, as advice behind "there is no such file"; empty where there is none.
    private static func advice(for name: String) -> String {
        guard !name.isEmpty, !name.hasPrefix("-") else { return "" }
        let file = name.hasSuffix(".json") ? name : name + ".json"
        let found = (name.contains("/") ? [file] : ["./\(file)"] + directories.map { "\($0)/\(file)" })
            .first { Files.exists($0) && $0 != name }
        return found.map { "; did you mean \($0.hasPrefix("./") ? String($0.dropFirst(2)) : $0)?" } ?? ""
    }
}
