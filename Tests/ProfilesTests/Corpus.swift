import FoundationEssentials
import Testing

/// Profile files of the repository.
enum Corpus {
    private static let root = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/" + $1 }

    /// A file with its place in the repository, so that a failing case names it.
    struct File: CustomTestStringConvertible, Sendable {
        let path: String
        var testDescription: String { path }
        var octets: [UInt8] { Corpus.octets(of: path) }
    }

    static let good = files(in: "Tests/Corpus/profiles/good")
    static let bad = files(in: "Tests/Corpus/profiles/bad")
    static let semantic = files(in: "Tests/Corpus/profiles/semantic")
    static let samples = files(in: "profiles")

    /// The JSON files of one folder, in the order of their names.
    private static func files(in folder: String) -> [File] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root + "/" + folder)) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted().map { File(path: folder + "/" + $0) }
    }

    static func octets(of path: String) -> [UInt8] {
        FileManager.default.contents(atPath: root + "/" + path).map { Array($0) } ?? []
    }
}
