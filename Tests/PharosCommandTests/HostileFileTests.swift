import BluetoothTypes
import Glibc
import LinuxHost
import TestSupport
import Testing

/// Files that other users put next to the program's files, or in their places.
@Suite struct HostileFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs the program, and ends it after 10 s if it hangs.
    private func bounded(_ arguments: String...) throws -> Program.Result {
        let words = arguments.map { "'\($0)'" }.joined(separator: " ")
        return try Program.shell("exec timeout 10 \"$0\" \(words)")
    }

    private func plantPipe(_ name: String) throws -> String {
        let path = folder.place(name)
        try #require(unsafe mkfifo(path, 0o666) == 0)
        return path
    }

    @Test func aNamedPipeDoesNotHangStatus() throws {
        let pipe = try plantPipe("x.status.json")
        let result = try bounded("status", "--runtime-dir", folder.path)
        #expect(result.code == 66)
        #expect(result.errors.contains("\(pipe): it cannot be read: this is a named pipe, not a regular file"))
    }

    /// A status file's contents and name must not control the terminal of the user who reads it.
    @Test func statusFilesDoNotControlTheTerminal() throws {
        try folder.file(
            "x.status.json",
            text:
                #"{"name":"lob\u001b[2Jby","adapter":"hci0\n\u202e","state":"off","lastError":"a\u009bb\nbeacon: on","#
                + #""advertisements":[],"rearms":{}}"#)
        try folder.file("\u{1B}[31m.status.json", text: "{")
        let result = try Program.run(["status", "--runtime-dir", folder.path])
        #expect(result.output.hasPrefix("lob\\u001b[2Jby: off, hci0\\u000a\\u202e"))
        #expect(result.output.contains("  last error: a\\u009bb\\u000abeacon: on\n"))
        #expect(!(result.output + result.errors).unicodeScalars.contains("\u{1B}"))
        #expect(result.errors.contains("\\u001b[31m.status.json: it is not a status file"))
    }

    @Test func aNamedPipeInTheProfilesPlaceDoesNotHangAReload() throws {
        let box = try ServiceTestBox()
        try box.start()
        #expect(box.says("on the air:"))
        let path = box.folder.place("profile")
        try Files.remove(path)
        try #require(unsafe mkfifo(path, 0o666) == 0)
        box.service?.signal(SIGHUP)
        #expect(
            box.says("reload refused, the old profile stays in use: \(path): this is a named pipe, not a regular file"))
        #expect(box.stop()?.code == 0)
    }

    @Test func refusesANamedPipeAsAKey() throws {
        let box = try ServiceTestBox(ServiceTestBox.ephemeral)
        try #require(unsafe mkfifo(box.folder.place("eid.key"), 0o600) == 0)
        let result = try bounded("advertise", box.folder.place("profile"), "--adapter", "virtual", "--duration-s", "1")
        #expect(result.code == 66)
        #expect(result.errors.contains("eid.key: this is a named pipe, not a regular file"))
    }

    /// The shell's `<(command)` is a pipe that the user has named.
    @Test func pipesOnTheCommandLineAreRead() throws {
        let result = try Program.shell(
            "exec bash -c '\"$0\" decode --json <(printf 02011A1AFF4C000215F7826DA64FA24E988024BC5B71E0893E00AA00BBB3)' \"$0\""
        )
        #expect(result.code == 0 && result.output.contains("187"))
    }

    @Test(.enabled(if: geteuid() == 0, "needs another user"))
    func theKeyOfAnotherUserIsRefused() throws {
        let box = try ServiceTestBox(ServiceTestBox.ephemeral)
        try box.writeKey()
        let key = box.folder.place("eid.key")
        try #require(unsafe chmod(box.folder.path, 0o777) == 0 && chown(key, 65_534, 65_534) == 0)
        let result = try bounded("advertise", box.folder.place("profile"), "--adapter", "virtual", "--duration-s", "1")
        #expect(result.code == 78)
        #expect(
            result.errors.contains(
                "eid.key: this identity key belongs to user 65534, who can read it; make a new one as this user or root, "
                    + "or change its owner with `chown`"))
    }

    /// A user who may not open the lock of an adapter still sees its holder, although /proc hides the process.
    @Test(.enabled(if: geteuid() == 0 && Files.exists("/usr/bin/setpriv"), "needs another user"))
    func otherUsersSeeTheHolderOfAnAdapter() throws {
        try #require(unsafe chmod(folder.path, 0o755) == 0)
        let address = try #require(DeviceAddress("DC:A6:32:01:02:03"))
        let lock = try AdapterLock(LockedAdapter(address), for: "lobby", in: folder.path)
        try folder.file(
            "lobby.status.json",
            text: #"{"name":"lobby","adapter":"hci0","state":"on-air","advertisements":[],"rearms":{}}"#)
        let result = try Program.shell(
            "exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$0\" status --runtime-dir \"$1\"", folder.path)
        #expect(result.output.hasPrefix("lobby: on the air") && result.code == 0)
        withExtendedLifetime(lock) {}
    }
}
