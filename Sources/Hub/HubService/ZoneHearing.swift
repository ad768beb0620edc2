internal import HCI
internal import LinuxHost
public import Listener
public import Sightings
internal import Synchronization
public import Zones

/// Takes what a source hears, and hands on what happens in the zones of a listener file.
public final class ZoneHearing: SightingConsumer {
    public private(set) var engine: ZoneEngine
    public private(set) var table: SightingTable
    /// Reports since the start.
    public var reports: Int { kinds.values.reduce(0, +) }
    private var kinds: [AdvertisingReportType: Int] = [:]
    /// What is done with each event, in their order.
    public var onEvent: (ZoneEvent) -> Void = { _ in }
    /// What is done where nothing more is there for the moment.
    public var onRest: (HeardInstant) -> Void = { _ in }
    /// What is done with sentences of the source.
    public var onSentence: (String, Bool) -> Void = { _, _ in }
    /// What is done where listening begins, ends or goes on.
    public var onChange: (ScanKeeper.State, HeardInstant) -> Void = { _, _ in }
    /// Whether nothing more is wanted.
    public var isSatisfiedNow: () -> Bool = { false }
    /// What the service wants to be woken for.
    public var ownWakeUp: () -> HeardInstant? = { nil }

    /// Nothing has been heard yet.
    public init(_ file: HubFile, _ source: SightingSource) {
        table = file.known.table(source.clock, strangers: .counted)
        engine = ZoneEngine(file.zones, known: file.known.beacons, beacons: HubFile.beacons(file.known))
    }

    /// Takes up what an earlier run has left.
    public func resume(_ presences: [ZoneEngine.Presence], unixMicroseconds now: Int64?) {
        engine.resume(presences, unixMicroseconds: now)
    }

    /// Takes over the rules of a file that was read anew: what was learned is lost, who is inside is not.
    ///
    /// - Parameter unix: When a moment was, in microseconds since 1970.
    public func replace(
        _ file: HubFile, _ source: SightingSource, at now: HeardInstant, _ unix: (ZoneMoment) -> Int64?
    ) {
        let presences = engine.presences(unix)
        table = file.known.table(source.clock, strangers: .counted)
        engine = ZoneEngine(file.zones, known: file.known.beacons, beacons: HubFile.beacons(file.known))
        engine.resume(presences, unixMicroseconds: source.clock.unixMicroseconds(at: now))
        beginDeaf(at: now)
        if source.state.isHearing { engine.becomeHearing(at: now) }
    }

    /// The clock begins before anything can be heard: after 5 s nobody knows anything.
    public func beginDeaf(at now: HeardInstant) {
        engine.becomeHearing(at: now)
        engine.becomeDeaf(at: now)
    }

    /// Reports since the start, by the kind of their packets.
    var reportsByKind: [String: Int] {
        Dictionary(kinds.map { ($0.key.description, $0.value) }, uniquingKeysWith: +)
    }

    /// Ends a round: what the table counts by rounds begins anew.
    public func beginRound() { table.beginRound() }

    public var nextWakeUp: HeardInstant? {
        guard let own = ownWakeUp() else { return engine.nextWakeUp }
        return min(engine.nextWakeUp ?? own, own)
    }
    public var isSatisfied: Bool { isSatisfiedNow() }

    public func advance(to now: HeardInstant) {
        while let event = engine.nextEvent(until: now) { onEvent(event) }
    }

    public func hear(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        kinds[report.type, default: 0] += 1
        guard let place = table.hear(report.sighting, octets, range) else { return }
        engine.hear(place, in: table, report.sighting)
        while let event = engine.nextEvent(until: report.sighting.instant) { onEvent(event) }
    }

    public func change(_ state: ScanKeeper.State, at now: HeardInstant) {
        if state.isHearing {
            engine.becomeHearing(at: now)
        } else {
            table.breakOff()
            engine.becomeDeaf(at: now)
        }
        advance(to: now)
        onChange(state, now)
    }

    public func rest(at now: HeardInstant) { onRest(now) }

    public func say(_ sentence: String, isWarning: Bool) { onSentence(sentence, isWarning) }

    public func finish(at now: HeardInstant) { advance(to: now) }
}

/// The quality of the wall clock as events state it. The kernel is asked at most once a minute.
public final class ClockQuality: Sendable {
    private let isRecorded: Bool
    private let last = Mutex<(at: UInt64, word: String)?>(nil)
    private static let pause: UInt64 = 60_000_000_000

    /// - Parameter isRecorded: Whether times are those of a recording.
    public init(isRecorded: Bool) { self.isRecorded = isRecorded }

    /// `synchronized`, `unsynchronized`, `unknown`, or `recorded`.
    public var text: String {
        if isRecorded { return "recorded" }
        let now = MonotonicClock.nanoseconds()
        return last.withLock { last in
            if let last, now - last.at < Self.pause { return last.word }
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

extension ZoneEvent.Telling {
    /// For the events of a source.
    ///
    /// - Parameter boot: What ids begin with; `nil` for something that no other run has, and for a recording `replay`.
    public init(_ file: HubFile, _ source: SightingSource, _ word: ClockQuality, isRecorded: Bool, boot: String? = nil) {
        let clock = source.clock
        self.init(
            receiver: file.listener.name, boot: boot ?? (isRecorded ? "replay" : Self.newBoot), clock: word.text,
            unixMicroseconds: { clock.unixMicroseconds(at: $0) })
    }

    /// 12 hexadecimal digits.
    public static var newBoot: String {
        Privileges.randomOctets(6).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
