internal import BeaconService
public import BluetoothTypes
public import Configuration
internal import LinuxHost
public import Listener
internal import Sightings
internal import Synchronization

/// One person's part in a count, with one receiver or several. Each receiver writes its own log into the store.
public final class CountRun: Sendable {
    /// An event during a count.
    public enum Event: Sendable {
        /// An item was found for the first time in the count.
        case found(FoundItem)
        /// The number of found items, reported from time to time.
        case progress(found: Int, items: Int)
        /// A warning for the user, as one sentence.
        case warning(String)
    }

    /// An item that was found.
    public struct FoundItem: Hashable, Sendable {
        public let item: Inventory.Item
        public let receiver: String
        public let by: String
        public let at: RFC3339Time
        /// The time for which the receiver had listened before it found the item, in milliseconds.
        public let afterMilliseconds: Int
        /// The level in dBm.
        public let level: Int?
        /// The distance in millimetres, rounded to centimetres.
        public let distance: Int?
        /// The number of items found so far, including this item.
        public let found: Int
        /// The number of all items.
        public let items: Int
    }

    /// The state that the receivers share.
    private struct Shared {
        var foundBeacons: Set<BeaconIdentity> = []
        var journal: CountJournal?
        var sessions = 0
        var isOver = false
    }

    private let inventory: Inventory
    private let store: InventoryStore
    private let otherInventories: [Inventory]
    private let rule: CountRule
    private let by: String
    private let receiver: InventoryReceiver
    private let output: @Sendable (Event) -> Void
    private let shared = Mutex(Shared())

    /// - Parameters:
    ///   - others: Other inventories. Their items are reported as foreign.
    ///   - by: The name of the person who counts.
    ///   - output: Receives the events. Each receiver calls it on its own thread.
    public init(
        _ store: InventoryStore, _ inventory: Inventory, others: [Inventory], rule: CountRule, by: String,
        receiver: InventoryReceiver, output: @escaping @Sendable (Event) -> Void
    ) {
        self.store = store
        self.inventory = inventory
        otherInventories = others
        self.rule = rule
        self.by = by
        self.receiver = receiver
        self.output = output
    }

    /// Counts with one or several adapters at once, until a signal arrives or the duration is over.
    ///
    /// - Parameters:
    ///   - adapters: The adapters. `nil` means the first adapter of the machine.
    ///   - virtualBeacons: The beacons that are received by virtual adapters.
    ///   - countName: The name of the count to join or to start. `nil` to join the open count, or, if none is open, to
    ///     start a count named after the day.
    /// - Throws: `ListenerServiceError` if the first adapter cannot receive; `InventoryError` or `SystemError` if the
    ///   log cannot be written.
    public func listen(_ adapters: [AdapterName?], _ virtualBeacons: VirtualBeacons, countName: String?) throws {
        // All receivers share one signal descriptor. A receiver that reads a signal ends all of them.
        let signals = try SignalDescriptor()
        let firstSource = try receiver.live(adapters[0], virtualBeacons, signals: signals)
        let consumer = CountReceiver(
            self, firstSource, name: adapters[0]?.description ?? "the first adapter", countName: countName)
        let runningThreads = Monitor(adapters.count - 1)
        for adapter in adapters.dropFirst() {
            try BackgroundThread.start {
                defer { runningThreads.change { $0 -= 1 } }
                do {
                    let source = try self.receiver.live(adapter, virtualBeacons, signals: signals)
                    let name = adapter?.description ?? "adapter"
                    let consumer = CountReceiver(self, source, name: name, countName: countName)
                    try source.run(consumer)
                    try consumer.check()
                } catch {
                    self.output(.warning("\(error)"))
                }
            }
        }
        defer {
            shared.withLock { $0.isOver = true }
            _ = runningThreads.wait(milliseconds: 3000) { $0 == 0 ? true : nil }
        }
        try firstSource.run(consumer)
        try consumer.check()
    }

    /// Counts with a recording, or with standard input for `-`.
    ///
    /// - Throws: `ListenerServiceError` if the recording cannot be read, `InventoryError` or `SystemError` if the log
    ///   cannot be written.
    public func replay(_ file: String, countName: String?) throws {
        let name = file == "-" ? "standard input" : file.split(separator: "/").last.map(String.init) ?? file
        let source = try receiver.recording(file)
        let consumer = CountReceiver(self, source, name: name, countName: countName)
        try source.run(consumer)
        try consumer.check()
    }

