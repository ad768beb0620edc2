import BluetoothTypes
import Glibc
import HCITransports
import LinuxHost
import TestSupport
import Testing

@testable import BeaconService

/// The service's start and end, its reloads, and the files that it writes.
@Suite struct ServiceTests {
    @Test func goesOnTheAirAndStopsOnRequest() throws {
        let box = try TestService()
        try box.start()
        #expect(box.log.first?.hasPrefix("on the air: ibeacon every 100 ms from ") == true, "\(box.log)")
        #expect(box.status.contains("\"state\":\"on-air\""))
        #expect(box.text("lobby.prom").contains("pharos_on_air{profile=\"lobby\"} 1\n"))
        try box.stop()
        #expect(box.status.contains("\"state\":\"off\""))
        #expect(box.text("lobby.prom").contains("pharos_on_air{profile=\"lobby\"} 0\n"))
    }

    @Test func theStatusContainsTheLocalName() throws {
        let profile = TestService.profile().replacing(
            "-59}]", with: "-59}], \"scanResponse\": {\"localName\": \"Hall\"}")
        let box = try TestService(profile)
        try box.start()
        #expect(box.status.contains(#", local name \"Hall\"#), "\(box.status)")
        try box.stop()
    }

    @Test func aGoodProfileTakesOverAndABadOneDoesNot() throws {
        let box = try TestService()
        try box.start()
        let first = box.status
        try box.reload("{")
        #expect(box.says("reload refused, the old profile stays in use: \(box.folder.place("etc/lobby.json")):1:2"))
        try box.reload(TestService.profile(minor: 3))
        #expect(box.says("reloaded: on the air: ibeacon every 100 ms"))
        // The status contains the hash of the profile.
        #expect(box.status != first)
        try box.reload(TestService.profile(name: "hall"))
        #expect(
            box.says("the profile's name is now hall, but the service's files have the old name; restart the service"))
        #expect(box.status.contains("\"state\":\"on-air\""))
        try box.stop()
    }

    @Test func writesANewSensorValueBeforeTheNextVerification() throws {
        let folder = try TemporaryFolder()
        let value = try folder.file("co2", text: "417\n")
        let box = try TestService(
            TestService.profile(
                "bthome",
                """
                "intervalMs": 1000, "temperature": null, "battery": null, "voltage": null, "advertisements": false,
                "values": {"co2": "file:\(value)"}
                """))
        try box.start()
        #expect(box.status.contains("co2 417 ppm"), "\(box.status)")
        try folder.file("co2", text: "500\n")
        // The beacon reads the file once a second, and the next verification is after 15 s.
        for _ in 0..<10 where !box.status.contains("co2 500 ppm") { try box.runOnce() }
        #expect(box.status.contains("co2 500 ppm"), "\(box.status)")
        try box.stop()
    }

    struct Refusal: Sendable {
        let profile: String
        let reason: String
        /// The contents and the mode of the key's file.
        var key: (text: String, mode: mode_t)?
    }

    private static let url =
        #"{"type": "eddystone-url", "url": "https://example.org", "intervalMs": 20, "measuredPowerDbm": -20}"#

    static let refusals: [Refusal] = [
        Refusal(profile: "{}", reason: "the key \"version\" is missing"),
        Refusal(
            profile: TestService.profile(
                "ibeacon", #""uuid": "\#(String(repeating: "0", count: 32))", "major": 1, "minor": 70000"#),
            reason: "advertisements[0].minor: 70000 is out of range 0...65535"),
        Refusal(
            profile: TestService.ephemeral(), reason: "eid.key: there is no such file; write the identity key there"),
        Refusal(
            profile: TestService.ephemeral(), reason: "others may read this identity key; `chmod 600 ",
            key: (String(repeating: "ab", count: 16), 0o644)),
        Refusal(profile: TestService.ephemeral(), reason: "an identity key has 16 bytes", key: ("zz", 0o600)),
        Refusal(
            profile: TestService.profile("eddystone-tlm", #""intervalMs": 1000, "temperature": "thermal:nowhere""#),
            reason: "there is no temperature sensor \"thermal:nowhere\"; this machine has "),
        // Too many events per second for one set.
        Refusal(
            profile: #"{"version": 1, "name": "lobby", "advertisements": [\#(url), \#(url), \#(url)]}"#,
            reason: "events/s"),
    ]

    @Test(arguments: refusals.indices)
    func refusedReloadKeepsTheBeaconOnTheAir(_ number: Int) throws {
        let refusal = Self.refusals[number]
        let box = try TestService()
        if let key = refusal.key { try box.writeKey(key.text, mode: key.mode) }
        try box.start()
        try box.reload(refusal.profile)
        #expect(box.says("reload refused, the old profile stays in use: "))
        #expect(box.says(refusal.reason), "\(box.log)")
        #expect(box.status.contains("\"state\":\"on-air\""))
        try box.reload(TestService.profile(minor: 3))
        #expect(box.says("reloaded: on the air"))
        try box.stop()
    }

    @Test(arguments: refusals.indices)
    func refusedStartDoesNotGoOnTheAir(_ number: Int) throws {
        let refusal = Self.refusals[number]
        let box = try TestService(refusal.profile)
        if let key = refusal.key { try box.writeKey(key.text, mode: key.mode) }
        do {
            try box.start()
            try box.stop()
            Issue.record("the profile was accepted: \(box.log)")
        } catch let error as BeaconServiceError {
            #expect("\(error)".contains(refusal.reason), "\(error)")
            #expect(!box.says("on the air:"))
        }
    }

    @Test func waitsForAMissingController() throws {
        let box = try TestService()
        try box.start(adapter: .unix(path: box.folder.place("nothing")))
        #expect(box.says("there is no such socket"))
        #expect(box.status.contains("\"state\":\"starting\""))
        try box.stop()
    }

    /// Two instances with one name would overwrite each other's status.
    @Test func aNameRunsOnce() throws {
        let box = try TestService()
        try box.start()
        let other = try InstanceLockProbe(box.folder.path)
        #expect(other.isHeld)
        try box.stop()
        #expect(try !InstanceLockProbe(box.folder.path).isHeld)
    }

    /// Tests whether the name `lobby` is taken in a runtime directory.
    private struct InstanceLockProbe {
        let isHeld: Bool

        init(_ directory: String) throws {
            do throws(InstanceLockError) {
                _ = try InstanceLock("lobby", in: directory)
                isHeld = false
            } catch {
                guard case .held = error else { throw error }
                isHeld = true
            }
        }
    }

    /// The counter starts at the seconds since 1970, unless the state file contains a larger counter.
    @Test func encryptionCounterContinuesAfterARestart() throws {
        let box = try TestService()
        let encrypted = TestService.profile("bthome", #""intervalMs": 1000, "encryptionKeyFile": "eid.key""#)
        try box.writeKey(String(repeating: "ab", count: 16))
        try box.folder.file("etc/lobby.json", text: encrypted)
        try box.start()
        let first = try #require(saved(box))
        #expect(first > 1_700_000_000 + 4096)
        try box.stop()
        let second = try #require(saved(box))
        #expect(second >= first && second < first + 100)
        try box.folder.file(
            "lobby.state.json", text: #"{"version": 1, "eidCounter": 65280, "turns": [], "nextPacket": 4100000000}"#)
        try box.start()
        #expect(try #require(saved(box)) > 4_100_000_000 + 4096)
        try box.stop()
    }

    private func saved(_ box: TestService) -> Int? {
        box.text("lobby.state.json").split(separator: "nextPacket\":").last.flatMap { Int($0.prefix { $0.isNumber }) }
    }

    static let garbage = ["", #"{"eidCounter""#, #"{"version": 1, "eidCounter": -1, "turns": []}"#]

    @Test(arguments: garbage)
    func startsDespiteAnInvalidStateFile(_ text: String) throws {
        let box = try TestService(TestService.ephemeral())
        try box.writeKey()
        try box.folder.file("lobby.state.json", text: text)
        try box.start()
        #expect(box.says("this is not a state file"))
        #expect(box.says("on the air:"))
        try box.stop()
        // The state file contains the clock and the address now.
        #expect(box.text("lobby.state.json").contains("\"eidCounter\":6528"))
        #expect(box.text("lobby.state.json").contains("\"address\""))
    }

    @Test func clockOfEphemeralIDsContinuesAfterARestart() throws {
        let box = try TestService(TestService.ephemeral())
        try box.writeKey()
        try box.folder.file("lobby.state.json", text: #"{"version": 1, "eidCounter": 4000000, "turns": []}"#)
        try box.start()
        try box.stop()
        #expect(box.text("lobby.state.json").contains("\"eidCounter\":40000"))
    }

    static let others = ["{", "[]", #"{"version": 2}"#, TestService.ephemeral()]

    @Test(arguments: others) func aFileThatIsNoStateIsNotReplaced(_ text: String) throws {
        let box = try TestService(TestService.ephemeral())
        try box.writeKey()
        try box.folder.file("lobby.state.json", text: text)
        try box.start()
        #expect(box.says("on the air:"))
        try box.stop()
        #expect(box.text("lobby.state.json") == text)
        #expect(box.says("lobby.state.json: this file has other contents, so it is not replaced"), "\(box.log)")
    }

    /// `run lobby.json --state-dir .`
    @Test func aProfileInTheStateDirectoryStays() throws {
        let profile = TestService.ephemeral().replacing("eid.key", with: "etc/eid.key")
        let box = try TestService(profile, at: "lobby.json")
        try box.writeKey()
        try box.start()
        try box.stop()
        #expect(box.text("lobby.json") == profile)
        #expect(box.text("lobby.state.json").contains("\"eidCounter\":6528"))
    }

    @Test func theStateOfAnEarlierVersionIsMoved() throws {
        let box = try TestService(TestService.ephemeral())
        try box.writeKey()
        try box.folder.file("lobby.json", text: #"{"version": 1, "eidCounter": 4000000, "turns": []}"#)
        try box.start()
        try box.stop()
        #expect(box.text("lobby.state.json").contains("\"eidCounter\":40000"))
        #expect(!Files.exists(box.folder.place("lobby.json")))
    }

    @Test(arguments: ["lobby.status.json", "lobby.prom"])
    func aFileThatIsNoStatusIsNotReplaced(_ name: String) throws {
        let box = try TestService()
        try box.folder.file(name, text: TestService.profile())
        try box.start()
        #expect(box.says("\(name): this file has other contents, so it is not replaced"), "\(box.log)")
        try box.stop()
        #expect(box.text(name) == TestService.profile())
    }

    /// The names of the service's files follow the profile's name, which a copied profile keeps.
    @Test func warnsOfAProfileWithAnotherFileName() throws {
        let box = try TestService(at: "etc/hall.json")
        try box.start()
        #expect(
            box.says("hall.json:1:24: warning: name: the profile's name is \"lobby\" and the file's is \"hall\": "),
            "\(box.log)")
        try box.stop()
    }
}
