import LinuxHost
import TestSupport
import Testing

@Suite("Replacing a folder in one step")
struct FolderReplacementTests {
    private static func contents(_ folder: String) throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for name in Files.names(in: folder) { found[name] = try Files.read("\(folder)/\(name)") }
        return found
    }

    private static func replace(_ path: String, _ files: [String: [UInt8]]) throws -> FolderReplacement.Outcome {
        let replacement = try FolderReplacement(path)
        for (name, octets) in files.sorted(by: { $0.key < $1.key }) { try replacement.put(name, octets) }
        return try replacement.commit()
    }

    @Test("a missing folder is created")
    func makes() throws {
        let folder = try TemporaryFolder()
        let outcome = try Self.replace(folder.place("out"), ["a": [1], "b": []])
        #expect((outcome.written, outcome.unchanged, outcome.removed) == (2, 0, 0))
        #expect(try Self.contents(folder.place("out")) == ["a": [1], "b": []])
        #expect(Files.names(in: folder.path) == ["out"])
    }

    @Test("an empty folder is created")
    func makesAnEmptyFolder() throws {
        let folder = try TemporaryFolder()
        _ = try Self.replace(folder.place("out"), [:])
        #expect(Files.names(in: folder.path) == ["out"])
    }

    @Test("files are added, removed and changed, and no temporary files remain")
    func replaces() throws {
        let folder = try TemporaryFolder()
        for (name, octets) in [("kept", [UInt8](repeating: 7, count: 9)), ("changed", [1]), ("gone", [2])] {
            _ = try folder.file("out/" + name, octets)
        }
        let next: [String: [UInt8]] = ["kept": [UInt8](repeating: 7, count: 9), "changed": [3], "new": [4]]
        let outcome = try Self.replace(folder.place("out"), next)
        #expect((outcome.written, outcome.unchanged, outcome.removed) == (2, 1, 1))
        #expect(try Self.contents(folder.place("out")) == next)
        #expect(Files.names(in: folder.path) == ["out"])
        let again = try Self.replace(folder.place("out"), next)
        #expect((again.written, again.unchanged, again.removed) == (0, 3, 0))
    }

    @Test("the folder is unchanged before commit and after discard")
    func discards() throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("out/a", [1])
        let replacement = try FolderReplacement(folder.place("out"))
        try replacement.put("a", [2])
        #expect(replacement.isChanged)
        #expect(try Self.contents(folder.place("out")) == ["a": [1]])
        replacement.discard()
        #expect(try Self.contents(folder.place("out")) == ["a": [1]])
        #expect(Files.names(in: folder.path) == ["out"])
    }

    @Test("leftovers of a killed process are removed")
    func removesLeftovers() throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("out/a", [1])
        _ = try folder.file(".out.0123456789abcdef.pharos-draft/left", [9])
        _ = try Self.replace(folder.place("out"), ["a": [2]])
        #expect(Files.names(in: folder.path) == ["out"])
    }

    @Test("the second of two concurrent commits is refused, and the first remains complete", arguments: [true, false])
    func refusesTheSecondConcurrentCommit(exists: Bool) throws {
        let folder = try TemporaryFolder()
        if exists { _ = try folder.file("out/a", [1]) }
        let first = try FolderReplacement(folder.place("out"))
        try first.put("a", [2])
        let second = try FolderReplacement(folder.place("out"))
        try second.put("a", [3])
        _ = try first.commit()
        let error = #expect(throws: SystemError.self) { _ = try second.commit() }
        #expect(error?.errno == SystemError.wouldBlock)
        second.discard()
        #expect(try Self.contents(folder.place("out")) == ["a": [2]])
        #expect(Files.names(in: folder.path) == ["out"])
    }

    @Test("a file instead of a folder, and a missing parent folder, are refused")
    func refuses() throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("file", [])
        let file = #expect(throws: SystemError.self) { _ = try FolderReplacement(folder.place("file")) }
        #expect(file?.errno == SystemError.notADirectory)
        let missing = #expect(throws: SystemError.self) { _ = try FolderReplacement(folder.place("no/where")) }
        #expect(missing?.errno == SystemError.noEntry)
    }

    @Test(
        "a file written in pieces has the wanted content, wherever it differs from the old one",
        arguments: [
            (0, 0), (0, 5), (5, 5), (300_000, 300_000), (300_000, 0), (300_000, 299_999), (299_999, 300_000),
            (10, 300_000),
        ])
    func drafts(old: Int, new: Int) throws {
        let folder = try TemporaryFolder()
        let octets = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let path = try folder.file("file", Array(octets.prefix(old)))
        for change in [nil, 0, new / 2, new - 1] {
            var wanted = Array(octets.prefix(new))
            if let change, wanted.indices.contains(change) { wanted[change] ^= 1 }
            let draft = try FileReplacement(path)
            for start in stride(from: 0, to: wanted.count, by: 70_001) {
                try draft.append(Array(wanted[start..<min(start + 70_001, wanted.count)]))
            }
            try draft.finish()
            let before = try Files.read(path)
            #expect(draft.isChanged == (before != wanted))
            try draft.commit()
            #expect(try Files.read(path) == wanted)
            #expect(Files.names(in: folder.path) == ["file"])
        }
    }
}
