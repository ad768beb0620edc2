extension PlanPageContent {
    /// One chart: several series over one x.
    public struct Curve: Hashable, Sendable {
        public struct Series: Hashable, Sendable {
            public var name: String
            /// In ascending order of x. Where y is not finite the line is interrupted.
            public var points: [Point]

            public init(_ name: String, _ points: [Point]) {
                self.name = name
                self.points = points
            }
        }

        /// A vertical line at a place of interest: "today", "best".
        public struct Marker: Hashable, Sendable {
            public var name: String
            public var x: Double

            public init(_ name: String, x: Double) {
                self.name = name
                self.x = x
            }
        }

        /// A quantity with its unit; the unit may be empty.
        public struct Axis: Hashable, Sendable {
            public var name: String
            public var unit: String
            /// Whether equal distances are equal ratios. Values that are not positive are left out then.
            public var isLogarithmic: Bool

            public init(_ name: String, unit: String = "", isLogarithmic: Bool = false) {
                self.name = name
                self.unit = unit
                self.isLogarithmic = isLogarithmic
            }
        }

        public var title: String
        /// What is to be seen in it, in a sentence.
        public var caption: String
        public var x: Axis
        public var y: Axis
        public var series: [Series]
        public var markers: [Marker]
        /// What it means that a line is interrupted: "not within 15 min"; empty where none is.
        public var gapMeaning: String
        /// A value of y that is wanted, as a horizontal line; nil for none.
        public var wanted: Double?

        public init(
            title: String, caption: String = "", x: Axis, y: Axis, series: [Series], markers: [Marker] = [],
            gapMeaning: String = ""
        ) {
            self.title = title
            self.caption = caption
            self.x = x
            self.y = y
            self.series = series
            self.markers = markers
            self.gapMeaning = gapMeaning
        }
    }

    /// How long discovery takes with each of several scanners, on one axis of time.
    public struct LatencyComparison: Hashable, Sendable {
        public struct Row: Hashable, Sendable {
            /// The scanner.
            public var name: String
            /// Seconds; nil where more than that share is never reached within the horizon.
            public var p50: Double?
            public var p90: Double?
            public var p95: Double?
            public var p99: Double?
            /// x seconds, y the share discovered by then, 0...1; in ascending order.
            public var discovered: [Point]

            public init(
                _ name: String, p50: Double?, p90: Double?, p95: Double?, p99: Double?, discovered: [Point]
            ) {
                self.name = name
                self.p50 = p50
                self.p90 = p90
                self.p95 = p95
                self.p99 = p99
                self.discovered = discovered
            }
        }

        public var caption: String
        public var rows: [Row]

        public init(caption: String, rows: [Row]) {
            self.caption = caption
            self.rows = rows
        }
    }

    /// Advertising intervals × scan modes, a time to discovery in each cell.
    public struct HeatMap: Hashable, Sendable {
        public struct Cell: Hashable, Sendable {
            /// In the heat map's unit; nil where it is never reached within the horizon.
            public var value: Double?
            /// Whether interval and scan interval are in resonance here.
            public var isResonant: Bool

            public init(_ value: Double?, isResonant: Bool = false) {
                self.value = value
                self.isResonant = isResonant
            }
        }

        public var title: String
        public var caption: String
        /// What the cells hold: "time to 95 %", "s".
        public var valueName: String
        public var unit: String
        public var intervalsMs: [Double]
        public var scanModes: [String]
        /// A row for each interval, a cell for each scan mode.
        public var cells: [[Cell]]

        public init(
            title: String, caption: String = "", valueName: String, unit: String = "s", intervalsMs: [Double],
            scanModes: [String], cells: [[Cell]]
        ) {
            self.title = title
            self.caption = caption
            self.valueName = valueName
            self.unit = unit
            self.intervalsMs = intervalsMs
            self.scanModes = scanModes
            self.cells = cells
        }
    }
}
