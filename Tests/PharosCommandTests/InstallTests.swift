import Glibc
import LinuxHost
import TestSupport
import Testing

/// `install`, `set` and `remove`, with a script instead of systemctl that starts the service itself.
@Suite struct InstallTests {
    private let folder: TemporaryFolder

    private static let systemctl = """
        #!/bin/sh
        d=${0%/*}
        echo "$*" >> "$d/calls"
        case $1 in
        cat) [ ! -e "$d/no-unit" ] ;;
        is-active) [ -e "$d/pid" ] ;;
        enable)
            [ ! -e "$d/broken" ] || { echo "Failed to enable unit" >&2; exit 1; }
            [ -e "$d/pid" ] || {
                "$PHAROS" run "$d/etc/lobby.json" --adapter virtual --state-dir "$d/state" --runtime-dir "$d/run" \\
                    > "$d/log" 2>&1 &
                echo $! > "$d/pid"
            } ;;
        reload) kill -HUP "$(cat "$d/pid")" ;;
        disable) [ ! -e "$d/pid" ] || { kill "$(cat "$d/pid")"; rm "$d/pid"; } ;;
        *) exit 1 ;;
        esac
        """

    init() throws {
        folder = try TemporaryFolder()
        _ = unsafe chmod(try folder.file("systemctl", text: Self.systemctl + "\n"), 0o755)
        for name in ["run", "state"] { try Files.makeDirectory(folder.place(name)) }
    }

    private func pharos(_ words: String) throws -> Program.Result {
        try Program.shell("cd \"$1\" && PHAROS=\"$0\" PATH=\"$1:$PATH\" exec \"$0\" \(words)", folder.path)
    }

    private var installed: String {
        String(decoding: (try? Files.read(folder.place("etc/lobby.json"))) ?? [], as: UTF8.self)
    }

    @Test func aProfileIsInstalledChangedAndRemoved() throws {
        let places = "--profile-dir etc --runtime-dir run"
        defer { _ = try? pharos("remove lobby --profile-dir etc") }
        let made = try pharos("profile init lobby.json --type eddystone-url --url https://example.org")
        #expect(made.code == 0, "\(made)")
        let first = try pharos("install lobby.json \(places)")
        #expect(first.code == 0, "\(first)")
        #expect(first.output.hasPrefix("lobby: on the air since "))
        #expect(first.output.contains("  eddystone-url: Eddystone-URL https://example.org, -18 dBm at 0 m\n"))
        #expect(try Files.read(folder.place("etc/lobby.json")) == Files.read(folder.place("lobby.json")))
        let calls = String(decoding: try Files.read(folder.place("calls")), as: UTF8.self)
        #expect(calls == "cat pharos@lobby\nis-active --quiet pharos@lobby\nenable --now pharos@lobby\n")

        let changed = try pharos("set lobby url=https://example.org/new intervalMs=1.28s \(places)")
        #expect(changed.code == 0 && changed.output.contains("Eddystone-URL https://example.org/new, "), "\(changed)")
        #expect(
            installed.contains("\"url\": \"https://example.org/new\"") && installed.contains("\"intervalMs\": 1280"))

