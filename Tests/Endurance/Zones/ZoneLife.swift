internal import BluetoothTypes
internal import Sightings
internal import Zones

/// A beacon that stays in a zone for days and leaves it now and then. Many of its advertising events are lost, often
/// several in a row.
public struct ZoneLife: Sendable {
    public struct Settings: Hashable, Sendable, CustomStringConvertible {
        public let intervalMilliseconds: Int
        /// The share of lost events.
        public let loss: Double
        /// The mean number of events that are lost in a row; `nil` if losses are independent.
        public let run: Double?
        /// True if the interval is configured, and not learned.
        public let isKnown: Bool

        public init(intervalMilliseconds: Int, loss: Double, run: Double? = nil, isKnown: Bool = false) {
            self.intervalMilliseconds = intervalMilliseconds
            self.loss = loss
            self.run = run
            self.isKnown = isKnown
        }

        public var description: String {
            "\(intervalMilliseconds) ms, loss \(loss)" + (run.map { " in runs of \($0)" } ?? "")
                + (isKnown ? ", known" : "")
        }
    }

    /// The number of exits while the beacon was in the zone.
    public private(set) var falseExits = 0
    /// The beacon's time in the zone in microseconds.
    public private(set) var presentMicroseconds = 0
    /// The times from the first event to the enter event, in microseconds.
    public private(set) var enterDelays: [Int] = []
    /// The delays of exits in microseconds, beyond the silence that was computed when the beacon left.
    public private(set) var leaveDelays: [Int] = []
    /// The number of exits that never came.
    public private(set) var missedExits = 0

    private let settings: Settings
    private var table: SightingTable
    private var engine: ZoneEngine
    private var randomness: SplitMix64
    private var isLost = false
    private var time = 1_000_000
    private var isInside = false
    /// The instant of the next report of the other device in microseconds.
    private var otherDue = 0

    private static let sender = Sender(DeviceAddress(FixedOctets(repeating: 0xC1)), isRandom: true)
    /// An iBeacon with a UUID of zeros, major 1, minor 1 and -59 dBm.
    private static let data: [UInt8] =
        [0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15] + [UInt8](repeating: 0, count: 16) + [0, 1, 0, 1, 0xC5]

    /// Creates the state before the first event.
    public init(_ settings: Settings, seed: UInt64) {
        self.settings = settings
        let known = KnownBeacon(
            name: "key", identity: .iBeacon(uuid: FixedOctets(repeating: 0), major: 1, minor: 1),
            intervalMicroseconds: settings.isKnown ? settings.intervalMilliseconds * 1000 : nil)
        table = SightingTable(known: [known], strangers: .counted)
        engine = ZoneEngine(
            [ZoneRule(name: "desk", members: .beacons(["key"]), bound: .level(above: -70, leaveBelow: -76))],
            known: [known], beacons: [])
        randomness = SplitMix64(seed: seed)
    }

    private mutating func share() -> Double { Double(randomness.next() >> 11) * 0x1p-53 }

    /// Returns true if the next event is lost: independently, or in runs of geometric length.
    private mutating func losesNext() -> Bool {
        guard let run = settings.run else { return share() < settings.loss }
        let next = 1 - 1 / run
        let first = settings.loss * (1 - next) / (1 - settings.loss)
        isLost = share() < (isLost ? next : first)
        return isLost
    }

    /// Keeps the beacon in the zone for `seconds`.
    public mutating func stay(seconds: Int) {
        let end = time + seconds * 1_000_000
        let start = time
        var isWaiting = !isInside
        while time < end {
            if !losesNext() {
                let instant = HeardInstant(nanoseconds: UInt64(time) * 1000)
                let sighting = Sighting(at: instant, from: Self.sender, rssi: -60)
                count(engine.advance(to: instant))
                count(
                    engine.receive(table.receive(sighting, Self.data.span, Self.data.indices), in: table, sighting))
                if isWaiting, isInside {
                    isWaiting = false
                    enterDelays.append(time - start)
                }
            }
            let next = time + settings.intervalMilliseconds * 1000 + Int(share() * 10_000)
            hearOthers(until: next)
            time = next
        }
        count(engine.advance(to: HeardInstant(nanoseconds: UInt64(time) * 1000)))
        presentMicroseconds += end - start
    }

    /// Delivers a report of an unknown device once per second, which proves that the receiver works.
    private mutating func hearOthers(until end: Int) {
        while otherDue < end {
            count(hearOther(at: max(time, otherDue)))
            otherDue = max(time, otherDue) + 1_000_000
        }
    }

    private mutating func hearOther(at time: Int) -> [ZoneEvent] {
        let sighting = Sighting(at: HeardInstant(nanoseconds: UInt64(time) * 1000), from: nil, rssi: -90)
        return engine.receive(table.receive(sighting, [2, 1, 6].span, 0..<3), in: table, sighting)
    }

    /// Keeps the beacon away for `seconds`.
    public mutating func leave(seconds: Int) {
        guard isInside else { return time += seconds * 1_000_000 }
        let silence = engine.silenceMicroseconds(of: "key") ?? 0
        let left = time
        var exit: Int?
        for _ in 0..<seconds where exit == nil {
            time += 1_000_000
            for event in hearOther(at: time) where event.kind == .exit {
                exit = Int(event.instant.nanoseconds / 1000)
                isInside = false
            }
        }
        time = left + seconds * 1_000_000
        guard let exit else { return missedExits += 1 }
        leaveDelays.append(exit - left - silence)
    }

    /// Counts the events while the beacon is in the zone.
    private mutating func count(_ events: [ZoneEvent]) {
        precondition(engine.check().isEmpty, "\(engine.check())")
        for event in events {
            switch event.kind {
            case .enter: isInside = true
            case .exit:
                isInside = false
                falseExits += 1
            case .dwell, .known, .unknown: break
            }
        }
    }

    /// The number of false exits of a beacon in 30 days.
    public var falseExitsIn30Days: Double {
        presentMicroseconds > 0 ? Double(falseExits) * 30 * 86_400e6 / Double(presentMicroseconds) : 0
    }

    /// The 95th percentile of the delay of entering, in microseconds.
    public var enterDelay95: Int? {
        let sorted = enterDelays.sorted()
        return sorted.isEmpty ? nil : sorted[min(sorted.count - 1, sorted.count * 95 / 100)]
    }
}
