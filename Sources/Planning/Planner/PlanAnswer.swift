internal import Airtime
internal import BluetoothTypes
public import Configuration

/// The answer to a question of the planner: a sentence, facts, notes and drawings, shown as text, as JSON or as a page.
public struct PlanAnswer: Sendable {
    /// The subject of the answer in a few words.
    public let title: String
    /// The answer in one sentence.
    public internal(set) var sentence: String
    /// Whether the target can be reached.
    public internal(set) var holds = true
    /// The values of the answer, in order.
    public private(set) var facts: [Fact] = []
    /// Assumptions and known errors.
    public private(set) var notes: [String] = []
    var pictures = PlanPictures()

    /// A named value.
    public struct Fact: Sendable {
        /// The key in JSON; nil if the value is only in the text.
        public let key: String?
        /// The name in the text; nil if the value is only in JSON.
        public let name: String?
        public let quantity: PlanQuantity
        /// The text that replaces the number where digits would mislead.
        public let shown: String?
        /// A remark; may be empty.
        public let remark: String
    }

    init(title: String, sentence: String) {
        self.title = title
        self.sentence = sentence
    }

    /// The value with a key; nil if there is none.
    public subscript(_ key: String) -> PlanQuantity? { facts.first { $0.key == key }?.quantity }

    /// Adds a value to JSON and, with a name, to the text.
    ///
    /// - Parameters:
    ///   - name: The name in the text; nil leaves the value out of it.
    ///   - shown: Replaces the value in the text.
    mutating func state(
        _ key: String, _ quantity: PlanQuantity, as name: String? = nil, shown: String? = nil, remark: String = ""
    ) {
        facts.append(Fact(key: key, name: name, quantity: quantity, shown: shown, remark: remark))
    }

    /// Adds a value to the text only.
    mutating func show(_ name: String, _ quantity: PlanQuantity, shown: String? = nil, remark: String = "") {
        facts.append(Fact(key: nil, name: name, quantity: quantity, shown: shown, remark: remark))
    }

    /// Adds a note.
    public mutating func note(_ text: String) { notes.append(text) }

    /// The values with keys, as a record.
    var record: PlanQuantity { .record(facts.compactMap { fact in fact.key.map { ($0, fact.quantity) } }) }
}

/// The drawings of an answer.
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
    /// Compares the answer with the other numbers of the page; may be empty.
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

// Text, JSON and page.

extension PlanAnswer {
    /// The values of the text.
    private var figures: [PlanPageContent.Figure] {
        facts.compactMap { fact in
            fact.name.map { .init($0, fact.shown ?? fact.quantity.text, unit: fact.quantity.unit, remark: fact.remark) }
        }
    }

