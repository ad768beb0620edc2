internal import Airtime
internal import BluetoothTypes
public import Configuration

/// The answer to a question of the planner: a sentence, facts, notes and drawings, shown as text, as JSON or as a page.
public struct PlanAnswer: Sendable {
    /// The subject of the answer in a few words.
    public let title: String
    /// The answer in one sentence.
    public internal(set) var sentence: String
    /// False if the target cannot be reached, or if the computation was stopped.
    public internal(set) var holds = true
    /// The values of the answer, in order.
    public private(set) var facts: [Fact] = []
    /// Assumptions and known errors.
    public private(set) var notes: [String] = []
    var pictures = PlanPictures()

    /// A named value.
    public struct Fact: Sendable {
        /// The key in JSON; nil if the value is only in the text.
        public let key: PlanKey?
        /// The label in the text; nil if the value is only in the JSON.
        public let label: String?
        public let quantity: PlanQuantity
        /// The text that replaces the number if digits would be misleading.
        public let shown: String?
        /// A remark; may be empty.
        public let remark: String

        /// The unit in the text; empty if the value has no unit, or if its text includes the unit.
        var unit: String { key.map(\.unit).flatMap { $0.isEmpty ? nil : $0 } ?? quantity.unit }
    }

    init(title: String, sentence: String) {
        self.title = title
        self.sentence = sentence
    }

    /// The value of a key in the JSON object; nil if the answer has no such key.
    public subscript(_ name: String) -> PlanQuantity? { facts.first { $0.key?.name == name }?.quantity }

    /// Adds a value to JSON and, if its key has a label, to the text.
    ///
    /// - Parameters:
    ///   - isInText: False to leave the value out of the text.
    ///   - shown: The text that replaces the value.
    mutating func add(
        _ key: PlanKey, _ quantity: PlanQuantity, isInText: Bool = true, shown: String? = nil, remark: String = ""
    ) {
        facts.append(
            Fact(key: key, label: isInText ? key.label : nil, quantity: quantity, shown: shown, remark: remark))
    }

    /// Adds a value to the text only.
    mutating func show(_ label: String, _ quantity: PlanQuantity, shown: String? = nil, remark: String = "") {
        facts.append(Fact(key: nil, label: label, quantity: quantity, shown: shown, remark: remark))
    }

    /// Adds a note.
    public mutating func note(_ text: String) { notes.append(text) }

    /// The values that have a key, as a record.
    var record: PlanQuantity { .object(facts.compactMap { fact in fact.key.map { ($0, fact.quantity) } }) }
}

/// The drawings of an answer.
struct PlanPictures: Sendable {
    /// The drawings for a terminal, in order.
    var terminal: [Drawing] = []
    /// The drawings and controls of the page.
    @Indirect var page = PlanPageContent(title: "", answer: "", command: "")

    enum Drawing: Sendable {
        case curve(PlanPageContent.Curve)
        /// A table with a sentence below it. The sentence may be empty.
        case table(Table, legend: String)
    }
}

/// Keeps a large value outside the structure that contains it. The compiler generates code to copy each structure that
/// contains a ``PlanAnswer``. Without this wrapper, that code would copy each part of a page, and take 50 kB of the
/// program.
@propertyWrapper struct Indirect<Value: Sendable>: Sendable {
    private final class Box: Sendable {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var box: Box

    init(wrappedValue: Value) {
        box = Box(wrappedValue)
    }

    var wrappedValue: Value {
        get { box.value }
        set { box = Box(newValue) }
    }
}

// Text, JSON and page.

extension PlanAnswer {
    /// The values that the text shows.
    private var figures: [PlanPageContent.Figure] {
        facts.compactMap { fact in
            fact.label.map { .init($0, fact.shown ?? fact.quantity.text, unit: fact.unit, remark: fact.remark) }
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
        var content = pictures.page
        (content.title, content.answer, content.command) = (title, sentence, command)
        (content.figures, content.notes) = (figures, notes)
        return PlanPage(content).html
    }
}

// Values that several questions share.

extension PlanAnswer {
    /// Adds the names of the fleet and the site, if the beacons come from a fleet.
    mutating func addOrigin(of air: PlannedAir) {
        guard let origin = air.origin else { return }
        add(.fleet, .word(origin.fleet))
        add(.site, .word(origin.site))
    }

