public import BeaconService
public import BluetoothTypes
internal import HCI
public import LinuxHost
internal import Sightings

/// Where advertisements come from: an adapter, or a recording. Everything that takes sightings takes them from here, and
/// cannot tell one from the other.
public final class SightingSource {
    /// How an adapter is listened to.
    public struct Options {
        /// `nil` for the first hciN with LE.
        public var adapter: AdapterName?
        public var settings = ScanSettings.standard
        /// Where all HCI packets are recorded, as btsnoop; `nil` for nowhere.
        public var recording: String?
        /// How long is listened, in microseconds; `nil` until somebody ends it.
        public var durationMicroseconds: Int?
        /// What listens, for those who find the adapter taken: the command, or the instance.
        public var purpose = "pharos"
        /// Where the locks of this box lie.
        public var runtimeDirectory = AdapterClaim.defaultDirectory
        /// What a second controller sends where the adapter is `virtual`; without any, an iBeacon.
        public var samples: [LoadedProfile] = []
        /// Where signals come, for several sources at once: whichever reads one, all see it. `nil` for one of its own.
        public var signals: SignalDescriptor?
        /// Whether a missing adapter is waited for from the beginning, as a service does.
        public var waitsForAdapter = false
        /// Whether an earlier run was ended by force while it listened: the scan that it left is not another program's.
        public var hasLeftover = false

        /// The adapter, and the standard for everything else.
        public init(adapter: AdapterName? = nil) { self.adapter = adapter }
    }

    /// What was read and what was lost, up to the last packet.
    public struct Counts: Hashable, Sendable {
        /// Advertising reports, those below the level that was asked for too.
        public var reports = 0
        /// Reports that the kernel threw away, because nobody fetched them in time; `nil` where nobody can know.
        public var lostInKernel: Int?
        /// Events that could not be read to their end.
        public var malformedEvents = 0
        /// Extended advertisements whose end was lost.
        public var incomplete = 0
        /// How often scanning was turned on again.
        public var restarts = 0
        /// Those of them after which another program was seen at work.
        public var foreignRestarts = 0
        /// How long less than everything could be heard since listening began, in microseconds.
        public var deafMicroseconds = 0
    }

    /// The wall clock that belongs to the moments of this source.
    public let clock = HearingClock()
    /// What is listened to, once that is known; `nil` for a recording.
    public internal(set) var adapter: AdapterName?
    public internal(set) var counts = Counts()
    /// Whether it tells only that beacons are there: reports are missing as the kernel pleases, so that nothing follows of
    /// intervals, shares and silences.
    public private(set) var isPresenceOnly = false
    /// What this receiver shows too little, in dB: it is added to each level. To be set before it runs.
    public var levelOffset: Int {
        get { reader.levelOffset }
        set { reader.levelOffset = newValue }
    }
    /// How listening is; of a recording, how it was, as far as the recorded commands tell.
    public private(set) var state = ListeningState.starting

    private let feed: any SightingFeed
    private var reader: ReportReader
    private var consumer: (any SightingConsumer)?
    /// What was told already: moments never go back.
    private var latest = HeardInstant(nanoseconds: 0)
    private var deafSince: HeardInstant?

    private init(_ feed: any SightingFeed, levels: ClosedRange<Int8>?) {
        self.feed = feed
        reader = ReportReader(levels: levels)
    }

    /// An adapter. Nothing is opened yet but the file of the recording.
    ///
    /// - Parameter levels: Reports of other levels, in dBm, are counted and not told.
    /// - Throws: where the recording cannot be written.
    public static func live(
        _ options: Options, levels: ClosedRange<Int8>? = nil
    ) throws(ListenerServiceError) -> SightingSource {
        if case .managed(let index) = options.adapter {
            let source = SightingSource(try ManagedFeed(options, index: index), levels: levels)
            source.isPresenceOnly = true
            return source
        }
        return SightingSource(try LiveFeed(options), levels: levels)
    }

    /// A btsnoop, pcap or pcapng file, or standard input for `-`.
    ///
    /// - Throws: where there is no such file.
    public static func recording(
        _ file: String, levels: ClosedRange<Int8>? = nil
    ) throws(ListenerServiceError) -> SightingSource {
        SightingSource(try RecordedFeed(file), levels: levels)
    }

    /// The same of an input whose first octets somebody has looked at.
    public static func recording(_ pieces: InputPieces) -> SightingSource {
        SightingSource(RecordedFeed(pieces), levels: nil)
    }

    /// Tells `consumer` everything, to the end: of the recording, of the time, by SIGINT or SIGTERM, or because the
    /// consumer wants no more. To be called once.
    ///
    /// - Throws: why nothing could be heard at all, or where a recording cannot be followed any further; what came before
    ///   has been told.
    public func run(_ consumer: any SightingConsumer) throws(ListenerServiceError) {
        self.consumer = consumer
        defer { self.consumer = nil }
        try feed.run(self, consumer)
    }

    /// Takes a packet from a controller, after everything that was due before it.
    func take(_ packet: HCIPacket, at instant: HeardInstant) {
        guard packet.kind == .event else { return }
        take(event: packet.octets.span, in: packet.octets.indices, at: instant)
    }

    /// Takes the event packet that fills `range` of `octets`, without copying it.
    func take(event octets: Span<UInt8>, in range: Range<Int>, at instant: HeardInstant) {
        guard let consumer else { return }
        advance(to: instant)
        reader.take(event: octets, in: range, at: latest) { report, octets, range in
            consumer.hear(report, octets, range)
        }
        counts.reports = reader.counts.reports
        counts.malformedEvents = reader.counts.malformedEvents
        counts.incomplete = reader.incomplete
    }

    /// Takes a report that was read elsewhere.
    func take(_ report: HeardReport, _ data: [UInt8]) {
        counts.reports += 1
        let heard = report.sighting
        let level = reader.corrected(heard.rssi)
        guard reader.takes(level) else { return }
        let report = HeardReport(
            sighting: Sighting(
                at: heard.instant, from: heard.sender, rssi: level, isScanResponse: heard.isScanResponse),
            type: report.type, addressType: report.addressType, primaryPHY: report.primaryPHY)
        advance(to: heard.instant)
        consumer?.hear(report, data.span, data.indices)
    }

    /// Lets time pass. A packet may have come before that which was told last: it lay in the kernel meanwhile.
    func advance(to instant: HeardInstant) {
        // Deafness counts while it lasts: whoever reads the counts meanwhile must see it grow.
        if let since = deafSince, since < instant {
            let passed = instant.microseconds(since: since)
            counts.deafMicroseconds += passed
            deafSince = since.advanced(byMicroseconds: passed)
        }
        latest = max(latest, instant)
        consumer?.advance(to: latest)
    }

    /// Notes how listening is, and tells it where it has changed.
    func change(_ new: ListeningState, at now: HeardInstant) {
        guard state != new else { return }
        let now = max(latest, now)
        if let since = deafSince { counts.deafMicroseconds += now.microseconds(since: since) }
        deafSince = new.isHearing || state == .starting ? nil : now
        state = new
        consumer?.change(new, at: now)
    }
}

/// What a ``SightingSource`` is fed from.
protocol SightingFeed: AnyObject {
    /// Hands everything to `source`, to the end.
    func run(_ source: SightingSource, _ consumer: any SightingConsumer) throws(ListenerServiceError)
}
