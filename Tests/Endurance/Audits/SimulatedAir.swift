internal import BeaconFrames
internal import BluetoothTypes
internal import Sightings

/// Machines on the air around one receiver, with collisions and losses.
struct SimulatedAir {
    /// One advertisement of a machine as it is really sent.
    struct Sent {
        var octets: [UInt8]
        /// The interval in microseconds.
        var interval: Double
        var isTelemetry = false
    }

    /// A machine as it really is, which may differ from the manifest.
    struct Machine {
        var sender: Sender
        var sent: [Sent]
        /// True if one set sends all advertisements in turn, as with a controller of Bluetooth 4.
        var isInTurn = false
        /// The share of packets that is lost in addition to collisions, 0...1.
        var loss = 0.05
        var level = -65.0
        /// The time in which the machine is off the air, as shares of the whole time.
        var away: ClosedRange<Double>?
        var telemetry = Telemetry()
    }

    /// The contents of the machine's telemetry.
    struct Telemetry {
        var battery: UInt16? = 3000
        /// The temperature in 1/256 °C.
        var temperature: Int16 = 22 * 256
        var countsPerEvent = 1.0
        var secondsPerSecond = 1.0
        var isFrozen = false
        /// The instant at which the counters start from 0 again, as a share of the whole time.
        var restart: Double?
    }

    struct Report {
        var at: Int
        var sender: Sender
        var octets: [UInt8]
        var level: Int8
    }

    private static let airtime = 376

    private struct Event {
        var at: Double
        var machine: Int
        var sent: Int
    }

    /// Returns all reports that one receiver gets in `seconds`, in order.
    static func reports(_ machines: [Machine], seconds: Double, seed: UInt64) -> [Report] {
        var chance = SplitMix64(seed: seed)
        let end = seconds * 1_000_000
        var events: [Event] = []
        for index in machines.indices {
            events +=
                machines[index].isInTurn
                ? inTurn(machines[index], index, until: end, &chance)
                : apart(machines[index], index, until: end, &chance)
        }
        events.sort { $0.at < $1.at }
        var reports: [Report] = []
        for (place, event) in events.enumerated() {
            let machine = machines[event.machine]
            let isHit =
                (place > 0 && collide(events[place - 1], event, machines))
                || (place + 1 < events.count && collide(event, events[place + 1], machines))
            let isLost = isHit || chance.share() < machine.loss || (machine.away?.contains(event.at / end) ?? false)
            guard !isLost else { continue }
            let sent = machine.sent[event.sent]
            let octets = sent.isTelemetry ? telemetry(machine, at: event.at, until: end, sent) : sent.octets
            let level = Int8(max(-100, min(-20, machine.level + chance.normal() * 4)).rounded())
            reports.append(Report(at: Int(event.at), sender: machine.sender, octets: octets, level: level))
            if chance.share() < 0.3 {
                reports.append(
                    Report(at: Int(event.at) + 900, sender: machine.sender, octets: octets, level: level - 3))
            }
        }
        return reports.sorted { $0.at < $1.at }
    }

    private static func collide(_ first: Event, _ second: Event, _ machines: [Machine]) -> Bool {
        machines[first.machine].sender != machines[second.machine].sender && second.at - first.at < Double(airtime)
    }

    /// Returns the events of a machine in which each advertisement has its own set.
    private static func apart(
        _ machine: Machine, _ index: Int, until end: Double, _ chance: inout SplitMix64
    ) -> [Event] {
        var events: [Event] = []
        for (number, sent) in machine.sent.enumerated() {
            var at = chance.share() * (sent.interval + 5_000)
            while at < end {
                events.append(Event(at: at, machine: index, sent: number))
                at += sent.interval + chance.share() * 10_000
            }
        }
        return events
    }