    /// Adds the PHY and the auxiliary packets of extended PDUs; nothing for legacy PDUs.
    mutating func statePackets(of frame: PlannedFrame) {
        guard let extended = frame.extended else { return }
        let auxiliary = extended.auxiliaryMicroseconds
        add(.framePHY, .word(extended.phy.rawValue), isInText: false)
        add(.frameAuxiliary, .number(auxiliary), isInText: false)
        show(
            "advertisement", .word(extended.phy.name),
            remark:
                "\(frame.payloadOctets) bytes of data, \(NumberFormat.significant(auxiliary)) µs on a secondary channel"
        )
    }

    /// Adds the target advertisement, and explains the effect of the other advertisements.
    mutating func stateTarget(of air: PlannedAir) {
        guard air.origin != nil else { return }
        let frame = air.frame(air.target)
        add(.advertisement, frame.quantity)
        show(
            "advertisement", .word(frame.name),
            remark: "every \(frame.intervalText), \(frame.payloadOctets) bytes of data")
        guard air.onlyFrame == nil else { return }
        note(
            "A beacon is found by its most frequent advertisement. The answer is for the slowest beacon of the site, whose "
                + "most frequent advertisement has the longest interval; all other beacons are found at least as fast. "
                + "All other advertisements of the site cause collisions, with their own intervals and lengths.")
    }

    /// Adds a note about the payload and the traffic that the models assume.
    ///
    /// - Parameter frame: The advertisement of all beacons; nil if they send different advertisements.
    mutating func noteTraffic(of frame: PlannedFrame?, _ background: BackgroundLoad = .none) {
        let packets = frame.map { "each advertisement has \($0.payloadOctets) bytes of data; " } ?? ""
        let others =
            background.loads == .none
            ? "no other devices use the channels." : "other devices use the channels as given."
        note("Assumptions: \(packets)\(others)")
    }

    /// The assumption of all models that do not compute capture.
    static let overlapNote = "Two packets that overlap are both lost, even if one of them is much stronger."

    /// Adds a note if a model uses the mean interval of patterns.
    mutating func noteMeanIntervals(of air: PlannedAir) {
        guard air.machines.contains(where: { $0.frames.contains { $0.pattern != nil } }) else { return }
        note(
            "A pattern of intervals counts like the constant interval with the same number of events; "
                + "`pharos plan latency` computes the time to discovery with the pattern itself.")
    }

    /// Adds a note if controllers cannot be set to the requested interval.
    mutating func noteRounding(of air: PlannedAir) {
        guard let requested = air.requestedMicroseconds, let interval = AdvertisingInterval(microseconds: requested),
            interval.microseconds != requested
        else { return }
        note(
            "Controllers count in steps of 0.625 ms: \(DecimalText.thousandths(requested)) ms becomes \(interval).")
    }

    /// Adds the scanner or the mix. If it is the ideal receiver, which some questions assume by default, adds a note.
    mutating func addScanners(_ scanners: ScannerMix) {
        add(.scanner, .word(scanners.name), remark: scanners.only?.listening ?? "")
        guard scanners.only == .continuous else { return }
        note(
            "The scanner continuous is an ideal receiver that never pauses. The questions interval, density, walk and simulate "
                + "assume it if no scanner is named. Phones pause and need longer: name a phone's scanner with "
                + "--scanner, such as android-14-low-power; `pharos plan scanners` lists all scanners.")
    }

    /// Adds the percentiles of a time to discovery, and the model's known error. For a mix, adds the percentiles with
    /// each scanner too.
    ///
    /// - Parameters:
    ///   - extra: The key and the heading of an additional result for each scanner; nil if there is no such result.
    ///   - result: Returns the additional result from the latency with a scanner.
    mutating func addResults(
        of mix: MixLatency, extra: (key: PlanKey, heading: String)? = nil,
        result: (LatencyDistribution) throws(AirtimeError) -> Double? = { _ in nil }
    ) throws(AirtimeError) {
        let latency = mix.whole
        add(.latency, .times(latency))
        add(.horizon, .seconds(latency.horizonSeconds))
        for (_, percent, share) in PlanKey.percentiles {
            let time = latency.percentile(share)
            show(
                "\(percent) % received within", .seconds(time),
                remark: time == nil ? "not within \(NumberFormat.duration(latency.horizonSeconds))" : "")
        }
        add(.knownError, .flag(latency.knownErrorExceeds2Percent))
        if let reason = latency.knownErrorReason { note(reason) }
        guard mix.parts.count > 1 else { return }
        var table = Table(
            ["scanner", "visitors"] + (extra.map { [$0.heading] } ?? []) + ["p50", "p90", "p95", "p99", "mean"],
            alignment: [.left] + Array(repeating: .right, count: 7))
        func row(_ name: String, _ share: Double, _ latency: LatencyDistribution) throws(AirtimeError) {
            var cells = [name, NumberFormat.percent(share)]
            if extra != nil { cells.append(NumberFormat.percent(try result(latency))) }
            let times = PlanKey.percentiles.map { latency.percentile($0.share) } + [latency.meanSeconds]
            table.add(cells + times.map { NumberFormat.duration($0) })
        }
        var list: [PlanQuantity] = []
        for part in mix.parts {
            try row(part.scanner.name, part.share, part.latency)
            var members: [(PlanKey, PlanQuantity)] = [
                (.mixScanner, .word(part.scanner.name)), (.mixShare, .share(part.share)),
            ]
            if let extra { members.append((extra.key, .share(try result(part.latency)))) }
            list.append(.object(members + [(PlanKey.latency, .times(part.latency))]))
        }
        try row("all", 1, latency)
        add(.scanners, .list(list))
        pictures.terminal.append(.table(table, legend: ""))
        pictures.page.latencies = .init(
            caption:
                "The share of cases in which the beacon is found, over time, with each scanner and for all visitors.",
            rows: mix.rows)
        note("The percentiles of the mix are for all visitors together. Each visitor has one of the scanners.")
    }

