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
        /// N, the target beacon included.
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
        /// The airtime of the other devices' packets; nil where they are as long as ours.
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

extension PlanPageContent {
    /// A floor seen from above, in metres, x to the right and y upwards.
    public struct FloorPlan: Hashable, Sendable {
        /// A straight wall, drawn the wider the more it weakens.
        public struct Wall: Hashable, Sendable {
            public var from: Point
            public var to: Point
            /// dB.
            public var attenuation: Double

            /// From one end to the other, places in m; `attenuation` in dB for one crossing, at least 0.
            public init(from: Point, to: Point, attenuation: Double) {
                self.from = from
                self.to = to
                self.attenuation = attenuation
            }
        }

        /// A beacon at its place, with the name that stands beside it where there is room.
        public struct Beacon: Hashable, Sendable {
            public var name: String
            public var position: Point
            /// Whether it is a proposal, not there yet.
            public var isProposed: Bool

            /// At a place in m. A proposed one is drawn as an outline.
            public init(_ name: String, at position: Point, isProposed: Bool = false) {
                self.name = name
                self.position = position
                self.isProposed = isProposed
            }
        }

        /// A point where a receiver stands, with the value that is drawn there.
        public struct Spot: Hashable, Sendable {
            public var position: Point
            /// nil where nothing can be said: nothing is heard there.
            public var value: Double?

            /// A place in m, and the value there in the plan's unit; `nil` is drawn as "nothing heard".
            public init(_ position: Point, _ value: Double?) {
                self.position = position
                self.value = value
            }
        }

        /// A way that people walk.
        public struct Path: Hashable, Sendable {
            public var name: String
            public var points: [Point]

            /// The corners in m, in the order in which they are passed.
            public init(_ name: String, _ points: [Point]) {
                self.name = name
                self.points = points
            }
        }

        /// One of the weakest places, for the table.
        public struct WeakSpot: Hashable, Sendable {
            public var position: Point
            public var value: Double?
            /// Why it is weak.
            public var remark: String

            /// A place in m, its value in the plan's unit, and what a reader is told beside it.
            public init(_ position: Point, _ value: Double?, remark: String = "") {
                self.position = position
                self.value = value
                self.remark = remark
            }
        }

        /// What the page's controls move: the wanted time and share, for which the colours are drawn anew.
        public struct Goal: Hashable, Sendable {
            /// How soon a beacon is to be found, in s.
            public var seconds: Double
            /// In which share of the cases, between 0 and 1.
            public var probability: Double
            /// Some times in s, ascending, `seconds` among them.
            public var times: [Double]
            /// By spot, the shares in which a beacon is found within each of the times.
            public var shares: [[Double]]

            /// Each row of `shares` has one share for each of `times`, and none where nothing is heard.
            public init(seconds: Double, probability: Double, times: [Double], shares: [[Double]]) {
                self.seconds = seconds
                self.probability = probability
                self.times = times
                self.shares = shares
            }
        }

        public var title: String
        public var caption: String
        /// What the spots hold: "time to detect", "s".
        public var valueName: String
        public var unit: String
        /// Whether a high value is a good one.
        public var isHigherBetter: Bool
        /// From where on a value is good enough: the colours change there, and a line is drawn; nil where nothing is
        /// wanted.
        public var target: Double?
        /// The distance between spots, in m: the size of the squares that are drawn.
        public var spotSpacing: Double
        /// The outer line of the floor; may be empty.
        public var outline: [Point]
        public var walls: [Wall]
        public var beacons: [Beacon]
        public var spots: [Spot]
        public var paths: [Path]
        public var weakSpots: [WeakSpot]
        /// `nil` for a plan without controls. With them the spots' values are shares in %.
        public var goal: Goal?

        /// All lengths in m, values in `unit`. What is left out is not drawn; the rest is drawn in the order in which it is
        /// given, walls above the spots and beacons above the walls.
        public init(
            title: String, caption: String = "", valueName: String, unit: String, isHigherBetter: Bool,
            target: Double? = nil, spotSpacing: Double, outline: [Point] = [], walls: [Wall] = [],
            beacons: [Beacon] = [],
            spots: [Spot] = [], paths: [Path] = [], weakSpots: [WeakSpot] = []
        ) {
            self.title = title
            self.caption = caption
            self.valueName = valueName
            self.unit = unit
            self.isHigherBetter = isHigherBetter
            self.target = target
            self.spotSpacing = spotSpacing
            self.outline = outline
            self.walls = walls
            self.beacons = beacons
            self.spots = spots
            self.paths = paths
            self.weakSpots = weakSpots
        }
    }
}
