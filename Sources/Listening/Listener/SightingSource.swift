public import BeaconService
public import BluetoothTypes
public import FleetStore
internal import HCI
public import LinuxHost
internal import Sightings

/// A source of sightings: an adapter or a recording. Consumers cannot distinguish them.
public final class SightingSource {
    /// Options of a live source.
    public struct Options: Sendable {
        /// The adapter; `nil` for the first hciN with LE.
        public var adapter: AdapterName?
        public var settings = ScanSettings.standard
        /// The btsnoop file for all HCI packets; `nil` for no recording.
        public var recording: String?
        /// The duration in microseconds; `nil` to listen until a signal arrives.
        public var durationMicroseconds: Int?
        /// The name of the command or service. Another program that finds the adapter in use shows this name in its
        /// message.
        public var purpose = "pharos"
        /// The directory of this machine's adapter locks.
        public var runtimeDirectory = AdapterClaim.defaultDirectory
        /// The beacons that are received if the adapter is virtual.
        public var virtualBeacons = VirtualBeacons()
        /// Receives signals for several sources at once; `nil` if the source receives signals itself.
        public var signals: SignalDescriptor?
        /// True to wait for a missing adapter from the beginning, as a service does.
        public var waitsForAdapter = false
        /// True if an earlier run was killed while it scanned. A scan that is on is then left over from that run.
        public var hasLeftover = false

        /// Creates options with defaults for everything but the adapter.
        public init(adapter: AdapterName? = nil) { self.adapter = adapter }
    }

    /// Totals up to the last packet.
    public struct Counts: Hashable, Sendable {
        /// Advertising reports, including reports that were ignored because of their level.
        public var reports = 0
        /// Reports that the kernel dropped because they were not read in time, or that the recording program lost;
        /// `nil` if the number is not known.
        public var lostInKernel: Int?
        /// Events that could not be read completely.
        public var malformedEvents = 0
        /// Extended advertisements that were not completed.
        public var incomplete = 0
        /// The number of times that the scan was turned on again.
        public var restarts = 0
        /// The number of restarts that another program caused.
        public var foreignRestarts = 0
        /// The time since the start in which reports may be missing, in microseconds.
        public var deafMicroseconds = 0
    }

    /// Converts moments of this source into wall clock times.
    public let clock = HearingClock()
    /// The adapter, once it is known; `nil` for a recording.
    public internal(set) var adapter: AdapterName?
    public internal(set) var counts = Counts()
    /// True if the source reports only that beacons are present. Repeated reports are missing, so intervals, shares
    /// and silences cannot be measured.
    public private(set) var isPresenceOnly = false
    /// A correction that is added to each level, in dB. Must be set before the source runs.
    public var levelOffset: Int {
        get { reader.levelOffset }
        set { reader.levelOffset = newValue }
    }
    /// Uses the correction and the plausible levels of a listener file.
    public func useLevels(of file: ListenerFile) {
        reader.levelOffset = file.levelOffset
        reader.levels = file.plausibleLevels
    }

    /// The state of the source. For a recording it is derived from the recorded commands.
    public private(set) var state = ListeningState.starting

    private let feed: any SightingFeed
    private var reader: ReportReader
    private var consumer: (any SightingConsumer)?
    /// The latest moment that was reported. Moments never go back.
    private var latest = HeardInstant(nanoseconds: 0)
    /// While the source does not listen, the moment up to which the time without listening was added to
    /// ``Counts/deafMicroseconds``; otherwise `nil`.
    private var deafSince: HeardInstant?

    private init(_ feed: any SightingFeed, levels: ClosedRange<Int8>?) {
        self.feed = feed
        reader = ReportReader(levels: levels)
    }

    /// Creates a live source. Opens the file of the recording, but not yet the adapter.
    ///
    /// - Parameter levels: Reports with other levels, in dBm, are counted but not reported.
    /// - Throws: An error if the recording cannot be written.
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

    /// Creates a source from a btsnoop, pcap or pcapng file, or from standard input for `-`.
    ///
    /// - Throws: An error if the file does not exist.
    public static func recording(
        _ file: String, levels: ClosedRange<Int8>? = nil
    ) throws(ListenerServiceError) -> SightingSource {
        SightingSource(try RecordedFeed(file), levels: levels)
    }

