internal import Airtime
internal import BluetoothTypes
internal import Sites

/// A fault that is planted in a rehearsal.
public struct RehearsalFault: Hashable, Sendable {
    /// The kind of a fault.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The beacon's machine stops and does not start again.
        case stops
        /// The beacon sends at another interval.
        case interval
        /// The beacon sends another identity.
        case identity
        /// Another device sends the beacon's advertisements from its own address.
        case clone
        /// The beacon radiates less power than its machine reports.
        case weak
        /// A receiver works but receives nothing.
        case deaf
        /// The receivers' broker cannot be reached.
        case brokerAway = "broker-away"
        /// The wall clock of a beacon's machine leaps ahead, so its ephemeral ids are those of a later time.
        case clockJump = "clock-jump"
    }

    public var kind: Kind
    /// The name of the beacon, or of the receiver for `deaf`; empty for `broker-away`.
    public var subject: String
    /// The beginning of the fault, in s from the beginning of the rehearsal.
    public var atS: Double
    /// The duration of `broker-away`, in s.
    public var forS = 300.0
    /// The new interval of `interval`, as a multiple of the old interval.
    public var factor = 2.0
    /// The loss of power of `weak`, in dB.
    public var byDb = 10.0
    /// The time by which the clock leaps ahead with `clock-jump`, in s.
    public var byS = 7200.0

    public init(_ kind: Kind, _ subject: String, atS: Double) {
        self.kind = kind
        self.subject = subject
        self.atS = atS
    }

    /// The fault in a sentence: `hall-desk stops at 600 s`.
    var text: String {
        let time = "\(NumberFormat.significant(atS, 6)) s"
        return switch kind {
        case .stops: "\(subject) stops at \(time)"
        case .interval: "\(subject) sends at \(NumberFormat.significant(factor)) times its interval from \(time)"
        case .identity: "\(subject) sends another identity from \(time)"
        case .clone: "another device sends the advertisements of \(subject) from \(time)"
        case .weak: "\(subject) radiates \(NumberFormat.significant(byDb)) dB less from \(time)"
        case .deaf: "receiver \(subject) is deaf from \(time)"
        case .brokerAway: "the broker cannot be reached from \(time) on for \(NumberFormat.significant(forS, 6)) s"
        case .clockJump: "the clock of \(subject) leaps by \(NumberFormat.significant(byS, 6)) s at \(time)"
        }
    }

    /// Returns random faults. The kinds are used in turn, and each beacon has at most one fault. The faults begin after
    /// 10 % to 60 % of the time.
    ///
    /// Kinds that cannot be observed with the fleet are left out: `deaf`, `broker-away`, `weak` and `clone` need
    /// receivers, and `clock-jump` needs ephemeral ids.
    public static func random(
        _ count: Int, in fleet: RehearsedFleet, hours: Double, seed: UInt64
    ) -> [RehearsalFault] {
        var random = SplitMix64(seed: RehearsalSeed.mix(seed, 0xFA_17, count))
        let receivers = fleet.site?.receivers.map(\.name) ?? []
        let beaconsWithIDs = fleet.beacons.filter { $0.epoch != nil }.map(\.name)
        let kinds = Kind.allCases.filter { kind in
            switch kind {
            case .deaf, .brokerAway, .weak, .clone: !receivers.isEmpty
            case .clockJump: !beaconsWithIDs.isEmpty
            case .stops, .interval, .identity: true
            }
        }
        var freeBeacons = fleet.beacons.map(\.name)
        var freeReceivers = receivers
        var faults: [RehearsalFault] = []
        var index = 0
        while faults.count < count, !freeBeacons.isEmpty || index < kinds.count {
            let kind = kinds[index % kinds.count]
            index += 1
            let subjects: [String]
            switch kind {
            case .brokerAway: subjects = faults.contains { $0.kind == .brokerAway } ? [] : [""]
            // At least one receiver must still work.
            case .deaf: subjects = freeReceivers.count > 1 ? freeReceivers : []
            case .clockJump: subjects = freeBeacons.filter(beaconsWithIDs.contains)
            default: subjects = freeBeacons
            }
            guard !subjects.isEmpty else { continue }
            let subject = subjects[random.next(upTo: UInt32(subjects.count - 1))]
            if kind == .deaf {
                freeReceivers.removeAll { $0 == subject }
            } else {
                freeBeacons.removeAll { $0 == subject }
            }
            let at = (hours * 3600 * (0.1 + 0.5 * random.nextUnit())).rounded()
            faults.append(RehearsalFault(kind, subject, atS: at))
        }
        return faults
    }
}
