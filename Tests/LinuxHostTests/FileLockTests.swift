import Glibc
import LinuxHost
import TestSupport
import Testing

/// The user `nobody`, who does not own the test files.
private let stranger: uid_t = 65534

@Suite struct FileLockTests {
    private func refusal(_ body: () throws -> Void) -> FileLockError? {
        do {
            try body()
            return nil
        } catch {
            return error as? FileLockError
        }
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func refusesASecondHolderWithThePurposeOfTheFirst() throws {
        let folder = try TemporaryFolder()
        let path = folder.place(".fleet.lock")
        let lock = try FileLock(path, purpose: "fleet\ngenerate")
        let holder = FileLock.Holder(process: getpid(), purpose: "fleet generate")
        #expect(FileLock.holder(of: path) == holder)
        let error = refusal { _ = try FileLock(path, purpose: "second") }
        #expect(error == .held(path, by: holder))
        #expect(
            error?.description
                == "\(path): locked by fleet generate (process \(getpid())); wait until it has ended, then try again")
        lock.release()
        lock.release()
        #expect(Files.names(in: folder.path).isEmpty)
        #expect(FileLock.holder(of: path) == nil)
        let next = try FileLock(path, purpose: "third")
        #expect(FileLock.holder(of: path)?.purpose == "third")
        withExtendedLifetime(next) {}
    }

    @Test func waitsUntilReleaseOrTimeout() throws {
        let folder = try TemporaryFolder()
        let path = folder.place("x.lock")
        let lock = try FileLock(path, purpose: "first")
        let begin = MonotonicClock.nanoseconds()
        let error = refusal { _ = try FileLock(path, purpose: "second", waiting: .milliseconds(150)) }
        #expect(error == .held(path, by: .init(process: getpid(), purpose: "first")))
        #expect(MonotonicClock.nanoseconds() - begin >= 150_000_000)
        try BackgroundThread.start {
            usleep(100_000)
            lock.release()
        }
        let second = try FileLock(path, purpose: "second", waiting: .seconds(20))
        #expect(FileLock.holder(of: path)?.purpose == "second")
        withExtendedLifetime(second) {}
    }

    /// Each thread reads a number, adds one and writes it. No increment is lost.
    @Test func serializesConcurrentHolders() throws {
        let folder = try TemporaryFolder()
        let (path, counter) = (folder.place("x.lock"), try folder.file("counter", [0]))
        let finished = Collector()
        for thread in UInt8(1)...4 {
            try BackgroundThread.start {
                for _ in 0..<25 {
                    guard let lock = try? FileLock(path, purpose: "\(thread)", waiting: .seconds(60)),
                        let octets = try? Files.read(counter)
                    else { continue }
                    try? Files.replace(counter, with: [octets[0] + 1], isDurable: false)
                    lock.release()
                }
                finished.add([thread])
            }
        }
        #expect(eventually(milliseconds: 60_000) { finished.octets.count == 4 })
        #expect(try Files.read(counter) == [100])
        #expect(Files.names(in: folder.path) == ["counter"])
    }

    /// A user may take a lock if the user may replace files in its directory.
    @Test(arguments: [
        (mode_t(0o755), mode_t(0o600)), (0o700, 0o600), (0o1777, 0o600), (0o775, 0o660), (0o2775, 0o660),
        (0o777, 0o666),
    ])
    func modeFollowsTheDirectory(_ around: mode_t, _ wanted: mode_t) throws {
        let folder = try TemporaryFolder()
        #expect(unsafe chmod(folder.path, around) == 0)
        let lock = try FileLock(folder.place("x.lock"), purpose: "first")
        #expect(mode(folder.place("x.lock")) == wanted)
        withExtendedLifetime(lock) {}
    }