    /// Creates a source from an input whose first bytes may have been read with ``InputPieces/peek(_:)``.
    public static func recording(_ pieces: InputPieces) -> SightingSource {
        SightingSource(RecordedFeed(pieces), levels: nil)
    }

    /// Runs until the end of the recording or of the duration, until SIGINT or SIGTERM arrives, or until the consumer
    /// is satisfied. Call this only once.
    ///
    /// - Throws: An error if nothing can be received, or if the recording is damaged. Everything before the damage has
    ///   been reported.
    public func run(_ consumer: any SightingConsumer) throws(ListenerServiceError) {
        self.consumer = consumer
        defer { self.consumer = nil }
        try feed.run(self, consumer)
    }

    /// Takes a packet from a controller, after it has advanced the time to `instant`.
    func take(_ packet: HCIPacket, at instant: HeardInstant) {
        guard packet.kind == .event else { return }
        take(event: packet.octets.span, in: packet.octets.indices, at: instant)
    }

    /// Takes the event packet in `range` of `octets`, without copying it.
    func take(event octets: Span<UInt8>, in range: Range<Int>, at instant: HeardInstant) {
        guard let consumer else { return }
        advance(to: instant)
        reader.take(event: octets, in: range, at: latest) { report, octets, range in
            consumer.receive(report, octets, range)
        }
        counts.reports = reader.counts.reports
        counts.malformedEvents = reader.counts.malformedEvents
        counts.incomplete = reader.incomplete
    }

    /// Takes a report that was decoded elsewhere, such as by the kernel.
    func take(_ report: HeardReport, _ data: [UInt8]) {
        counts.reports += 1
        let heard = report.sighting
        let level = reader.corrected(heard.rssi)
        guard reader.takes(level) else { return }
        let report = HeardReport(
            sighting: Sighting(
                at: heard.instant, from: heard.sender, rssi: level, isScanResponse: heard.isScanResponse,
                phy: heard.phy),
            type: report.type, addressType: report.addressType, primaryPHY: report.primaryPHY,
            secondaryPHY: report.secondaryPHY)
        advance(to: heard.instant)
        consumer?.receive(report, data.span, data.indices)
    }

    /// Advances the time. If `instant` is earlier than the latest moment, as for a packet that waited in the kernel,
    /// the time stays the same.
    func advance(to instant: HeardInstant) {
        // The time without listening is added in each call, because consumers may read the counts meanwhile.
        if let since = deafSince, since < instant {
            let elapsed = instant.microseconds(since: since)
            counts.deafMicroseconds += elapsed
            deafSince = since.advanced(byMicroseconds: elapsed)
        }
        latest = max(latest, instant)
        consumer?.advance(to: latest)
    }

    /// Sets the state, and reports it if it has changed.
    func change(_ newState: ListeningState, at now: HeardInstant) {
        guard state != newState else { return }
        let now = max(latest, now)
        if let since = deafSince { counts.deafMicroseconds += now.microseconds(since: since) }
        deafSince = newState.isListening || state == .starting ? nil : now
        state = newState
        consumer?.change(newState, at: now)
    }
}

/// The input of a ``SightingSource``.
protocol SightingFeed: AnyObject {
    /// Passes everything to `source`, until the end.
    func run(_ source: SightingSource, _ consumer: any SightingConsumer) throws(ListenerServiceError)
}

/// The reason why nothing can be received, or why a file with beacons cannot be used.
public enum ListenerServiceError: Error, Sendable {
    /// A problem with an adapter, a profile, a recording, or the system.
    case service(BeaconServiceError)
    /// A problem with the files of a fleet.
    case fleet(FleetStoreError)

    /// Returns a refusal with one sentence that says what is wrong, where, and what to do.
    public static func refused(_ kind: BeaconServiceError.Kind, _ message: String) -> Self {
        .service(.refused(kind, message))
    }

    /// Converts any error of this module.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as ListenerServiceError: error
            case let error as FleetStoreError: .fleet(error)
            default: .service(BeaconServiceError(error))
            }
    }
}

extension ListenerServiceError: CustomStringConvertible {
    /// One sentence for each problem.
    public var messages: [String] {
        switch self {
        case .service(let error): error.messages
        case .fleet(let error): error.messages
        }
    }

    /// All sentences in one line.
    public var description: String { messages.joined(separator: "; ") }
}
