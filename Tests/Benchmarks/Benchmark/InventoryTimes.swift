import Airtime
import BeaconFrames
import BluetoothTypes
import Inventory
import Sightings

/// The share of items that are found in time by a person who stops in front of one after the other: a room of 5 m by 5
/// m with an item at each metre, levels from the distance with shadowing, and one round in ten without any report.
struct InventoryTimes {
    private static let side = 5
    /// With so many trials the share is exact to about a tenth of a percent.
    private static let trials = 10_000
    private static let seconds = 6
    private static let intervals = [100, 200, 300]
    /// The distance in metres between the receiver and the item in front of the person.
    private static let reach = 0.5
    private static let shadowing = 4.0

    static func run(_ report: Report) throws {
        report.section(
            "Inventory: \(side * side) items on \(side) m by \(side) m, \(Double(trials).grouped) times \(seconds) s "
                + "in front of one of them")
        for interval in intervals {
            var room = try Room(milliseconds: interval)
            var (found, reports) = (0, 0)
            let time = ContinuousClock().measure {
                for _ in 0..<trials {
                    found += room.isFound() ? 1 : 0
                    reports = room.reports
                }
            }
            report.target(
                "not found within \(seconds) s at \(interval) ms", 100 - 100 * Double(found) / Double(trials), "%",
                atMost: 2)
            report.line(
                "  \(Double(reports).grouped) reports in \((time.milliseconds / 1000).text(2)) s, with the "
                    + "simulation of the room")
        }
    }

    /// The items, and the packets that each of them sends.
    private struct Room {
        private(set) var reports = 0
        private let interval: Double
        private let inventory: Inventory
        private let payloads: [[UInt8]]
        private let senders: [Sender]
        private var random: SplitMix64

        init(milliseconds: Int) throws {
            interval = Double(milliseconds) / 1000
            random = SplitMix64(seed: UInt64(milliseconds))
            var inventory = Inventory(name: "room")
            var payloads: [[UInt8]] = []
            var senders: [Sender] = []
            for number in 0..<side * side {
                let frame = IBeacon(
                    uuid: .uuid128(HearingRecording.uuid), major: 1, minor: UInt16(number),
                    measuredPower: try MeasuredPowerAtOneMeter(dBm: -59))
                payloads.append(try frame.advertisingData().octets)
                let octets = FixedOctets<6>([0xC0, 0, 0, 0, 1, UInt8(number)]) ?? FixedOctets()
                senders.append(Sender(DeviceAddress.staticRandom(from: octets), isRandom: true))
                inventory.items.append(
                    Inventory.Item(
                        id: "item-\(number)", name: "Thing \(number)",
                        beacon: .iBeacon(uuid: HearingRecording.uuid, major: 1, minor: UInt16(number))))
            }
            self.inventory = inventory
            self.payloads = payloads
            self.senders = senders
        }

        private mutating func share() -> Double { Double(random.next() >> 11) / 0x1p53 }
        private mutating func noise() -> Double { (0..<12).reduce(-6.0) { sum, _ in sum + share() } }

        /// Returns true if the item in front of the person is found in time.
        mutating func isFound() -> Bool {
            let wanted = Int(share() * Double(side * side))
            let place = FloorPosition(x: Double(wanted % side) + reach, y: Double(wanted / side))
            let isLost = (0..<seconds).map { _ in share() < 0.1 }
            var heard: [(second: Double, thing: Int, level: Double)] = []
            for thing in payloads.indices {
                let distance = place.distance(to: FloorPosition(x: Double(thing % side), y: Double(thing / side)))
                let level = -59 - 20 * log10(distance)
                var second = share() * interval
                while second < Double(seconds) {
                    if !isLost[Int(second)] { heard.append((second, thing, level + shadowing * noise())) }
                    // The random delay that every advertiser adds, so that two beacons do not always send at the same
                    // time.
                    second += interval + share() * 0.01
                }
            }
            heard.sort { $0.second < $1.second }
            reports += heard.count
            var session = CountSession(inventory)
            session.begin(at: HeardInstant(nanoseconds: 0))
            for report in heard {
                let instant = HeardInstant(nanoseconds: UInt64(report.second * 1e9))
                _ = session.advance(to: instant)
                let octets = payloads[report.thing]
                session.receive(
                    Sighting(
                        at: instant, from: senders[report.thing], rssi: Int8(max(-120, min(19, report.level.rounded())))
                    ),
                    octets.span, octets.indices)
            }
            _ = session.finish(at: HeardInstant(nanoseconds: UInt64(seconds) * 1_000_000_000))
            return session.findings[wanted] != nil
        }
    }
}
