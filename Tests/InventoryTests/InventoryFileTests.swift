import BluetoothTypes
import Configuration
import Inventory
import Sightings
import TestSupport
import Testing

@Suite struct InventoryFileTests {
    static let good = RepositoryFile.all(in: "Tests/Corpus/inventories/good")
    static let bad = RepositoryFile.all(in: "Tests/Corpus/inventories/bad")
    static let semantic = RepositoryFile.all(in: "Tests/Corpus/inventories/semantic")
    static let samples = RepositoryFile.all(in: "profiles/inventories")

    @Test func thereIsACorpus() {
        #expect(Self.good.count >= 4 && Self.bad.count >= 35 && Self.semantic.count >= 8 && !Self.samples.isEmpty)
    }

    @Test(arguments: good + samples)
    func goodFilesAndSamplesAreReadWithoutAWord(_ file: RepositoryFile) throws {
        let (inventory, problems) = Inventory.decode(file.octets)
        #expect(problems.isEmpty, "\(problems)")
        let text = try #require(inventory).text
        #expect(Inventory.decode(Array(text.utf8)).inventory == inventory)
    }

    @Test(arguments: bad + semantic)
    func badFilesAreRefusedForTheirOneFault(_ file: RepositoryFile) {
        let (inventory, problems) = Inventory.decode(file.octets)
        #expect(inventory == nil)
        #expect(problems.filter(\.isError).count == 1, "\(problems)")
    }

    @Test func theSchemaFileIsWhatTheProgramPrints() {
        #expect(RepositoryFile("profiles/schema/inventory.schema.json").text == Inventory.schema)
    }

    private static let whole = """
        {"version":1,"name":"tools","title":"Werkstatt \\"Nord\\"","site":"hall.json","withinM":1.5,"rounds":8,
        "lowBatteryMv":2200,"beacons":[{"name":"tag-1","identity":"uid:8b0ca750095477cb3e77-000000000002",
        "intervalMs":152.5,"measuredPowerAt1mDbm":-61}],"places":[{"name":"shelf","position":[2.5,1]},{"name":"van"}],
        "items":[{"id":"saw","name":"Säge <b>","beacon":"tag-1","place":"shelf","note":"=1+1","photo":"saw.jpg"},
        {"id":"drill-7","name":"Drill","beacon":"ibeacon:FB0B57A2-8228-44CD-913A-94A122BA1206-1-2","position":[0,-3.125]}]}
        """

    @Test func readsAllKeysAndWritesThemUnchanged() throws {
        let (read, problems) = Inventory.decode(Array(Self.whole.utf8))
        let inventory = try #require(read, "\(problems)")
        #expect(inventory.items[0].beacon == inventory.beacons[0].identity)
        #expect(inventory.rule.memory == .window(rounds: 8) && inventory.rule.withinMillimetres == 1500)
        #expect(inventory.position(of: inventory.items[0]) == Inventory.Position(east: 2500, north: 1000))
        #expect(inventory.position(of: inventory.items[1]) == Inventory.Position(east: 0, north: -3125))
        #expect(inventory.knownBeacons[0].intervalMicroseconds == 152_500)
        #expect(inventory.knownBeacons[0].calibrationAtOneMeter == -61)
        let again = Inventory.decode(Array(inventory.text.utf8)).inventory
        #expect(again == inventory && again?.text == inventory.text)
    }

