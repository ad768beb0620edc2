extension PlanPageContent {
    /// A drawing of a floor from above, in metres: x to the right and y upwards. Walls are drawn on top of spots, and
    /// beacons on top of walls.
    public struct FloorPlan: Sendable {
        /// A straight wall. A wall with a higher loss is drawn wider.
        public struct Wall: Sendable {
            public var from: Point
            public var to: Point
            /// The loss of one crossing in dB, at least 0.
            public var attenuation: Double

            public init(from: Point, to: Point, attenuation: Double) {
                self.from = from
                self.to = to
                self.attenuation = attenuation
            }
        }

        /// A beacon. Its name is drawn next to it if there is room.
        public struct Beacon: Sendable {
            public var name: String
            public var position: Point
            /// True for a proposed beacon, which is drawn as an outline.
            public var isProposed: Bool

            public init(_ name: String, at position: Point, isProposed: Bool = false) {
                self.name = name
                self.position = position
                self.isProposed = isProposed
            }
        }

        /// A place with its value.
        public struct Spot: Sendable {
            public var position: Point
            /// The value in the plan's unit; nil if no beacon is received there.
            public var value: Double?

            public init(_ position: Point, _ value: Double?) {
                self.position = position
                self.value = value
            }
        }

        /// A path along which people walk, as the list of its corners.
        public struct Path: Sendable {
            public var name: String
            public var points: [Point]

            public init(_ name: String, _ points: [Point]) {
                self.name = name
                self.points = points
            }
        }

        /// One of the weakest places, for the table.
        public struct WeakSpot: Sendable {
            public var position: Point
            /// The value in the plan's unit; nil if no beacon is received there.
            public var value: Double?
            /// The reason why the place is weak; may be empty.
            public var remark: String

            public init(_ position: Point, _ value: Double?, remark: String = "") {
                self.position = position
                self.value = value
                self.remark = remark
            }
        }

        /// The target time and share. When the user changes them with the page's controls, the page colours the spots
        /// again.
        struct Goal: Sendable {
            /// The time in s within which a beacon has to be found.
            var seconds: Double
            /// The share of cases in which a beacon has to be found in this time, above 0 and below 1.
            var probability: Double
            /// The beacons that have to be found: "a beacon", or "4 beacons, each".
            var found = "a beacon"
            /// Times in s, ascending, including `seconds`.
            var times: [Double]
            /// For each spot, the share of cases in which a beacon is found within each of the times; empty if no
            /// beacon is received at the spot.
            var shares: [[Double]]
        }

        public var title: String
        public var caption: String
        /// The name of the spots' values, such as `time to detect`.
        public var valueName: String
        /// The unit of the spots' values, such as `s`.
        public var unit: String
        /// True if a high value is good.
        public var isHigherBetter: Bool
        /// The value that is good enough. The colours change at this value, and a line is drawn along it. Nil if there
        /// is no such value.
        public var target: Double?
        /// The distance between neighboring spots in m. The square of each spot has this size.
        public var spotSpacing: Double
        /// The picture that is drawn behind the floor; nil if there is no picture.
        public var picture: Picture?
        /// The corners of the floor; may be empty.
        public var outline: [Point]
        public var walls: [Wall]
        public var beacons: [Beacon]
        public var spots: [Spot]
        public var paths: [Path]
        public var weakSpots: [WeakSpot]
        /// The initial values of the controls; nil if the page has no controls. With controls, the spots' values are
        /// shares in %.
        var goal: Goal?

        public init(
            title: String, caption: String = "", valueName: String, unit: String, isHigherBetter: Bool,
            target: Double? = nil, spotSpacing: Double, outline: [Point] = [], walls: [Wall] = [],
            beacons: [Beacon] = [], spots: [Spot] = [], paths: [Path] = [], weakSpots: [WeakSpot] = []
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
