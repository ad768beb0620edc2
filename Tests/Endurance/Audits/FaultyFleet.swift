internal import Auditing
internal import BeaconFrames
internal import BluetoothTypes
internal import Sightings

/// A kind of fault, and the verdicts that an audit must give.
public enum Fault: String, CaseIterable, Sendable {
    case off, oneFrameMissing
    case otherMinor, otherPower, noFlags, longer, otherInstance
    case otherAddress, publicAddress
    case slower, muchSlower, faster, slowerUID
    case far, hidden, endsEarly, startsLate
    case restarted, countsTooMuch, slowClock, frozen, deadBattery, tooMuchBattery, tooHot
    case clone, cloneAtItsAddress, impostor, impostorAtItsAddress

    /// The verdicts on the iBeacon (0), the Eddystone-UID (1) and the telemetry (2) of one machine.
    var verdicts: [Set<AuditVerdict>] {
        switch self {
        case .off: [[.silent], [.silent], [.silent]]
        case .oneFrameMissing: [[.ok], [.silent], [.ok]]
        case .otherMinor, .otherPower, .noFlags, .longer: [[.wrongOctets], [.ok], [.ok]]
        case .otherInstance: [[.ok], [.wrongOctets], [.ok]]
        case .otherAddress, .publicAddress: [[.wrongAddress], [.wrongAddress], [.wrongAddress]]
        case .slower, .muchSlower, .faster: [[.wrongInterval], [.ok], [.ok]]
        case .slowerUID: [[.ok], [.wrongInterval], [.ok]]
        case .far: [[.weak], [.weak], [.weak]]
        case .hidden, .endsEarly, .startsLate: [[.longSilence], [.longSilence], [.longSilence]]
        case .restarted, .countsTooMuch, .slowClock, .frozen, .deadBattery, .tooMuchBattery, .tooHot:
            [[.ok], [.ok], [.telemetry]]
        case .clone, .cloneAtItsAddress: [[.cloned], [.ok], [.ok]]
        case .impostor, .impostorAtItsAddress: [[.impostor], [.ok], [.ok]]
        }
    }

    /// Puts the fault into the machine; adds other machines if the fault needs them.
    func apply(to machine: inout SimulatedAir.Machine, number: UInt16, _ others: inout [SimulatedAir.Machine]) {
        switch self {
        case .off: machine.loss = 1
        case .oneFrameMissing: machine.sent.remove(at: 1)
        case .otherMinor: machine.sent[0].octets = Payload.iBeacon(number + 5000)
        case .otherPower: machine.sent[0].octets = Payload.iBeacon(number, power: -70)
        case .noFlags: machine.sent[0].octets = Payload.iBeacon(number, flags: nil)
        case .longer: machine.sent[0].octets.removeLast()
        case .otherInstance: machine.sent[1].octets = Payload.uid(UInt8(number & 255) ^ 0xFF)
        case .otherAddress: machine.sender = Payload.sender(number + 7000)
        case .publicAddress: machine.sender = Payload.sender(number, isRandom: false)
        case .slower: machine.sent[0].interval *= 1.1
        case .muchSlower: machine.sent[0].interval *= 2
        case .faster: machine.sent[0].interval *= 0.5
        case .slowerUID: machine.sent[1].interval *= 1.5
        case .far: machine.loss = 0.8
        case .hidden: machine.away = 0.3...0.65
        case .endsEarly: machine.away = 0.6...1
        case .startsLate: machine.away = 0...0.4
        case .restarted: machine.telemetry.restart = 0.4
        case .countsTooMuch: machine.telemetry.countsPerEvent = 1.15
        case .slowClock: machine.telemetry.secondsPerSecond = 0.9
        case .frozen: machine.telemetry.isFrozen = true
        case .deadBattery: machine.telemetry.battery = 120
        case .tooMuchBattery: machine.telemetry.battery = 48_000
        case .tooHot: machine.telemetry.temperature = 126 * 256
        case .clone: others.append(copy(machine, Payload.sender(number + 8000), machine.sent[0].octets, level: -75))
        case .cloneAtItsAddress: others.append(copy(machine, machine.sender, machine.sent[0].octets, level: -25))
        case .impostor:
            others.append(copy(machine, Payload.sender(number + 9000), Payload.iBeacon(number, power: -40), level: -70))
        case .impostorAtItsAddress:
            others.append(copy(machine, machine.sender, Payload.iBeacon(number, power: -40), level: -66))
        }
        if self == .longer { machine.sent[0].octets = Payload.iBeacon(number) + [2, 0x0A, 0] }
    }

