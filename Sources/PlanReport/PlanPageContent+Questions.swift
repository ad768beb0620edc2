public import Airtime

extension PlanPageContent {
    /// A beacon's battery over the interval: the settings that the page's controls start from.
    public struct Battery: Hashable, Sendable {
        /// Beacons in range of one receiver, including the target beacon.
        public var beacons: Int
        /// T in ms.
        public var intervalMs: Double
        /// Octets of advertising data, 0...31.
        public var payloadOctets: Int
        /// The chips and batteries to choose from, with those that are asked about first or by name.
        public var chips: [BeaconChip]
        public var chipName: String
        public var batteries: [BeaconBattery]
        public var batteryName: String

        /// A chip or battery that is not in the lists is put before them.
        public init(
            beacons: Int, intervalMs: Double, payloadOctets: Int, chip: BeaconChip, battery: BeaconBattery,
            chips: [BeaconChip] = BeaconChip.all, batteries: [BeaconBattery] = BeaconBattery.all
        ) {
            self.beacons = beacons
            self.intervalMs = intervalMs
            self.payloadOctets = payloadOctets
            // One of the user's own is not in the table.
            self.chips = (chips.contains { $0.name == chip.name } ? [] : [chip]) + chips
            chipName = chip.name
            self.batteries = (batteries.contains { $0.name == battery.name } ? [] : [battery]) + batteries
            batteryName = battery.name
        }
    }

    /// Somebody who walks past a beacon: the settings that the page's controls start from.
    public struct Walk: Hashable, Sendable {
        /// m/s, the closest approach in m, and how far the beacon is heard in m.
        public var path: WalkPast
        /// The share of passers-by who see the beacon, by the program.
        public var probabilitySeen: Double
        /// The beacons, the scanner, and the program's own curve of discovery.
        public var fleet: Explorer

        /// `probabilitySeen`: 0...1.
        public init(_ path: WalkPast, probabilitySeen: Double, fleet: Explorer) {
            self.path = path
            self.probabilitySeen = probabilitySeen
            self.fleet = fleet
        }
    }

    /// How many beacons a place bears: the settings that the page's controls start from.
    public struct Density: Hashable, Sendable {
        /// The most beacons in range by the program; 0 where not even one is received in time.
        public var beaconsInRange: Int
        /// The square grid's spacing in m, by the program.
        public var gridSpacingM: Double?
        /// How long detection may take, in seconds, and in which share of cases it is to.
        public var detectWithinS: Double
        public var probability: Double
        /// How far a beacon is heard, in m.
        public var rangeM: Double
        /// T in ms.
        public var intervalMs: Double
        /// Octets of advertising data, 0...31.
        public var payloadOctets: Int
        public var scanners: [Scanner]
        public var scannerName: String
        /// x beacons, y the share received in time, by the program; may be empty.
        public var shares: [Point]

        /// `shares`: x beacons, y the share received in time, 0...1; lengths in m, times as their names say.
        public init(
            beaconsInRange: Int, gridSpacingM: Double?, detectWithinS: Double, probability: Double, rangeM: Double,
            intervalMs: Double, payloadOctets: Int, scanners: [Scanner], scannerName: String, shares: [Point] = []
        ) {
            self.beaconsInRange = beaconsInRange
            self.gridSpacingM = gridSpacingM
            self.detectWithinS = detectWithinS
            self.probability = probability
            self.rangeM = rangeM
            self.intervalMs = intervalMs
            self.payloadOctets = payloadOctets
            self.scanners = scanners
            self.scannerName = scannerName
            self.shares = shares
        }
    }
}

extension PlanPageContent {
    /// Equal beacons before one scanner: the settings that the page's controls start from, and the numbers of the
    /// program for them. The page draws the curve over the interval from the settings and computes all numbers again
    /// whenever a control moves.
    public struct Explorer: Hashable, Sendable {
        /// N, the asked beacon included.
        public var beacons: Int
        /// T, today's setting or the proposed one, in ms.
        public var intervalMs: Double
        /// Octets of advertising data, 0...31.
        public var payloadOctets: Int
        /// The scanners to choose from.
        public var scanners: [Scanner]
        /// Which of them is asked about, by its name.
        public var scannerName: String
        /// The signal-to-interference ratio, in dB, above which the stronger packet survives; nil for no capture.
        public var captureDecibels: Double?
        /// σ of the shadowing on each link, in dB, where capture is asked for.
        public var shadowingDecibels: Double
        /// The share of the channel that strangers keep busy, 0..<1.
        public var backgroundLoad: Double
        /// The airtime of the strangers' packets; nil where they are as long as ours.
        public var backgroundAirtimeMicroseconds: Double?
        /// Copy spacing c, start to start, in ms.
        public var copySpacingMs: Double
        /// Up to when the page follows a latency, in s: later percentiles are shown as never reached.
        public var horizonSeconds: Double
        /// The program's own curve of discovery, x seconds, y the share discovered by then; may be empty.
        public var discovered: [Point]
        /// What the program itself computed for these settings. Without scripts these are what is read.
        public var numbers: Numbers

        /// Settings that the controls do not take are drawn as the nearest that they do.
        public init(
            beacons: Int, intervalMs: Double, payloadOctets: Int = 31, scanners: [Scanner], scannerName: String,
            captureDecibels: Double? = nil, shadowingDecibels: Double = 4, backgroundLoad: Double = 0,
            backgroundAirtimeMicroseconds: Double? = nil, copySpacingMs: Double = 1, horizonSeconds: Double = 3600,
            discovered: [Point] = [],
            numbers: Numbers = Numbers()
        ) {
            self.beacons = beacons
            self.intervalMs = intervalMs
            self.payloadOctets = payloadOctets
            self.scanners = scanners
            self.scannerName = scannerName
            self.captureDecibels = captureDecibels
            self.shadowingDecibels = shadowingDecibels
            self.backgroundLoad = backgroundLoad
            self.backgroundAirtimeMicroseconds = backgroundAirtimeMicroseconds
            self.copySpacingMs = copySpacingMs
            self.horizonSeconds = horizonSeconds
            self.discovered = discovered
            self.numbers = numbers
        }
    }

    /// A scanner with its name as the command line knows it.
    public struct Scanner: Hashable, Sendable {
        public var name: String
        public var pattern: ScanPattern

        /// A name of up to 80 characters is shown whole.
        public init(_ name: String, _ pattern: ScanPattern) {
            self.name = name
            self.pattern = pattern
        }
    }

    /// The program's own numbers for the settings of the explorer, named as in its JSON; nil where it has none.
    public struct Numbers: Hashable, Sendable {
        public var collisionFreeProbability: Double?
        public var arrivalsPerSecondPerBeacon: Double?
        public var lossAfterLossProbability: Double?
        public var airtimeMicroseconds: Double?
        public var channelLoad: Double?
        /// Seconds.
        public var latencyP50: Double?
        public var latencyP90: Double?
        public var latencyP95: Double?
        public var latencyP99: Double?
        /// T with the most collision-free packets a second, in ms.
        public var bestThroughputIntervalMs: Double?
        /// T with the shortest time to a high percentile, in ms.
        public var bestLatencyIntervalMs: Double?

        /// No numbers; the page shows a dash for each until its script has computed it.
        public init() {}
    }
}
