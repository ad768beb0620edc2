internal import BeaconService
public import BluetoothTypes
internal import Configuration
public import LinuxHost
public import Listener
public import Sightings

/// The settings for receiving the beacons of an inventory.
public struct InventoryReceiver: Sendable {
    /// The duration of reception in microseconds; `nil` to receive until a signal arrives.
    public var duration: Int?
    /// The correction in dB that is added to each level.
    public var levelOffset = 0
    /// The rule that converts levels to distances.
    public var distances = DistanceEstimate.Rule()

    /// Settings for a receiver that runs until a signal ends it.
    public init() {}

    /// Opens an adapter as a source of sightings. `nil` opens the first adapter of the machine.
    ///
    /// - Parameters:
    ///   - virtualBeacons: The beacons that are received if the adapter is virtual.
    ///   - signals: The signal descriptor that several receivers share, so that a signal ends all of them; `nil` to
    ///     open a separate descriptor.
    public func live(
        _ adapter: AdapterName?, _ virtualBeacons: VirtualBeacons = VirtualBeacons(), signals: SignalDescriptor? = nil
    ) throws(ListenerServiceError) -> SightingSource {
        var options = SightingSource.Options(adapter: adapter)
        options.signals = signals
        options.durationMicroseconds = duration
        options.virtualBeacons = virtualBeacons
        options.purpose = "pharos inventory"
        let source = try SightingSource.live(options)
        source.levelOffset = levelOffset
        return source
    }

    /// Opens a recording as a source of sightings. `-` opens standard input.
    public func recording(_ file: String) throws(ListenerServiceError) -> SightingSource {
        let source = try SightingSource.recording(file)
        source.levelOffset = levelOffset
        return source
    }
}

/// One receiver of a count. It writes its results into its own log.
///
/// The receiver joins or starts the count, and creates the log, only when the source works. So a receiver that fails to
/// start leaves no open count.
final class CountReceiver: SightingConsumer {
    private let run: CountRun
    private let source: SightingSource
    private let name: String
    /// The name of the count to join or to start; `nil` for the open count, or a new count if none is open.
    private let countName: String?
    private var session: CountSession
    private var log: (file: OutputFile, countName: String)?
    private var fault: (any Error)?
    /// The lines that are not written yet.
    private var pending: [UInt8] = []
    /// The time of the last update, in nanoseconds of the monotonic clock. An update writes changes, and checks whether
    /// the count has been finished.
    private var lastUpdate: UInt64 = 0
    /// The time between two updates, in nanoseconds.
    private static let updateInterval: UInt64 = 2_000_000_000

    init(_ run: CountRun, _ source: SightingSource, name: String, countName: String?) {
        self.run = run
        self.source = source
        self.name = name
        self.countName = countName
        session = run.makeSession()
    }

    /// Creates the log if it does not exist yet.
    private func openLog() {
        guard log == nil, fault == nil else { return }
        do {
            let (file, header) = try run.begin(name, countName: countName)
            try file.append(Array(header.line(rule: session.rule).utf8))
            log = (file, header.countName)
        } catch {
            fault = error
        }
    }

    /// - Throws: The error because of which the log is missing or incomplete.
    func check() throws { if let fault { throw fault } }

    var nextWakeUp: HeardInstant? { session.nextWakeUp }
    var isSatisfied: Bool { run.isOver || fault != nil }

    func begin(at now: HeardInstant) {
        openLog()
        session.begin(at: now)
    }

    func advance(to now: HeardInstant) { record(session.advance(to: now)) }

    func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        openLog()
        session.receive(report.sighting, octets, range)
        for warning in session.takeWarnings() { run.send(.warning(warning)) }
    }

    func change(_ state: ListeningState, at now: HeardInstant) {
        if state.isListening {
            session.startListening(at: now)
        } else if state != .starting {
            session.stopListening(at: now)
        }
    }

    func handleIdle(at now: HeardInstant) {
        run.sendProgress()
        let nanoseconds = MonotonicClock.nanoseconds()
        guard nanoseconds - lastUpdate > Self.updateInterval else { return }
        lastUpdate = nanoseconds
        guard let log else { return }
        writeChanges(at: now, isEnd: false)
        run.endIfFinished(log.countName)
    }

    func say(_ sentence: String, isWarning: Bool) {
        if isWarning { run.send(.warning(sentence)) }
    }

    func finish(at now: HeardInstant) {
        openLog()
        record(session.finish(at: now))
        writeChanges(at: now, isEnd: true)
    }

    private func record(_ findings: [CountSession.Finding]) {
        guard !findings.isEmpty else { return }
        for finding in findings {
            pending += CountLog.line(finding, in: session, at: time(finding.instant)).utf8
        }
        // Report an item only after it is stored on the disk.
        flush(isDurable: true)
        guard fault == nil else { return }
        for finding in findings { run.found(finding, by: name, at: time(finding.instant)) }
    }

    private func writeChanges(at now: HeardInstant, isEnd: Bool) {
        for (beacon, seen) in session.takeChanges() {
            pending += CountLog.line(seen, of: beacon, in: session, time: time).utf8
        }
        pending += CountLog.line(of: session, lost: source.counts.lostInKernel, at: time(now), isEnd: isEnd).utf8
        flush(isDurable: isEnd)
    }

    private func flush(isDurable: Bool) {
        guard let log, fault == nil, !pending.isEmpty else { return }
        do throws(SystemError) {
            try log.file.append(pending)
            if isDurable { try log.file.synchronize() }
        } catch {
            fault = error
        }
        pending.removeAll(keepingCapacity: true)
    }

    /// The wall-clock time at a moment; for a recording without times, the current wall-clock time.
    private func time(_ instant: HeardInstant) -> RFC3339Time {
        guard let time = source.clock.unixMicroseconds(at: instant) else { return .now }
        return RFC3339Time(secondsSince1970: Int((time - (time < 0 ? 999_999 : 0)) / 1_000_000))
    }
}
