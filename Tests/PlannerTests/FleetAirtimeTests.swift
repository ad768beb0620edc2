import Configuration
import Fleet
import Testing

@testable import Planner

@Suite("The airtime of a fleet's sites")
struct FleetAirtimeTests {
    private static func fleet(_ count: Int) throws -> (fleet: Fleet, traffic: FleetTraffic) {
        let beacons = (0..<count).map { #"{ "name": "b\#($0)" }"# }.joined(separator: ", ")
        let text = """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "ibeacon", "intervalMs": 100,
              "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": "${minor}", "measuredPowerDbm": -59
              } ] }, "identities": { "minor": { "within": "fleet" } }, "beacons": [ \(beacons) ] }
            """
        let (decoded, problems) = Fleet.decode(Array(text.utf8), file: "f.json") { _ in .unreadable("") }
        #expect(problems == [])
        let fleet = try #require(decoded)
        let now = RFC3339Time(secondsSince1970: 0)
        let (allocation, _) = FleetAllocation.make(fleet, lock: nil, now: now)
        return (fleet, allocation.check().traffic)
    }

    @Test("a site where half of the packets collide gets a warning", arguments: [(40, false), (200, true)])
    func warns(count: Int, isTooMuch: Bool) throws {
        let (fleet, traffic) = try Self.fleet(count)
        let warnings = FleetAirtime(traffic).warnings(for: fleet)
        #expect(warnings.count == (isTooMuch ? 1 : 0))
        for warning in warnings {
            #expect(
                !warning.isError && warning.message.hasPrefix("for a receiver that receives all \(count) beacons of"))
        }
    }

    @Test("the table has a row for each site")
    func showsSites() throws {
        let airtime = FleetAirtime(try Self.fleet(2).traffic)
        #expect(airtime.text.contains("–           2               2 "), "\(airtime.text)")
        #expect(airtime.json.line.hasPrefix("[{\"name\":\"\",\"beacons\":2,\"advertisements\":2,"))
        #expect(FleetAirtime(FleetTraffic()).text.isEmpty)
    }
}
