import BeaconFrames
import BluetoothTypes
import Configuration
import Profiles
import Testing

@Suite("A profile to start from")
struct FirstProfileTests {
    @Test("the profile is valid and has the requested frame", arguments: FrameKind.allCases)
    func isGood(_ frame: FrameKind) throws {
        var generator = SplitMix64(seed: 7)
        let interval = try RequestedInterval("152.5ms", in: AdvertisingInterval.legacyRange)
        let made = try #require(
            FirstProfile(
                frame, name: "hall", interval: interval, url: "https://example.org", localName: "Hall",
                using: &generator))
        let (profile, problems) = BeaconProfile.decode(Array(made.text.utf8))
        #expect(problems.isEmpty, "\(problems)")
        let advertisement = try #require(profile?.advertisements.first)
        #expect(profile?.name == "hall" && profile?.advertisements.count == 1)
        #expect(advertisement.content.typeName == frame.rawValue)
        #expect(advertisement.interval == interval.interval)
        #expect((profile?.scanResponse?.localName == "Hall") == (frame != .eddystoneEID && frame != .raw))
        #expect(made.text.contains("Hall") == (frame != .eddystoneEID))
        #expect(made.keyFile == (frame == .eddystoneEID ? "hall.key" : nil))
    }

    @Test("an Eddystone-URL without a URL, and an invalid name, are refused")
    func refuses() throws {
        var generator = SplitMix64(seed: 7)
        let interval = RequestedInterval(.nonconnectableMinimumBefore5)
        #expect(FirstProfile(.eddystoneURL, name: "hall", interval: interval, using: &generator) == nil)
        #expect(try FirstProfile.name("hall-1.a_B") == "hall-1.a_B")
        for name in ["", "a b", "ä", "-a/b"] {
            #expect(throws: FileProblem.self) { try FirstProfile.name(name) }
        }
    }
}
