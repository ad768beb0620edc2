internal import Advertiser
internal import BeaconService
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import Sightings

/// Receives from `hciN:mgmt`: the kernel scans, shares the radio with other programs, and reports only which beacons
/// are present. The feed recovers when its adapter returns.
final class ManagedFeed: SightingFeed {
    /// The longest wait for an event, in microseconds.
    private static let longestWait = 250_000
    /// The pause before a new attempt to start, in microseconds.
    private static let pause = 1_000_000

    private let index: UInt16
    private let options: SightingSource.Options
    private let signals: SignalDescriptor
    /// The session and the adapter while the kernel scans; otherwise `nil`.
    private var running: (session: PresenceSession, adapter: ManagedAdapter)?
    /// The latest session. It has the handle of its monitor, which stays in the kernel while the adapter is powered
    /// down.
    private var session: PresenceSession?
    /// The number of restarts of earlier sessions.
    private var restartsBefore = 0
    /// The earliest time of the next attempt to start.
    private var nextAttempt = HCIInstant.distantPast
    private var clock = SessionClock()

    /// - Throws: `request` for a recording, because the kernel sends the HCI packets itself.
    init(_ options: SightingSource.Options, index: UInt16) throws(ListenerServiceError) {
        guard options.recording == nil else {
            throw .refused(
                .request,
                "--record: with hci\(index):mgmt only the kernel has the HCI packets; `btmon -w FILE` records them")
        }
        self.options = options
        self.index = index
        do throws(SystemError) {
            signals = if let given = options.signals { given } else { try SignalDescriptor() }
        } catch {
            throw ListenerServiceError(error)
        }
    }

    private var name: AdapterName { .managed(index: index) }
    private var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }
    private func heardInstant(_ instant: HCIInstant) -> HeardInstant { clock.heard(instant) }

    /// Converts the moment of a session's report to the clock of the source.
    private func converted(_ report: HeardReport) -> HeardReport {
        let sighting = report.sighting
        let instant = heardInstant(HCIInstant(nanoseconds: sighting.instant.nanoseconds))
        return HeardReport(
            sighting: Sighting(
                at: instant, from: sighting.sender, rssi: sighting.rssi, isScanResponse: sighting.isScanResponse),
            type: report.type, addressType: report.addressType, primaryPHY: report.primaryPHY)
    }

    func run(_ source: SightingSource, _ consumer: any SightingConsumer) throws(ListenerServiceError) {
        let end = options.durationMicroseconds.map { now.advanced(byMicroseconds: $0) } ?? .distantFuture
        source.adapter = name
        do {
            try start()
        } catch {
            throw ListenerServiceError(error)
        }
        consumer.say(
            "\(name) reports which beacons are present and how strong they are, but not how often they send: the kernel drops repeated reports",
            isWarning: true)
        consumer.begin(at: heardInstant(now))
        while now < end, !consumer.isSatisfied, signals.takenAt == nil {
            let isListening = running.map { !$0.session.isAsleep } ?? false
            source.change(isListening ? .listening : .recovering, at: heardInstant(now))
            source.counts.restarts = restartsBefore + (session?.restarts ?? 0)
            source.advance(to: heardInstant(now))
            consumer.handleIdle(at: heardInstant(now))
            let tick = now.advanced(byMicroseconds: Self.longestWait)
            let nextWakeUp = consumer.nextWakeUp.map(clock.session) ?? tick
            step(source, consumer, until: min(end, tick, nextWakeUp))
            clock.update()
        }
        stop()
        source.change(.off, at: heardInstant(now))
        consumer.finish(at: heardInstant(now))
    }

    /// Receives until `deadline`, or tries to start again if the kernel does not scan.
    private func step(_ source: SightingSource, _ consumer: any SightingConsumer, until deadline: HCIInstant) {
        do {
            guard let running else {
                let ready = try Poller.wait([.init(signals.descriptor, .read)], until: deadline.nanoseconds)
                if ready.contains(true), signals.take() != nil { return }
                guard now >= nextAttempt else { return }
                nextAttempt = now.advanced(byMicroseconds: Self.pause)
                try start()
                return consumer.say("listening again on \(name)", isWarning: false)
            }
            try running.session.receive(until: deadline) { source.take(converted($0), $1) }
        } catch ManagementError.channel(.interrupted) {
            return
        } catch {
            if running != nil {
                consumer.say("\(error)", isWarning: true)
                restartsBefore += 1
                running = nil
            } else if case .management(.refused)? = error as? SessionError {
                // The adapter exists, and may be powered up again.
            } else {
                restartsBefore += session?.restarts ?? 0
                session = nil
            }
        }
    }

    /// Powers up the adapter if necessary, and makes the kernel scan.
    private func start() throws {
        _ = try BlueZAdapter(index: index)
        let session =
            if let session { session } else {
                PresenceSession(
                    host: ManagementHost(channel: try ManagementSocket(name.description, interruption: signals)),
                    index: index)
            }
        self.session = session
        let adapter = try ManagedAdapter(session.host, index: index)
        do {
            try session.start()
        } catch {
            adapter.restore()
            throw error
        }
        running = (session, adapter)
    }

    private func stop() {
        try? session?.stop(by: now.advanced(byMicroseconds: 800_000))
        running?.adapter.restore()
        (running, session) = (nil, nil)
    }
}
