internal import BluetoothTypes
internal import Configuration
internal import HCI
internal import LinuxHost
public import Listener
public import Sightings
internal import Synchronization
public import Zones

/// The sighting table and the zones of a listener file. Processes reports, and returns the events of the zones.
public final class ZoneMonitor {
    public private(set) var engine: ZoneEngine
    public private(set) var table: SightingTable
    private var reportsByType: [AdvertisingReportType: Int] = [:]
    private var warnings = BeaconWarnings()
    private var newWarnings: [String] = []

    /// Creates a monitor that has received nothing.
    public init(_ file: HubFile, _ source: SightingSource) {
        table = file.known.table(source.clock, strangers: .counted)
        engine = ZoneEngine(file.zones, known: file.known.beacons, beacons: HubFile.beacons(file.known))
    }

    /// The number of reports since the start.
    public var reports: Int { reportsByType.values.reduce(0, +) }

    /// The number of reports since the start, by the name of their packet type.
    var reportsByKind: [String: Int] {
        Dictionary(reportsByType.map { ($0.key.description, $0.value) }, uniquingKeysWith: +)
    }

    /// Processes an advertisement whose data is in `range` of `octets`. Returns the resulting events.
    public func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) -> [ZoneEvent] {
        reportsByType[report.type, default: 0] += 1
        let track = table.receive(report.sighting, octets, range)
        newWarnings += warnings.take(track, in: table)
        for group in table.groupsOfReport { newWarnings += warnings.take(group, in: table) }
        return engine.receive(track, in: table, report.sighting)
    }

    /// Returns the warnings about beacons since the last call, one sentence each. No warning is repeated.
    public func takeWarnings() -> [String] {
        defer { newWarnings = [] }
        return newWarnings
    }

    /// Returns the events that are caused by the passage of time up to `now`.
    public func advance(to now: HeardInstant) -> [ZoneEvent] { engine.advance(to: now) }

    /// Changes the state of the receiver. Returns the events that result from the state and from the time up to `now`.
    public func change(_ state: ListeningState, at now: HeardInstant) -> [ZoneEvent] {
        if state.isListening {
            table.startListening(at: now)
            return engine.startListening(at: now)
        }
        table.stopListening(at: now)
        engine.stopListening(at: now)
        return engine.advance(to: now)
    }

    /// Starts the clock although the receiver does not work yet. If it does not work within 5 s, the zones become
    /// unknown.
    public func beginDeaf(at now: HeardInstant) {
        table.startListening(at: now)
        _ = engine.startListening(at: now)
        _ = change(.starting, at: now)
    }

    /// Restores the presences that an earlier run saved.
    public func resume(_ presences: [ZoneEngine.Presence], unixMicroseconds now: Int64?) {
        engine.resume(presences, unixMicroseconds: now)
    }

    /// Applies a file that was read again. Keeps the presences, but learns the intervals and losses of beacons again.
    ///
    /// - Parameter unix: Converts a moment into microseconds since 1970.
    public func replace(
        _ file: HubFile, _ source: SightingSource, at now: HeardInstant, _ unix: (ZoneMoment) -> Int64?
    ) {
        let presences = engine.presences(unix)
        let (unknownSince, hasReceived) = (engine.unknownSince, engine.hasReceived)
        table = file.known.table(source.clock, strangers: .counted)
        engine = ZoneEngine(file.zones, known: file.known.beacons, beacons: HubFile.beacons(file.known))
        engine.resume(presences, unixMicroseconds: source.clock.unixMicroseconds(at: now))
        beginDeaf(at: now)
        if source.state.isListening { _ = change(source.state, at: now) }
        // If the zones were unknown, they stay unknown, because reading a file does not prove that the receiver works.
        engine.continueUnknown(since: unknownSince, hasReceived: hasReceived)
    }

    /// Starts a new round, and resets the counts that the table keeps for each round.
    public func beginRound() { table.beginRound() }
}

/// The quality of the wall clock, as one word for events. The kernel is queried at most once a minute.
public final class ClockQuality: Sendable {
    private let isRecorded: Bool
    private let lastQuery = Mutex<(at: UInt64, word: String)?>(nil)
    /// The shortest time between two queries of the kernel, in nanoseconds.
    private static let interval: UInt64 = 60_000_000_000

    /// - Parameter isRecorded: True if times come from a recording.
    public init(isRecorded: Bool) { self.isRecorded = isRecorded }

    /// The quality in one word: `synchronized`, `unsynchronized`, `unknown`, or `recorded`.
    public var text: String {
        if isRecorded { return "recorded" }
        let now = MonotonicClock.nanoseconds()
        return lastQuery.withLock { last in
            if let last, now - last.at < Self.interval { return last.word }
            let word =
                switch WallClock.synchronization() {
                case .synchronized: "synchronized"
                case .unsynchronized: "unsynchronized"
                case .unknown: "unknown"
                }
            last = (now, word)
            return word
        }
    }
}

extension ZoneEvent.Context {
    /// Creates the context of a source's events. The ids of events of a recording begin with `replay`, other ids with a
    /// random number.
    public init(_ file: HubFile, _ source: SightingSource, _ quality: ClockQuality, isRecorded: Bool) {
        let clock = source.clock
        self.init(
            receiver: file.listener.name, boot: isRecorded ? "replay" : Self.newBoot, clock: quality.text,
            unixMicroseconds: { clock.unixMicroseconds(at: $0) })
    }

    /// A new random number of 12 hexadecimal digits.
    static var newBoot: String { Hexadecimal.text(Privileges.randomOctets(6)) }
}

/// Events as text for users.
public enum ZoneText {
    /// Returns an event as one line: time, kind, zone, beacon, distance, duration, cause, and the zone's text.
    public static func line(_ event: ZoneEvent, _ context: ZoneEvent.Context) -> String {
        var parts = [
            context.unixMicroseconds(event.instant).map(ZoneEvent.time) ?? "-", event.kind.rawValue, event.zone,
        ]
        if let beacon = event.beacon { parts.append(beacon) }
        if let distance = event.distance {
            parts.append("\(DecimalText.thousandths(Int((min(1e6, distance) * 10).rounded()) * 100)) m")
        }
        if event.kind == .exit || event.kind == .dwell, let lasted = event.lastedMicroseconds(context) {
            parts.append("after \((lasted + 500_000) / 1_000_000) s")
        }
        if let cause = event.cause { parts.append("(\(cause.rawValue))") }
        let content = [event.content?.title, event.content?.body].compactMap(\.self).filter { !$0.isEmpty }
        if !content.isEmpty { parts.append(TerminalText.line(content.joined(separator: ": "))) }
        return parts.joined(separator: "  ")
    }
}
