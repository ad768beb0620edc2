extension PlanPageContent {
    /// One chart: several series over one x.
    public struct Curve: Hashable, Sendable {
        /// A line with its name in the legend.
        public struct Series: Hashable, Sendable {
            public var name: String
            /// In ascending order of x. Where y is not finite the line is interrupted.
            public var points: [Point]

            /// Points in the units of the chart's axes, in ascending order of x.
            public init(_ name: String, _ points: [Point]) {
                self.name = name
                self.points = points
            }
        }

        /// A vertical line at a place of interest: "today", "best".
        public struct Marker: Hashable, Sendable {
            public var name: String
            public var x: Double

            /// At a place in the unit of x; outside the chart it is not drawn.
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

            /// Without a unit it counts. A logarithmic one leaves out what is not positive.
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

        /// With no more than eight series, which is as many as are told apart; all in the units of the axes.
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
        /// One scanner's distribution.
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

            /// Percentiles and points in s; a percentile that is not reached is `nil`.
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

        /// Rows from top to bottom, on one logarithmic axis of time.
        public init(caption: String, rows: [Row]) {
            self.caption = caption
            self.rows = rows
        }
    }

    /// Advertising intervals × scan modes, a time to discovery in each cell.
    public struct HeatMap: Hashable, Sendable {
        /// The value for one interval and one scan mode.
        public struct Cell: Hashable, Sendable {
            /// In the heat map's unit; nil where it is never reached within the horizon.
            public var value: Double?
            /// Whether interval and scan interval are in resonance here.
            public var isResonant: Bool

            /// In the heat map's unit; `nil` is drawn as never.
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

        /// Intervals in ms from top to bottom, scan modes from left to right; rows and cells beyond them are left out.
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