    /// The answer for a terminal, with charts.
    public func text(charts: TextChart) -> String {
        var table = Table(["", "", "", ""], alignment: [.left, .right])
        // Names come from files: control characters must not reach the terminal.
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

    /// The answer as one JSON object.
    public var json: JSONValue { record.json }

    /// The answer as one self-contained HTML page.
    ///
    /// - Parameter command: The command line that repeats the question.
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

// Values that several questions share.

extension PlanAnswer {
    /// Adds the fleet and the site.
    mutating func stateOrigin(of air: PlannedAir) {
        guard let origin = air.origin else { return }
        state("fleet", .word(origin.fleet))
        state("site", .word(origin.site))
    }

    /// Adds the advertisement in question, and explains how the others count.
    mutating func stateTarget(of air: PlannedAir) {
        guard air.origin != nil else { return }
        let frame = air.frame(air.target)
        state("advertisement", frame.quantity())
        show(
            "advertisement", .word(frame.name), remark: "every \(frame.interval), \(frame.payloadOctets) bytes of data")
        guard air.onlyFrame == nil else { return }
        note(
            "A beacon is found by its most frequent advertisement. The answer is for the beacon whose most frequent "
                + "advertisement is the slowest at the site, so all others are found at least as fast. All other "
                + "advertisements of the site count with their own intervals and lengths.")
    }

    /// Adds a note if controllers cannot be set to the requested interval.
    mutating func noteRounding(of air: PlannedAir) {
        guard let requested = air.requestedMicroseconds, let interval = AdvertisingInterval(microseconds: requested),
            interval.microseconds != requested
        else { return }
        note(
            "Controllers count in steps of 0.625 ms: \(DecimalText.thousandths(requested)) ms becomes \(interval).")
    }

    /// The usual percentiles.
    static let percentiles = [(50, 0.5), (90, 0.9), (95, 0.95), (99, 0.99)]

    /// The percentiles of a time to discovery, and the model's known error.
    mutating func state(_ latency: LatencyDistribution) {
        state(
            "latencyS", .record(Self.percentiles.map { ("p\($0.0)", .seconds(latency.percentile($0.1))) }))
        state("horizonS", .seconds(latency.horizonSeconds))
        for (percent, share) in Self.percentiles {
            let time = latency.percentile(share)
            show(
                "\(percent) % received within", .seconds(time),
                remark: time == nil
                    ? "not within \(NumberText.duration(latency.horizonSeconds))" : "")
        }
        state("knownErrorExceeds2Percent", .flag(latency.knownErrorExceeds2Percent))
        if let reason = latency.knownErrorReason { note(reason) }
    }

    /// Adds the figure with the controls, which starts from one fleet and one scanner.
    mutating func explore(
        _ group: AdvertiserGroup, _ scanner: ScannerPreset, payloadOctets: Int, background: BackgroundLoad,
        captureDecibels: Double? = nil, latency: LatencyDistribution? = nil
    ) {
        var numbers = PlanPageContent.Numbers()
        if let model = try? CollisionModel(groups: [group], background: background) {
            numbers.collisionFreeProbability = model.collisionFreeProbability
            numbers.arrivalsPerSecondPerBeacon = model.arrivalsPerSecondPerBeacon
            numbers.channelLoad = model.channelLoad
        }
        let clear = background.clearProbability(forPacketOf: group.airtimeMicroseconds)
        numbers.lossAfterLossProbability =
            (try? RunsModel(group: group, otherClearProbability: clear))?.lossAfterLossProbability
        numbers.airtimeMicroseconds = group.airtimeMicroseconds
        if let best = try? BestInterval(
            beacons: group.count, airtimeMicroseconds: group.airtimeMicroseconds, background: background)
        {
            numbers.bestThroughputIntervalMs = Self.setting(best.throughputMeanPeriodMicroseconds)
            numbers.bestLatencyIntervalMs = Self.setting(best.latencyMeanPeriodMicroseconds)
        }
        numbers.latencyP50 = latency?.percentile(0.5)
        numbers.latencyP90 = latency?.percentile(0.9)
        numbers.latencyP95 = latency?.percentile(0.95)
        numbers.latencyP99 = latency?.percentile(0.99)
        // A custom scanner comes first.
        let isKnown = ScannerPreset.all.contains { $0.name == scanner.name }
        let scanners = (isKnown ? [] : [scanner]) + ScannerPreset.all
        pictures.explorer = .init(
            beacons: group.count, intervalMs: group.intervalMicroseconds / 1000, payloadOctets: payloadOctets,
            scanners: scanners.map { .init($0.name, $0.pattern) }, scannerName: scanner.name,
            captureDecibels: captureDecibels, backgroundLoad: background.share,
            backgroundAirtimeMicroseconds: background.airtimeMicroseconds, numbers: numbers)
    }

    private static func setting(_ meanPeriod: Double) -> Double? {
        let setting = try? IntervalSetting(meanPeriodMicroseconds: meanPeriod, rounding: .toNearestOrAwayFromZero)
        return setting.map { Double($0.interval.microseconds) / 1000 }
    }
}

extension PlanPageContent.LatencyComparison.Row {
    /// A distribution thinned to what a drawing can show.
    init(_ name: String, _ latency: LatencyDistribution) {
        let stride = max(1, latency.seconds.count / 300)
        let points = Swift.stride(from: 0, to: latency.seconds.count, by: stride).map { index in
            PlanPageContent.Point(latency.seconds[index], latency.receivedShare[index])
        }
        self.init(
            name, p50: latency.percentile(0.5), p90: latency.percentile(0.9), p95: latency.percentile(0.95),
            p99: latency.percentile(0.99), discovered: points)
    }
}

/// How far a long question has come.
public struct PlanProgress: Hashable, Sendable {
    /// What is counted, such as `places`.
    public var what: String
    public var done: Int
    /// How many there will be; an estimate where ``isEstimate``, `nil` where nobody can tell.
    public var total: Int?
    /// Whether the end is only estimated.
    public var isEstimate: Bool
    /// What is known so far; may be empty.
    public var remark: String

    /// So many of `total` are done, which is left out where nobody can tell.
    public init(_ what: String, done: Int, of total: Int?, isEstimate: Bool = false, remark: String = "") {
        self.what = what
        self.done = done
        self.total = total
        self.isEstimate = isEstimate
        self.remark = remark
    }

    /// For one line of a terminal: `1200 of 2000 places`, `340 of about 900 batches: 0.167 ± 0.002`.
    public var text: String {
        let end = total.map { " of \(isEstimate ? "about " : "")\(max($0, done))" } ?? ""
        return "\(done)\(end) \(what)" + (remark.isEmpty ? "" : ": " + remark)
    }
}

/// Is told now and then how far a question has come; `false` ends it with what there is.
public typealias PlanObserver = (PlanProgress) -> Bool
