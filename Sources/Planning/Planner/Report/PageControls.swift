internal import Airtime

// The initial settings of the controls of a page, and the numbers that the program computed for them. The page's script
// computes all numbers again when a control moves.

extension PlanPageContent {
    /// Equal beacons and one scanner. The page draws a curve over the advertising interval.
    struct Explorer: Sendable {
        /// N, the number of beacons in range, including the target beacon.
        var beacons: Int
        /// T in ms: the interval in the question, or the interval that the answer advises.
        var intervalMs: Double
        /// Bytes of advertising data, 0...31.
        var payloadOctets = 31
        /// The scanners to choose from.
        var scanners: [Scanner]
        /// The name of the chosen scanner.
        var scannerName: String
        /// A packet survives overlapping packets that are at least this many dB weaker; nil to compute without capture.
        var captureDecibels: Double?
        /// σ of the shadowing of each link, in dB; used with capture.
        var shadowingDecibels = 4.0
        /// The share of the channel that other devices occupy, 0..<1.
        var backgroundLoad = 0.0
        /// The airtime of the other devices' packets in µs; nil if it equals the airtime of the beacons' packets.
        var backgroundAirtimeMicroseconds: Double?
        /// c: the time from the start of one copy to the start of the next, in ms.
        var copySpacingMs = 1.0
        /// The longest latency that the page computes, in s. Percentiles beyond it are shown as not reached.
        var horizonSeconds = 3600.0
        /// The curve of discovery that the program computed: x is the time in s, y the share found by then. May be
        /// empty.
        var discovered: [Point] = []
        /// The numbers that the program computed for these settings. A browser without scripts shows them.
        var numbers = Numbers()
    }

    /// A scanner with its name on the command line.
    struct Scanner: Sendable {
        var name: String
        var pattern: ScanPattern

        init(_ name: String, _ pattern: ScanPattern) {
            self.name = name
            self.pattern = pattern
        }
    }

    /// The numbers that the program computed for the settings of the explorer. They have the names of the keys in JSON.
    /// The page shows a dash for nil.
    struct Numbers: Sendable {
        var collisionFreeProbability: Double?
        var arrivalsPerSecondPerBeacon: Double?
        var lossAfterLossProbability: Double?
        var airtimeMicroseconds: Double?
        var channelLoad: Double?
        /// Percentiles of the latency, in s.
        var latencyP50: Double?
        var latencyP90: Double?
        var latencyP95: Double?
        var latencyP99: Double?
        /// The interval with the most collision-free packets per second, in ms.
        var bestThroughputIntervalMs: Double?
        /// The interval with the shortest time to a high percentile, in ms.
        var bestLatencyIntervalMs: Double?
    }

    /// The battery life of a beacon over the interval.
    struct Battery: Sendable {
        /// N, the number of beacons in range, including the target beacon.
        let beacons: Int
        /// T, the advertising interval in ms.
        var intervalMs: Double
        /// Bytes of advertising data, 0...31.
        let payloadOctets: Int
        /// The chips to choose from.
        let chips: [BeaconChip]
        let chipName: String
        let batteries: [BeaconBattery]
        let batteryName: String

        init(beacons: Int, intervalMs: Double, payloadOctets: Int, chip: BeaconChip, battery: BeaconBattery) {
            self.beacons = beacons
            self.intervalMs = intervalMs
            self.payloadOctets = payloadOctets
            // A chip or battery that the user describes is listed before the known chips or batteries.
            chips = (BeaconChip.all.contains { $0.name == chip.name } ? [] : [chip]) + BeaconChip.all
            chipName = chip.name
            batteries = (BeaconBattery.all.contains { $0.name == battery.name } ? [] : [battery]) + BeaconBattery.all
            batteryName = battery.name
        }
    }

    /// A scanner that is carried past a beacon.
    struct Walk: Sendable {
        var path: WalkPast
        /// The share of walks that find the beacon, 0...1.
        var probabilitySeen: Double
        /// The beacons and the scanner, with the curve of discovery.
        var fleet: Explorer
    }

    /// The number of beacons that fit in range of one receiver.
    struct Density: Sendable {
        /// The number that the program computed; 0 if even one beacon misses the target.
        var beaconsInRange: Int
        /// The spacing of the square grid in m.
        var gridSpacingM: Double?
        /// The time in s within which a beacon has to be found.
        var detectWithinS: Double
        /// The share of cases in which a beacon has to be found in this time.
        var probability: Double
        /// The range of a beacon in m.
        var rangeM: Double
        /// T, the advertising interval in ms.
        var intervalMs: Double
        /// Bytes of advertising data, 0...31.
        var payloadOctets: Int
        var scanners: [Scanner]
        var scannerName: String
        /// The curve that the program computed: x is the number of beacons, y the share found in time, 0...1. May be
        /// empty.
        var shares: [Point] = []
    }
}
