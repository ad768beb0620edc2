import Fleet
import Testing

@Suite struct KnownDevicesTests {
    @Test func identifiesABeaconByItsAddress() {
        let fleet = FleetManifest(fleet: "f", beacons: [SampleFleet.beacon("Lobby-North.1")])
        #expect(
            KnownDevices.text(fleet).text == """
                "beacon_lobby_north_1":
                  name: "Lobby-North.1 (museum / ground / hall)"
                  mac: "BLE_D0:11:22:33:44:55"
                  icon: "mdi:bluetooth"
                  picture:
                  track: true

                """)
    }

    @Test func distinguishesEqualKeysByTheAddress() {
        let fleet = FleetManifest(
            fleet: "f",
            beacons: [
                SampleFleet.beacon("a-b", address: "D0:00:00:00:00:01"),
                SampleFleet.beacon("a.b", address: "D0:00:00:00:00:02"),
                SampleFleet.beacon("a-c", address: "D0:00:00:00:00:03"),
            ])
        let keys = KnownDevices.text(fleet).text.split(separator: "\n").filter { $0.hasPrefix("\"") }
        #expect(keys == ["\"beacon_a_b_d00000000001\":", "\"beacon_a_b_d00000000002\":", "\"beacon_a_c\":"])
    }

    @Test func leavesOutBeaconsWithoutAFixedAddress() {
        let fleet = FleetManifest(
            fleet: "f",
            beacons: [
                SampleFleet.beacon("public", address: nil),
                SampleFleet.beacon("rotating", advertisements: [SampleFleet.ephemeral]),
            ])
        let (text, omitted) = KnownDevices.text(fleet)
        #expect(text == "{}\n")
        #expect(omitted == ["public", "rotating"])
    }
}
