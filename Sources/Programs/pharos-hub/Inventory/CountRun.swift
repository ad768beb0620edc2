internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import HCITransports
internal import Inventory
internal import LinuxHost
internal import Listener
internal import Sightings
internal import Synchronization

/// One person's part in a count, with one receiver or several.
final class CountRun: Sendable {
    /// What all receivers share.
    struct Shared {
        /// Things that somebody has found, in this part or before.
        var found: Set<BeaconIdentity> = []
        var journal: CountJournal?
        var sessions = 0
        var failures: [String] = []
        var isOver = false
    }

    let inventory: Inventory
    private let store: InventoryStore
    private let others: [Inventory]
    private let rule: CountRule
    private let by: String
    private let json: Bool
    private let shared = Mutex(Shared())
    private let distanceRule = Mutex(DistanceEstimate.Rule())
    private let ending = Mutex<(@Sendable (String) -> Bool)?>(nil)

    init(
        _ store: InventoryStore, _ inventory: Inventory, others: [Inventory], rule: CountRule, by: String, json: Bool
    ) {
        self.store = store
        self.inventory = inventory
        self.others = others
        self.rule = rule
        self.by = by
        self.json = json
    }

    /// How levels become distances.
    var distances: DistanceEstimate.Rule {
        get { distanceRule.withLock { $0 } }
        set { distanceRule.withLock { $0 = newValue } }
    }

    /// Whether somebody has finished the count of this name.
    var isEnding: (@Sendable (String) -> Bool)? {
        get { ending.withLock { $0 } }
        set { ending.withLock { $0 = newValue } }
    }

    /// Listens with all adapters until somebody ends it.
    func listen(
        _ first: SightingSource, _ adapters: [AdapterName?], count: String?,
        open: @escaping @Sendable (AdapterName?) throws(ListenerServiceError) -> SightingSource
    ) throws {
        let consumer = try CountConsumer(
            self, first, name: adapters[0]?.description ?? "the first adapter", count: count)
        let others = Monitor(adapters.count - 1)
        for adapter in adapters.dropFirst() {
            try BackgroundThread.start {
                defer { others.change { $0 -= 1 } }
                do {
                    let source = try open(adapter)
                    let name = adapter?.description ?? "adapter"
                    try source.run(try CountConsumer(self, source, name: name, count: count))
                } catch {
                    Terminal.writeError("pharos: \(error)\n")
                }
            }
        }
        defer {
            shared.withLock { $0.isOver = true }
            _ = others.wait(milliseconds: 3000) { $0 == 0 ? true : nil }
        }
        try first.run(consumer)
        try consumer.check()
    }

    /// Reads a recording.
    func replay(_ source: SightingSource, name: String, count: String?) throws {
        let consumer = try CountConsumer(self, source, name: name, count: count)
        try source.run(consumer)
        try consumer.check()
    }

    /// What came of it, by all who have taken part so far.
    func tellSummary() throws {
        guard let name = shared.withLock({ $0.journal?.count }) else { return }
        let report = try store.lastReport(inventory, of: name)
        if json {
            let value = JSONValue.record([
                ("event", "summary"), ("count", .string(report.count)), ("items", .integer(report.outcomes.count)),
                ("found", .integer(report.total(.found))), ("heard", .integer(report.total(.heard))),
                ("missing", .integer(report.total(.missing))), ("foreign", .integer(report.total(.foreign))),
                ("duplicate", .integer(report.total(.duplicate))),
                ("lowBattery", .integer(report.total(.lowBattery))),
                (
                    "missingItems",
                    .array(report.outcomes.filter { $0.state != .found }.map { .string($0.item.id) })
                ),
            ])
            return Terminal.write(value.line + "\n")
        }
        Terminal.write("Count \(report.count): \(report.summary).\n")
        let missing = report.outcomes.filter { $0.state != .found }
        for outcome in missing.prefix(50) {
            Terminal.write(
                "  \(outcome.item.id)  \(TerminalText.line(TerminalText.shortened(outcome.item.name, to: 40)))"
                    + "  \(outcome.states.map(CountReport.words).joined(separator: ", "))\n")
        }
        if missing.count > 50 {
            Terminal.write("  and \(missing.count - 50) more: `pharos inventory list \(store.path) --missing`\n")
        }
    }

    // MARK: For the receivers

    var isOver: Bool { shared.withLock { $0.isOver } || Terminal.outputIsGone }
    var foundCount: Int { shared.withLock { $0.found.count } }

    fileprivate func end() { shared.withLock { $0.isOver = true } }

    fileprivate func session() -> CountSession {
        CountSession(inventory, others: others, rule: rule, distances: distances)
    }

