import Glibc
import LinuxHost
import TestSupport
import Testing

@Suite struct FilesTests {
    @Test(arguments: [0, 1, 4095, 4096, 300_000])
    func wholeFilesAreRead(_ count: Int) throws {
        let folder = try TemporaryFolder()
        let octets = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let path = try folder.file("octets", octets)
        #expect(try Files.read(path) == octets)
        #expect(try Files.read(path, limit: max(count, 1)) == octets)
    }

    @Test func filesOverTheLimitAreRefused() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("large", [UInt8](repeating: 7, count: 5001))
        #expect(errorNumber { _ = try Files.read(path, limit: 5000) } == EFBIG)
        #expect(try Files.read(path, limit: 5001).count == 5001)
    }

    /// Devices and pipes have no size that could be checked before reading.
    @Test func endlessFilesAreRefused() {
        #expect(errorNumber { _ = try Files.readInput("/dev/zero", limit: 1 << 20) } == EFBIG)
    }

    @Test func sparseFilesAreRefusedBeforeTheyAreRead() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("sparse", [])
        #expect(unsafe truncate(path, 1 << 40) == 0)
        let begin = MonotonicClock.nanoseconds()
        #expect(errorNumber { _ = try Files.read(path) } == EFBIG)
        #expect(MonotonicClock.nanoseconds() - begin < 1_000_000_000)
    }

    @Test func reportsPathsThatAreNotFiles() throws {
        let folder = try TemporaryFolder()
        #expect(throws: SystemError("read", folder.path, errno: EISDIR)) { try Files.read(folder.path) }
        let missing = folder.place("missing")
        #expect(throws: SystemError("open", missing, errno: ENOENT)) { try Files.read(missing) }
        let error = SystemError("open", missing, errno: ENOENT)
        #expect(error.description == "\(missing): open: No such file or directory")
        let below = try folder.file("plain", []) + "/below"
        #expect(errorNumber { _ = try Files.read(below) } == ENOTDIR)
    }

    @Test func readsTheFirstLine() throws {
        let folder = try TemporaryFolder()
        #expect(Files.firstLine(try folder.file("two", Array("one\ntwo\n".utf8))) == "one")
        #expect(Files.firstLine(try folder.file("none", [])) == "")
        #expect(Files.firstLine(try folder.file("bare", Array("bare".utf8))) == "bare")
        #expect(Files.firstLine(folder.place("missing")) == nil)
        #expect(Files.firstLine("/proc/self/comm")?.isEmpty == false)
    }

    @Test func sortsNamesWithoutDotEntries() throws {
        let folder = try TemporaryFolder()
        for name in ["b", "a", ".hidden"] { _ = try folder.file(name, []) }
        #expect(Files.names(in: folder.path) == [".hidden", "a", "b"])
        #expect(Files.names(in: folder.place("missing")).isEmpty)
        #expect(Files.exists(folder.place("a")) && !Files.exists(folder.place("c")))
    }

    @Test(arguments: [(mode_t(0o600), true), (0o400, true), (0o640, false), (0o604, false), (0o644, false)])
    func isPrivateIfOnlyTheOwnerMayRead(_ mode: mode_t, _ isPrivate: Bool) throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("key", [1])
        #expect(unsafe chmod(path, mode) == 0)
        #expect(Files.isPrivate(path) == isPrivate)
        #expect(!Files.isPrivate(folder.place("missing")))
    }

    @Test func outputFileReplacesAnExistingFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("capture", [9, 9, 9])
        let file = try OutputFile(replacing: path)
        try file.append([1, 2])
        try file.append([3])
        #expect(try Files.read(path) == [1, 2, 3])
        #expect(errorNumber { _ = try OutputFile(replacing: folder.path) } == EISDIR)
        #expect(errorNumber { try OutputFile(replacing: "/dev/full").append([1]) } == ENOSPC)
    }

    /// A file can have any modification time, and file systems in memory store it unchanged.
    @Test(arguments: [Int.min, .max]) func boundsExtremeModificationTimes(_ seconds: Int) throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("value", [1])
        let time = timespec(tv_sec: seconds, tv_nsec: 0)
        try #require(unsafe utimensat(AT_FDCWD, path, [time, time], 0) == 0)
        let changed = try #require(Files.modificationTime(path))
        #expect((-1 << 40...1 << 40).contains(changed))
    }
}
