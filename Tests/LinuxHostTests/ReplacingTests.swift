import Glibc
import LinuxHost
import TestSupport
import Testing

@Suite struct ReplacingTests {
    private let old = Array("old".utf8)
    private let new = Array("new and longer".utf8)

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test(arguments: [true, false]) func filesAreMadeAndReplaced(_ isDurable: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.place("state.json")
        try Files.replace(path, with: old, isDurable: isDurable)
        #expect(try Files.read(path) == old)
        try Files.replace(path, with: new, isDurable: isDurable)
        #expect(try Files.read(path) == new)
        try Files.replace(path, with: [], isDurable: isDurable)
        #expect(try Files.read(path) == [])
        #expect(Files.names(in: folder.path) == ["state.json"])
    }

    @Test func keepsAFileWithOtherContents() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("lobby.json", old)
        func replace(_ path: String) throws {
            try Files.replace(path, with: new, mode: 0o600) { $0 == "new and longer" }
        }
        let error = #expect(throws: SystemError.self) { try replace(path) }
        #expect(
            error?.description
                == "\(path): this file has other contents, so it is not replaced; rename it, or choose another "
                + "directory"
        )
        #expect(try Files.read(path) == old)
        for octets in [[], new] {
            let own = try folder.file("own.json", octets)
            try replace(own)
            #expect(try Files.read(own) == new && mode(own) == 0o600)
        }
    }

    @Test func writesAFileFromPieces() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("map.json", old)
        try #require(unsafe chmod(path, 0o640) == 0)
        try Files.replace(path) { take throws(SystemError) in
            for octet in new {
                try take([octet])
                #expect((try? Files.read(path)) == old)
            }
        }
        #expect(try Files.read(path) == new)
        #expect(mode(path) == 0o640)
        try Files.replace(folder.place("empty")) { _ throws(SystemError) in }
        #expect(try Files.read(folder.place("empty")) == [])
        #expect(mode(folder.place("empty")) == 0o644)
        #expect(Set(Files.names(in: folder.path)) == ["map.json", "empty"])
    }

    @Test func keepsTheOldFileIfWritingFails() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("map.json", old)
        #expect(
            errorNumber {
                try Files.replace(path) { take throws(SystemError) in
                    try take(new)
                    throw SystemError("write", errno: ENOSPC)
                }
            } == ENOSPC)
        #expect(try Files.read(path) == old)
        #expect(Files.names(in: folder.path) == ["map.json"])
    }

    /// A program that has the old file open continues to read the old one.
    @Test func openReadersKeepTheOldFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("status", old)
        let reader = try Descriptor.open(path, .read)
        try Files.replace(path, with: new)
        #expect(try reader.read(upTo: 100) == old)
    }

    @Test func setsTheRequestedModeDespiteTheUmask() throws {
        let folder = try TemporaryFolder()
        let path = folder.place("file")
        let before = umask(0o077)
        defer { umask(before) }
        try Files.replace(path, with: new)
        #expect(mode(path) == 0o644)
        try Files.replace(path, with: new, mode: 0o600)
        #expect(mode(path) == 0o600)
    }

    @Test func removesTheDraftOfAKilledProcess() throws {
        let folder = try TemporaryFolder()
        _ = try folder.file(".file.0123456789abcdef.pharos-draft", [UInt8](repeating: 1, count: 10_000))
        try Files.replace(folder.place("file"), with: new)
        #expect(try Files.read(folder.place("file")) == new)
        #expect(Files.names(in: folder.path) == ["file"])
    }

    @Test func onlyRegularFilesAreReplaced() throws {
        let folder = try TemporaryFolder()
        #expect(errorNumber { try Files.replace(folder.path, with: new) } == EISDIR)
        let link = folder.place("link")
        let made = unsafe symlink("/dev/null", link)
        try #require(made == 0)
        #expect(errorNumber { try Files.replace(link, with: new) } == EINVAL)
        #expect(errorNumber { try Files.replace("/dev/null", with: new) } == EINVAL)
        #expect(errorNumber { try Files.replace(folder.place("none/file"), with: new) } == ENOENT)
        #expect(Files.names(in: folder.path) == ["link"])
    }

    @Test(.enabled(if: getuid() == 0, "mounting needs root"))
    func keepsTheOldFileOnAFullDisk() throws {
        let disk = try SmallDisk(octets: 16_384)
        let path = disk.folder.place("state")
        try Files.replace(path, with: old)
        let large = [UInt8](repeating: 7, count: 60_000)
        #expect(errorNumber { try Files.replace(path, with: large) } == ENOSPC)
        #expect(try Files.read(path) == old)
        #expect(Files.names(in: disk.folder.path) == ["state"])
        try disk.makeReadOnly()
        #expect(errorNumber { try Files.replace(path, with: new) } == EROFS)
        #expect(try Files.read(path) == old)
    }

    /// A reader finds the whole data of one writer at any time.
    @Test func concurrentWritersDoNotMix() throws {
        let folder = try TemporaryFolder()
        let path = folder.place("file")
        let finished = Collector()
        for writer in UInt8(1)...4 {
            try BackgroundThread.start {
                let octets = [UInt8](repeating: writer, count: 5000 * Int(writer))
                for _ in 0..<50 {
                    do throws(SystemError) {
                        try Files.replace(path, with: octets, isDurable: false)
                    } catch {
                        finished.add([0])
                    }
                }
                finished.add([writer])
            }
        }
        var seen = Set<[UInt8]>()
        let done = eventually(milliseconds: 120_000) {
            if let octets = try? Files.read(path) { seen.insert([octets.first ?? 0, UInt8(octets.count / 5000)]) }
            return finished.octets.count >= 4
        }
        #expect(done && finished.octets.sorted() == [1, 2, 3, 4])
        #expect(seen.allSatisfy { $0[0] == $0[1] && $0[0] != 0 })
        #expect(Files.names(in: folder.path) == ["file"])
    }

    @Test func removesAMissingFileWithoutAnError() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("file", old)
        try Files.remove(path)
        try Files.remove(path)
        #expect(!Files.exists(path))
        #expect(errorNumber { try Files.remove(folder.path) } == EISDIR)
    }
}

/// A small file system in memory.
private final class SmallDisk {
    let folder: TemporaryFolder

    init(octets: Int) throws {
        folder = try TemporaryFolder()
        guard unsafe mount("none", folder.path, "tmpfs", 0, "size=\(octets)") == 0 else {
            throw SystemError("mount", folder.path, errno: errno)
        }
    }

    deinit { _ = unsafe umount2(folder.path, Int32(MNT_DETACH)) }

    func makeReadOnly() throws {
        let flags = UInt(MS_REMOUNT | MS_RDONLY)
        guard unsafe mount("none", folder.path, "tmpfs", flags, nil) == 0 else {
            throw SystemError("mount", folder.path, errno: errno)
        }
    }
}
