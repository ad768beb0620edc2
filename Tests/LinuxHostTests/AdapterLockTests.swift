import BluetoothTypes
import Glibc
import LinuxHost
import TestSupport
import Testing

@Suite struct AdapterLockTests {
    private let address = LockedAdapter(
        DeviceAddress(FixedOctets<6>([0xDC, 0xA6, 0x32, 1, 2, 3]) ?? FixedOctets()))
    private let file = "adapter-DC:A6:32:01:02:03.lock"

    private func refusal(_ body: () throws -> Void) -> AdapterLockError? {
        do {
            try body()
            return nil
        } catch {
            return error as? AdapterLockError
        }
    }

    @Test func secondInstanceIsRefusedWithTheNameOfTheFirst() throws {
        let folder = try TemporaryFolder()
        let lock = try AdapterLock(address, for: "lobby-north", in: folder.path)
        #expect(try Files.read(folder.place(file)).starts(with: "\(getpid())\nlobby-north\n".utf8))
        let error = refusal { _ = try AdapterLock(address, for: "second", in: folder.path) }
        let holder = FileLock.Holder(process: getpid(), purpose: "lobby-north")
        #expect(error == .held(address, .send, by: holder))
        #expect(
            error?.description == "the adapter DC:A6:32:01:02:03 is used by the instance \"lobby-north\" "
                + "(process \(getpid())); stop that instance, put its advertisements into this profile, "
                + "or name another adapter")
        #expect(AdapterLock.holder(of: address, in: folder.path) == holder)
        #expect(AdapterLock.holders(in: folder.path) == [holder])
        withExtendedLifetime(lock) {}
    }

    @Test func senderAndListenerShareAnAdapter() throws {
        let folder = try TemporaryFolder()
        let sender = try AdapterLock(address, for: "lobby", in: folder.path)
        let listener = try AdapterLock(address, .listen, for: "pharos scan", in: folder.path)
        #expect(AdapterLock.holder(of: address, in: folder.path)?.purpose == "lobby")
        #expect(AdapterLock.holder(of: address, .listen, in: folder.path)?.purpose == "pharos scan")
        #expect(AdapterLock.holders(in: folder.path).map(\.purpose) == ["lobby"])
        for role in AdapterLock.Role.allCases {
            let error = refusal { _ = try AdapterLock(address, role, for: "second", in: folder.path) }
            guard case .held(address, role, let holder?) = error else {
                Issue.record("\(role): \(String(describing: error))")
                continue
            }
            #expect(error?.description.contains("\"\(holder.purpose)\" (process \(getpid()))") == true)
        }
        withExtendedLifetime((sender, listener)) {}
    }

    @Test func lockEndsWithItsOwner() throws {
        let folder = try TemporaryFolder()
        do { _ = try AdapterLock(address, for: "first", in: folder.path) }
        #expect(AdapterLock.holder(of: address, in: folder.path) == nil)
        #expect(Files.names(in: folder.path).isEmpty)
        let second = try AdapterLock(address, for: "second", in: folder.path)
        #expect(AdapterLock.holder(of: address, in: folder.path)?.purpose == "second")
        withExtendedLifetime(second) {}
    }

    @Test func locksEachAdapterSeparately() throws {
        let folder = try TemporaryFolder()
        let other = LockedAdapter(try #require(DeviceAddress("00:11:22:33:44:55")))
        let locks = try [address, other].map { try AdapterLock($0, for: "\($0)", in: folder.path) }
        let names = AdapterLock.holders(in: folder.path).map(\.purpose)
        #expect(names == ["\(other)", "\(address)"])
        withExtendedLifetime(locks) {}
    }

    @Test func ignoresLeftoverLockFiles() throws {
        let folder = try TemporaryFolder()
        for text in ["1\ninit\n", "999999999\nx\n", "", "\u{FFFD}\n\n\n", "-4\nx\n"] {
            _ = try folder.file(file, text: text)
            #expect(AdapterLock.holder(of: address, in: folder.path) == nil)
            let lock = try AdapterLock(address, for: "new", in: folder.path)
            #expect(AdapterLock.holder(of: address, in: folder.path)?.purpose == "new")
            withExtendedLifetime(lock) {}
        }
        _ = try folder.file("adapter-nonsense.lock", text: "1\nx\n")
        #expect(AdapterLock.holders(in: folder.path).isEmpty)
    }

    /// The kernel releases the lock of a process that was killed; its file stays.
    @Test func lockOfAnotherProcessEndsWithIt() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file(file, [])
        let other = try LockingProcess(path, says: "lobby-south")
        let process = other.number
        let holder = FileLock.Holder(process: process, purpose: "lobby-south")
        #expect(AdapterLock.holder(of: address, in: folder.path) == holder)
        let error = refusal { _ = try AdapterLock(address, for: "second", in: folder.path) }
        #expect(error == .held(address, .send, by: holder))
        other.process.end()
        #expect(try Files.read(path) == Array("\(process)\nlobby-south\n".utf8))
        #expect(AdapterLock.holder(of: address, in: folder.path) == nil)
        let lock = try AdapterLock(address, for: "second", in: folder.path)
        #expect(try Files.read(path).starts(with: "\(getpid())\nsecond\n".utf8))
        withExtendedLifetime(lock) {}
    }

    @Test func refusesALockWhoseHolderIsUnnamed() throws {
        let folder = try TemporaryFolder()
        let lock = try AdapterLock(address, for: "first", in: folder.path)
        #expect(unsafe truncate(folder.place(file), 0) == 0)
        let error = refusal { _ = try AdapterLock(address, for: "second", in: folder.path) }
        #expect(error == .held(address, .send, by: nil))
        #expect(error?.description.contains("is used by another instance") == true)
        withExtendedLifetime(lock) {}
    }

    @Test func reportsPathsThatCannotBeLocked() throws {
        let folder = try TemporaryFolder()
        let missing = folder.place("none")
        let error = refusal { _ = try AdapterLock(address, for: "x", in: missing) }
        #expect(error == .system(SystemError("open", "\(missing)/\(file)", errno: ENOENT)))
        #expect(error?.description == "\(missing)/\(file): open: No such file or directory")
        #expect(AdapterLock.holders(in: missing).isEmpty)
        let link = unsafe symlink("/etc/passwd", folder.place(file))
        try #require(link == 0)
        #expect(
            refusal { _ = try AdapterLock(address, for: "x", in: folder.path) }
                == .system(
                    SystemError(
                        "open", folder.place(file), errno: ELOOP,
                        reason: "this is a symbolic link, which is not followed here")))
    }
}

@Suite struct ProcessIdentityTests {
    @Test func distinguishesProcessesThatReuseAnID() {
        let current = ProcessIdentity.current
        #expect(current.id == getpid() && current.startTicks != nil)
        #expect(current.isRunning)
        #expect(ProcessIdentity(id: current.id, startTicks: nil).isRunning)
        #expect(!ProcessIdentity(id: current.id, startTicks: (current.startTicks ?? 0) + 1).isRunning)
        for id in [Int32(0), -1, .max, .min] { #expect(!ProcessIdentity(id: id, startTicks: nil).isRunning) }
    }
}
