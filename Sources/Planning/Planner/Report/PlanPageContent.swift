/// What stands on a planner's page. The commands fill it, `PlanPage` draws it.
///
/// Everything but title, answer and command may be left out, and is then not drawn. Texts may hold anything: the page
/// escapes them. Numbers may be anything: what is not finite is left out of a chart and printed as a dash.
public struct PlanPageContent: Hashable, Sendable {
    /// What the page is about, in a few words.
    public var title: String
    /// The answer, in one sentence.
    public var answer: String
    /// How the answer stands to the other numbers of the page; may be empty.
    public var reconciliation = ""
    /// The command line that made the page.
    public var command: String
    /// The chart that the answer can be read from, before everything else.
    public var decidingCurve: Curve?
    /// One fleet before one scanner: the figure with the controls.
    public var explorer: Explorer?
    /// A beacon's battery, with controls.
    public var battery: Battery?
    /// Somebody who walks past a beacon, with controls.
    public var walk: Walk?
    /// How many beacons a place bears, with controls.
    public var density: Density?
    /// How long discovery takes, a distribution for each scanner.
    public var latencies: LatencyComparison?
    /// Advertising interval × scan mode.
    public var heatMap: HeatMap?
    /// The floor, with a value for each point.
    public var floorPlan: FloorPlan?
    /// Further curves.
    public var curves: [Curve]
    /// The numbers of the answer, for reading.
    public var figures: [Figure]
    /// Lists that are read line by line, behind the figures.
    public var tables: [DataTable] = []
    /// Assumptions, and the known errors of the models.
    public var notes: [String]
    /// What made the page, as it stands at its top.
    public var maker = "Pharos, the planner"

    /// Only title, answer and command are needed; what is left out is not drawn.
    public init(
        title: String, answer: String, command: String, explorer: Explorer? = nil,
        latencies: LatencyComparison? = nil, heatMap: HeatMap? = nil, floorPlan: FloorPlan? = nil,
        curves: [Curve] = [], figures: [Figure] = [], notes: [String] = []
    ) {
        self.title = title
        self.answer = answer
        self.command = command
        self.explorer = explorer
        self.latencies = latencies
        self.heatMap = heatMap
        self.floorPlan = floorPlan
        self.curves = curves
        self.figures = figures
        self.notes = notes
    }

    /// One row of the table of figures: "battery life | 268 | days".
    public struct Figure: Hashable, Sendable {
        public var name: String
        /// As it is to be read: rounded, without its unit.
        public var value: String
        public var unit: String
        /// What it means or where it comes from; may be empty.
        public var remark: String

        /// `value` without its unit, rounded as it is to be read.
        public init(_ name: String, _ value: String, unit: String = "", remark: String = "") {
            self.name = name
            self.value = value
            self.unit = unit
            self.remark = remark
        }
    }

    /// A list. The first cell of each row is its heading.
    public struct DataTable: Hashable, Sendable {
        public var caption: String
        public var header: [String]
        public var rows: [[String]]

        /// Of many rows the page shows the first ones, and says how many there are.
        public init(caption: String, header: [String], rows: [[String]]) {
            self.caption = caption
            self.header = header
            self.rows = rows
        }
    }

    /// A place in a chart, in the units of its axes; on a floor plan metres.
    public struct Point: Hashable, Sendable {
        public var x: Double
        public var y: Double

        /// Either may be anything: what is not finite is left out of a drawing.
        public init(_ x: Double, _ y: Double) {
            self.x = x
            self.y = y
        }
    }
}

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
