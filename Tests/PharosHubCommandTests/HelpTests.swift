import TestSupport
import Testing

@testable import pharos_hub

/// Help, versions and wrong arguments of all commands.
@Suite struct HelpTests {
    static let commands = [
        "", "collect", "collect check", "collect init", "collect run", "crowd", "find", "history", "inventory",
        "inventory add",
        "inventory check", "inventory edit",
        "inventory finish", "inventory list", "inventory map", "inventory new", "inventory remove", "inventory report",
        "inventory show", "inventory start", "listen", "listen check", "listen init", "listen run", "locate", "map",
        "proxy", "where", "zones", "zones check", "zones init", "zones run",
    ]

    @Test(arguments: commands)
    func everyCommandHasHelp(_ command: String) throws {
        let result = try HubProgram.run(command.split(separator: " ").map(String.init) + ["--help"])
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(result.output.hasPrefix("OVERVIEW: "))
        #expect(result.output.contains("USAGE: pharos" + (command.isEmpty ? "" : " " + command)))
    }

    @Test func theVersionIsANumber() throws {
        let result = try HubProgram.run("--version")
        #expect(result.code == 0 && result.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
    }

    @Test(arguments: ["collect", "inventory", "listen"])
    func schemasArePrinted(_ command: String) throws {
        let result = try HubProgram.run(command, "--schema")
        #expect(result.code == 0 && result.output.hasPrefix("{\n  \"$schema\": \"https://json-schema.org/"))
    }

    @Test(
        arguments: [
            ("collectt", "did you mean `pharos collect`?"), ("collect", "Name a collector file."),
            ("collect a.json --state-file b --runtime-dir c", "--runtime-dir cannot be used with it"),
            ("collect a.json --from west=- --from east=-", "Standard input can be read only once."),
            ("collect a.json --from west=", "--from west=: the file is missing."),
            ("collect a.json --every-s 0", "--every-s"),
            ("crowd", "Give the number of --identities, or a file with beacons."),
            ("crowd a.json --identities 3", "Give --identities or files, not both"),
            ("crowd a.json --format uid", "are for generated identities"),
            ("crowd --identities 0", "0 is out of range 1...100000"),
            ("crowd --identities 3 --format eid", "use ibeacon, altbeacon, uid"),
            ("crowd --identities 3 --format uid --uuid fb0b57a2-8228-44cd-913a-94a122ba1206", "has a --namespace"),
            ("crowd --identities 3 --namespace 00112233445566778899", "--namespace needs --format uid."),
            ("crowd --identities 3 --dwell-ms 0", "write milliseconds such as 500"),
            ("crowd --identities 3 --scanner phone", "use one of android-low-power"),
            ("crowd --identities 3 --scan-window-ms 30", "belong together"),
            ("crowd --identities 3 --scan-window-ms 60 --scan-interval-ms 30", "is longer than --scan-interval-ms"),
            ("crowd --identities 3 --adapter hci0:mgmt", "the kernel chooses the addresses"),
            ("proxy --listen 127.0.0.1:16053", "use tcp:HOST:PORT or unix:PATH; did you mean tcp:127.0.0.1:16053?"),
            ("proxy --listen vhci", "use tcp:HOST:PORT or unix:PATH"),
            ("map record a.jsonl --duration-s 9", "Unknown option '--duration-s'. Did you mean '--seconds'?"),
            ("zones a.json --seconds 9", "Unknown option '--seconds'. Did you mean '--duration-s'?"),
            ("history", "Missing expected argument"),
            ("history a --csv --json", "Give either --csv or --json."),
            ("history a --from 2026-02-01 --to 2026-01-01", "--from is later than --to."),
            ("history a --from tomorrow", "is not a time: write today, yesterday, today 10:00"),
            ("history a --totals --heard", "Give either --totals or --heard."),
            ("collect init a.json", "Give at least one --receiver NAME"),
            ("zones init a.json", "Give at least one --beacon NAME=IDENTITY"),
            ("zones init a.json --known fleet.json", "--known does not say which of its beacons are in the zone"),
            ("zones init a.json --beacon k=name:K --within-m 1,5", "did you mean 1.5?"),
            ("zones init a.json --beacon k=name:K --within-m 150cm", "write a number, such as 2.5 or 2.5 m"),
            ("zones init a.json --beacon k=name:K --within-m 1e300", "is out of range 0.01...1000"),
            ("zones init a.json --beacon k=name:K --site Büro", "is not a valid name: use at most 64 letters"),
            ("inventory start a.json --within-m 2km", "write a number, such as 2.5 or 2.5 m"),
            ("listen init a.json --beacon key=foo", "an identity begins with its kind"),
            ("history a --history b.db --state-dir c", "--state-dir cannot be used with it"),
            ("where --state-file a --runtime-dir b", "--runtime-dir cannot be used with it"),
            ("listen", "Give a listener file"), ("listen a.json --replay b", "--replay needs --print"),
            ("zones a.json --replay b --duration-s 5", "--replay reads a file"),
            ("inventory ad", "did you mean `pharos inventory add`?"),
            ("inventory add a.json", "Give the item a --name."),
            ("inventory add a.json --name b", "Give the --beacon on the item"),
            ("inventory edit a.json b", "Give at least one of --name"),
            ("inventory start a.json --capacity 9", "--capacity needs --rule shared-queue."),
            ("inventory start a.json --within-m 0", "out of range 0.1...100"),
            ("rehearse a.json --capture-db 12m", "write a number, such as 2.5 or 2.5 dB"),
            ("rehearse a.json --capture-db 41dB", "41dB is out of range 0...40 dB"),
            ("rehearse a.json --scanner-phy 3M", "use 1M or coded"),
            ("rehearse a.json --play-s 2h", "2h is out of range 1...3600 s"),
            ("rehearse a.json --play-from-s soon", "or with a unit: 15s, 1.5 min, 2 h"),
            ("map simulate a.json --output b --every-m 0.1m", "0.1m is out of range 0.5...100 m"),
            ("map simulate a.json --output b --days 31d", "31 is out of range 1...30"),
            ("map fit a.jsonl --output b --grid-m 5s", "write a number, such as 2.5 or 2.5 m"),
            ("map fit a.jsonl --output b --receiver-offset 41dB", "41dB is out of range -40...40 dB"),
        ])
    func wrongArgumentsAreRefused(_ line: String, message: String) throws {
        let result = try HubProgram.run(line.split(separator: " ").map(String.init))
        #expect(result.code == 64 && result.output.isEmpty)
        #expect(result.errors.hasPrefix("pharos: ") && result.errors.contains(message), "\(result.errors)")
    }

