import BeaconFrames
import BluetoothTypes
import Configuration
import Profiles
import TestSupport
import Testing

@Suite("Beacon profiles")
struct BeaconProfileTests {
    private static let boxAddress = DeviceAddress("F0:01:02:03:04:05")

    private func profile(_ text: String) throws -> BeaconProfile {
        let (profile, problems) = BeaconProfile.decode(Array(text.utf8))
        return try #require(profile, "\(problems)")
    }

    private func advertisements(_ profile: BeaconProfile) throws -> [Advertisement] {
        let address = try #require(Self.boxAddress)
        return try profile.advertisements { name in
            #expect(name == profile.name)
            return address
        }
    }

    @Test("every problem is reported in file order with line, column and path")
    func reportsEverything() {
        let text = """
            {
              "version": 2,
              "name": "lobby north",
              "advertisments": [],
              "radioPowerDbm": 21,
              "advertisements": [
                { "type": "ibeacon", "uuid": "00", "major": 70000, "minor": 1, "intervalMs": 5,
                  "measuredPowerDbm": -59, "colour": "red", },
                { "type": "eddystone-url", "url": "https://example.org/eighteen-octets", "intervalMs": 100 }
              ]
            }
            """
        let problems = BeaconProfile.decode(Array(text.utf8)).problems.map { $0.text(file: "p.json") }
        let expected = [
            "p.json:2:14: version: version 2 of the format is not known",
            "p.json:3:11: name: \"lobby north\" is not a valid name",
            "p.json:4:3: advertisments: the key \"advertisments\" is not known; did you mean \"advertisements\"?",
            "p.json:5:20: radioPowerDbm: 21 is out of range -127...20 dBm",
            "p.json:7:34: advertisements[0].uuid: 1 byte where 16 are needed",
            "p.json:7:49: advertisements[0].major: 70000 is out of range 0...65535",
            "p.json:7:82: advertisements[0].intervalMs: 5 is out of range 20...10485759.375 ms",
            "p.json:8:32: advertisements[0].colour: the key \"colour\" is not known; known here: type,",
            "p.json:8:47: advertisements[0]: remove the comma after the last item",
            "p.json:9:5: advertisements[1]: the measured power is missing",
            "p.json:9:39: advertisements[1].url: the URL takes 23 bytes after its scheme, 6 more than the 17",
        ]
        #expect(problems.count == expected.count, "\(problems)")
        for (problem, start) in zip(problems, expected) { #expect(problem.hasPrefix(start)) }
    }

    @Test("of many unknown keys the first hundred are listed and the rest are counted")
    func countsUnknownKeys() {
        let keys = (0..<10_000).map { "\"k\($0)\":1" }.joined(separator: ",")
        let problems = BeaconProfile.decode(Array("{\"version\":1,\(keys)}".utf8)).problems.map(\.message)
        #expect(problems.filter { $0.hasPrefix("the key \"k") }.count == 100)
        #expect(problems.contains("9900 more keys here are not known"))
    }

    @Test(
        "a mistyped key gets the nearest key as a suggestion",
        arguments: [
            ("majr", "did you mean \"major\"?"), ("intervalMS", "did you mean \"intervalMs\"?"),
            ("interval", "did you mean \"intervalMs\"?"),
            ("txPower", "\"radioPowerDbm\" is the transmit power"),
            ("namespace", "it belongs to eddystone-uid, not to ibeacon"), ("name", "it belongs to the profile itself"),
            ("zzzzzzzz", "known here: type, uuid, major"), ("channel", "did you mean \"channels\"?"),
        ])
    func suggests(_ key: String, _ advice: String) {
        let text = """
            { "version": 1, "name": "a", "advertisements": [{ "type": "ibeacon", "\(key)": 1, "major": 1, "minor": 2,
            "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "intervalMs": 100, "measuredPowerDbm": -59 }] }
            """
        let problems = BeaconProfile.decode(Array(text.utf8)).problems
        #expect(problems.count == 1)
        #expect(problems.first?.message.contains("not known; " + advice) == true, "\(problems)")
        #expect(problems.first?.position == JSONPosition(line: 1, column: 70))
    }

    @Test(
        "intervals are rounded half up to 0.625 ms, and the given value is kept",
        arguments: [
            ("100", 160, 100_000), ("152.5", 244, 152_500), ("100.3125", 161, 100_313), ("100.3124", 160, 100_312),
            ("1e3", 1600, 1_000_000), ("10485759.375", 0xFF_FFFF, 10_485_759_375), ("20.0", 32, 20_000),
        ])
    func roundsIntervals(_ text: String, _ units: UInt32, _ microseconds: Int) throws {
        let profile = try profile(
            "{\"version\":1,\"name\":\"a\",\"advertisements\":[{\"type\":\"eddystone-tlm\",\"intervalMs\":\(text)}]}")
        #expect(profile.advertisements.first?.interval.rawValue == units)
        #expect(profile.advertisements.first?.requestedMicroseconds == microseconds)
    }

    @Test("values that an advertisement does not override come from the profile")
    func inherits() throws {
        let profile = try profile(
            """
            { "version": 1, "name": "mix", "address": "public", "radioPowerDbm": 4, "channels": [37, 39],
              "calibration": { "4": -55, "0": -59, "default": -60 },
              "advertisements": [
                { "type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": "000000000002",
                  "intervalMs": 350 },
                { "type": "eddystone-tlm", "intervalMs": 5000, "radioPowerDbm": 0, "channels": [38],
                  "pdu": "nonconnectable", "address": "random-static", "battery": null, "temperature": "hwmon:hwmon0" },
                { "type": "ibeacon", "uuid": "fb0b57a2822844cd913a94a122ba1206", "major": 1, "minor": 2,
                  "intervalMs": 100, "measuredPowerDbm": "typical", "address": "c1:00:00:00:00:01" }
              ],
              "scanResponse": { "localName": "Mix" } }
            """)
        let wanted = try advertisements(profile)
        try #require(wanted.count == 3)
        #expect(wanted[0].address == .public)
        #expect(wanted[0].radioPower?.dBm == 4)
        #expect(wanted[0].channels == [.channel37, .channel39])
        #expect(wanted[0].pdu == .scannable)
        #expect(wanted[0].scanResponse.octets == [4, 9] + Array("Mix".utf8))
        #expect(try wanted[0].measuredPower.atZeroMeters(radioPower: RadioPower(dBm: 2)).dBm == -57 + 41)
        #expect(try wanted[0].measuredPower.atZeroMeters(radioPower: nil).dBm == -60 + 41)
        let boxAddress = try #require(Self.boxAddress)
        #expect(wanted[1].address == .staticRandom(boxAddress))
        #expect(wanted[1].radioPower?.dBm == 0)
        #expect(wanted[1].channels == .channel38)
        #expect(wanted[1].pdu == .nonconnectable)
        #expect(wanted[1].scanResponse.octets == [])
        #expect(wanted[1].measuredPower == .none)
        #expect(
            wanted[1].content
                == .eddystoneTLM(.init(battery: .unknown, temperature: .sensor("hwmon:hwmon0")), encryption: nil))
        #expect(wanted[2].address == DeviceAddress("C1:00:00:00:00:01").map { .staticRandom($0) })
        #expect(wanted[2].measuredPower == .atOneMeter(BeaconProfile.typicalMeasuredPower))
    }

