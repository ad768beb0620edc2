import TestSupport
import Testing

@Suite struct ProfileCommandTests {
    private static let good = """
        {
          "version": 1,
          "name": "test",
          "adapter": "virtual",
          "address": "C0:11:22:33:44:55",
          "calibration": { "12": -47, "default": -59 },
          "advertisements": [
            { "type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": 2, "intervalMs": 100 }
          ]
        }

        """

    private func file(_ folder: TemporaryFolder, _ text: String, _ name: String = "test.json") throws -> String {
        try folder.file(name, Array(text.utf8))
    }

    @Test func checkAcceptsAGoodProfile() throws {
        let folder = try TemporaryFolder()
        let path = try file(folder, Self.good)
        #expect(
            try Program.run("profile", "check", path)
                == Program.Result(output: "\(path): good\n", errors: "", code: 0))
        #expect(
            try Program.run("profile", "check", path, "--json")
                == Program.Result(
                    output: "{\"files\":[{\"file\":\"\(path)\",\"good\":true,\"problems\":[]}]}\n", errors: "", code: 0)
        )
        #expect(try Program.run(["profile", "check", "-"], input: Self.good).output == "standard input: good\n")
    }

    @Test func aMissingKeyFileIsAWarning() throws {
        let folder = try TemporaryFolder()
        let path = try file(
            folder,
            """
            {
              "version": 1, "name": "test",
              "advertisements": [{
                "type": "eddystone-eid", "identityKeyFile": "test.key", "rotationExponent": 10, "intervalMs": 1000,
                "measuredPower1mDbm": -59
              }]
            }
            """)
        let result = try Program.run("profile", "check", path)
        #expect(result.code == 0 && result.output == "\(path): good\n")
        let key = path.replacing("test.json", with: "test.key")
        #expect(
            result.errors == "pharos: warning: \(path): advertisements[0]: \(key): there is no such file; write the "
                + "identity key there: 32 hexadecimal digits, in a file that only its owner can read\n")
    }

    @Test func showIsIdempotent() throws {
        let folder = try TemporaryFolder()
        let shown = try Program.run("profile", "show", try file(folder, Self.good))
        #expect(shown.code == 0 && shown.errors.isEmpty)
        #expect(
            shown.output.contains("  \"pdu\": \"nonconnectable\",\n") && shown.output.contains("\"flags\": \"0x06\""))
        let again = try Program.run(["profile", "show", "-"], input: shown.output)
        #expect(again == shown)
    }

    @Test func reportsEveryProblemWithItsPosition() throws {
        let folder = try TemporaryFolder()
        let text = Self.good
            .replacing("\"major\": 1", with: "\"major\": 70000").replacing("\"minor\"", with: "\"mynor\"")
        let bad = try file(folder, text, "bad.json")
        let good = try file(folder, Self.good)
        let result = try Program.run("profile", "check", bad, good)
        #expect(result.code == 1 && result.errors.isEmpty)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(
            lines == [
                "\(bad):3:11: warning: name: the profile's name is \"test\" and the file's is \"bad\": status, state "
                    + "and logs use the profile's name; give both the same name",
                "\(bad):8:5: advertisements[0]: the key \"minor\" is missing: minor number: one beacon of the group, "
                    + "0...65535",
                "\(bad):8:83: advertisements[0].major: 70000 is out of range 0...65535",
                "\(bad):8:90: advertisements[0].mynor: the key \"mynor\" is not known; did you mean \"minor\"?",
                "\(good): good",
            ])
        for command in [["advertise", bad], ["profile", "show", bad]] {
            let refusal = try Program.run(command)
            #expect(refusal.code == 78 && refusal.output.isEmpty)
            // Only `profile check` prints the warning.
            #expect(refusal.errors == lines.dropFirst().dropLast().map { "pharos: \($0)\n" }.joined())
        }
    }

    @Test func brokenJSONIsMalformedInput() throws {
        let folder = try TemporaryFolder()
        let path = try file(folder, "{ \"version\": 1, }\n")
        let check = try Program.run("profile", "check", path)
        #expect(check.code == 1 && check.output.contains("\(path):1:15: "))
        let advertise = try Program.run("advertise", path)
        #expect(advertise.code == 65)
        #expect(advertise.errors == check.output.split(separator: "\n").map { "pharos: \($0)\n" }.joined())
        #expect(try Program.run("profile", "show", path).code == 65)
    }

    @Test func oneMissingFileDoesNotHideTheOthers() throws {
        let folder = try TemporaryFolder()
        let path = try file(folder, Self.good)
        let missing = folder.place("missing.json")
        let result = try Program.run("profile", "check", missing, path)
        #expect(result.code == 66)
        #expect(result.output == "\(path): good\n")
        #expect(result.errors == "pharos: \(missing): there is no such file\n")
    }

    @Test func schemaIsJSON() throws {
        let schema = try Program.run("profile", "schema")
        #expect(schema.code == 0 && schema.errors.isEmpty)
        #expect(schema.output.hasPrefix("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"))
        // The schema is valid JSON; as a profile it lacks all required keys.
        let check = try Program.run(["profile", "check", "-"], input: schema.output)
        #expect(check.output.contains("the key \"version\" is missing"))
    }

    @Test func profileIsAdvertisedWithItsCalibration() throws {
        let folder = try TemporaryFolder()
        let path = try file(folder, Self.good)
        for command in [["advertise", path], ["advertise", "profile", path]] {
            let result = try Program.run(command + ["--json", "--duration-s", "0.2"])
            #expect(result.code == 0 && result.errors.isEmpty)
            // The virtual Raspberry Pi sends with 12 dBm, for which the profile gives -47 (D1) at 1 m.
            #expect(
                result.output.contains(
                    "\"octets\":\"0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002d1\""))
            #expect(result.output.hasPrefix("{\"event\":\"on-air\",\"name\":\"test\",\"adapter\":\"virtual\","))
        }
    }

    @Test func allAdvertisementsAreSentUnlessOneIsChosen() throws {
        let folder = try TemporaryFolder()
        let second = "    , { \"type\": \"eddystone-tlm\", \"intervalMs\": 1000 }\n  ]"
        let path = try file(folder, Self.good.replacing("  ]", with: second))
        let all = try Program.run("advertise", path, "--json", "--duration-s", "0.1")
        #expect(all.code == 0)
        #expect(all.output.hasPrefix("{\"event\":\"on-air\",\"name\":\"test\",\"adapter\":\"virtual\",\"family\":"))
        #expect(all.output.contains("\"advertisements\":[{\"address\":"))
        #expect(all.output.contains("\"type\":\"ibeacon\"") && all.output.contains("\"type\":\"eddystone-tlm\""))
        #expect(all.output.contains("\"sharedBy\":2"))
        let chosen = try Program.run("advertise", path, "--advertisement", "2", "--json", "--duration-s", "0.1")
        #expect(chosen.code == 0 && chosen.output.contains("\"type\":\"eddystone-tlm\""))
        #expect(!chosen.output.contains("ibeacon"))
        for number in ["0", "3", "9223372036854775807", "-9223372036854775808"] {
            #expect(try Program.run("advertise", path, "--advertisement=\(number)").code == 64)
        }
    }

    /// A profile that this controller cannot send is refused before any command is sent.
    @Test func refusesAMixThatTheControllerCannotSend() throws {
        let folder = try TemporaryFolder()
        let second = "    , { \"type\": \"eddystone-tlm\", \"intervalMs\": 137.5 }\n  ]"
        let path = try file(folder, Self.good.replacing("  ]", with: second))
        let result = try Program.run("advertise", path, "--like", "core-4")
        #expect(result.code == 78 && result.output.isEmpty)
        #expect(result.errors.contains(" events/s; this controller gives 9.5 at 100 ms: choose longer intervals"))
    }

    @Test func liveViewHasALineForEachAdvertisement() throws {
        for (model, sharing) in [("raspberry-pi", "1 shared"), ("intel", "4 own")] {
            let result = try Program.run(
                "advertise", Program.profile("lobby-north"), "--adapter", "virtual", "--like", model, "--duration-s",
                "0.3")
            #expect(result.code == 0)
            let lines = result.output.split(separator: "\n").map(String.init)
            for (interval, payload) in [
                ("200", "iBeacon fb0b57a2-"), ("350", "Eddystone-UID 8b0c"),
                ("700", "Eddystone-URL https://example.org/n2"),
                ("5000", "Eddystone-TLM "),
            ] {
                #expect(lines.contains { $0.contains(" \(interval) ") && $0.contains("  \(payload)") }, "\(payload)")
            }
            #expect(lines.contains { $0.contains(sharing) && $0.contains("Eddystone-TLM") })
        }
    }
}
