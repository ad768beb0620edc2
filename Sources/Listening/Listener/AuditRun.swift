public import Auditing
internal import BeaconService
public import BluetoothTypes
internal import LinuxHost
internal import Sightings
internal import Synchronization

/// Runs an audit over one or several adapters at the same time, or over several recordings.
public final class AuditRun: Sendable {
    /// The progress of an audit.
    public struct Progress: Hashable, Sendable {
        /// The number of expected advertisements that were received at least once.
        public let heard: Int
        /// The number of expected advertisements.
        public let expected: Int
        /// The number of reports of all receivers.
        public let reports: Int
    }

    private let auditor: Mutex<Auditor>
    private let isOver = Mutex(false)

    private init(_ auditor: Auditor) { self.auditor = Mutex(auditor) }

    /// Audits recordings. Recordings with times are aligned by their wall clocks.
    ///
    /// - Parameter say: Takes sentences for the user.
    /// - Throws: An error if a recording cannot be read.
    public static func replay(
        _ files: AuditedFiles, recordings: [String], say: @escaping (String) -> Void
    ) throws(ListenerServiceError) -> Auditor {
        // The clock of this audit is the wall clock.
        let keys = files.keys { Int($0.nanoseconds / 1_000_000_000) }
        var auditor = Auditor(files.beacons, receivers: recordings, others: files.others, keys: keys)
        if files.needsCoded { auditor.listeningShare = 0.5 }
        let run = AuditRun(auditor)
        for (index, recording) in recordings.enumerated() {
            let source = try SightingSource.recording(recording)
            try source.run(AuditConsumer(run, index, source, isRecording: true) { sentence, _ in say(sentence) })
        }
        return run.auditor.withLock { $0 }
    }

    /// Listens with all adapters until the time is over or a signal arrives.
    ///
    /// - Parameters:
    ///   - adapters: The adapters; empty for the first hciN with LE.
    ///   - duration: The duration in microseconds; `nil` for a duration that suits the beacons' intervals.
    ///   - isWalk: Whether to listen until a signal arrives if there is no duration.
    ///   - progress: Called four times per second.
    ///   - say: Takes sentences for the user, and whether they are warnings.
    /// - Throws: An error if nothing could be received at all.
    public static func listen(
        _ files: AuditedFiles, adapters: [AdapterName], duration: Int?, isWalk: Bool = false,
        progress: @escaping (Progress) -> Void, say: @escaping @Sendable (String, Bool) -> Void
    ) throws(ListenerServiceError) -> Auditor {
        for case .managed(let index) in adapters {
            throw .refused(
                .request,
                "hci\(index):mgmt reports only which beacons are present, but an audit judges each advertisement: use "
                    + "hci\(index), or hci\(index):user")
        }
        let clock = HearingClock()
        let keys = files.keys { instant in clock.unixMicroseconds(at: instant).map { Int($0 / 1_000_000) } }
        let names = adapters.isEmpty ? ["adapter"] : adapters.map(\.description)
        var auditor = Auditor(files.beacons, receivers: names, others: files.others, keys: keys)
        let isCoded = files.needsCoded
        if isCoded { auditor.listeningShare = 0.5 }
        let duration = duration ?? (isWalk ? nil : auditor.defaultMicroseconds)
        let run = AuditRun(auditor)
        let runningReceivers = Monitor(adapters.dropFirst().count)
        // Any receiver may take the signal; then all receivers end.
        let signals: SignalDescriptor
        do throws(SystemError) { signals = try SignalDescriptor() } catch { throw ListenerServiceError(error) }
        var options = SightingSource.Options(adapter: adapters.first)
        options.durationMicroseconds = duration
        options.signals = signals
        options.virtualBeacons = files.virtualBeacons
        options.settings.isCoded = isCoded
        let source = try SightingSource.live(options)
        for (index, adapter) in adapters.enumerated().dropFirst() {
            options.adapter = adapter
            do throws(SystemError) {
                try BackgroundThread.start { [options] in
                    defer { runningReceivers.change { $0 -= 1 } }
                    do throws(ListenerServiceError) {
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
        let consumer = AuditConsumer(run, 0, source, isRecording: false, say, progress: progress)
        do {
            // Wait until the other receivers have ended their listening times, before the result is read.
            defer {
                run.isOver.withLock { $0 = true }
                _ = runningReceivers.wait(milliseconds: 3000) { $0 == 0 ? true : nil }
            }
            try source.run(consumer)
        }
        return run.auditor.withLock { $0 }
    }

    /// A receiver of the audit.
    private final class AuditConsumer: SightingConsumer {
        private let progress: (Progress) -> Void
        private let run: AuditRun
        /// The index of this receiver in the audit.
        private let receiver: Int
        private let source: SightingSource
        private let isRecording: Bool
        private let onSentence: (String, Bool) -> Void
        /// The difference between the clocks of the source and the audit, in microseconds; `nil` before the first
        /// packet.
        private var offset: Int?
        private var isListening = false

        init(
            _ run: AuditRun, _ receiver: Int, _ source: SightingSource, isRecording: Bool,
            _ say: @escaping (String, Bool) -> Void, progress: @escaping (Progress) -> Void = { _ in }
        ) {
            self.progress = progress
            self.run = run
            self.receiver = receiver
            self.source = source
            self.isRecording = isRecording
            onSentence = say
            offset = isRecording ? nil : 0
        }

        var isSatisfied: Bool { !isRecording && run.isOver.withLock { $0 } }

        func advance(to now: HeardInstant) {
            guard offset == nil else { return }
            // The time of the first packet aligns a recording. All recordings without times start at 0.
            let time = source.clock.unixMicroseconds(at: now).map { Int(clamping: $0) } ?? 0
            offset = max(0, time - Int(clamping: now.nanoseconds / 1000))
            if isListening { run.auditor.withLock { $0.begin(receiver, at: shifted(now)) } }
        }

        private func shifted(_ instant: HeardInstant) -> HeardInstant {
            instant.advanced(byMicroseconds: offset ?? 0)
        }

        func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
            let sighting = Sighting(
                at: shifted(report.sighting.instant), from: report.sighting.sender, rssi: report.sighting.rssi,
                isScanResponse: report.sighting.isScanResponse, phy: report.sighting.phy)
            run.auditor.withLock { $0.receive(sighting, octets, range, by: receiver) }
        }

        func change(_ state: ListeningState, at now: HeardInstant) {
            isListening = state.isListening
            guard offset != nil else { return }
            run.auditor.withLock {
                if isListening { $0.begin(receiver, at: shifted(now)) } else { $0.end(receiver, at: shifted(now)) }
            }
        }

        func handleIdle(at now: HeardInstant) {
            noteLosses()
            progress(
                run.auditor.withLock { auditor in
                    Progress(
                        heard: auditor.heardCount, expected: auditor.expectedCount,
                        reports: auditor.receivers.reduce(0) { $0 + $1.reports })
                })
        }

        private func noteLosses() {
            let counts = source.counts
            run.auditor.withLock {
                if let lost = counts.lostInKernel { $0.note(lost: lost, by: receiver) }
                $0.note(truncated: counts.incomplete, by: receiver)
            }
        }

        func say(_ sentence: String, isWarning: Bool) { onSentence(sentence, isWarning) }

        func finish(at now: HeardInstant) {
            noteLosses()
            guard offset != nil else { return }
            run.auditor.withLock { $0.end(receiver, at: shifted(now)) }
        }
    }
}
