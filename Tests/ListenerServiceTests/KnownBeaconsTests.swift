import BeaconFrames
import BluetoothTypes
import HCI
import ListenerService
import Sightings
import TestSupport
import Testing

/// Names, intervals and keys out of profiles and fleets.
@Suite struct KnownBeaconsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let uuid = "fb0b57a2-8228-44cd-913a-94a122ba1206"

    private func profile(_ name: String, _ advertisement: String, epoch: String? = nil) throws -> String {
        let epoch = epoch.map { #""eidEpoch": "\#($0)", "# } ?? ""
        return try folder.file(
            "\(name).json",
            Array(#"{"version": 1, "name": "\#(name)", \#(epoch)"advertisements": [\#(advertisement)]}"#.utf8))
    }

    private static func iBeacon(minor: Int) -> String {
        #"{"type": "ibeacon", "uuid": "\#(uuid)", "major": 1, "minor": \#(minor), "intervalMs": 250, "#
            + #""measuredPowerDbm": -59}"#
    }

    @Test func profilesNameTheirIdentities() throws {
        let known = try KnownBeacons([
            try profile("lobby", Self.iBeacon(minor: 2)), try profile("desk", Self.iBeacon(minor: 3)),
        ])
        #expect(known.beacons.map(\.name) == ["lobby", "desk"])
        #expect(known.beacons.map(\.intervalMicroseconds) == [250_000, 250_000])
        #expect(known.beacons[0].identity?.description == "ibeacon:\(Self.uuid)-1-2")
        #expect(known.profiles.count == 2)
        #expect(known.resolver(HearingClock()) == nil)
        #expect(try known.region("desk").name == "desk")
        #expect(throws: ListenerServiceError.self) { try known.region("attic") }
    }

    @Test func filesWithoutAnIdentityAreRefused() throws {
        let telemetry = try profile("mute", #"{"type": "eddystone-tlm", "intervalMs": 1000}"#)
        #expect(throws: ListenerServiceError.self) { try KnownBeacons([telemetry]) }
        #expect(throws: ListenerServiceError.self) { try KnownBeacons([folder.place("nothing.json")]) }
        #expect(try KnownBeacons().isEmpty)
    }
}
