import BluetoothTypes
import Configuration
import Profiles
import Testing

@Suite("Changes of single values")
struct ProfileEditTests {
    private static let profile = #"""
        { "version": 1, "name": "lobby", "advertisements": [
          { "type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": 2, "intervalMs": 100,
            "measuredPowerDbm": -59 },
          { "type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": "000000000002", "intervalMs": 350,
            "measuredPowerDbm": "typical" } ] }
        """#

    @Test(arguments: [
        ("minor=7", "\"minor\": 7"), ("ibeacon.intervalMs=1.28s", "\"intervalMs\": 1280"),
        ("advertisements[1].intervalMs=250 ms", "\"intervalMs\": 250"),
        ("instance=000000000007", "\"instance\": \"000000000007\""),
        ("radioPowerDbm=-4", "\"radioPowerDbm\": -4"), ("localName=My lobby", "\"localName\": \"My lobby\""),
        ("uid.instance=000000000008", "\"instance\": \"000000000008\""),
        ("scanResponse.localName=7", "\"localName\": \"7\""), ("channels=[37, 38]", "\"channels\": [37, 38]"),
    ])
    func changesOneValue(_ text: String, _ member: String) throws {
        let edit = try #require(ProfileEdit(text))
        let result = try edit.applied(to: Array(Self.profile.utf8))
        #expect(String(decoding: result, as: UTF8.self).contains(member))
        let before = try #require(BeaconProfile.decode(Array(Self.profile.utf8)).profile)
        let after = try #require(BeaconProfile.decode(result).profile)
        #expect(after != before && after.name == before.name && after.advertisements.count == 2)
        // A second application changes nothing.
        #expect(try edit.applied(to: result) == result)
    }

    /// A pattern and an interval replace each other.
    @Test func changesAnIntervalIntoAPattern() throws {
        let value = "ibeacon.pattern=[{\"intervalMs\":100,\"forS\":2},{\"intervalMs\":1000,\"forS\":8}]"
        let pattern = try #require(ProfileEdit(value)).applied(to: Array(Self.profile.utf8))
        let changed = try #require(BeaconProfile.decode(pattern).profile)
        #expect(changed.advertisements[0].pattern?.description == "100 ms for 2 s, 1000 ms for 8 s")
        #expect(changed.advertisements[1].pattern == nil)
        let back = try #require(ProfileEdit("ibeacon.intervalMs=100")).applied(to: pattern)
        #expect(BeaconProfile.decode(back).profile == BeaconProfile.decode(Array(Self.profile.utf8)).profile)
    }

    @Test(arguments: [
        (
            "intervalMs=100",
            "several advertisements have this key; name one of them: advertisements[0].intervalMs, advertisements[1].intervalMs"
        ),
        ("minr=7", "did you mean minor?"), ("eddystone-url.url=x", "the advertisements are ibeacon, eddystone-uid"),
        ("minor=70000", "70000 is out of range 0...65535"), ("minor=two", "a whole number is expected"),
        ("uuid=12345678", "4 bytes where 16 are needed (32 hexadecimal digits)"),
        (
            "url=https://example.org",
            "no advertisement of this profile has this key, which belongs to eddystone-url; known here: "
        ),
        ("nonsense=1", "localName"), ("minor=null", "the key \"minor\" is missing"),
        ("type=raw", "known here: "), ("name=hall", "a beacon's name is fixed"), ("advertisements=[]", "known here: "),
    ])
    func refusesUnknownKeysAndInvalidValues(_ text: String, _ message: String) throws {
        let edit = try #require(ProfileEdit(text))
        let error = try #require(throws: ProfileEditError.self) { try edit.applied(to: Array(Self.profile.utf8)) }
        #expect(error.messages.joined().contains(message), "\(error.messages)")
    }

    @Test(arguments: ["localName=null", "radioPowerDbm=null", "channels=null"])
    func nullRemovesAValue(_ text: String) throws {
        let before = BeaconProfile.decode(Array(Self.profile.utf8)).profile
        let values = ["localName=Hall", "radioPowerDbm=4", "channels=[37]"]
        var octets = Array(Self.profile.utf8)
        let key = text.prefix { $0 != "=" }
        let value = try #require(values.first { $0.hasPrefix(key) })
        octets = try #require(ProfileEdit(value)).applied(to: octets)
        #expect(BeaconProfile.decode(octets).profile != before)
        octets = try #require(ProfileEdit(text)).applied(to: octets)
        #expect(BeaconProfile.decode(octets).profile == before)
    }

    @Test func aQuotedNullIsAName() throws {
        let edit = try #require(ProfileEdit("localName=\"null\""))
        let result = try edit.applied(to: Array(Self.profile.utf8))
        #expect(String(decoding: result, as: UTF8.self).contains("\"localName\": \"null\""))
    }

    @Test func reportsTheProblemsThatTheFileHadBefore() throws {
        let broken = Self.profile.replacing("\"major\": 1", with: "\"major\": 70000")
        let edit = try #require(ProfileEdit("minor=12"))
        let error = try #require(throws: ProfileEditError.self) { try edit.applied(to: Array(broken.utf8)) }
        #expect(error.messages == ["2:81: advertisements[0].major: 70000 is out of range 0...65535"])
        // An edit can repair the file.
        let repair = try #require(ProfileEdit("major=1"))
        #expect(BeaconProfile.decode(try repair.applied(to: Array(broken.utf8))).profile != nil)
    }

    @Test(arguments: ["", "=", "minor", "=7"]) func needsAKeyAndAValue(_ text: String) {
        #expect(ProfileEdit(text) == nil)
    }
}