    /// Adds the figure with the controls. The initial values of the controls describe one fleet and one scanner.
    ///
    /// The script of the page does not model mixes of scanners, gaps in windows, dead times and loads that differ
    /// between channels. If the question has one of these, no controls are added.
    mutating func explore(
        _ group: AdvertiserGroup, _ scanners: ScannerMix, payloadOctets: Int, background: BackgroundLoad,
        captureDecibels: Double? = nil, latency: LatencyDistribution? = nil
    ) {
        guard let scanner = scanners.onPage, background.loads.isEven else { return }
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
        pictures.page.explorer = .init(
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

extension ScannerPreset {
    /// The times at which the scanner listens, as the text of a remark.
    fileprivate var listening: String {
        guard pauses else { return "listens all the time" }
        return "listens for \(DecimalText.thousandths(pattern.windowMicroseconds)) ms in every "
            + "\(DecimalText.thousandths(pattern.intervalMicroseconds)) ms"
    }
}

extension ScannerMix {
    /// The scanner, if all visitors have the same scanner and the page's controls can compute with it; nil otherwise.
    var onPage: ScannerPreset? {
        only.flatMap { $0.windowGapMicroseconds == 0 && $0.deadTimeMicroseconds == 0 ? $0 : nil }
    }

    /// Advice for the case that even a single beacon is found too seldom. It names longer listening only if the scanner
    /// pauses.
    var remedies: String {
        pauses
            ? "Send more often, allow more time, or let the scanner listen more."
            : "Send more often, or allow more time."
    }
}

extension MixLatency {
    /// A row for each scanner and, for a mix, another row for all visitors.
    var rows: [PlanPageContent.LatencyComparison.Row] {
        let rowsByScanner = parts.map { PlanPageContent.LatencyComparison.Row($0.scanner.name, $0.latency) }
        return rowsByScanner + (parts.count > 1 ? [.init("all visitors", whole)] : [])
    }
}

extension PlanPageContent.LatencyComparison.Row {
    /// Creates a row from a distribution, reduced to about 300 points for a drawing.
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

/// The progress of a long question.
public struct PlanProgress: Sendable {
    /// The things that are counted, such as `places`.
    public var what: String
    public var done: Int
    /// The total number of things to count; nil if it is unknown.
    public var total: Int?
    /// True if ``total`` is an estimate.
    public var isEstimate: Bool
    /// The result so far, as text; may be empty.
    public var remark: String

    /// Creates a progress: `done` of `total` things are done; `total` is nil if it is unknown.
    public init(_ what: String, done: Int, of total: Int?, isEstimate: Bool = false, remark: String = "") {
        self.what = what
        self.done = done
        self.total = total
        self.isEstimate = isEstimate
        self.remark = remark
    }

    /// One line for a terminal: `1200 of 2000 places`, `340 of about 900 batches: 0.167 ± 0.002`.
    public var text: String {
        let end = total.map { " of \(isEstimate ? "about " : "")\(max($0, done))" } ?? ""
        return "\(done)\(end) \(what)" + (remark.isEmpty ? "" : ": " + remark)
    }
}

/// A function that receives the progress of a question from time to time. If it returns false, the question stops and
/// answers with the results so far.
public typealias PlanObserver = (PlanProgress) -> Bool
