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