    /// Returns the report of the whole count so far, including the logs of other persons; `nil` if no receiver has
    /// joined the count.
    public func report() throws(InventoryError) -> CountReport? {
        guard let name = shared.withLock({ $0.journal?.countName }) else { return nil }
        return try store.lastReport(inventory, of: name)
    }

    // MARK: For the receivers

    var isOver: Bool { shared.withLock { $0.isOver } || Terminal.outputIsGone }

    func send(_ event: Event) { output(event) }

    func sendProgress() {
        output(.progress(found: shared.withLock { $0.foundBeacons.count }, items: inventory.items.count))
    }

    /// Ends all receivers if the count `name` has been finished.
    func endIfFinished(_ name: String) {
        guard (try? store.journal(name))?.finish != nil else { return }
        output(.warning("the count \(name) is finished"))
        shared.withLock { $0.isOver = true }
    }

    func makeSession() -> CountSession {
        CountSession(inventory, others: otherInventories, rule: rule, distances: receiver.distances)
    }

    /// Creates the log of a receiver, and joins or starts the count.
    func begin(_ receiver: String, countName: String?) throws -> (file: OutputFile, header: CountLog.Header) {
        let journal = try shared.withLock { shared in
            if let journal = shared.journal { return journal }
            let journal = try store.begin(inventory, by: by, name: countName)
            shared.journal = journal
            // Items that other receivers have found are not reported again.
            let items = Set(inventory.items.map(\.beacon))
            for log in store.logs(journal.countName).logs {
                shared.foundBeacons.formUnion(items.intersection(log.findings.keys))
            }
            return journal
        }
        let sessionNumber = shared.withLock { shared in
            shared.sessions += 1
            return shared.sessions
        }
        let machine = Files.firstLine("/proc/sys/kernel/hostname") ?? "machine"
        let now = RFC3339Time.now
        let moment = "\(now)".filter { $0.isNumber }
        let machineName = String(machine.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }.prefix(40))
        let header = CountLog.Header(
            session: "\(moment)-\(machineName)-\(ProcessIdentity.current.id)-\(sessionNumber)",
            inventory: inventory.name,
            countName: journal.countName, by: by, receiver: receiver, machine: machine, start: now)
        return (try store.log(header), header)
    }

    /// Reports that an item was found. If it was reported before, does nothing.
    func found(
        _ finding: CountSession.Finding, by receiver: String, at time: RFC3339Time
    ) {
        let item = inventory.items[finding.beacon]
        let foundCount = shared.withLock { shared in
            shared.foundBeacons.insert(item.beacon).inserted ? shared.foundBeacons.count : nil
        }
        guard let foundCount else { return }
        output(
            .found(
                FoundItem(
                    item: item, receiver: receiver, by: by, at: time,
                    afterMilliseconds: finding.afterMicroseconds / 1000,
                    level: finding.level.map { Int($0.rounded()) },
                    distance: finding.meters.map { Int(($0 * 100).rounded()) * 10 }, found: foundCount,
                    items: inventory.items.count)))
    }

    /// The name of the user of this process.
    public static var currentUser: String {
        let id = String(Privileges.user)
        let table = (try? Files.read("/etc/passwd", limit: 1 << 24)) ?? []
        for line in table.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            if fields.count > 2, String(decoding: fields[2], as: UTF8.self) == id {
                return String(decoding: fields[0], as: UTF8.self)
            }
        }
        return Terminal.environment("LOGNAME") ?? "user \(id)"
    }
}

extension CountRun.FoundItem {
    /// The item as a JSON object.
    public var json: JSONValue {
        .record([
            ("event", "found"), ("id", .string(item.id)), ("name", .string(item.name)),
            ("beacon", .string("\(item.beacon)")), ("place", .optional(item.place, JSONValue.string)),
            ("receiver", .string(receiver)), ("by", .string(by)), ("at", .string("\(at)")),
            ("afterS", .number(JSONNumber(thousandths: afterMilliseconds))),
            ("rssiDbm", .optional(level) { .integer($0) }),
            ("distanceM", .optional(distance) { .number(JSONNumber(thousandths: $0)) }),
            ("found", .integer(found)), ("items", .integer(items)),
        ])
    }

    /// The item as a line of text.
    public var text: String {
        let name = TerminalText.line(TerminalText.shortened(item.name, to: 40))
        let place = distance.map { "\(DecimalText.thousandths($0)) m" } ?? "distance unknown"
        return
            "found \(item.id)  \(name)  after \(CountReport.seconds(afterMilliseconds)), \(place), \(found) of \(items)"
    }
}
