import Configuration
import Fleet
import Profiles
import Testing

@Suite struct FleetSpreadsheetTests {
    @Test func writesOneFullRowForEachAdvertisement() throws {
        let fleet = FleetManifest(
            fleet: "f",
            beacons: [
                SampleFleet.beacon("a", advertisements: [SampleFleet.iBeacon(1, 2), SampleFleet.ephemeral]),
                SampleFleet.beacon(
                    "b", address: nil, position: .plan(x: SampleFleet.number("-3.50"), y: .init(12), z: nil)),
            ])
        let text = FleetSpreadsheet.text(fleet)
        let lines = text.unicodeScalars.split(separator: "\n").map { String($0) }
        #expect(lines[0].hasPrefix("name,site,"))
        #expect(lines.count == 4 && lines.allSatisfy { $0.hasSuffix("\r") })
        #expect(Set(lines.map { $0.split(separator: ",", omittingEmptySubsequences: false).count }) == [28])
        #expect(lines[1].contains(",152.5,-4,-59,,,0x00e1234567890123"))
        #expect(lines[2].contains(",\"eddystone-eid\",,,,,,,,1000,,,1024,,"))
        #expect(lines[3].contains(",-3.50,12,,"))
    }

    @Test func addsATitleColumnIfABeaconHasATitle() throws {
        var beacon = SampleFleet.beacon("a", advertisements: [SampleFleet.iBeacon(1, 2)])
        beacon.title = "Löwe"
        let fleet = FleetManifest(fleet: "f", beacons: [beacon, SampleFleet.beacon("b")])
        let lines = FleetSpreadsheet.text(fleet, names: ["title": "Bezeichnung"]).split(separator: "\r\n")
        #expect(lines[0].hasPrefix("name,\"Bezeichnung\",site,"))
        #expect(lines[1].hasPrefix("\"a\",\"Löwe\","))
        #expect(Set(lines.map { $0.split(separator: ",", omittingEmptySubsequences: false).count }) == [29])
    }

    @Test(arguments: SampleFleet.hostile)
    func writesNoCellThatStartsAFormula(_ text: String) throws {
        var beacon = SampleFleet.beacon(text, group: [text, text], host: text)
        beacon.profileHash = text
        let csv = FleetSpreadsheet.text(FleetManifest(fleet: "f", beacons: [beacon]))
        let line = try #require(csv.split(separator: "\r\n").last)
        #expect(csv.split(separator: "\r\n").count == 2 && !line.contains { $0.isNewline || $0 == "\t" || $0 == "\0" })
        for separator: Set<Character> in [[","], [";"], ["|"], [",", ";", "|"]] {
            for cell in line.split(whereSeparator: { separator.contains($0) }) {
                let first = cell.drop { $0 == "\"" || $0 == " " }.unicodeScalars.first
                let isNumber = cell.allSatisfy { $0.isNumber || "-.".contains($0) }
                #expect(isNumber || !"=+-@\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}%".unicodeScalars.contains { $0 == first })
            }
        }
    }
}
