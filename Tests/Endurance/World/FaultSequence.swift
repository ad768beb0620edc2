internal import Advertiser
internal import BluetoothTypes
internal import HCI
internal import VirtualController

/// A run of a beacon with one to six incidents and sometimes one more at its stop, all from one seed, and the errors
/// that were found.
public struct FaultSequence: Sendable {
    public let seed: UInt64
    /// The incidents in order.
    public private(set) var incidents: [Incident] = []
    /// The errors; empty if there are none.
    public private(set) var complaints: [String] = []
    /// For each incident, the longest time in microseconds from its end, or from its detection, to the beacon's return.
    public private(set) var longestReturn: [Incident: Int] = [:]

    /// The longest duration of an incident in microseconds.
    private static let longestIncident: UInt32 = 60_000_000
    /// The time in microseconds after which the beacon must be on the air again: the longest back-off, an attempt that
    /// meets a verification, and its commands.
    public static let bound = 60_000_000

    /// - Parameter overlapping: True if an incident may begin before the one before it has ended.
    public init(seed: UInt64, overlapping: Bool) {
        self.seed = seed
        var random = SplitMix64(seed: seed)
        let models: [VirtualControllerModel] = [.raspberryPi, .intel, .zephyr]
        let world = EnduranceWorld(models[random.next(upTo: 2)], seed: random.next(), intervalUnits: 1600)
        world.begin()
        world.run(microseconds: 5_000_000)
        if world.supervisor?.state != .onAir { complaints.append("it did not start") }
        for _ in 0...random.next(upTo: 5) {
            let all = Incident.allCases
            let incident = all[random.next(upTo: UInt32(all.count - 1))]
            incidents.append(incident)
            let duration = random.next(upTo: Self.longestIncident)
            if overlapping {
                world.begin(incident, for: duration)
                world.run(microseconds: random.next(upTo: 20_000_000))
            } else {
                live(through: incident, for: duration, in: world)
            }
        }
        settle(world)
        check(world)
        end(world, &random)
    }

    private mutating func live(through incident: Incident, for duration: Int, in world: EnduranceWorld) {
        let before = world.supervisor?.rearms ?? [:]
        world.begin(incident, for: duration)
        let over = world.now.advanced(byMicroseconds: duration)
        world.run(until: over)
        settle(world)
        let after = world.supervisor?.rearms ?? [:]
        let counted = after.filter { $0.value != before[$0.key, default: 0] }
            .map { ($0.key, $0.value - before[$0.key, default: 0]) }
        if let cause = incident.cause {
            if counted.count != 1 || counted.first?.0 != cause || counted.first?.1 != 1 {
                complaints.append("\(incident) was counted as \(counted)")
            }
        } else if !incident.possibleCauses.isSuperset(of: counted.map(\.0)) {
            complaints.append("\(incident) was counted as \(counted)")
        }
        if let outage = world.supervisor?.lastOutage, !counted.isEmpty {
            // An outage that only a verification after the incident detects is measured from that detection.
            let from = max(outage.from, over)
            longestReturn[incident] = max(longestReturn[incident] ?? 0, max(0, outage.until.microseconds(since: from)))
        }
    }

    private func settle(_ world: EnduranceWorld) {
        while let last = world.incidents.last { world.run(until: last.at.advanced(byMicroseconds: 1)) }
        world.run(microseconds: Self.bound)
    }

    private mutating func check(_ world: EnduranceWorld) {
        guard let supervisor = world.supervisor else { return }
        if supervisor.state != .onAir { complaints.append("in the end it is \(supervisor.state)") }
        if !world.isHeard { complaints.append("in the end it is not heard with what it should say") }
        let counted = supervisor.rearms.values.reduce(0, +)
        if counted != world.returns { complaints.append("\(counted) outages counted, \(world.returns) returns logged") }
        if let verified = supervisor.lastVerified,
            world.now.microseconds(since: verified) > world.pacing.verification + 3_000_000
        {
            complaints.append("it was not verified any more")
        }
        checkEvents(world, supervisor)
        complaints += world.complaints
    }

    /// Incidents that the service detects as soon as they happen.
    private static let detectedAtOnce: Set<Incident> = [
        .unplugged, .unpluggedUnheard, .poweredDown, .rfkill, .hardwareError, .resetByOthers, .disabledByOthers,
        .changedByOthers, .busyAfterPowerDown, .goodReload, .badReload,
    ]
    /// Incidents in which the service never regards the beacon as off while it is on the air.
    private static let countable = detectedAtOnce.union([.resetUnseen, .disabledUnseen])

    /// Checks the counter with one event per second. It may exceed the number of events on the air only by those of
    /// outages that the next verification detects. It may be lower only after incidents in which the service can regard
    /// the beacon as off while it is on the air.
    private mutating func checkEvents(_ world: EnduranceWorld, _ supervisor: Supervisor) {
        guard let counted = world.countedEvents else { return }
        let each = 3 * (1 + supervisor.rearms.values.reduce(0, +) + world.reloads)
        let unseen = incidents.count { !Self.detectedAtOnce.contains($0) }
        let most =
            world.events + each + unseen * (world.pacing.verification / 1_000_000 + 3)
            + world.microsecondsAsleep / 1_000_000
        let least = Self.countable.isSuperset(of: incidents) ? world.events - each : 0
        if !(least...max(least, most)).contains(counted) {
            complaints.append("\(counted) events counted, \(world.events) heard")
        }
    }

    /// Stops the beacon in normal operation, or at a random instant of an incident.
    private mutating func end(_ world: EnduranceWorld, _ random: inout SplitMix64) {
        var answers = true
        if random.next(upTo: 1) == 0 {
            world.handle(.stop)
            if !world.hasEnded { complaints.append("it did not stop") }
        } else {
            let all = Incident.allCases.filter { $0 != .suspended }
            let incident = all[random.next(upTo: UInt32(all.count - 1))]
            incidents.append(incident)
            answers = !Self.spoilsAnswers.contains(incident)
            world.begin(incident, for: random.next(upTo: 20_000_000))
            let delay = random.next(upTo: 20_000_000)
            world.wantStop(after: delay)
            world.run(microseconds: delay + 1_000_000)
            if !world.hasEnded { complaints.append("\(incident): it did not end within a second") }
        }
        world.air.advance(to: world.now.advanced(byMicroseconds: 7_000_000))
        if answers, world.isHeard { complaints.append("it is still heard after its end") }
    }

    /// Incidents in which the controller does not execute commands, so that advertising cannot be turned off.
    private static let spoilsAnswers: Set<Incident> = [.mute, .lostAnswers, .slow, .refusing, .withoutCredits]
}
