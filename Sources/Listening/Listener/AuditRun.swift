public import Auditing
internal import BeaconService
public import BluetoothTypes
internal import LinuxHost
internal import Sightings
internal import Synchronization

/// An audit over one or several adapters at once, or over recordings one after the other.
public final class AuditRun: Sendable {
    /// How far it is.
    public struct Progress: Hashable, Sendable {
        /// Of the advertisements.
        public let heard: Int
        public let expected: Int
        public let reports: Int
    }

    private let auditor: Mutex<Auditor>
    private let isOver = Mutex(false)

    private init(_ auditor: Auditor) { self.auditor = Mutex(auditor) }

    /// Audits recordings. Where several tell when they were made, they are laid side by side by their wall clocks.
    ///
    /// - Parameter say: Takes sentences for whoever watches.
    /// - Throws: where one cannot be read.
    public static func replay(
        _ files: AuditedFiles, recordings: [String], say: @escaping (String) -> Void
    ) throws(ListenerServiceError) -> Auditor {
        // Its clock is the wall clock.
        let keys = files.keys { Int($0.nanoseconds / 1_000_000_000) }
        let run = AuditRun(Auditor(files.beacons, receivers: recordings, keys: keys))
        for (index, recording) in recordings.enumerated() {
            let source = try SightingSource.recording(recording)
            try source.run(AuditConsumer(run, index, source, isRecording: true) { sentence, _ in say(sentence) })
        }
        return run.auditor.withLock { $0 }
    }

    /// Listens with all adapters until the time is over, or somebody ends it.
    ///
    /// - Parameters:
    ///   - adapters: Empty for the first hciN with LE.
    ///   - duration: In microseconds; `nil` for what the beacons' intervals need.
    ///   - progress: Is told how far it is, four times a second.
    ///   - say: Takes sentences for whoever watches, and whether they are warnings.
    /// - Throws: where nothing could be heard at all.
    public static func listen(
        _ files: AuditedFiles, adapters: [AdapterName], duration: Int?,
        progress: @escaping (Progress) -> Void, say: @escaping @Sendable (String, Bool) -> Void
    ) throws(ListenerServiceError) -> Auditor {
        for case .managed(let index) in adapters {
            throw .refused(
                .request,
                "hci\(index):mgmt tells only which beacons are there, and an audit judges each advertisement: use "
                    + "hci\(index), or hci\(index):user")
        }
        let clock = HearingClock()
        let keys = files.keys { instant in clock.unixMicroseconds(at: instant).map { Int($0 / 1_000_000) } }
        let names = adapters.isEmpty ? ["adapter"] : adapters.map(\.description)
        let auditor = Auditor(files.beacons, receivers: names, keys: keys)
        let duration = duration ?? auditor.defaultMicroseconds
        let run = AuditRun(auditor)
        let others = Monitor(adapters.dropFirst().count)
        // A signal is read once: whichever receiver that is, all of them end.
        let signals: SignalDescriptor
        do throws(SystemError) { signals = try SignalDescriptor() } catch { throw ListenerServiceError(error) }
        var options = SightingSource.Options(adapter: adapters.first)
        options.durationMicroseconds = duration
        options.signals = signals
        options.samples = files.profiles
        let source = try SightingSource.live(options)
        for (index, adapter) in adapters.enumerated().dropFirst() {
            do throws(SystemError) {
                try BackgroundThread.start {
                    defer { others.change { $0 -= 1 } }
                    do throws(ListenerServiceError) {
                        var options = SightingSource.Options(adapter: adapter)
                        options.durationMicroseconds = duration
                        options.signals = signals
                        let source = try SightingSource.live(options)
                        try source.run(AuditConsumer(run, index, source, isRecording: false, say))
                    } catch {
                        say("\(error)", true)
                    }
                }
            } catch {
                throw ListenerServiceError(error)
            }
        }
        let consumer = AuditConsumer(run, 0, source, isRecording: false, say)
        consumer.progress = progress
        defer {
            run.isOver.withLock { $0 = true }
            _ = others.wait(milliseconds: 3000) { $0 == 0 ? true : nil }
        }
        try source.run(consumer)
        return run.auditor.withLock { $0 }
    }

    /// One receiver of an audit.
    private final class AuditConsumer: SightingConsumer {
        var progress: ((Progress) -> Void)?
        private let run: AuditRun
        private let receiver: Int
        private let source: SightingSource
        private let isRecording: Bool
        private let sayIt: (String, Bool) -> Void
        /// What lies between the source's clock and the audit's, in microseconds; `nil` before the first packet.
        private var offset: Int?
        private var isHearing = false

        init(
            _ run: AuditRun, _ receiver: Int, _ source: SightingSource, isRecording: Bool,
            _ say: @escaping (String, Bool) -> Void
        ) {
            self.run = run
            self.receiver = receiver
            self.source = source
            self.isRecording = isRecording
            sayIt = say
            offset = isRecording ? nil : 0
        }

        var isSatisfied: Bool { !isRecording && run.isOver.withLock { $0 } }

        func advance(to now: HeardInstant) {
            guard offset == nil else { return }
            // A recording's first packet tells when it was made; without times all begin at once.
            let time = source.clock.unixMicroseconds(at: now).map { Int(clamping: $0) } ?? 0
            offset = max(0, time - Int(clamping: now.nanoseconds / 1000))
            if isHearing { run.auditor.withLock { $0.begin(receiver, at: shifted(now)) } }
        }

        private func shifted(_ instant: HeardInstant) -> HeardInstant {
            instant.advanced(byMicroseconds: offset ?? 0)
        }

        func hear(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
            let sighting = Sighting(
                at: shifted(report.sighting.instant), from: report.sighting.sender, rssi: report.sighting.rssi,
                isScanResponse: report.sighting.isScanResponse)
            run.auditor.withLock { $0.hear(sighting, octets, range, by: receiver) }
        }

        func change(_ state: ListeningState, at now: HeardInstant) {
            isHearing = state.isHearing
            guard offset != nil else { return }
            run.auditor.withLock {
                if isHearing { $0.begin(receiver, at: shifted(now)) } else { $0.end(receiver, at: shifted(now)) }
            }
        }

        func rest(at now: HeardInstant) {
            noteLosses()
            progress?(
                run.auditor.withLock { auditor in
                    Progress(
                        heard: auditor.heardCount, expected: auditor.expectedCount,
                        reports: auditor.receivers.reduce(0) { $0 + $1.reports })
                })
        }

        private func noteLosses() {
            guard let lost = source.counts.lostInKernel else { return }
            run.auditor.withLock { $0.note(lost: lost, by: receiver) }
        }

        func say(_ sentence: String, isWarning: Bool) { sayIt(sentence, isWarning) }

        func finish(at now: HeardInstant) {
            noteLosses()
            guard offset != nil else { return }
            run.auditor.withLock { $0.end(receiver, at: shifted(now)) }
        }
    }
}
