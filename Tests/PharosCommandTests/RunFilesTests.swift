import Glibc
import LinuxHost
import TestSupport
import Testing

/// The files that the service writes, and its operation without them.
@Suite struct RunFilesTests {
    @Test func metricsFileHasTheStatus() throws {
        let box = try ServiceTestBox()
        try box.start(["--metrics-file", box.folder.place("other.prom")])
        #expect(eventually { box.text("other.prom").contains("pharos_on_air{profile=\"lobby\"} 1\n") })
        let metrics = box.text("other.prom")
        for line in [
            "pharos_interval_seconds{profile=\"lobby\",frame=\"ibeacon\"} 0.1\n",
            "pharos_radio_power_dbm{profile=\"lobby\",frame=\"ibeacon\"} 12\n",
            "pharos_events_counted{profile=\"lobby\",frame=\"ibeacon\"} 0\n",
            "pharos_events_total{profile=\"lobby\",frame=\"ibeacon\"} ",
            "pharos_last_verified_timestamp_seconds{profile=\"lobby\"} ", "adapter=\"virtual\"", "controller=\"Core ",
        ] { #expect(metrics.contains(line), "\(line)") }
        #expect(!box.files.contains("lobby.prom"))
        #expect(box.stop()?.code == 0)
        #expect(box.text("other.prom").contains("pharos_on_air{profile=\"lobby\"} 0\n"))
    }

    @Test func statusIsOffAfterTheEnd() throws {
        let box = try ServiceTestBox()
        try box.start()
        #expect(eventually { box.text("lobby.status.json").contains("\"state\":\"on-air\"") })
        #expect(box.stop()?.code == 0)
        #expect(box.text("lobby.status.json").contains("\"state\":\"off\""))
        // No temporary file of the replacement remains.
        #expect(box.files == ["lobby.prom", "lobby.status.json", "profile"])
    }

    @Test func staysOnTheAirIfFilesCannotBeWritten() throws {
        let box = try ServiceTestBox()
        let nowhere = box.folder.place("profile/no")
        try box.start(state: nowhere, runtime: nowhere)
        #expect(box.says("on the air:"))
        #expect(box.says("the file is out of date until it can be written; the beacon stays on the air"))
        #expect(box.stop()?.code == 0)
    }

    @Test func aMissingRuntimeDirectoryIsMade() throws {
        let box = try ServiceTestBox()
        try box.start(runtime: box.folder.place("run/pharos"))
        #expect(box.says("on the air:"))
        #expect(box.stop()?.code == 0)
        #expect(box.text("run/pharos/lobby.status.json").contains("\"state\":\"off\""))
    }

    @Test func reportsADirectoryThatCannotBeMade() throws {
        let box = try ServiceTestBox()
        try box.start(adapter: "unix:\(box.socket)", runtime: box.folder.place("profile/no"))
        #expect(box.says("create the directory, or choose another one with --runtime-dir"))
        #expect(box.says("the file is out of date until it can be written"))
        #expect(box.stop()?.code == 0)
        // No message claims that the beacon stays on the air, because it never was.
        #expect(box.count("stays on the air") == 0)
    }

    /// Two instances with one name would overwrite each other's status.
    @Test func aNameRunsOnce() throws {
        let box = try ServiceTestBox()
        let first = try box.start()
        #expect(box.says("on the air:"))
        let second = try box.start().end()
        #expect(second.code == 69)
        #expect(second.errors.contains("the beacon \"lobby\" is already running (process "))
        #expect(try box.status().contains("\"state\":\"on-air\""))
        first.signal(SIGTERM)
        #expect(first.end().code == 0)
        try box.start()
        #expect(box.says("on the air:"))
        #expect(box.stop()?.code == 0)
    }

    /// Root may write everywhere, so the service runs as another user.
    @Test(.enabled(if: geteuid() == 0 && Files.exists("/usr/bin/setpriv")))
    func staysOnTheAirWithAReadOnlyStateFolder() throws {
        let box = try ServiceTestBox(ServiceTestBox.ephemeral)
        let user: uid_t = 65_534
        try box.writeKey()
        let state = box.folder.place("state")
        _ = unsafe mkdir(state, 0o555)
        for path in [box.folder.path, box.folder.place("profile"), box.folder.place("eid.key")] {
            _ = unsafe chown(path, user, user)
        }
        try box.start(
            shell: "exec setpriv --reuid=\(user) --regid=\(user) --clear-groups \"$0\" \"$@\"", state: state)
        #expect(box.says("on the air:"))
        #expect(box.says("the clock of ephemeral ids will be lost at a restart; the beacon stays on the air"))
        #expect(try box.status().contains("\"state\":\"on-air\""))
        // When the directory is writable again, the service writes the state.
        _ = unsafe chmod(state, 0o777)
        #expect(box.stop()?.code == 0)
        #expect(box.count("state/lobby.state.json can be written again") == 1)
        #expect(box.text("state/lobby.state.json").contains("\"turns\""))
    }

    private static let canMount = (try? Program.shell("unshare -rm mount -t tmpfs none /mnt").code) == 0

    /// A file of 4 KiB fills the file system of 4 KiB.
    @Test(.enabled(if: canMount))
    func staysOnTheAirWithAFullDisk() throws {
        let box = try ServiceTestBox(ServiceTestBox.ephemeral)
        try box.writeKey()
        let state = box.folder.place("state")
        _ = unsafe mkdir(state, 0o755)
        let script = """
            exec unshare -rm sh -c 'mount -t tmpfs -o size=4k none \(state) && head -c 4096 /dev/zero >\(state)/ballast
            exec "$0" "$@"' "$0" "$@"
            """
        try box.start(shell: script, state: state)
        #expect(box.says("on the air:"))
        #expect(box.says("the clock of ephemeral ids will be lost at a restart; the beacon stays on the air"))
        #expect(box.count("No space left on device") == 1)
        #expect(try box.status().contains("\"state\":\"on-air\""))
        #expect(box.stop()?.code == 0)
    }
}
