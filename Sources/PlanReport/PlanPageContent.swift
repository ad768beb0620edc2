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
