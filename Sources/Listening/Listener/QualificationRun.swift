internal import Advertiser
public import Auditing
internal import BeaconFrames
public import BeaconService
public import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
public import Sightings
internal import VirtualController

/// Finds out what a radio delivers: an own beacon on one radio is heard by another one, then the other way round; or one
/// radio alone hears a beacon that stands near.
///
/// Whatever happens, nothing is on the air and nobody listens when it is over.
public final class QualificationRun {
    /// Which radios, and how long.
    public struct Options {
        /// The radio that sends first; `nil` for the first hciN with LE.
        public var sender: AdapterName?
        /// The radio that listens first; `nil` for the first other hciN with LE, or for a second virtual one.
        public var receiver: AdapterName?
        /// A beacon that one radio alone listens for: its identity and interval are known.
        public var heard: KnownBeacon?
        /// Of each phase, in microseconds.
        public var phaseMicroseconds = 60_000_000
        /// What a further virtual controller sends where one radio alone is virtual.
        public var samples: [LoadedProfile] = []
        /// Where the locks of this box lie.
        public var runtimeDirectory = AdapterClaim.defaultDirectory

        /// The first two adapters, 60 s a phase.
        public init() {}
    }

    /// How far it is.
    public struct Progress: Hashable, Sendable {
        /// From 1.
        public let phase: Int
        public let phases: Int
        /// Who hears whom.
        public let what: String
        /// Of this phase, in whole seconds.
        public let seconds: Int
    }

    /// How it ended.
    public struct Outcome {
        public let report: QualificationReport
        /// What kept it from going on; `nil` for the end of all phases, and for a signal.
        public let failure: ListenerServiceError?
        /// Whether a signal broke it off.
        public let isInterrupted: Bool
    }

    /// What is sent and who listens.
    private struct Step {
        let phase: QualificationPhase
        let senders: [Int]
        let listeners: [Int]
    }

    /// Thrown when a signal came.
    private struct Interruption: Error {}

    /// No wait is longer, in microseconds: progress is told, and silences are looked after.
    private static let tick = 100_000
    private let options: Options
    private let signals: SignalDescriptor
    private let radios: [RadioUnderTest]
    private let sample: SampleBeacon?
    private let air: VirtualAirServer?
    private let beacons = QualificationBeacons()
    private var deliveries: [Delivery] = []

    /// Opens the radios.
    ///
    /// - Throws: where they cannot be had: missing, taken by others, not permitted, or named twice.
    public init(_ options: Options) throws(ListenerServiceError) {
        self.options = options
        var opened: [RadioUnderTest] = []
        do {
            let names = try QualifiedAdapters(options).names
            signals = try SignalDescriptor()
            // Like a laptop's: it has all phases.
            let air =
                names.contains(.virtual) ? try VirtualAirServer(VirtualAirConfiguration(model: .intel)) : nil
            self.air = air
            for (label, name) in zip(["A", "B"], names) {
                opened.append(
                    try RadioUnderTest(
                        label, name, signals: signals, air: air, runtimeDirectory: options.runtimeDirectory))
            }
            sample = try options.heard == nil ? nil : air.map { try SampleBeacon($0, options.samples) }
        } catch {
            for radio in opened { radio.close() }
            throw ListenerServiceError(error)
        }
        radios = opened
    }

    /// Does all phases, one after the other. To be called once.
    public func run(progress: (Progress) -> Void) -> Outcome {
        var failure: ListenerServiceError?
        var isInterrupted = false
        let steps = self.steps
        do {
            for (number, step) in steps.enumerated() {
                try perform(step) { seconds in
                    progress(
                        Progress(phase: number + 1, phases: steps.count, what: words(step), seconds: seconds))
                }
            }
        } catch {
            isInterrupted = error is Interruption || signals.takenAt != nil
            failure = isInterrupted ? nil : ListenerServiceError(error)
            for radio in radios {
                radio.close()
                // What was heard of a phase that had hardly begun says nothing.
                if let rest = radio.abandon(nil), rest.listenedMicroseconds >= 1_000_000 { deliveries.append(rest) }
            }
        }
        for radio in radios { radio.close() }
        let report = QualificationReport(
            radios.map(\.facts), deliveries, phaseMicroseconds: options.phaseMicroseconds,
            isComplete: failure == nil && !isInterrupted)
        return Outcome(report: report, failure: failure, isInterrupted: isInterrupted)
    }

    private var steps: [Step] {
        guard radios.count > 1 else {
            return [
                Step(phase: .legacy, senders: [], listeners: [0]),
                Step(phase: .whileSending, senders: [0], listeners: [0]),
                Step(phase: .duplicatesFiltered, senders: [], listeners: [0]),
            ]
        }
        func bothWays(_ phase: QualificationPhase) -> [Step] {
            [Step(phase: phase, senders: [0], listeners: [1]), Step(phase: phase, senders: [1], listeners: [0])]
        }
        let hasExtended = radios.allSatisfy { $0.capabilities.hasExtendedAdvertising }
        return bothWays(.legacy) + (hasExtended ? bothWays(.extended) : [])
            + [Step(phase: .whileSending, senders: [0, 1], listeners: [0, 1])] + bothWays(.duplicatesFiltered)
    }