    /// Returns the events of a machine with one set for all advertisements. Of those that are due, the one with the
    /// earliest deadline gets the slot.
    private static func inTurn(
        _ machine: Machine, _ index: Int, until end: Double, _ chance: inout SplitMix64
    ) -> [Event] {
        let pace = 1 / machine.sent.reduce(0) { $0 + 1 / ($1.interval + 5_000) }
        let slot = ((pace - 5_000) / 625).rounded(.down) * 625
        var due = machine.sent.map { _ in 0.0 }
        var events: [Event] = []
        var at = chance.share() * slot
        var time = 0.0
        while at < end {
            let ready = due.indices.filter { due[$0] <= time + 1 }
            let deadline = { (number: Int) in due[number] + machine.sent[number].interval + 5_000 }
            let chosen = (ready.isEmpty ? Array(due.indices) : ready).min { deadline($0) < deadline($1) } ?? 0
            due[chosen] = deadline(chosen)
            events.append(Event(at: at, machine: index, sent: chosen))
            at += slot + chance.share() * 10_000
            time += pace
        }
        return events
    }

    /// Returns the telemetry frame, which changes once per second at most.
    private static func telemetry(_ machine: Machine, at time: Double, until end: Double, _ sent: Sent) -> [UInt8] {
        let telemetry = machine.telemetry
        let step = max(1_000_000, sent.interval)
        var moment = (time / step).rounded(.down) * step
        if let restart = telemetry.restart, moment > restart * end { moment -= restart * end } else { moment += 1e9 }
        if telemetry.isFrozen { moment = 1e9 }
        let rate = machine.sent.reduce(0) { $0 + 1 / ($1.interval + 5_000) }
        let frame = EddystoneTLM(
            batteryMillivolts: telemetry.battery,
            temperature: FixedPointTemperature(rawValue: telemetry.temperature),
            advertisements: UInt32(moment * rate * telemetry.countsPerEvent),
            uptimeDeciseconds: UInt32(moment / 100_000 * telemetry.secondsPerSecond))
        return Payload.octets(Payload.eddystone + frame.adStructures)
    }
}

extension SplitMix64 {
    /// A number in 0..<1.
    mutating func share() -> Double { Double(next() >> 11) / Double(1 << 53) }

    /// An approximately normal number with standard deviation 1.
    mutating func normal() -> Double { (0..<12).reduce(-6.0) { sum, _ in sum + share() } }
}

/// Makes advertising data.
enum Payload {
    static let uuid =
        FixedOctets<16>([
            0xFB, 0x0B, 0x57, 0xA2, 0x82, 0x28, 0x44, 0xCD, 0x91, 0x3A, 0x94, 0xA1, 0x22, 0xBA, 0x12, 0x06,
        ]) ?? FixedOctets()
    static let namespace =
        FixedOctets<10>([0x8B, 0x0C, 0xA7, 0x50, 0x09, 0x54, 0x77, 0xCB, 0x3E, 0x77]) ?? FixedOctets()
    static let eddystone: [ADStructure] = [.flags(.beacon)]

    static func octets(_ structures: [ADStructure]) -> [UInt8] {
        structures.flatMap { [UInt8($0.data.count + 1), $0.type.rawValue] + $0.data }
    }

    static func iBeacon(_ minor: UInt16, power: Int8 = -59, flags: ADFlags? = .beacon) -> [UInt8] {
        let frame = IBeacon(
            uuid: .uuid128(uuid), major: 1, minor: minor,
            measuredPower: MeasuredPowerAtOneMeter(octet: UInt8(bitPattern: power)))
        return octets((flags.map { [.flags($0)] } ?? []) + frame.adStructures)
    }

    static func uid(_ instance: UInt8) -> [UInt8] {
        let frame = EddystoneUID(
            namespace: namespace, instance: FixedOctets([0, 0, 0, 0, 0, instance]) ?? FixedOctets(),
            measuredPower: MeasuredPowerAtZeroMeters(octet: 0xE7))
        return octets(eddystone + frame.adStructures)
    }

    static func eid(_ id: UInt8) -> [UInt8] {
        let frame = EddystoneEID(
            id: FixedOctets([UInt8](repeating: id, count: 8)) ?? FixedOctets(),
            measuredPower: MeasuredPowerAtZeroMeters(octet: 0xE7))
        return octets(eddystone + frame.adStructures)
    }

    static func sender(_ number: UInt16, isRandom: Bool = true) -> Sender {
        let octets = [isRandom ? 0xC0 : 0x10, 0, 0, 0, UInt8(number >> 8), UInt8(number & 255)]
        return Sender(DeviceAddress(FixedOctets<6>(octets) ?? FixedOctets()), isRandom: isRandom)
    }
}
