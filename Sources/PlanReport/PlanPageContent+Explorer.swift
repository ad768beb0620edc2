public import Airtime

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
