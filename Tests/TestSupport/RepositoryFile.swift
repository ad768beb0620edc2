internal import LinuxHost

/// A file of the repository with its path, so that the name of a failing case contains it.
public struct RepositoryFile: CustomStringConvertible, Sendable {
    private static let root = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/" + $1 }

    /// The path from the top of the repository.
    public let path: String
    public init(_ path: String) { self.path = path }

    public var description: String { path }
    public var octets: [UInt8] { (try? Files.read(Self.root + "/" + path)) ?? [] }
    public var text: String { String(decoding: octets, as: UTF8.self) }

    /// Returns the files in a folder whose names end with `ending`, in the order of their names.
    public static func all(in folder: String, ending: String = ".json") -> [RepositoryFile] {
        Files.names(in: root + "/" + folder).filter { $0.hasSuffix(ending) }.sorted().map {
            RepositoryFile(folder + "/" + $0)
        }
    }
}
