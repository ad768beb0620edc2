import Fleet
import Testing

@Suite("A table of beacons")
struct BeaconTableTests {
    @Test("each advertisement of the requested types has a row")
    func listsAdvertisements() {
        let beacons = [
            SampleFleet.beacon("a", advertisements: [SampleFleet.iBeacon(1, 2), SampleFleet.ephemeral]),
            SampleFleet.beacon("b", group: [], advertisements: [SampleFleet.ephemeral]),
        ]
        let lines = BeaconTable(beacons).text.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[1].hasSuffix("0b0b0b0b-0b0b-0b0b-0b0b-0b0b0b0b0b0b-1-2        152.5"), "\(lines[1])")
        #expect(lines[3].hasPrefix("b       -                   -        eddystone-eid  -"), "\(lines[3])")
        let chosen = BeaconTable(beacons, types: ["ibeacon"])
        #expect(chosen.beacons.map(\.name) == ["a"] && chosen.beacons.first?.advertisements.count == 1)
        #expect(chosen.lines.hasPrefix("{\"name\":\"a\",") && chosen.lines.hasSuffix("}\n"))
    }

    @Test("a fleet with titles has a column for them")
    func showsTitles() {
        var beacons = [SampleFleet.beacon("a"), SampleFleet.beacon("b")]
        #expect(BeaconTable(beacons).text.hasPrefix("beacon  group "))
        beacons[0].title = "Große Halle"
        let lines = BeaconTable(beacons).text.split(separator: "\n")
        #expect(lines[0].hasPrefix("beacon  title        group "), "\(lines[0])")
        #expect(lines[1].hasPrefix("a       Große Halle  museum/ground/hall "), "\(lines[1])")
        #expect(lines[2].hasPrefix("b       -            museum/ground/hall "), "\(lines[2])")
    }

    @Test("control characters from a manifest are escaped for the terminal", arguments: SampleFleet.hostile)
    func escapesText(_ text: String) {
        var beacon = SampleFleet.beacon("a")
        (beacon.adapter, beacon.title) = (text, text)
        beacon.advertisements[0].identity = .eddystoneURL(text)
        let table = BeaconTable([beacon]).text
        #expect(table.split(separator: "\n").count == 2)
        #expect(!table.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
    }
}
