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

    @Test func aTitleIsTheNameForDisplay() {
        var (hall, shop) = (SampleFleet.beacon("hall"), SampleFleet.beacon("shop", group: []))
        (hall.title, shop.title) = ("Große Halle", "\"Shop\": 1")
        let text = KnownDevices.text(FleetManifest(fleet: "f", beacons: [hall, shop])).text
        #expect(text.contains("\"beacon_hall\":\n  name: \"Große Halle (museum / ground / hall)\"\n"), "\(text)")
        #expect(text.contains("\"beacon_shop\":\n  name: \"\\\"Shop\\\": 1\"\n"), "\(text)")
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