        let before = installed
        let refused = try pharos("set lobby 'url=https://example.org/my menu' \(places)")
        #expect(
            refused.code == 78 && refused.errors.contains("did you mean https://example.org/my%20menu?"), "\(refused)")
        let unknown = try pharos("set lobby intervallMs=100 \(places)")
        #expect(unknown.code == 64 && unknown.errors.contains("did you mean intervalMs?"), "\(unknown)")
        let form = try pharos("set lobby url \(places)")
        #expect(form.code == 64 && form.errors.contains("url: write KEY=VALUE"), "\(form)")
        let other = try pharos("set loby url=https://example.org \(places)")
        #expect(other.code == 66 && other.errors.contains("did you mean lobby?"), "\(other)")
        let file = try pharos("set lobby.json intervallMs=100 \(places)")
        #expect(file.code == 64 && file.errors.contains("did you mean intervalMs?"), "\(file)")
        #expect(installed == before)

        let removed = try pharos("remove lobby --profile-dir etc")
        #expect(
            removed.code == 0 && removed.output == "lobby is off the air, and etc/lobby.json is removed.\n",
            "\(removed)")
        #expect(installed.isEmpty && !Files.exists(folder.place("pid")))
        #expect(try pharos("remove lobby --profile-dir etc").code == 66)
    }

    @Test func refusesABadProfileAndAMissingKey() throws {
        try folder.file("bad.json", text: "{}")
        let bad = try pharos("install bad.json --profile-dir etc")
        #expect(bad.code == 78 && bad.errors.contains("the key \"name\" is missing"), "\(bad)")
        #expect(try pharos("profile init lobby.json --type eddystone-eid").code == 0)
        let key = try pharos("install lobby.json --profile-dir etc")
        #expect(
            key.code == 66 && key.errors.contains("sudo install -D -o pharos -m 600 lobby.key etc/lobby.key"), "\(key)")
        #expect(!Files.exists(folder.place("etc")) && !Files.exists(folder.place("calls")))
    }

    @Test func writesNothingWithoutTheUnitButRemovesAProfile() throws {
        try folder.file("no-unit", text: "")
        #expect(try pharos("profile init lobby.json --type ibeacon").code == 0)
        let result = try pharos("install lobby.json --profile-dir etc")
        #expect(result.code == 69 && result.errors.contains("install the package pharos, or run `sudo make install`"))
        #expect(!Files.exists(folder.place("etc")))
        try Files.makeDirectory(folder.place("etc"))
        try folder.file("etc/lobby.json", text: "{\n\"version\": 1.\n}")
        let set = try pharos("set lobby minor=12 --profile-dir etc")
        #expect(set.code == 65 && set.errors.hasPrefix("pharos: etc/lobby.json:2:12: "), "\(set)")
        try folder.file("etc/lobby.json", text: "{}")
        let incomplete = try pharos("set lobby minor=12 --profile-dir etc")
        #expect(incomplete.code == 78 && incomplete.errors.hasPrefix("pharos: etc/lobby.json:1:1: "), "\(incomplete)")
        let removed = try pharos("remove lobby --profile-dir etc")
        #expect(removed.code == 0 && !Files.exists(folder.place("etc/lobby.json")), "\(removed)")
    }

    @Test(arguments: [nil, "{\"version\": 1}\n"])
    func aFailedInstallLeavesTheMachineAsItWas(_ earlier: String?) throws {
        try folder.file("broken", text: "")
        #expect(try pharos("profile init lobby.json --type ibeacon").code == 0)
        try Files.makeDirectory(folder.place("etc"))
        if let earlier { try folder.file("etc/lobby.json", text: earlier) }
        let result = try pharos("install lobby.json --profile-dir etc")
        #expect(result.code == 69 && result.errors.contains("Failed to enable unit"), "\(result)")
        #expect(installed == earlier ?? "")
    }

    /// A beacon that a user has started by hand is reported as running.
    @Test func reportsABeaconOutsideSystemd() throws {
        try Files.makeDirectory(folder.place("etc"))
        #expect(try pharos("profile init etc/lobby.json --type ibeacon").code == 0)
        try folder.file(
            "start",
            text: """
                "$PHAROS" run etc/lobby.json --adapter virtual --state-dir state --runtime-dir run > log 2>&1 &
                echo $! > by-hand
                for i in $(seq 600); do grep -q on-air run/lobby.status.json 2> /dev/null && break; sleep 0.1; done
                "$PHAROS" set lobby ibeacon.minor=7 --profile-dir etc --runtime-dir run
                "$PHAROS" remove lobby --profile-dir etc --runtime-dir run
                kill "$(cat by-hand)"

                """)
        let result = try Program.shell("cd \"$1\" && PHAROS=\"$0\" PATH=\"$1:$PATH\" exec sh ./start", folder.path)
        let process = String(decoding: try Files.read(folder.place("by-hand")), as: UTF8.self)
        #expect(result.output.contains("was not started by systemd"), "\(result)")
        #expect(result.output.contains("`kill -HUP \(process.dropLast())`"), "\(result)")
    }

    /// The service starts, but its status is searched in another directory.
    @Test func aBeaconThatDoesNotComeOnTheAirIsReported() throws {
        defer { _ = try? pharos("remove lobby --profile-dir etc") }
        #expect(try pharos("profile init lobby.json --type ibeacon").code == 0)
        let result = try pharos("install lobby.json --profile-dir etc --runtime-dir state --wait-s 0.2s")
        #expect(result.code == 75 && result.errors.contains("not on the air yet; see `systemctl status pharos@lobby`"))
    }

    @Test(arguments: [
        ("start lobby", "`sudo systemctl start pharos@lobby`"), ("stop lobby", "`sudo systemctl stop pharos@lobby`"),
        ("enable", "`sudo systemctl enable --now pharos@NAME`"),
        ("reload lobby", "`sudo systemctl reload pharos@lobby`"),
        ("edit lobby", "`sudo pharos set lobby KEY=VALUE`"),
    ])
    func suggestsTheCommandForAServiceVerb(_ words: String, _ command: String) throws {
        let result = try pharos(words)
        #expect(result.code == 64 && result.errors.contains(command), "\(result)")
    }
}