    private func words(_ step: Step) -> String {
        let paths = step.listeners.map { listener in
            let sender = step.senders.first { $0 != listener }.map { radios[$0].label } ?? "the beacon"
            return "\(radios[listener].label) hears \(sender)"
        }
        return "\(step.phase.rawValue), \(paths.joined(separator: ", "))"
    }

    // MARK: One phase

    private func perform(_ step: Step, _ progress: (Int) -> Void) throws {
        var refusals: [Int: String] = [:]
        // Sending comes first: a legacy controller takes no new address while it scans.
        for sender in step.senders {
            refusals[sender] = try refusal { try send(step.phase, sender) }
                .map { "\(radios[sender].label) does not send: \($0)" }
        }
        var listening: [Int] = []
        for listener in step.listeners {
            let sender = step.senders.first { $0 != listener }
            var delivery = Delivery(
                step.phase, from: sender.map { radios[$0].label }, to: radios[listener].label,
                intervalMicroseconds: options.heard?.intervalMicroseconds
                    ?? QualificationBeacons.interval.microseconds)
            // Whoever cannot send at all does not send while it listens either.
            if let reason = sender.flatMap({ refusals[$0] }) ?? refusals[listener] {
                delivery.refusal = reason
                deliveries.append(delivery)
                continue
            }
            let reason = try refusal {
                try radios[listener].listen(
                    delivery, filtersDuplicates: step.phase == .duplicatesFiltered, judge(step.phase, sender))
            }
            if let reason {
                _ = radios[listener].abandon(nil)
                delivery.refusal = "\(radios[listener].label) does not listen: \(reason)"
                deliveries.append(delivery)
            } else {
                listening.append(listener)
            }
        }
        if !listening.isEmpty {
            try listen(step, progress)
            let off = try step.senders.filter { try refusals[$0] == nil && !radios[$0].isSending() }
            for listener in listening {
                guard var delivery = try radios[listener].stopListening() else { continue }
                delivery.isSenderOff = off.contains { $0 != listener }
                deliveries.append(delivery)
            }
        }
        for sender in step.senders { try radios[sender].stopSending() }
    }

    /// Until the phase is over.
    private func listen(_ step: Step, _ progress: (Int) -> Void) throws {
        let start = now
        let end = start.advanced(byMicroseconds: options.phaseMicroseconds)
        // New data from the same address tells what a filter of duplicates goes by.
        var change: HCIInstant? =
            step.phase == .duplicatesFiltered && !step.senders.isEmpty
            ? start.advanced(byMicroseconds: options.phaseMicroseconds / 2) : nil
        while now < end {
            let due = [end, change, sample?.nextWakeUp, now.advanced(byMicroseconds: Self.tick)].compactMap { $0 }.min()
            let awaited = [signals.descriptor] + radios.flatMap(\.descriptors)
            let ready = try Poller.wait(awaited.map { Poller.Interest($0, .read) }, until: (due ?? end).nanoseconds)
            if ready[0] { _ = signals.take() }
            if signals.takenAt != nil { throw Interruption() }
            for radio in radios { try radio.receive() }
            sample?.wake(at: now)
            if let moment = change, moment <= now {
                change = nil
                for listener in step.listeners { radios[listener].noteChange() }
                for sender in step.senders { try radios[sender].send(instead: beacons.changed(of: sender)) }
            }
            progress(now.microseconds(since: start) / 1_000_000)
        }
    }

    private func send(_ phase: QualificationPhase, _ sender: Int) throws {
        let radio = radios[sender]
        let advertisement = beacons.advertisement(of: sender, phase)
        guard phase == .extended else { return try radio.send(advertisement) }
        let octets = try beacons.octets(of: sender, phase, limit: radio.capabilities.maximumDataLength)
        try radio.send(extended: octets, advertisement)
    }

    /// Tells what is to be heard from everything else.
    private func judge(_ phase: QualificationPhase, _ sender: Int?) throws -> ([UInt8]) -> OctetsJudgement? {
        if let sender {
            return try beacons.judge(of: sender, phase, limit: radios[sender].capabilities.maximumDataLength)
        }
        let wanted = options.heard?.identity
        return { data in
            BeaconFrame(decoding: AdvertisingData(octets: data)).flatMap(BeaconIdentity.init) == wanted ? .right : nil
        }
    }

    private var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }

    /// Why a controller does not do `body`; `nil` where it does.
    ///
    /// - Throws: everything that is no refusal: the radio is gone, or does not answer.
    private func refusal(_ body: () throws -> Void) throws -> String? {
        do {
            try body()
            return nil
        } catch let error as SessionError {
            switch error {
            case .command(.refused, _), .impossible: return "\(error)"
            default: throw error
            }
        } catch let error as HCICommandError {
            guard case .refused = error else { throw error }
            return "\(error)"
        } catch let error as HCIParameterError {
            return "\(error)"
        }
    }
}
