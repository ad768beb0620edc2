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