    /// Begins a log, and the count where none goes on.
    fileprivate func begin(_ receiver: String, count: String?) throws -> (file: OutputFile, header: CountLog.Header) {
        let journal = try shared.withLock { shared in
            if let journal = shared.journal { return journal }
            let journal = try store.begin(inventory, by: by, name: count)
            shared.journal = journal
            // What others have found is not told again.
            let items = Set(inventory.items.map(\.beacon))
            for log in try store.count(journal.count).logs {
                shared.found.formUnion(items.intersection(log.findings.keys))
            }
            return journal
        }
        let number = shared.withLock { shared in
            shared.sessions += 1
            return shared.sessions
        }
        let machine = Files.firstLine("/proc/sys/kernel/hostname") ?? "machine"
        let now = InventoryStore.now
        let moment = "\(now)".filter { $0.isNumber }
        let safe = String(machine.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }.prefix(40))
        let header = CountLog.Header(
            session: "\(moment)-\(safe)-\(ProcessIdentity.current.id)-\(number)", inventory: inventory.name,
            count: journal.count, by: by, receiver: receiver, machine: machine, start: now)
        return (try store.log(header), header)
    }

    /// Tells that something was found, unless somebody has found it before.
    fileprivate func tell(
        _ finding: CountSession.Finding, _ item: Inventory.Item, by receiver: String, at time: RFC3339Time
    ) {
        let number = shared.withLock { shared in shared.found.insert(item.beacon).inserted ? shared.found.count : nil }
        guard let number else { return }
        let seconds = finding.afterMicroseconds / 1000
        let millimetres = finding.meters.map { Int(($0 * 100).rounded()) * 10 }
        if json {
            let value = JSONValue.record([
                ("event", "found"), ("id", .string(item.id)), ("name", .string(item.name)),
                ("beacon", .string("\(item.beacon)")), ("place", .optional(item.place, JSONValue.string)),
                ("receiver", .string(receiver)), ("by", .string(by)), ("at", .string("\(time)")),
                ("afterS", .number(JSONNumber(thousandths: seconds))),
                ("rssiDbm", .optional(finding.level) { .integer(Int($0.rounded())) }),
                ("distanceM", .optional(millimetres) { .number(JSONNumber(thousandths: $0)) }),
                ("found", .integer(number)), ("items", .integer(inventory.items.count)),
            ])
            return Terminal.write(value.line + "\n")
        }
        let name = TerminalText.line(TerminalText.shortened(item.name, to: 40))
        Terminal.write(
            "found \(item.id)  \(name)  after \(DecimalText.thousandths((seconds + 50) / 100 * 100)) s, "
                + "\(millimetres.map { DecimalText.thousandths($0) + " m" } ?? "somewhere"), "
                + "\(number) of \(inventory.items.count)\n")
    }
}

/// One receiver of a count: writes down what it hears.
private final class CountConsumer: SightingConsumer {
    private let run: CountRun
    private let source: SightingSource
    private let name: String
    private let count: String
    private var session: CountSession
    private let file: OutputFile
    private let line = ProgressLine()
    private var fault: SystemError?
    private var pending: [UInt8] = []
    /// When what has changed was written last, and when the count was looked at.
    private var written: UInt64 = 0
    private var looked: UInt64 = 0
    /// How often that is done, in nanoseconds of the machine's clock.
    private static let pause: UInt64 = 2_000_000_000

    init(_ run: CountRun, _ source: SightingSource, name: String, count: String?) throws {
        self.run = run
        self.source = source
        self.name = name
        session = run.session()
        let (file, header) = try run.begin(name, count: count)
        self.file = file
        self.count = header.count
        try file.append(Array(header.line(rule: session.rule).utf8))
    }

    /// - Throws: why the log could not be written to its end.
    func check() throws { if let fault { throw fault } }

    var nextWakeUp: HeardInstant? { session.nextWakeUp }
    var isSatisfied: Bool { run.isOver || fault != nil }
    func begin(at now: HeardInstant) { session.begin(at: now) }
    func advance(to now: HeardInstant) { take(session.advance(to: now)) }

    func hear(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        session.hear(report.sighting, octets, range)
    }

    func change(_ state: ScanKeeper.State, at now: HeardInstant) {
        if state.isHearing { session.becomeHearing(at: now) } else if state != .starting { session.becomeDeaf(at: now) }
    }

    func rest(at now: HeardInstant) {
        line.report {
            "\(run.foundCount) of \(run.inventory.items.count) found; Ctrl-C ends your part"
        }
        let machine = MonotonicClock.nanoseconds()
        if machine - written > Self.pause {
            written = machine
            writeChanges(at: now, isEnd: false)
        }
        if machine - looked > Self.pause {
            looked = machine
            if run.isEnding?(count) == true {
                say("the count \(count) is finished", isWarning: true)
                run.end()
            }
        }
    }

    func say(_ sentence: String, isWarning: Bool) {
        if isWarning { Terminal.writeError("pharos: \(sentence)\n") }
    }

    func finish(at now: HeardInstant) {
        take(session.finish(at: now))
        writeChanges(at: now, isEnd: true)
        line.finish()
    }

    private func take(_ findings: [CountSession.Finding]) {
        guard !findings.isEmpty else { return }
        let items = session.inventory.items
        let told = findings.map { ($0, items[$0.beacon], time($0.instant)) }
        for (finding, _, time) in told { pending += CountLog.line(finding, in: session, at: time).utf8 }
        // What was told is on the disk.
        flush(isDurable: true)
        for (finding, item, time) in told { run.tell(finding, item, by: name, at: time) }
    }

    private func writeChanges(at now: HeardInstant, isEnd: Bool) {
        for (beacon, seen) in session.takeChanges() {
            pending += CountLog.line(seen, of: beacon, in: session, time: time).utf8
        }
        pending += CountLog.line(of: session, lost: source.counts.lostInKernel, at: time(now), isEnd: isEnd).utf8
        flush(isDurable: isEnd)
    }

    private func flush(isDurable: Bool) {
        guard fault == nil, !pending.isEmpty else { return }
        do throws(SystemError) {
            try file.append(pending)
            if isDurable { try file.synchronize() }
        } catch {
            fault = error
        }
        pending.removeAll(keepingCapacity: true)
    }

    /// What the wall clock showed; of a recording that does not tell, what it shows now.
    private func time(_ instant: HeardInstant) -> RFC3339Time {
        guard let time = source.clock.unixMicroseconds(at: instant) else { return InventoryStore.now }
        return RFC3339Time(secondsSince1970: Int((time - (time < 0 ? 999_999 : 0)) / 1_000_000))
    }
}