    @Test("an EID and its telemetry use the machine's own address, even if the profile's is public")
    func sendsAnEIDFromTheMachinesOwnAddress() throws {
        let key = "\"identityKeyFile\": \"k\", \"rotationExponent\": 10, \"intervalMs\": 1000"
        let profile = try profile(
            """
            { "version": 1, "name": "e", "address": "public", "pdu": "connectable", "advertisements": [
              { "type": "eddystone-eid", \(key), "measuredPowerDbm": -18 },
              { "type": "eddystone-tlm", "encrypted": true, \(key) },
              { "type": "eddystone-tlm", "intervalMs": 1000 } ] }
            """)
        let boxAddress = try #require(Self.boxAddress)
        let wanted = try advertisements(profile)
        #expect(wanted.map(\.address) == [.staticRandom(boxAddress), .staticRandom(boxAddress), .public])
    }

    @Test("the sample lobby-ibeacon encodes to its 30 bytes")
    func encodesTheLobbySample() throws {
        let sample = try profile(RepositoryFile("profiles/lobby-ibeacon.json").text)
        let wanted = try advertisements(sample)
        #expect(wanted.count == 1)
        #expect(wanted.first?.interval.microseconds == 100_000)
        #expect(wanted.first?.pdu == .nonconnectable)
        let octets = try wanted.first?.payload().octets ?? []
        #expect(
            Hexadecimal.text(octets) == "02" + "0106" + "1aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5")
    }

    /// The sample sends flags, TX power level, name and 128-bit UUID in 31 octets every 20 ms, and is not connectable.
    @Test("the sample thesis-node encodes to the 31 bytes of the thesis")
    func encodesTheThesisSample() throws {
        let sample = try profile(RepositoryFile("profiles/thesis-node.json").text)
        let wanted = try advertisements(sample)
        let octets = try wanted.first?.payload().octets ?? []
        #expect(
            Hexadecimal.text(octets)
                == "020106" + "020a03" + "06094e64654d31" + "1107669a0c200008fdbce2113345d05da467")
        #expect(wanted.first?.interval.rawValue == 32)
        #expect(wanted.first?.channels == .all)
        #expect(wanted.first?.pdu == .nonconnectable)
        #expect(wanted.first?.radioPower?.dBm == 3)
    }

    @Test(
        "a value of a wrong type does not hide other problems",
        arguments: [
            (
                #""type": "ibeakon", "uuid": "x", "major": 70000, "minor": 1, "intervalMs": 100, "measuredPowerDbm": -59"#,
                3
            ),
            (#""type": "coffee", "intervalMs": 1, "pdu": "loud", "minro": 1"#, 4),
            (#""intervalMs": 1, "minro": 1"#, 3),
            (#""type": 5, "channels": [40]"#, 3),
            (#""type": "raw", "intervalMs": 100, "structures": [{ "type": "flag", "flags": 256 }]"#, 2),
            (#""type": "raw", "intervalMs": 100, "structures": [{ "type": "coffee", "data": "00", "dta": 1 }]"#, 2),
        ])
    func wrongTypeHidesNoOtherProblem(_ members: String, _ count: Int) {
        let file = #"{ "version": 1, "name": "a", "advertisements": [{ \#(members) }] }"#
        let problems = BeaconProfile.decode(Array(file.utf8)).problems.filter(\.isError)
        #expect(problems.count == count, "\(problems.map(\.message))")
    }

    @Test(
        "a message about a name says which characters are allowed",
        arguments: ["a b", "ä", "", String(repeating: "a", count: 65)])
    func namesAllowedCharacters(_ name: String) {
        let file = #"{ "version": 1, "name": "\#(name)", "advertisements": [] }"#
        let messages = BeaconProfile.decode(Array(file.utf8)).problems.map(\.message)
        #expect(messages.contains { $0.contains("letters (a-z, A-Z), digits, \".\", \"_\" and \"-\"") }, "\(messages)")
    }

    @Test(
        "a TX Power field that differs from the radio power gets a warning at the field",
        arguments: [
            (#""radioPowerDbm": 3,"#, nil),
            ("", "no radio power is set; add \"radioPowerDbm\": 3, or remove this structure"),
            (#""radioPowerDbm": -4,"#, "the radio power is -4 dBm; give both the same value"),
        ])
    func warnsOfATXPowerFieldThatDiffers(_ setting: String, _ difference: String?) throws {
        let structure = #"{ "type": "tx-power-level", "powerDbm": 3 }"#
        let raw = #"{ "type": "raw", "intervalMs": 100, "structures": [\#(structure)] }"#
        let ibeacon =
            #"{ "type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": 2, "#
            + #""intervalMs": 100, "measuredPowerDbm": "typical" }"#
        let files = [
            #"{ "version": 1, "name": "a", \#(setting) "advertisements": [\#(raw)] }"#,
            #"{ "version": 1, "name": "a", \#(setting) "advertisements": [\#(ibeacon)], "#
                + #""scanResponse": { "structures": [\#(structure)] } }"#,
        ]
        for file in files {
            let (profile, problems) = BeaconProfile.decode(Array(file.utf8))
            #expect(profile != nil)
            #expect(problems.map(\.message) == (difference.map { ["the TX Power field is 3 dBm, and " + $0] } ?? []))
            #expect(problems.allSatisfy { "\($0.path)".contains("structures[0]") }, "\(problems)")
        }
    }

    @Test("mutated files do not crash, and accepted files survive printing", arguments: Corpus.good + Corpus.samples)
    func survivesMutation(_ file: RepositoryFile) {
        var generator = SplitMix64(seed: UInt64(file.path.utf8.count))
        let original = file.octets
        for _ in 0..<60 {
            var octets = original
            for _ in 0...Int.random(in: 0...2, using: &generator) {
                guard let place = octets.indices.randomElement(using: &generator) else { continue }
                switch Int.random(in: 0...3, using: &generator) {
                case 0: octets.remove(at: place)
                case 1: octets.insert(UInt8.random(in: 0x20...0x7E, using: &generator), at: place)
                case 2: octets[place] = UInt8.random(in: 0...255, using: &generator)
                default: octets.removeSubrange(place..<min(place + 8, octets.count))
                }
            }
            let (profile, problems) = BeaconProfile.decode(octets)
            let hasErrors = problems.contains { $0.severity == .error }
            #expect((profile == nil) == hasErrors)
            guard let profile else { continue }
            let again = BeaconProfile.decode(Array(profile.json.pretty.utf8)).profile
            #expect(again == profile, "\(String(decoding: octets, as: UTF8.self))")
        }
    }

    /// If very many values are wrong, only some problems are reported, and their texts are short.
    @Test func problemsAreBounded() {
        let keys = (0..<20_000).map { "\"k\($0)\": -59" }.joined(separator: ", ")
        let one = #"{"type": "eddystone-url", "url": "https://a.org", "intervalMs": 100}"#
        let clock = ContinuousClock()
        var problems: [FileProblem] = []
        let took = clock.measure {
            problems =
                BeaconProfile.decode(
                    Array(
                        """
                        {"version": 1, "name": "x", "calibration": {\(keys)},
                        "advertisements": [\(Array(repeating: one, count: 200).joined(separator: ","))]}
                        """.utf8)
                ).problems
        }
        #expect(problems.contains { $0.message.hasPrefix("there are 20000 keys, more than the number of radio") })
        #expect(took < .seconds(20))

        let bad = Array(repeating: #"{"type": "nonsense"}"#, count: 5000).joined(separator: ",")
        let many = BeaconProfile.decode(Array(#"{"version": 1, "name": "x", "advertisements": [\#(bad)]}"#.utf8))
        #expect(many.profile == nil && many.problems.count <= 201)
        #expect(many.problems.last?.message.hasSuffix("more problems are not listed") == true)
        let long = String(repeating: "k", count: 100_000)
        let deep = BeaconProfile.decode(Array(#"{"version": 1, "name": "x", "\#(long)": {}}"#.utf8))
        #expect(deep.problems.reduce(0) { $0 + $1.description.utf8.count } < 2000)
    }

    /// Returns the BTHome source of a profile with one advertisement.
    private func btHome(_ keys: String) throws -> Advertisement.BTHomeSource {
        let text =
            "{\"version\": 1, \"name\": \"pi\", \"advertisements\": [{\"type\": \"bthome\", \"intervalMs\": 1000, \(keys)}]}"
        guard case .btHome(let source) = try #require(try profile(text).advertisements.first).content else {
            throw AdvertisementKindMismatch()
        }
        return source
    }

    private struct AdvertisementKindMismatch: Error {}

    @Test("a profile's BTHome value replaces the sensor of the same object, unless the profile has both")
    func ownValueReplacesTheSensor() throws {
        let own = try btHome("\"values\": {\"temperature\": 21.5, \"count\": 7}")
        #expect(own.temperature == nil && !own.countsAdvertisements)
        #expect(own.battery == "auto" && own.voltage == "auto")
        let sensor = try btHome("\"values\": {\"voltage\": \"file:/run/v\", \"battery\": 80}")
        #expect(sensor.voltage == nil && sensor.battery == nil && sensor.temperature == "auto")
        #expect(try btHome("\"values\": {\"battery\": true}").battery == "auto")
        let both = try btHome("\"temperature\": \"auto\", \"values\": {\"temperature\": 21.5}")
        #expect(both.temperature == "auto" && both.objects.count == 1)
    }

    /// Returns the problems of a profile with these advertisements.
    private func problems(_ advertisements: String) -> [String] {
        let text = "{\"version\": 1, \"name\": \"pi\", \"advertisements\": [\(advertisements)]}"
        return BeaconProfile.decode(Array(text.utf8)).problems.map(\.message)
    }

    @Test(
        "a long interval gets a warning only if a controller without sets cannot send it",
        arguments: [
            ([20_000], 1), ([250, 20_000], 0), ([20_000, 20_000], 0), ([40_000, 40_000], 1), ([10_240], 0),
        ] as [([Int], Int)])
    func warnsOfIntervalsTooLongForAControllerWithoutSets(_ intervals: [Int], _ warnings: Int) {
        let frames = intervals.map { "{\"type\": \"eddystone-tlm\", \"intervalMs\": \($0)}" }
        let found = problems(frames.joined(separator: ", "))
        #expect(found.count == warnings, "\(found)")
    }

    @Test("a local name that is too long is reported with its length")
    func reportsTheLengthOfALocalName() {
        let text = """
            {"version": 1, "name": "pi", "advertisements": [{"type": "eddystone-tlm", "intervalMs": 1000}],
            "scanResponse": {"localName": "\(String(repeating: "é", count: 25))"}}
            """
        let messages = BeaconProfile.decode(Array(text.utf8)).problems.map(\.message)
        #expect(messages == ["the name has 50 bytes, at most 29 fit"])
    }

    @Test(
        "a value in the wrong place gets a suggestion of the right place",
        arguments: [
            ("bthome", "\"temperature\": 21.5", "write \"values\": { \"temperature\": 21.5 }"),
            ("eddystone-tlm", "\"temperature\": 21.5", "to send 21.5, write it into a file and name the file"),
            ("bthome", "\"humidty\": 50", "did you mean \"humidity\"? A value of BTHome belongs in \"values\""),
            ("bthome", "\"humidity\": 50", "not known; A value of BTHome belongs in \"values\": { \"humidity\": … }"),
            ("bthome", "\"localName\": \"Pi\"", "\"scanResponse\": { \"localName\": … }"),
            ("bthome", "\"values\": {\"temp\": 4}", "did you mean \"temperature\"?"),
        ])
    func suggestsTheRightPlaceForAValue(_ type: String, _ key: String, _ advice: String) {
        let found = problems("{\"type\": \"\(type)\", \"intervalMs\": 1000, \(key)}")
        #expect(found.count == 1 && found.first?.contains(advice) == true, "\(found)")
    }
}