    private func copy(
        _ machine: SimulatedAir.Machine, _ sender: Sender, _ octets: [UInt8], level: Double
    ) -> SimulatedAir.Machine {
        SimulatedAir.Machine(
            sender: sender, sent: [.init(octets: octets, interval: machine.sent[0].interval)], level: level)
    }
}

/// Machines with three advertisements each, some of them with faults.
struct FaultyFleet {
    let expected: [ExpectedBeacon]
    private(set) var machines: [SimulatedAir.Machine] = []
    private(set) var others: [SimulatedAir.Machine] = []
    let seconds: Double
    private let seed: UInt64

    private static let intervals = [150.0, 200, 250, 333.125, 420, 500]

    /// - Parameters:
    ///   - faults: The kinds of faults. The first machine has the first fault, and so on.
    ///   - isInTurn: True if each machine has one advertising set for all its advertisements.
    init(machines count: Int, faults: [Fault], isInTurn: Bool, seed: UInt64) {
        var chance = SplitMix64(seed: seed)
        var expected: [ExpectedBeacon] = []
        for number in 0..<count {
            let minor = UInt16(number + 1)
            let sender = Payload.sender(minor)
            let interval = Self.intervals[chance.next(upTo: UInt32(Self.intervals.count - 1))] * 1000
            let sent: [SimulatedAir.Sent] = [
                .init(octets: Payload.iBeacon(minor), interval: interval),
                .init(octets: Payload.uid(UInt8(minor)), interval: interval * 1.5),
                .init(octets: [], interval: 1_000_000, isTelemetry: true),
            ]
            var machine = SimulatedAir.Machine(sender: sender, sent: sent, isInTurn: isInTurn)
            machine.loss = chance.share() * 0.15
            machine.level = -85 + chance.share() * 30
            expected.append(Self.expect("box-\(minor)", sender, sent, minor))
            if number < faults.count { faults[number].apply(to: &machine, number: minor, &others) }
            machines.append(machine)
        }
        self.expected = expected
        self.seed = seed
        seconds = 66
    }

    private static func expect(
        _ name: String, _ sender: Sender, _ sent: [SimulatedAir.Sent], _ minor: UInt16
    ) -> ExpectedBeacon {
        let telemetry = { (octet: UInt8) in
            let twelve = FixedOctets<12>([UInt8](repeating: octet, count: 12)) ?? FixedOctets()
            return Payload.octets(Payload.eddystone + EddystoneTLM(telemetry: twelve).adStructures)
        }
        let contents: [ExpectedAdvertisement.Content] = [
            .frame(.iBeacon(uuid: Payload.uuid, major: 1, minor: minor)),
            .frame(
                .eddystoneUID(
                    namespace: Payload.namespace,
                    instance: FixedOctets([0, 0, 0, 0, 0, UInt8(minor)]) ?? FixedOctets())),
            .telemetry(isEncrypted: false),
        ]
        let types = ["ibeacon", "eddystone-uid", "eddystone-tlm"]
        let octets = [
            ExpectedOctets(sent[0].octets), ExpectedOctets(sent[1].octets),
            ExpectedOctets(telemetry(1), or: telemetry(2)),
        ]
        return ExpectedBeacon(
            name: name,
            advertisements: (0..<3).map {
                ExpectedAdvertisement(
                    type: types[$0], content: contents[$0], octets: octets[$0],
                    intervalMicroseconds: Int(sent[$0].interval), address: .exactly(sender))
            })
    }

    /// Audits the fleet and returns the report.
    func report(_ model: inout SilenceModel) -> AuditReport {
        var auditor = Auditor(expected, receivers: ["desk"])
        auditor.begin(0, at: HeardInstant(nanoseconds: 0))
        for report in SimulatedAir.reports(machines + others, seconds: seconds, seed: seed) { auditor.receive(report) }
        auditor.end(0, at: HeardInstant(nanoseconds: UInt64(seconds * 1e9)))
        return auditor.report(&model)
    }
}

extension Auditor {
    mutating func receive(_ report: SimulatedAir.Report, by receiver: Int = 0, clockMicroseconds: Int = 0) {
        receive(
            Sighting(
                at: HeardInstant(nanoseconds: UInt64(report.at + clockMicroseconds) * 1000), from: report.sender,
                rssi: report.level),
            report.octets.span, report.octets.indices, by: receiver)
    }
}
