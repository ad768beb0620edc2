import Glibc
import TestSupport
import Testing

/// Profiles that the controller or the machine cannot execute.
@Suite struct RunRefusalTests {
    struct Refusal: Sendable {
        let profile: String
        let code: Int32
        /// Expected in the messages: the reason and the remedy.
        let reasons: [String]
        /// The contents and the mode of the key's file.
        var key: (text: String, mode: mode_t)?

        func prepare(_ box: ServiceTestBox) throws {
            if let key { try box.writeKey(key.text, mode: key.mode) }
        }
    }

    private static let url =
        #"{"type": "eddystone-url", "url": "https://example.org", "intervalMs": 20, "measuredPowerDbm": -20}"#
    private static let goodKey = String(repeating: "ab", count: 16)

    static let refusals: [Refusal] = [
        Refusal(profile: "{", code: 65, reasons: ["profile:1:2"]),
        Refusal(profile: "{}", code: 78, reasons: ["the key \"version\" is missing"]),
        Refusal(
            profile: ServiceTestBox.profile("ibeacon", #""major": 1, "minor": 70000, "measuredPowerDbm": -59"#),
            code: 78, reasons: ["advertisements[0].minor: 70000 is out of range 0...65535"]),
        Refusal(
            profile: ServiceTestBox.profile(
                "eddystone-url", #""url": "https://a.org", "measuredPowerDbm": -20, "radioPowerDbm": 90"#),
            code: 78, reasons: ["radioPowerDbm: 90 is out of range -127...20 dBm"]),
        Refusal(profile: ServiceTestBox.ephemeral, code: 66, reasons: ["eid.key", "32 hexadecimal digits"]),
        Refusal(
            profile: ServiceTestBox.ephemeral, code: 78, reasons: ["others may read this identity key; `chmod 600 "],
            key: (goodKey, 0o644)),
        Refusal(
            profile: ServiceTestBox.ephemeral, code: 78, reasons: ["an identity key has 16 bytes"], key: ("zz", 0o600)),
        Refusal(
            profile: ServiceTestBox.profile("eddystone-tlm", #""intervalMs": 1000, "temperature": "thermal:nowhere""#),
            code: 78, reasons: ["there is no temperature sensor \"thermal:nowhere\"; this machine has "]),
        Refusal(
            profile: ServiceTestBox.profile("eddystone-tlm", #""intervalMs": 1000, "battery": "power:nowhere""#),
            code: 78, reasons: ["\"power:nowhere\"; this machine has "]),
        // Too many events per second for one set.
        Refusal(
            profile: #"{"version": 1, "name": "lobby", "advertisements": [\#(url), \#(url), \#(url)]}"#,
            code: 78, reasons: ["events/s"]),
    ]

    @Test(arguments: refusals.indices)
    func aProfileThatCannotBeSentIsRefused(_ number: Int) throws {
        let refusal = Self.refusals[number]
        let box = try ServiceTestBox(refusal.profile)
        try refusal.prepare(box)
        let result = try box.start().end()
        #expect(result.code == refusal.code)
        for part in refusal.reasons { #expect(result.errors.contains(part), "\(result.errors)") }
        #expect(!result.errors.contains("on the air:"))
    }

    @Test func reportsWrongArguments() throws {
        #expect(try Program.run("run").code == 64)
        let box = try ServiceTestBox()
        #expect(try box.start(adapter: "nonsense").end().code == 64)
        let missing = try Program.run("run", "/nowhere/profile")
        #expect(missing.code == 66)
        #expect(missing.errors == "pharos: /nowhere/profile: there is no such file\n")
    }
}