    /// A user can lock each file that the user may read, so the file is replaced by one that other users cannot read.
    @Test func replacesALockThatOthersMayRead() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("x.lock", text: "")
        #expect(unsafe chmod(path, 0o644) == 0)
        let foreign = try LockingProcess(path, says: nil)
        let lock = try FileLock(path, purpose: "first")
        #expect(mode(path) == 0o600)
        #expect(FileLock.holder(of: path)?.purpose == "first")
        withExtendedLifetime((lock, foreign)) {}
    }

    @Test(.enabled(if: geteuid() == 0, "needs another user"))
    func rootGivesTheLockToTheDirectorysOwner() throws {
        let folder = try TemporaryFolder()
        #expect(unsafe chmod(folder.path, 0o755) == 0 && chown(folder.path, stranger, stranger) == 0)
        let path = folder.place("x.lock")
        let lock = try FileLock(path, purpose: "first")
        var status = stat()
        #expect(unsafe stat(path, &status) == 0 && status.st_uid == stranger && status.st_mode & 0o777 == 0o600)
        lock.release()
        // Root also accepts a lock file of the directory's owner.
        _ = try folder.file("x.lock", [])
        #expect(unsafe chmod(path, 0o600) == 0 && chown(path, stranger, stranger) == 0)
        let second = try FileLock(path, purpose: "second")
        withExtendedLifetime(second) {}
    }

    @Test(.enabled(if: geteuid() == 0, "needs another user"))
    func refusesFilesOfOtherUsers() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("x.lock", text: "kept")
        #expect(unsafe chmod(path, 0o666) == 0 && chown(path, stranger, stranger) == 0)
        let error = refusal { _ = try FileLock(path, purpose: "first") }
        #expect(
            error?.description
                == "\(path): this lock file belongs to user 65534; remove it")
        #expect(try Files.read(path) == Array("kept".utf8))
    }

    @Test func refusesLinksAndPipes() throws {
        let folder = try TemporaryFolder()
        let (path, other) = (folder.place("x.lock"), try folder.file("other", text: "kept"))
        #expect(unsafe symlink(other, path) == 0)
        let symbolic = refusal { _ = try FileLock(path, purpose: "first") }
        #expect(symbolic?.description == "\(path): this is a symbolic link, which is not followed here")
        try Files.remove(path)
        #expect(unsafe link(other, path) == 0)
        let hard = refusal { _ = try FileLock(path, purpose: "first") }
        #expect(hard?.description == "\(path): this lock file has more than one name (hard links); remove it")
        #expect(try Files.read(other) == Array("kept".utf8))
        try Files.remove(path)
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let pipe = refusal { _ = try FileLock(path, purpose: "first") }
        #expect(pipe?.description == "\(path): this is a named pipe, not a regular file")
        #expect(FileLock.holder(of: path) == nil)
    }

    /// Only the owner may open the lock. A second file, which all users may read, names the holder.
    @Test(.enabled(if: geteuid() == 0 && Files.exists("/usr/bin/setpriv"), "needs another user"))
    func otherUsersCanReadTheHolderOfAPublicLock() throws {
        let folder = try TemporaryFolder()
        #expect(unsafe chmod(folder.path, 0o755) == 0)
        let path = folder.place("x.lock")
        let lock = try FileLock(path, purpose: "lobby", isPublic: true)
        #expect(mode(folder.place("x.holder")) == 0o644)
        let script = """
            open(F, "<", "\(path)") and die "may read the lock"; open(F, "<", "\(folder.place("x.holder"))") or die; \
            print <F>
            """
        let child = try ChildProcess([
            "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "perl", "-e", script,
        ])
        #expect(child.wait(until: MonotonicClock.nanoseconds() + 10_000_000_000) == 0)
        let text = String(decoding: try child.output.read(upTo: 1000), as: UTF8.self)
        #expect(text.hasPrefix("\(getpid())\nlobby\n"))
        lock.release()
        #expect(Files.names(in: folder.path).isEmpty)
    }
}

@Suite struct InstanceLockTests {
    @Test func refusesASecondInstanceOfAName() throws {
        let folder = try TemporaryFolder()
        let lock = try InstanceLock("lobby", in: folder.path)
        #expect(InstanceLock.holder(of: "lobby", in: folder.path) == getpid())
        #expect(InstanceLock.holder(of: "hall", in: folder.path) == nil)
        let error = #expect(throws: InstanceLockError.self) { _ = try InstanceLock("lobby", in: folder.path) }
        #expect(error == .held("lobby", process: getpid()))
        #expect(
            error?.description == "the beacon \"lobby\" is already running (process \(getpid())); stop it first, or "
                + "give this profile another name")
        let other = try InstanceLock("hall", in: folder.path)
        withExtendedLifetime((lock, other)) {}
    }
}