    @Test(arguments: [
        "collect missing.json", "history a --history missing.db", "history a --state-dir missing", "zones missing.json",
        "where --state-file missing.json", "where --runtime-dir missing", "listen missing.json --print",
        "listen check missing.json", "zones check missing.json", "collect check missing.json",
        "inventory list missing.json", "inventory start missing.json", "inventory report missing.json",
        // The values have units.
        "inventory start missing.json --within-m 2m",
        "rehearse missing.json --capture-db 12dB --play-from-s 1.5min --play-s 30s --hours 2h",
        "map simulate missing.json --output - --every-m 2m --seconds 1min --days 3d",
        "map fit missing.jsonl --output - --grid-m 0.5m --window-s 3s --receiver-offset 4dB --absent -100dBm",
        "map evaluate missing.json missing.jsonl --floor-penalty-m 10m",
    ])
    func aMissingFileIsReported(_ line: String) throws {
        let result = try HubProgram.run(line.split(separator: " ").map(String.init))
        #expect(result.code == 66 && result.output.isEmpty)
        #expect(result.errors.contains("missing"), "\(result.errors)")
    }

    @Test(arguments: ["collect", "zones", "where --state-file", "inventory list", "listen --print"])
    func aFileThatIsNotJSONIsReported(_ command: String) throws {
        let files = try HubFolder()
        let path = try files.folder.file("broken.json", Array("{".utf8))
        let result = try HubProgram.run(command.split(separator: " ").map(String.init) + [path])
        #expect(result.code == 65 && result.output.isEmpty && result.errors.contains("broken.json"))
    }
}
