import TestSupport
import Testing

/// `pharos scan` as users run it. Tests/Oracles checks its results on recordings against a second model.
@Suite struct ScanTests {
    @Test func helpSaysThatSensorsOfVirtualBeaconsAreSimulated() throws {
        let help = try Program.run("scan", "--help").output
        #expect(help.contains("simulated"), "\(help)")
    }

    private static let identity = "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-2"

    @Test func virtualAdapterReceivesABeacon() throws {
        let result = try Program.run("scan", "--adapter", "virtual", "--duration-s", "1", "--json")
        #expect(result.code == 0)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count > 5)
        #expect(lines.allSatisfy { $0.hasPrefix(#"{"event":"report","at":""#) })
        #expect(lines.allSatisfy { $0.contains("\"identity\":\"\(Self.identity)\"") })
        #expect(lines.allSatisfy { $0.contains(#""adapter":"virtual""#) && $0.contains(#""addressType":"random""#) })
    }

    @Test func aSensorBeaconIsRecognisedByItsAddress() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file(
            "sensor.json",
            text: """
                { "version": 1, "name": "sensor", "address": "F0:01:02:03:04:05", "advertisements": [
                  { "type": "bthome", "values": { "temperature": 21.5 }, "intervalMs": 100 } ] }
                """)
        let result = try Program.run("scan", "--adapter", "virtual", "--known", path, "--duration-s", "1", "--json")
        #expect(result.code == 0 && result.output.contains("\"beacon\":\"sensor\""), "\(result)")
        #expect(
            result.errors.contains("sensor sends no identity, so it is recognised by its address F0:01:02:03:04:05"))
        // The packet has one temperature: the device's own value.
        #expect(result.output.split(separator: "\n").last?.split(separator: "\"temperature\"").count == 2, "\(result)")
    }

    @Test func theFramesOfOneBeaconHaveTheirIdentities() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file(
            "home.json",
            text: """
                { "version": 1, "name": "home", "advertisements": [
                  { "type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": 2,
                    "intervalMs": 100, "measuredPowerDbm": "typical" },
                  { "type": "eddystone-url", "url": "https://example.org/pi", "intervalMs": 100,
                    "measuredPowerDbm": "typical" } ] }
                """)
        let result = try Program.run("scan", "--adapter", "virtual", "--known", path, "--duration-s", "1.5")
        #expect(result.output.contains("home \(Self.identity) "), "\(result)")
        #expect(result.output.contains("home url:https://example.org/pi "), "\(result)")
    }

    @Test("a recording replaces an existing file only on request")
    func recordingsReplaceNoFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("notes.txt", text: "mine")
        let words = ["scan", "--adapter", "virtual", "--duration-s", "1", "--json", "--record"]
        let output = try Program.run(words + ["-"])
        #expect(output.code == 64 && output.errors.contains("--record needs the name of a file"), "\(output)")
        let refused = try Program.run(words + [path])
        #expect(refused.code == 64 && refused.errors.contains("this file exists; choose another name, or use --force"))
        #expect(try Program.shell("cat \"$1\"", path).output == "mine")
        #expect(try Program.run(words + [path, "--force"]).code == 0)
        #expect(try Program.shell("head -c 7 \"$1\"", path).output == "btsnoop")
        let empty = try folder.file("empty.btsnoop", text: "")
        #expect(try Program.run(words + [empty]).code == 0)
        #expect(try Program.run("scan", "--force").code == 64)
    }

    @Test(arguments: [
        ["--ranging"], ["--every-s", "0.01"], ["--replay", "x", "--duration-s", "1"], ["--min-rssi-dbm", "-128"],
        ["--scan-window-ms", "70"], ["--monitor", "lobby"], ["--only", "lobby"], ["--distance-model", "none"],
        ["--path-loss-exponent", "9"], ["--sort", "size"], ["--monitor", Self.identity, "--every-s", "1"],
    ])
    func refusesInvalidOptionsBeforeOpeningAnAdapter(options: [String]) throws {
        let result = try Program.run(["scan", "--adapter", "hci77"] + options)
        #expect(result.code == 64, "\(result.errors)")
        #expect(result.output.isEmpty)
    }

    @Test func endsAtOnceIfTheAdapterIsMissing() throws {
        let result = try Program.run("scan", "--adapter", "unix:/nowhere/at/all", "--json")
        #expect(result.code == 69)
        #expect(result.errors.hasPrefix("pharos: unix:/nowhere/at/all: "))
        #expect(result.output.isEmpty)
    }

    @Test func auditRefusesAnAdapterThatDropsRepeats() throws {
        let folder = try TemporaryFolder()
        let profile = try folder.file("lobby.json", Array(Self.profile.utf8))
        let result = try Program.run("audit", profile, "--adapter", "hci3:mgmt")
        #expect(result.code == 64)
        #expect(result.errors.contains("The kernel drops repeated reports on hci3:mgmt, so none can be counted"))
    }

    @Test(arguments: [["calibrate", "--strongest"], ["find", Self.identity]])
    func calibrateAndFindRefuseAnAdapterThatDropsRepeats(command: [String]) throws {
        let result = try Program.run(command + ["--adapter", "hci3:mgmt"])
        #expect(result.code == 64)
        #expect(result.errors.contains("The kernel drops repeated reports on hci3:mgmt, so levels cannot be averaged"))
    }

    @Test func distancesOfACalibrationMayHaveAUnit() throws {
        let command = ["calibrate", "--strongest", "--distance-m"]
        let equal = try Program.run(command + ["2", "--distance-m", "2 m"])
        #expect(equal.code == 64 && equal.errors.contains("The same --distance-m is given twice."), "\(equal.errors)")
        let far = try Program.run(command + ["101m"])
        #expect(far.code == 64 && far.errors.contains("101m is out of range 0.1...100 m"), "\(far.errors)")
    }

    /// The kernel reports a beacon once, so it would seem to leave at the end of the first silence.
    @Test func monitorRefusesAnAdapterThatDropsRepeats() throws {
        let result = try Program.run("scan", "--monitor", Self.identity, "--adapter", "hci3:mgmt")
        #expect(result.code == 64)
        #expect(result.errors.contains("The kernel drops repeated reports on hci3:mgmt, so no exit can be detected"))
    }

    private static let profile = """
        {"version": 1, "name": "lobby", "advertisements": [
        {"type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": 2,
        "intervalMs": 100, "measuredPowerDbm": -59}]}
        """

    @Test(arguments: [["--replay", "/dev/null"], ["--adapter", "unix:/nowhere/at/all"]])
    func printsNothingIfTheSourceCannotBeRead(source: [String]) throws {
        let result = try Program.run(["scan"] + source)
        #expect(result.code == (source[0] == "--replay" ? 65 : 69))
        #expect(result.output.isEmpty)
    }
}