    @Test(
        arguments: [
            (#"{"version":1,"name":"a"}"#, "the key \"items\" is missing"),
            (#"{"version":2,"name":"a","items":[]}"#, "version: version 2"),
            (#"{"version":1,"name":"a b","items":[]}"#, "name: "),
            (#"{"version":1,"name":"a","items":[],"itms":1}"#, "did you mean \"items\"?"),
            (#"{"version":1,"name":"a","items":{}}"#, "items: a list of items"),
            (#"{"version":1,"name":"a","items":[{"id":"x","name":"X","beacon":"ibeacon:1"}]}"#, "items[0].beacon: "),
            (#"{"version":1,"name":"a","items":[{"id":"x","name":"X","beacon":"eid:0011223344556677"}]}"#, "ephemeral"),
            (
                #"{"version":1,"name":"a","items":[{"id":"x","name":"\u001b[31m","beacon":"url:https://a.de"}]}"#,
                "control"
            ),
            (
                #"{"version":1,"name":"a","items":[{"id":"x","name":"","beacon":"url:https://a.de"}]}"#,
                "items[0].name: "
            ),
            (
                #"{"version":1,"name":"a","items":[{"id":"x","name":"X","beacon":"url:https://a.de","position":[1]}]}"#,
                "items[0].position: "
            ),
            (
                #"{"version":1,"name":"a","items":[{"id":"x","name":"X","beacon":"url:https://a.de"},{"id":"x","name":"Y","beacon":"url:https://b.de"}]}"#,
                "items[1].id: items[0] has this id already"
            ),
            (
                #"{"version":1,"name":"a","items":[{"id":"x","name":"X","beacon":"url:https://a.de"},{"id":"y","name":"Y","beacon":"url:https://a.de"}]}"#,
                "items[1].beacon: items[0] has this beacon already"
            ),
            (
                #"{"version":1,"name":"a","places":[{"name":"shelf"}],"items":[{"id":"x","name":"X","beacon":"url:https://a.de","place":"shlf"}]}"#,
                "did you mean \"shelf\"?"
            ),
            (#"{"version":1,"name":"a","items":[],"rounds":3}"#, "rounds: 3 is out of range 4...60"),
            (#"{"version":1,"name":"a","items":[],"rule":"shared-queue"}"#, "\"capacity\" is missing"),
            (#"{"version":1,"name":"a","items":[],"capacity":20}"#, "capacity: "),
            (#"{"version":1,"name":"a","items":[],"withinM":0}"#, "withinM: 0 is out of range 0.1...100 m"),
            (#"{"version":1,"name":"a","template":{}}"#, "this is a fleet file, not an inventory"),
            (#"{"version":1"#, ""), ("", ""), ("[]", "an object"),
        ])
    func reportsErrorsWithTheirPaths(text: String, message: String) {
        let (inventory, problems) = Inventory.decode(Array(text.utf8))
        #expect(inventory == nil && problems.contains { $0.text(file: "f").contains(message) }, "\(problems)")
    }

    @Test func refusesChangesWithDuplicateIdsOrBeacons() throws {
        var inventory = World.inventory(items: 2)
        #expect(throws: InventoryError.self) { try inventory.add(inventory.items[0]) }
        var third = Inventory.Item(id: "third", name: "Third", beacon: World.identity(1))
        #expect(throws: InventoryError.self) { try inventory.add(third) }
        third.beacon = World.identity(9)
        try inventory.add(third)
        third.id = "item-1"
        #expect(throws: InventoryError.self) { try inventory.replace("third", with: third) }
        third.id = "last"
        try inventory.replace("third", with: third)
        #expect(inventory.items.map(\.id) == ["item-1", "item-2", "last"])
        #expect(throws: InventoryError.self) { try inventory.remove("third") }
        try inventory.remove("item-1")
        #expect(inventory.items.map(\.id) == ["item-2", "last"])
        for id in ["", "a/b", "-x", "a b", String(repeating: "a", count: 65)] {
            #expect(throws: InventoryError.self) {
                try inventory.add(Inventory.Item(id: id, name: "N", beacon: World.identity(50)))
            }
        }
    }

    @Test(
        arguments: [
            ("Cordless drill", "cordless-drill"), ("  Säge!! ", "saege"), ("Öllampe groß", "oellampe-gross"),
            ("Grüne Vase", "gruene-vase"), ("日本", "item"), ("Thing 1", "thing-1"),
            ("item 1", "item-1-2"),
        ])
    func derivesIdsFromNames(name: String, id: String) {
        #expect(World.inventory(items: 1).freeID(for: name) == id)
    }

    @Test func aLargeInventoryIsReadAndWritten() throws {
        let inventory = World.inventory(items: 10_000)
        #expect(Inventory.decode(Array(inventory.text.utf8)).inventory == inventory)
    }

    @Test func warnsOfItemsThatCannotBeFoundInTime() throws {
        var inventory = World.inventory(items: 3)
        inventory.beacons = [300_000, 1_000_000].enumerated().map { index, interval in
            var beacon = Inventory.Beacon(identity: World.identity(index))
            beacon.intervalMicroseconds = interval
            return beacon
        }
        inventory.rule.memory = .sharedQueue(capacity: 8)
        let check = InventoryCheck(inventory)
        #expect(check.beacons.map(\.isFastEnough) == [true, false, nil])
        #expect(check.warnings.contains { $0.hasPrefix("item-2: the interval of 1000 ms is too long") })
        #expect(check.warnings.contains { $0.contains("one queue of 8 sightings: if 3 or more") })
        let address = BeaconIdentity.address(try #require(DeviceAddress("C0:01:02:03:04:05")))
        inventory.items[0].beacon = address
        let isWarned = [nil, -59].map { power in
            let known = KnownBeacon(name: "a", identity: address, calibrationAtOneMeter: power)
            return InventoryCheck(inventory, known: [known]).warnings.contains {
                $0.hasPrefix("1 item known only by an address")
            }
        }
        #expect(isWarned == [true, false])
        #expect(
            check.text(file: "f").hasSuffix(
                "f: 3 items. Fast enough to be found within 6 s: 1 item. Unknown interval: 1 item.\n"))
        let learned = InventoryCheck(inventory, learned: [World.identity(2): 100_000])
        #expect(learned.beacons[2].isFastEnough == true)
    }
}
