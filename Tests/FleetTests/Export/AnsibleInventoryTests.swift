import Configuration
import Fleet
import Testing

@Suite struct AnsibleInventoryTests {
    private func root(_ inventory: AnsibleInventory) throws -> JSONNode {
        try #require(JSONDocument.parse(Array(inventory.text.utf8)).root?["pharos"])
    }

    @Test func groupsBeaconsByTheirHost() throws {
        let fleet = FleetManifest(
            fleet: "museum",
            beacons: [
                SampleFleet.beacon("a", host: "pi-1"), SampleFleet.beacon("b", host: "2001:db8::1"),
                SampleFleet.beacon("c", group: ["museum", "upper"], host: "pi-1"),
            ])
        let inventory = try AnsibleInventory(fleet)
        let hosts = try #require(try root(inventory)["hosts"])
        #expect(hosts["a"]?["ansible_host"]?.string == "pi-1")
        #expect(hosts["a"]?["pharos_beacons"]?[0]?["name"]?.string == "a")
        #expect(hosts["a"]?["pharos_beacons"]?[0]?["hash"]?.string == "00e1234567890123")
        #expect(hosts["a"]?["pharos_beacons"]?[1]?["name"]?.string == "c")
        #expect(hosts["b"]?["ansible_host"]?.string == "2001:db8::1")
        #expect(hosts["c"] == nil)
        #expect(inventory.machineCount == 2 && inventory.beacons == ["a", "b", "c"])
        #expect(AnsibleInventory.fleet(of: Array(inventory.text.utf8)) == "museum")
    }

    @Test func nestsGroupsWithValidAnsibleNames() throws {
        let fleet = FleetManifest(
            fleet: "museum",
            beacons: [
                SampleFleet.beacon("a", group: ["m-1", "ground"], host: "pi-1"),
                SampleFleet.beacon("b", group: ["m.1"], host: "pi-2"), SampleFleet.beacon("c", group: [], host: "pi-3"),
            ])
        let groups = try #require(try root(try AnsibleInventory(fleet))["children"])
        #expect(groups["site_m_1"]?["hosts"] == nil)
        #expect(groups["site_m_1"]?["children"]?["site_m_1_ground"]?["hosts"]?["a"] != nil)
        // A group whose name differs only in punctuation is a separate group.
        #expect(groups["site_m_1_2"]?["hosts"]?["b"] != nil)
    }

    @Test func listsBeaconsWithoutAHostSeparately() throws {
        let fleet = FleetManifest(
            fleet: "f", beacons: [SampleFleet.beacon("a", host: nil), SampleFleet.beacon("b", host: "pi-1")])
        let inventory = try AnsibleInventory(fleet)
        #expect(inventory.withoutHost == ["a"] && inventory.beacons == ["b"])
    }

    @Test(arguments: [
        ("serial:/dev/ttyACM0@115200", "serial"), ("tcp:10.0.0.1:6402", "tcp"), ("unix:/run/air", "unix"),
        ("unix:/run/air:user", "unix"), ("hci0", "hci"), ("hci12:user", "hci:user"), ("hci0:mgmt", "hci:mgmt"),
        ("virtual", "virtual"), (nil, "hci"),
    ])
    func exportsTheFormOfTheAdapter(_ adapter: String?, _ form: String) throws {
        var beacon = SampleFleet.beacon("a")
        beacon.adapter = adapter
        let record = try root(try AnsibleInventory(FleetManifest(fleet: "f", beacons: [beacon])))
        #expect(record["hosts"]?["a"]?["pharos_beacons"]?[0]?["form"]?.string == form)
    }

    @Test(arguments: ["/etc/pharos/keys/own.key", "keys/own.key", "./keys/own.key"])
    func namesKeysByTheirFileName(_ file: String) throws {
        let fleet = FleetManifest(fleet: "f", beacons: [SampleFleet.beacon("a", advertisements: [rotating(file)])])
        let inventory = try AnsibleInventory(fleet)
        #expect(inventory.keys == ["own.key"])
        #expect(try root(inventory)["hosts"]?["a"]?["pharos_beacons"]?[0]?["keys"]?[0]?.string == "own.key")
    }

    @Test(arguments: [
        "/root/own.key", "own.key", "keys/../../shadow", "keys/a/b", "keys/", "keys/{{ lookup('env', 'HOME') }}",
        "keys/own key", "keys/.hidden",
    ])
    func refusesKeysOutsideTheKeyDirectory(_ file: String) {
        let fleet = FleetManifest(fleet: "f", beacons: [SampleFleet.beacon("a", advertisements: [rotating(file)])])
        #expect(throws: AnsibleInventoryError.self) { try AnsibleInventory(fleet) }
    }

    @Test(arguments: SampleFleet.hostile.filter { !["yes", "null"].contains($0) })
    func refusesTextsThatCouldBeExpressions(_ text: String) {
        var other = SampleFleet.beacon("a")
        other.profileHash = text
        let fleets = [
            FleetManifest(fleet: text, beacons: [SampleFleet.beacon("a")]),
            FleetManifest(fleet: "f", beacons: [SampleFleet.beacon(text)]),
            FleetManifest(fleet: "f", beacons: [SampleFleet.beacon("a", host: text)]),
            FleetManifest(fleet: "f", beacons: [SampleFleet.beacon("a", group: ["museum", text])]),
            FleetManifest(fleet: "f", beacons: [other]),
        ]
        for fleet in fleets { #expect(throws: AnsibleInventoryError.self) { try AnsibleInventory(fleet) } }
    }

    @Test(arguments: ["pharos", "all", "ungrouped", "localhost", "site_museum", "manifest"])
    func refusesBeaconsNamedLikeAGroup(_ name: String) {
        let fleet = FleetManifest(fleet: "pharos", beacons: [SampleFleet.beacon(name, group: ["all"])])
        #expect(throws: AnsibleInventoryError.self) { try AnsibleInventory(fleet) }
    }

    private func rotating(_ file: String) -> FleetManifest.Advertisement {
        var advertisement = SampleFleet.ephemeral
        advertisement.identityKeyFile = file
        return advertisement
    }
}
