/// The content of a page of results, which ``PlanPage`` draws. The results are an answer of the planner, or a report of
/// another module, such as an audit. Only title, answer and command are required; all other parts may be missing. The
/// page escapes all texts. Charts leave out numbers that are not finite, and tables print them as a dash.
public struct PlanPageContent: Sendable {
    /// The subject of the page in a few words.
    public var title: String
    /// The answer, in one sentence.
    public var answer: String
    /// A sentence that compares the answer with the other numbers of the page; may be empty.
    var reconciliation = ""
    /// The command line that repeats the question.
    public var command: String
    /// The chart that explains the answer. It is the first chart of the page.
    var decidingCurve: Curve?
    /// The figures with controls for equal beacons and one scanner.
    var explorer: Explorer?
    var battery: Battery?
    var walk: Walk?
    var density: Density?
    /// The distribution of the time to discovery for each scanner.
    public var latencies: LatencyComparison?
    /// A table of times to discovery by advertising interval and scan mode.
    public var heatMap: HeatMap?
    /// The floor, with a value for each place.
    public var floorPlan: FloorPlan?
    /// A chart of shares, such as the shares of the sites of a fleet.
    var bars: Bars?
    /// Further curves.
    public var curves: [Curve] = []
    /// The numbers of the answer, as a table.
    public var figures: [Figure] = []
    /// Further tables.
    public var tables: [DataTable] = []
    /// Assumptions, and known errors of the models.
    public var notes: [String] = []
    /// The name of the program that made the page, which the top of the page shows.
    public var maker = "Pharos, the planner"

    public init(title: String, answer: String, command: String) {
        self.title = title
        self.answer = answer
        self.command = command
    }

    /// Shares, each drawn as a bar.
    struct Bars: Sendable {
        /// A bar with its name and its share, 0...1; nil if the share is unknown.
        struct Bar: Sendable {
            var name: String
            var share: Double?
        }

        var title: String
        var caption: String
        var bars: [Bar]
    }

    /// One row of the table of figures: "battery life | 268 | days".
    public struct Figure: Sendable {
        public var name: String
        /// The rounded value without its unit.
        public var value: String
        public var unit: String
        /// The meaning or the source; may be empty.
        public var remark: String

        public init(_ name: String, _ value: String, unit: String = "", remark: String = "") {
            self.name = name
            self.value = value
            self.unit = unit
            self.remark = remark
        }
    }

    /// A table. The first cell of each row is its heading. If the table is long, the page shows its first rows and the
    /// number of all rows.
    public struct DataTable: Sendable {
        public var caption: String
        public var header: [String]
        public var rows: [[String]]
        /// The colour of each row. Rows beyond the end of the list have no colour.
        package var marks: [HTML.Mark?] = []
        /// True for a table that is hidden until the user opens it, and that is not printed.
        package var isFolded = false

        public init(caption: String, header: [String], rows: [[String]]) {
            self.caption = caption
            self.header = header
            self.rows = rows
        }
    }

    /// A point. On a chart, its coordinates are in the units of the axes; on a floor plan, in m. Drawings leave out
    /// points that are not finite.
    public struct Point: Sendable {
        public var x: Double
        public var y: Double

        public init(_ x: Double, _ y: Double) {
            self.x = x
            self.y = y
        }
    }
}

extension PlanPageContent {
    /// One chart: several series over a common x axis.
    public struct Curve: Sendable {
        /// A line with its name in the legend.
        public struct Series: Sendable {
            public var name: String
            /// The points in the units of the axes, in ascending order of x. A point whose y is not finite interrupts
            /// the line.
            public var points: [Point]

            public init(_ name: String, _ points: [Point]) {
                self.name = name
                self.points = points
            }
        }

        /// A vertical line with a name, such as `today`. It is drawn only if it is inside the chart.
        public struct Marker: Sendable {
            public var name: String
            public var x: Double

            public init(_ name: String, x: Double) {
                self.name = name
                self.x = x
            }
        }

        /// A quantity with its unit; the unit may be empty.
        public struct Axis: Sendable {
            public var name: String
            public var unit: String
            /// True for a logarithmic axis, on which equal distances are equal ratios. It leaves out values that are
            /// not positive.
            public var isLogarithmic: Bool

            public init(_ name: String, unit: String = "", isLogarithmic: Bool = false) {
                self.name = name
                self.unit = unit
                self.isLogarithmic = isLogarithmic
            }
        }

        public var title: String
        /// A sentence about the chart.
        public var caption: String
        public var x: Axis
        public var y: Axis
        /// The lines of the chart, at most eight.
        public var series: [Series]
        public var markers: [Marker]
        /// The meaning of an interruption of a line, such as `not within 15 min`; empty if no line is interrupted.
        public var gapMeaning: String
        /// The target value of y, drawn as a horizontal line; nil if there is no target.
        var wanted: Double?

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

    /// The times to discovery with several scanners, on one logarithmic axis of time.
    public struct LatencyComparison: Sendable {
        /// One scanner's distribution.
        public struct Row: Sendable {
            /// The name of the scanner.
            public var name: String
            /// The percentiles in s; nil if the share of a percentile is not reached.
            public var p50: Double?
            public var p90: Double?
            public var p95: Double?
            public var p99: Double?
            /// The points of the distribution in ascending order: x is the time in s, y the share found by then, 0...1.
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

    /// A table with a row for each advertising interval, a column for each scan mode, and a time to discovery in each
    /// cell.
    public struct HeatMap: Sendable {
        /// The value for one interval and one scan mode.
        public struct Cell: Sendable {
            /// The value in the heat map's unit; nil if it is not reached within the horizon.
            public var value: Double?
            /// True if the interval resonates with the scan interval.
            public var isResonant: Bool

            public init(_ value: Double?, isResonant: Bool = false) {
                self.value = value
                self.isResonant = isResonant
            }
        }

        public var title: String
        public var caption: String
        /// The name of the cells' values, such as `time to 95 %`.
        public var valueName: String
        public var unit: String
        /// The advertising intervals of the rows from top to bottom, in ms.
        public var intervalsMs: [Double]
        /// The scan modes of the columns from left to right.
        public var scanModes: [String]
        /// A row for each interval, with a cell for each scan mode.
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
