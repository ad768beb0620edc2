internal import Advertiser
public import Auditing
internal import BeaconFrames
internal import BeaconService
public import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
public import Sightings
internal import VirtualController

/// Measures how well radios send and receive. One radio sends a beacon and another radio receives it, then they
/// exchange their roles. A single radio can receive a beacon nearby instead.
///
/// At the end, all sending and scanning is off, even after an error.
public final class QualificationRun {
    /// The radios and the duration.
    public struct Options {
        /// The radio that sends until the roles change. If `nil`: the first hciN with LE that is not the receiver, or a
        /// virtual radio if the receiver is virtual. Not used if there is a ``heard`` beacon.
        public var sender: AdapterName?
        /// The radio that receives first; `nil` for the first other hciN with LE, or for a second virtual one.
        public var receiver: AdapterName?
        /// A beacon nearby, with known identity and interval, that a single radio receives.
        public var heard: KnownBeacon?
        /// The duration of each phase, in microseconds.
        public var phaseMicroseconds = 60_000_000
        /// The beacons that are received if there is a single radio and it is virtual.
        public var virtualBeacons = VirtualBeacons()
        /// The directory of this machine's adapter locks.
        public var runtimeDirectory = AdapterClaim.defaultDirectory

        /// Creates options for the first two adapters, with 60 s for each phase.
        public init() {}
    }

    /// The progress of a qualification.
    public struct Progress: Hashable, Sendable {
        /// The number of the phase, from 1.
        public let phase: Int
        public let phases: Int
        /// The phase with its senders and receivers, in words.
        public let what: String
        /// The time in this phase, in whole seconds.
        public let seconds: Int
    }

    /// The result of a run.
    public struct Outcome {
        public let report: QualificationReport
        /// The error that ended the run; `nil` if all phases were completed, or if a signal arrived.
        public let failure: ListenerServiceError?
        /// True if a signal ended the run.
        public let isInterrupted: Bool
    }

    /// A phase with its senders and receivers.
    private struct Step {
        let phase: QualificationPhase
        let senders: [Int]
        let listeners: [Int]
    }

    /// A signal arrived.
    private struct Interruption: Error {}

    /// The longest wait for an event before the time is checked again, in microseconds.
    private static let tick = 100_000
    private let options: Options
    private let signals: SignalDescriptor
    private let radios: [RadioUnderTest]
    /// The air of virtual radios; `nil` without any.
    private let air: VirtualAirServer?
    private let beacons = QualificationBeacons()
    private var deliveries: [Delivery] = []

    /// Opens the radios.
    ///
    /// - Throws: An error if a radio is missing, in use, not permitted, or named twice.
    public init(_ options: Options) throws(ListenerServiceError) {
        self.options = options
        var opened: [RadioUnderTest] = []
        do {
            let names = try QualifiedAdapters(options).names
            signals = try SignalDescriptor()
            // This model supports all phases.
            let air: VirtualAirServer? =
                if !names.contains(.virtual) {
                    nil
                } else if options.heard != nil {
                    try options.virtualBeacons.air(.intel, .still)
                } else {
                    try VirtualAirServer(VirtualAirConfiguration(model: .intel))
                }
            self.air = air
            for (label, name) in zip(["A", "B"], names) {
                opened.append(
                    try RadioUnderTest(
                        label, name, signals: signals, air: air, runtimeDirectory: options.runtimeDirectory))
            }
        } catch {
            for radio in opened { radio.close() }
            throw ListenerServiceError(error)
        }
        radios = opened
    }

    /// Runs all phases, one after the other. Call this only once.
    public func run(progress: (Progress) -> Void) -> Outcome {
        var failure: ListenerServiceError?
        var isInterrupted = false
        let steps = self.steps
        do {
            for (index, step) in steps.enumerated() {
                try perform(step) { seconds in
                    progress(
                        Progress(phase: index + 1, phases: steps.count, what: text(step), seconds: seconds))
                }
            }
        } catch {
            isInterrupted = error is Interruption || signals.takenAt != nil
            failure = isInterrupted ? nil : ListenerServiceError(error)
            for radio in radios {
                radio.close()
                // A phase that had just begun has no meaningful result, so results of less than one second are dropped.
                if let delivery = radio.abandon(nil), delivery.listenedMicroseconds >= 1_000_000 {
                    deliveries.append(delivery)
                }
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

    /// Returns the phase with its senders and receivers, in words.
    private func text(_ step: Step) -> String {
        let paths = step.listeners.map { listener in
            let sender = step.senders.first { $0 != listener }.map { radios[$0].label } ?? "the beacon"
            return "\(radios[listener].label) receives \(sender)"
        }
        return "\(step.phase.rawValue), \(paths.joined(separator: ", "))"
    }

    // MARK: One phase

    private func perform(_ step: Step, _ progress: (Int) -> Void) throws {
        var refusals: [Int: String] = [:]
        // Sending starts first, because a legacy controller refuses a new address while it scans.
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
            // If a radio cannot send, it cannot send and receive at the same time either.
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
            let silentSenders = try step.senders.filter { try refusals[$0] == nil && !radios[$0].isSending() }
            for listener in listening {
                guard var delivery = try radios[listener].stopListening() else { continue }
                delivery.isSenderOff = silentSenders.contains { $0 != listener }
                deliveries.append(delivery)
            }
        }
        for sender in step.senders { try radios[sender].stopSending() }
    }

    /// Receives until the phase is over.
    private func listen(_ step: Step, _ progress: (Int) -> Void) throws {
        let start = now
        let end = start.advanced(byMicroseconds: options.phaseMicroseconds)
        // In the middle of the phase the senders send new data from the same address. Then the reports show whether a
        // duplicate filter compares the data, or only the addresses.
        var changeTime: HCIInstant? =
            step.phase == .duplicatesFiltered && !step.senders.isEmpty
            ? start.advanced(byMicroseconds: options.phaseMicroseconds / 2) : nil
        while now < end {
            let due = [end, changeTime, now.advanced(byMicroseconds: Self.tick)].compactMap { $0 }.min()
            let descriptors = [signals.descriptor] + radios.flatMap(\.descriptors)
            let ready = try Poller.wait(descriptors.map { Poller.Interest($0, .read) }, until: (due ?? end).nanoseconds)
            if ready[0] { _ = signals.take() }
            if signals.takenAt != nil { throw Interruption() }
            for radio in radios { try radio.receive() }
            if let due = changeTime, due <= now {
                changeTime = nil
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

    /// Returns a function that judges received data. The function returns `nil` for data of another sender.
    private func judge(_ phase: QualificationPhase, _ sender: Int?) throws -> ([UInt8]) -> OctetsJudgement? {
        if let sender {
            return try beacons.judge(of: sender, phase, limit: radios[sender].capabilities.maximumDataLength)
        }
        let expectedIdentity = options.heard?.identity
        return { data in
            BeaconFrame(decoding: AdvertisingData(octets: data)).flatMap(BeaconIdentity.init) == expectedIdentity
                ? .right : nil
        }
    }

    private var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }

    /// Runs `body` and returns the reason why the controller refuses it; `nil` if it succeeds.
    ///
    /// - Throws: all errors that are not refusals: the radio is missing or does not answer.
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
