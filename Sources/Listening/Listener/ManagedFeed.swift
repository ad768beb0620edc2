internal import Advertiser
internal import BeaconService
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import Sightings

/// `hciN:mgmt` as a source: what the kernel tells of beacons while it looks for them, beside other programs. Presence
/// only. It comes back when its adapter does.
final class ManagedFeed: SightingFeed {
    /// How long is waited at most, and before a new attempt, in microseconds.
    private static let longestWait = 250_000
    private static let pause = 1_000_000

    private let index: UInt16
    private let options: SightingSource.Options
    private let signals: SignalDescriptor
    private var running: (session: PresenceSession, adapter: ManagedAdapter)?
    /// The latest one: it knows what it has left in the kernel when the adapter lost its power.
    private var session: PresenceSession?
    /// What the sessions before the one that runs have counted.
    private var restartsBefore = 0
    private var nextAttempt = HCIInstant.distantPast

    /// - Throws: `request` where packets shall be recorded, which the kernel sends itself.
    init(_ options: SightingSource.Options, index: UInt16) throws(ListenerServiceError) {
        guard options.recording == nil else {
            throw .refused(
                .request,
                "--record: with hci\(index):mgmt the kernel sends the HCI packets; `btmon -w FILE` records them")
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
    private func heard(_ instant: HCIInstant) -> HeardInstant { HeardInstant(nanoseconds: instant.nanoseconds) }

    func run(_ source: SightingSource, _ consumer: any SightingConsumer) throws(ListenerServiceError) {
        let end = options.durationMicroseconds.map { now.advanced(byMicroseconds: $0) } ?? .distantFuture
        source.adapter = name
        do {
            try start()
        } catch {
            throw ListenerServiceError(error)
        }
        consumer.say(
            "\(name) tells which beacons are there, and how strong they are; not how often: the kernel drops repeats",
            isWarning: true)
        consumer.begin(at: heard(now))
        while now < end, !consumer.isSatisfied, signals.takenAt == nil {
            let isHearing = running.map { !$0.session.isAsleep } ?? false
            source.change(isHearing ? .listening : .recovering, at: heard(now))
            source.counts.restarts = restartsBefore + (session?.restarts ?? 0)
            source.advance(to: heard(now))
            consumer.rest(at: heard(now))
            let tick = now.advanced(byMicroseconds: Self.longestWait)
            let wanted = consumer.nextWakeUp.map { HCIInstant(nanoseconds: $0.nanoseconds) } ?? tick
            step(source, consumer, until: min(end, tick, wanted))
        }
        stop()
        source.change(.off, at: heard(now))
        consumer.finish(at: heard(now))
    }

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
            try running.session.receive(until: deadline) { source.take($0, $1) }
        } catch ManagementError.channel(.interrupted) {
            return
        } catch {
            if running != nil {
                consumer.say("\(error)", isWarning: true)
                restartsBefore += 1
                running = nil
            } else if case .management(.refused)? = error as? SessionError {
                // The adapter is there, and its power may come back.
            } else {
                restartsBefore += session?.restarts ?? 0
                session = nil
            }
        }
    }

    /// Powers the adapter where it is off, and has the kernel look for beacons.
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
