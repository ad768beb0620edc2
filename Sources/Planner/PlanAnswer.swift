internal import BluetoothTypes
public import Configuration
public import PlanReport
internal import TextEscaping

/// What a question of the planner found: facts, pictures and notes, said once and shown as text, as JSON and as a page.
public struct PlanAnswer: Sendable {
    /// What the answer is about, in a few words.
    public let title: String
    /// The answer in one sentence.
    public internal(set) var sentence: String
    /// Whether the question was answered with yes: what was asked for can be had.
    public internal(set) var holds = true
    /// Everything that was found, in order.
    public private(set) var facts: [Fact] = []
    /// What the answer rests on, and its known errors.
    public private(set) var notes: [String] = []
    var pictures = PlanPictures()

    /// One thing that was found.
    public struct Fact: Sendable {
        /// Its name for programs; `nil` for what only people are told.
        public let key: String?
        /// Its name for people; `nil` for what only programs are told.
        public let name: String?
        public let quantity: PlanQuantity
        /// What people read in its place, where digits would mislead.
        public let shown: String?
        /// What it means or where it comes from; may be empty.
        public let remark: String
    }

    init(title: String, sentence: String) {
        self.title = title
        self.sentence = sentence
    }

    /// The value of a fact by its name for programs; `nil` where there is no such fact.
    public subscript(_ key: String) -> PlanQuantity? { facts.first { $0.key == key }?.quantity }

    /// States a fact to programs and, with a name, to people.
    ///
    /// - Parameters:
    ///   - name: What people call it; `nil` keeps it from the table.
    ///   - shown: What people read in place of the value.
    mutating func state(
        _ key: String, _ quantity: PlanQuantity, as name: String? = nil, shown: String? = nil, remark: String = ""
    ) {
        facts.append(Fact(key: key, name: name, quantity: quantity, shown: shown, remark: remark))
    }

    /// States a fact to people only.
    mutating func show(_ name: String, _ quantity: PlanQuantity, shown: String? = nil, remark: String = "") {
        facts.append(Fact(key: nil, name: name, quantity: quantity, shown: shown, remark: remark))
    }

    /// Adds a sentence to what the answer rests on.
    public mutating func note(_ text: String) { notes.append(text) }

    /// The facts for programs, as a record.
    var record: PlanQuantity { .record(facts.compactMap { fact in fact.key.map { ($0, fact.quantity) } }) }
}

/// What an answer draws beside its facts.
struct PlanPictures: Sendable {
    /// Drawn on a terminal, in this order.
    var terminal: [Drawing] = []
    /// The page's figure with the controls.
    var explorer: PlanPageContent.Explorer?
    var battery: PlanPageContent.Battery?
    var walk: PlanPageContent.Walk?
    var density: PlanPageContent.Density?
    /// The chart that the answer can be read from, before everything else on the page.
    var decidingCurve: PlanPageContent.Curve?
    /// How the answer stands to the other numbers of the page; may be empty.
    var reconciliation = ""
    var latencies: PlanPageContent.LatencyComparison?
    var heatMap: PlanPageContent.HeatMap?
    var floorPlan: PlanPageContent.FloorPlan?
    /// The page's curves.
    var curves: [PlanPageContent.Curve] = []

    enum Drawing: Sendable {
        case curve(PlanPageContent.Curve)
        /// Rows, and a sentence below them, which may be empty.
        case table(Table, legend: String)
    }
}

// The three ways in which an answer is shown.

extension PlanAnswer {
    /// The figures as people read them.
    private var figures: [PlanPageContent.Figure] {
        facts.compactMap { fact in
            fact.name.map { .init($0, fact.shown ?? fact.quantity.text, unit: fact.quantity.unit, remark: fact.remark) }
        }
    }

    /// For people, with charts as the terminal can draw them.
    public func text(charts: TextChart) -> String {
        var table = Table(["", "", "", ""], alignment: [.left, .right])
        // Names come from files: none of them may move the terminal's cursor.
        for figure in figures {
            table.add([figure.name, figure.value, figure.unit, figure.remark].map(TerminalText.line))
        }
        let drawings = pictures.terminal.map { drawing in
            switch drawing {
            case .curve(let curve): charts.curve(curve, height: 10)
            case .table(let table, let legend): table.text + (legend.isEmpty ? "" : legend + "\n")
            }
        }
        let notes = notes.map { "- \(TerminalText.line($0))\n" }.joined()
        return ([TerminalText.line(sentence) + "\n", table.text] + drawings + [notes]).filter { !$0.isEmpty }.joined(
            separator: "\n")
    }

    /// For programs: one object.
    public var json: JSONValue { record.json }

    /// For a browser: one self-contained page in HTML.
    ///
    /// - Parameter command: The command line that asked, as somebody would type it again.
    public func page(command: String) -> String {
        var content = PlanPageContent(
            title: title, answer: sentence, command: command, explorer: pictures.explorer,
            latencies: pictures.latencies, heatMap: pictures.heatMap, floorPlan: pictures.floorPlan,
            curves: pictures.curves, figures: figures, notes: notes)
        (content.battery, content.walk, content.density) = (pictures.battery, pictures.walk, pictures.density)
        (content.decidingCurve, content.reconciliation) = (pictures.decidingCurve, pictures.reconciliation)
        return PlanPage(content).html
    }
}
