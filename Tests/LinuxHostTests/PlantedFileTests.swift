import Glibc
import LinuxHost
import TestSupport
import Testing

/// The user `nobody`, who may write to the directories of these tests.
private let stranger: uid_t = 65534

private func status(_ path: String) -> stat {
    var status = stat()
    _ = unsafe lstat(path, &status)
    return status
}

/// A directory like /tmp, but without its sticky bit, in which another user has put a file next to an output.
@Suite(.enabled(if: geteuid() == 0, "needs another user"))
struct PlantedFileTests {
    enum Plant: CaseIterable {
        case file
        case directory
        case linkToFile
        case linkToDirectory
        case pipe
    }

    private let folder: TemporaryFolder
    private let victim: String
    private let secret = Array("a key".utf8)

    init() throws {
        folder = try TemporaryFolder()
        victim = try folder.file("victim/file", text: "kept")
        let outside = folder.place("open")
        try #require(unsafe mkdir(outside, 0o777) == 0 && chmod(outside, 0o777) == 0)
    }

    /// Puts the object at `name`, readable and writable for all, and gives it to the other user.
    private func plant(_ plant: Plant, _ name: String) throws -> String {
        let path = folder.place("open/" + name)
        switch plant {
        case .file: _ = try folder.file("open/" + name, text: "planted")
        case .directory: _ = try folder.file("open/" + name + "/inner", text: "planted")
        case .linkToFile: try #require(unsafe symlink(victim, path) == 0)
        case .linkToDirectory: try #require(unsafe symlink(folder.place("victim"), path) == 0)
        case .pipe: try #require(unsafe mkfifo(path, 0o666) == 0)
        }
        if status(path).st_mode & S_IFMT != S_IFLNK { try #require(unsafe chmod(path, 0o777) == 0) }
        try #require(unsafe lchown(path, stranger, stranger) == 0)
        return path
    }

    private func expectUntouched(_ plant: Plant, _ path: String, _ before: stat) throws {
        let after = status(path)
        #expect(after.st_ino == before.st_ino && after.st_uid == stranger && after.st_mode == before.st_mode)
        #expect(try Files.read(victim) == Array("kept".utf8))
        #expect(Files.names(in: folder.place("victim")) == ["file"])
        if plant == .file { #expect(try Files.read(path) == Array("planted".utf8)) }
        if plant == .directory { #expect(try Files.read(path + "/inner") == Array("planted".utf8)) }
    }

    @Test(arguments: Plant.allCases, [true, false])
    func doesNotUseDraftFilesOfOthers(_ kind: Plant, _ isNew: Bool) throws {
        let path = folder.place("open/out")
        let planted = try plant(kind, ".out.new")
        let before = status(planted)
        if isNew {
            try Files.create(path, with: secret)
        } else {
            try Files.replace(path, with: secret, mode: 0o600)
        }
        #expect(try Files.read(path) == secret)
        #expect(status(path).st_uid == 0 && status(path).st_mode & 0o777 == 0o600)
        try expectUntouched(kind, planted, before)
        #expect(Files.names(in: folder.place("open")) == [".out.new", "out"])
    }

    @Test(arguments: Plant.allCases)
    func doesNotUseDraftDirectoriesOfOthers(_ kind: Plant) throws {
        _ = try folder.file("open/out/a", [1])
        let planted = try plant(kind, ".out.new")
        let before = status(planted)
        let replacement = try FolderReplacement(folder.place("open/out"))
        try replacement.put("a", [2])
        let file = replacement.file("b")
        try file.append([3])
        try replacement.finish(file, "b")
        _ = try replacement.commit()
        #expect(try Files.read(folder.place("open/out/a")) == [2])
        #expect(try Files.read(folder.place("open/out/b")) == [3])
        try expectUntouched(kind, planted, before)
        #expect(Files.names(in: folder.place("open")) == [".out.new", "out"])
    }

    /// Other users cannot enter a new directory before it is complete.
    @Test func draftDirectoryIsPrivate() throws {
        let replacement = try FolderReplacement(folder.place("open/out"))
        try replacement.put("a", [2])
        let draft = try #require(Files.names(in: folder.place("open")).first)
        #expect(draft.hasPrefix(".out.") && draft.hasSuffix(".pharos-draft"))
        #expect(status(folder.place("open/" + draft)).st_mode & 0o777 == 0o700)
        replacement.discard()
        #expect(Files.names(in: folder.place("open")).isEmpty)
    }

    @Test(arguments: [Plant.linkToFile, .linkToDirectory])
    func linksOfOthersAreNotFollowed(_ kind: Plant) throws {
        let path = try plant(kind, "out")
        let reason = "this symbolic link belongs to user 65534 and is not followed"
        let error = SystemError("open", path, errno: ELOOP, reason: reason)
        #expect(throws: error) { try Files.replace(path, with: secret) }
        #expect(throws: error) { try Files.replaceSecret(path, with: secret) }
        #expect(throws: error) { _ = try OutputFile(replacing: path) }
        #expect(throws: error) { _ = try FolderReplacement(path) }
        #expect(throws: error) { _ = try FileReplacement(path) }
        #expect(errorNumber { try Files.create(path, with: secret) } == EEXIST)
        #expect(error.description == "\(path): \(reason)")
        #expect(Files.names(in: folder.place("victim")) == ["file"])
        #expect(try Files.read(victim) == Array("kept".utf8))
    }

    @Test func capturesAreNotWrittenIntoFilesOfOthers() throws {
        let path = try plant(.file, "capture")
        #expect(errorNumber { _ = try OutputFile(replacing: path) } == EPERM)
        #expect(try Files.read(path) == Array("planted".utf8))
    }

    @Test(arguments: [Plant.file, .pipe])
    func nothingIsWrittenOrAppendedToFilesAndPipesOfOthers(_ kind: Plant) throws {
        let path = try plant(kind, "survey")
        let before = status(path)
        // If the pipe has a reader, opening it succeeds.
        let reader = kind == .pipe ? unsafe open(path, O_RDONLY | O_NONBLOCK) : -1
        defer { if reader >= 0 { close(reader) } }
        #expect(errorNumber { _ = try OutputFile(appendingTo: path) } == EPERM)
        #expect(errorNumber { _ = try OutputFile(replacing: path) } == EPERM)
        #expect(errorNumber { try Files.createIfMissing(path) } == EPERM)
        #expect(errorNumber { try Files.refuseForeign(path) } == EPERM)
        try expectUntouched(kind, path, before)
    }

    /// The owner of a directory may put any file there, and is trusted.
    @Test func filesOfTheOwnerOfADirectoryAreUsed() throws {
        let path = try plant(.file, "survey")
        try #require(unsafe chown(folder.place("open"), stranger, stranger) == 0)
        try OutputFile(appendingTo: path).append([1])
        try Files.createIfMissing(path)
        #expect(try Files.read(path) == Array("planted".utf8) + [1])
        try #require(unsafe chown(folder.place("open"), 0, 0) == 0 && chmod(folder.place("open"), 0o755) == 0)
        try Files.refuseForeign(path)
    }

    @Test func removesOnlyDraftsOfKilledProcesses() throws {
        let names = [
            ".a.0123456789abcdef.pharos-draft", ".foreign.0123456789abcdef.pharos-draft",
            ".held.0123456789abcdef.pharos-draft", ".a.0123456789ABCDEF.pharos-draft", ".a.123.pharos-draft",
            "a.0123456789abcdef.pharos-draft",
        ]
        for name in names { _ = try folder.file("open/" + name, text: "left") }
        _ = try folder.file("open/.out.fedcba9876543210.pharos-draft/file", text: "left")
        let linked = folder.place("open/.link.0123456789abcdef.pharos-draft")
        try #require(unsafe symlink(folder.place("victim"), linked) == 0)
        try #require(unsafe chown(folder.place("open/" + names[1]), stranger, stranger) == 0)
        let held = try Descriptor.open(folder.place("open/" + names[2]), .device)
        try #require(flock(held.number, LOCK_EX) == 0)
        try Files.replace(folder.place("open/out"), with: secret)
        #expect(
            Files.names(in: folder.place("open"))
                == (names.dropFirst() + [".link.0123456789abcdef.pharos-draft", "out"]).sorted())
        #expect(Files.names(in: folder.place("victim")) == ["file"])
    }

    // MARK: Keys

    @Test(arguments: [
        (mode_t(0o700), uid_t(0), true), (0o755, 0, true), (0o1777, 0, true), (0o777, 0, false), (0o770, 0, false),
        (0o700, stranger, false), (0o755, stranger, false),
    ])
    func refusesKeysInDirectoriesThatOthersMayChange(_ mode: mode_t, _ owner: uid_t, _ isSafe: Bool) throws {
        let place = folder.place("open")
        try #require(unsafe chown(place, owner, owner) == 0 && chmod(place, mode) == 0)
        let (made, replaced) = ("\(place)/made", "\(place)/replaced")
        if isSafe {
            try Files.createSecret(made, with: secret)
            try Files.replaceSecret(replaced, with: secret)
            for path in [made, replaced] { #expect(status(path).st_mode & 0o7777 == 0o600) }
            return
        }
        for write in [
            { () throws in try Files.createSecret(made, with: secret) },
            { () throws in try Files.replaceSecret(replaced, with: secret) },
        ] {
            let error = #expect(throws: SystemError.self) { try write() }
            let why =
                owner == 0
                ? "other users may write to \(place), so it is not safe for keys; run `chmod go-w \(place)` or choose "
                    + "another directory"
                : "\(place) belongs to user 65534, so it is not safe for keys of this user; choose another directory"
            #expect(error?.errno == SystemError.notPermitted && error?.reason == why)
        }
        #expect(Files.names(in: place).isEmpty)
    }

    @Test func ownersOfKeysAreChecked() throws {
        let path = try folder.file("open/key", text: "key")
        func weakness(_ owner: uid_t, _ mode: mode_t, in directory: mode_t) throws -> Files.Secret.Weakness? {
            try #require(unsafe chown(path, owner, owner) == 0 && chmod(path, mode) == 0)
            try #require(unsafe chmod(folder.place("open"), directory) == 0)
            return try Files.readSecret(path).weakness
        }
        #expect(try weakness(0, 0o600, in: 0o777) == nil)
        #expect(try weakness(0, 0o640, in: 0o700) == .openToOthers)
        #expect(try weakness(stranger, 0o604, in: 0o700) == .openToOthers)
        #expect(try weakness(stranger, 0o600, in: 0o777) == .belongs(toUser: stranger))
        // The key of a service, in a directory where only root may put files.
        #expect(try weakness(stranger, 0o600, in: 0o750) == nil)
        try #require(unsafe chown(folder.place("open"), stranger, stranger) == 0)
        #expect(try weakness(stranger, 0o600, in: 0o750) == .belongs(toUser: stranger))
    }

    @Test func keepsRightsIfRequested() throws {
        let path = try folder.file("profile", text: "old")
        try #require(unsafe chown(path, stranger, 12) == 0 && chmod(path, 0o640) == 0)
        try Files.replace(path, with: secret, keepsRights: true)
        #expect(status(path).st_uid == stranger && status(path).st_gid == 12)
        #expect(status(path).st_mode & 0o7777 == 0o640)
        #expect(try Files.read(path) == secret)
        try Files.replace(folder.place("new"), with: secret, mode: 0o604, keepsRights: true)
        #expect(status(folder.place("new")).st_mode & 0o7777 == 0o604)
        try Files.replace(path, with: secret)
        #expect(status(path).st_uid == 0 && status(path).st_mode & 0o7777 == 0o644)
    }
}

/// Outputs that are symbolic links of the same user.
@Suite struct LinkedOutputTests {
    /// Makes a chain of links with absolute and relative paths.
    private func chain(_ folder: TemporaryFolder, to target: String) throws -> String {
        _ = unsafe mkdir(folder.place("links"), 0o755)
        try #require(unsafe symlink("../\(target)", folder.place("links/second")) == 0)
        try #require(unsafe symlink(folder.place("links/second"), folder.place("first")) == 0)
        return folder.place("first")
    }

    private func isLink(_ path: String) -> Bool { status(path).st_mode & S_IFMT == S_IFLNK }

    @Test(arguments: [true, false]) func linkedFileStaysALink(_ exists: Bool) throws {
        let folder = try TemporaryFolder()
        let link = try chain(folder, to: "real")
        if exists { _ = try folder.file("real", [1]) }
        try Files.replace(link, with: [2])
        let file = try FileReplacement(link)
        try file.append([2, 3])
        try file.finish()
        try file.commit()
        #expect(isLink(link) && isLink(folder.place("links/second")) && !isLink(folder.place("real")))
        #expect(try Files.read(folder.place("real")) == [2, 3])
        #expect(Files.names(in: folder.path) == ["first", "links", "real"])
        #expect(Files.names(in: folder.place("links")) == ["second"])
    }

    @Test func linkedDirectoryStaysALink() throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("real/a", [1])
        let link = try chain(folder, to: "real")
        let replacement = try FolderReplacement(link + "/")
        try replacement.put("a", [2])
        _ = try replacement.commit()
        #expect(isLink(link) && !isLink(folder.place("real")))
        #expect(try Files.read(folder.place("real/a")) == [2])
        #expect(Files.names(in: folder.path) == ["first", "links", "real"])
    }

    @Test func refusesCircularLinks() throws {
        let folder = try TemporaryFolder()
        try #require(unsafe symlink("b", folder.place("a")) == 0 && symlink("a", folder.place("b")) == 0)
        #expect(errorNumber { try Files.replace(folder.place("a"), with: [1]) } == ELOOP)
    }
}

/// Opening a file that is not a regular file returns at once.
@Suite struct NamedPipeTests {
    private func pipe(_ folder: TemporaryFolder) throws -> String {
        let path = folder.place("pipe")
        try #require(unsafe mkfifo(path, 0o600) == 0)
        return path
    }

    @Test(.timeLimit(.minutes(1))) func pipesAreRefusedAtOnce() throws {
        let folder = try TemporaryFolder()
        let path = try pipe(folder)
        let reason = "this is a named pipe, not a regular file"
        let error = #expect(throws: SystemError.self) { _ = try Files.read(path) }
        #expect(error == SystemError("read", path, errno: EINVAL, reason: reason))
        #expect(error?.description == "\(path): \(reason)")
        #expect(throws: SystemError.self) { _ = try Files.readSecret(path) }
        #expect(throws: SystemError.self) { _ = try Descriptor.openRegular(path) }
        #expect(throws: SystemError.self) { _ = try FileReplacement(path) }
        #expect(Files.firstLine(path) == nil)
        let replacement = try FolderReplacement(folder.path)
        try replacement.put("pipe", [1])
        let file = replacement.file("pipe")
        try file.append([1])
        #expect(file.isChanged == false)
        replacement.discard()
    }

    @Test func refusesDevicesAndDirectories() throws {
        #expect(errorNumber { _ = try Files.read("/dev/zero") } == EINVAL)
        #expect(errorNumber { _ = try Files.read("/dev/null") } == EINVAL)
        #expect(errorNumber { _ = try Files.read("/") } == EISDIR)
    }

    /// The shell's `<(command)` and `-` for standard input are streams that the user has named.
    @Test(.timeLimit(.minutes(1))) func streamsOnTheCommandLineAreReadToTheirEnd() throws {
        let folder = try TemporaryFolder()
        let path = try pipe(folder)
        let octets = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let source = try folder.file("source", octets)
        let writer = try ChildProcess(["sh", "-c", "cat \"$0\" > \"$1\"", source, path])
        #expect(try Files.readInput(path) == octets)
        #expect(writer.wait(until: MonotonicClock.nanoseconds() + 10_000_000_000) == 0)
        #expect(errorNumber { _ = try Files.readInput("/dev/zero", limit: 1 << 20) } == EFBIG)
    }
}
