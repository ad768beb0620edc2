internal import BluetoothTypes
public import HCI

/// Notices on the monitor channel when somebody else undoes an advertisement: turns it off, changes what it sends,
/// resets or powers down the controller. What we do ourselves is told apart by announcing it with `sent(_:)`.
///
/// The monitor channel does not say which program a command to the controller came from. It does say which programs
/// have a raw socket to the adapter, and who asked the kernel's management for something a moment ago.
public struct ForeignActivity: Sendable {
    /// What is ours on this adapter.
    public enum Watched: Hashable, Sendable {
        /// The legacy family's only advertiser, set up by raw commands.
        case legacy
        /// Advertising sets, set up by raw commands.
        case sets(handles: Set<UInt8>)
        /// Instances of the kernel's advertising manager.
        case managed(instances: Set<UInt8>)
    }

    /// What happened, and who did it as far as that can be known.
    public struct Cause: Hashable, Sendable {
        /// What was done to ours.
        public enum Kind: String, Hashable, Sendable {
            case advertisingDisabled
            case dataChanged
            case scanResponseChanged
            case parametersChanged
            case addressChanged
            /// An advertising set, or an instance of the kernel's manager, was removed.
            case advertisementRemoved
            case controllerReset
            case poweredDown
            case unplugged
            /// A program holds the user channel.
            case takenOver
        }

        public let kind: Kind
        /// Names of programs, sorted; empty where only the kernel itself is left.
        public let programs: [String]

        /// - Parameter programs: Who may have done it, each with its process; empty where nobody is known.
        public init(_ kind: Kind, programs: [String]) {
            self.kind = kind
            self.programs = programs
        }
    }

    /// How long a management command may explain what the kernel does.
    static let explanationMicroseconds = 2_000_000
    /// How long advertising may be off in the managed form: the kernel pauses it for each change of what is sent. A
    /// program that could have done it is given less time, because the kernel may repair it after two seconds at most.
    static let pauseMicroseconds = 1_000_000
    static let suspiciousPauseMicroseconds = 250_000
    /// Own commands that were announced and have not been heard.
    private static let expectationLimit = 1024

    private var index: UInt16
    private let ownProgram: String
    private var watched: Watched
    private var sockets = MonitoredSockets()
    private var expectedPackets: [HCIPacket] = []
    private var expectedManagement: [ManagementPacket] = []
    private var underWay: [(command: ForeignCommandEffect, isOwn: Bool)] = []
    private var ownValues: [ForeignCommandEffect.Field: [UInt8]] = [:]
    private var lastAsked: (program: String, time: HCIInstant)?
    private var pause: (since: HCIInstant, suspects: [String], hasRawProgram: Bool)?

    /// - Parameter ownProgram: the name of our process as the kernel knows it: its sockets are no suspects.
    public init(index: UInt16, watching watched: Watched, ownProgram: String) {
        self.index = index
        self.watched = watched
        self.ownProgram = String(ownProgram.prefix(15))
    }

    /// Goes on with other sets or instances, after a new start.
    public mutating func watch(_ watched: Watched) {
        self.watched = watched
        pause = nil
    }

    /// Goes on with another adapter, before the first command to it. Who has which socket open is remembered: the
    /// monitor channel tells it once.
    public mutating func follow(_ index: UInt16) {
        guard index != self.index else { return }
        self.index = index
        pause = nil
        expectedPackets = []
        expectedManagement = []
        underWay = []
        ownValues = [:]
        lastAsked = nil
    }

    /// Announces a command of ours, before it is sent.
    public mutating func sent(_ packet: HCIPacket) {
        guard packet.kind == .command else { return }
        if expectedPackets.count >= Self.expectationLimit { expectedPackets.removeFirst() }
        expectedPackets.append(packet)
    }

    /// Announces a management command of ours, before it is sent.
    public mutating func sent(_ packet: ManagementPacket) {
        if packet.code == RemoveAdvertising.opcode, let instance = packet.parameters.first { release(instance) }
        if expectedManagement.count >= Self.expectationLimit { expectedManagement.removeFirst() }
        expectedManagement.append(packet)
    }

    /// Takes what the monitor channel tells, soon after it was told; what has happened to our advertisement, if anything.
    public mutating func receive(_ packet: MonitorPacket, at now: HCIInstant) -> Cause? {
        sockets.receive(packet)
        guard packet.index == index else { return nil }
        switch packet.content {
        case .deleteIndex:
            return Cause(.unplugged, programs: [])
        case .closeIndex:
            underWay = []
            pause = nil
            return Cause(.poweredDown, programs: suspects(now, includingIoctl: true))
        case .socketOpened(_, .user, let program) where program != ownProgram:
            return Cause(.takenOver, programs: [program])
        case .managementCommand(let cookie, let command):
            heard(command, from: sockets[cookie]?.program ?? "", at: now)
            return nil
        case .managementEvent(_, let packet):
            return removed(ManagementEvent(packet), at: now)
        case .hci(let packet, isFromController: false):
            began(packet)
            return nil
        case .hci(let packet, isFromController: true):
            return ended(packet, at: now)
        default:
            return nil
        }
    }

    /// When to call ``expire(at:)`` although nothing is told; `nil` for never.
    public var wakeTime: HCIInstant? {
        pause.map { pause in
            pause.since.advanced(
                byMicroseconds: pause.hasRawProgram ? Self.suspiciousPauseMicroseconds : Self.pauseMicroseconds)
        }
    }

    /// A pause of the kernel's that has become too long, once.
    public mutating func expire(at now: HCIInstant) -> Cause? {
        guard let wakeTime, wakeTime <= now, let programs = pause?.suspects else { return nil }
        pause = nil
        return Cause(.advertisingDisabled, programs: programs)
    }
}

extension ForeignActivity {
    private mutating func release(_ instance: UInt8) {
        guard case .managed(var instances) = watched else { return }
        instances.remove(instance)
        watched = .managed(instances: instances)
    }

    private mutating func heard(_ command: ManagementPacket, from program: String, at now: HCIInstant) {
        if let place = expectedManagement.firstIndex(of: command) {
            expectedManagement.remove(at: place)
        } else if !program.isEmpty, program != ownProgram {
            lastAsked = (program, now)
        }
    }

    private mutating func removed(_ event: ManagementEvent, at now: HCIInstant) -> Cause? {
        guard case .managed(let instances) = watched, case .advertisingRemoved(let instance) = event.content,
            instances.contains(instance)
        else { return nil }
        // Every management socket is told, and the monitor of each of them: the first one counts.
        release(instance)
        return Cause(.advertisementRemoved, programs: suspects(now))
    }

    private mutating func began(_ packet: HCIPacket) {
        let place = expectedPackets.firstIndex(of: packet)
        if let place { expectedPackets.remove(at: place) }
        guard let touch = ForeignCommandEffect(packet, watched) else { return }
        if place != nil, let field = touch.field { ownValues[field] = touch.value }
        underWay.append((touch, place != nil))
    }

    private mutating func ended(_ packet: HCIPacket, at now: HCIInstant) -> Cause? {
        guard let event = try? HCIEvent(octets: packet.octets.span) else { return nil }
        let answered: (opcode: HCIOpcode, isDone: Bool)
        switch event {
        case .commandComplete(let answer): answered = (answer.opcode, answer.returnOctets.first == 0)
        case .commandStatus(let answer) where !answer.status.isSuccess: answered = (answer.opcode, false)
        default: return nil
        }
        guard let place = underWay.firstIndex(where: { $0.command.opcode == answered.opcode }) else { return nil }
        let (touch, isOwn) = underWay.remove(at: place)
        guard answered.isDone else { return nil }
        if touch.effect == .enabled { pause = nil }
        return isOwn ? nil : cause(touch, at: now)
    }

    private mutating func cause(_ touch: ForeignCommandEffect, at now: HCIInstant) -> Cause? {
        guard let kind = touch.effect.kind else { return nil }
        if let field = touch.field, ownValues[field] == touch.value { return nil }
        if case .managed = watched, kind != .controllerReset {
            // It is the kernel's work to change all of that, and to turn advertising off for a moment meanwhile.
            if kind == .advertisingDisabled { pause = pause ?? (now, suspects(now), !rawPrograms.isEmpty) }
            return nil
        }
        return Cause(kind, programs: suspects(now, includingIoctl: kind == .controllerReset))
    }

    private var rawPrograms: [String] { sockets.programs(on: index).filter { $0 != ownProgram } }

    /// Programs with a raw socket to the adapter; where there is none, the one that last asked the kernel for something.
    private func suspects(_ now: HCIInstant, includingIoctl: Bool = false) -> [String] {
        var names = rawPrograms
        if includingIoctl {
            // Those ask for no adapter when they open their socket, but when they use it.
            names += sockets.programs(on: ManagementPacket.noController).filter { $0 != ownProgram }
        }
        if !names.isEmpty { return Set(names).sorted() }
        guard let lastAsked, now.microseconds(since: lastAsked.time) <= Self.explanationMicroseconds else { return [] }
        return [lastAsked.program]
    }
}

extension ForeignActivity.Cause: CustomStringConvertible {
    /// Such as `hcitool turned advertising off`.
    public var description: String {
        switch kind {
        case .unplugged: return "the adapter was unplugged"
        case .poweredDown where programs.isEmpty: return "the adapter was powered down"
        default: break
        }
        let who = programs.isEmpty ? "the kernel" : programs.joined(separator: " or ")
        let what =
            switch kind {
            case .advertisingDisabled: "turned advertising off"
            case .dataChanged: "changed the advertising data"
            case .scanResponseChanged: "changed the scan response"
            case .parametersChanged: "changed the advertising parameters"
            case .addressChanged: "changed the address"
            case .advertisementRemoved: "removed the advertisement"
            case .controllerReset: "reset the controller"
            case .poweredDown: "powered the adapter down"
            case .unplugged: "unplugged the adapter"
            case .takenOver: "took the adapter for itself (user channel)"
            }
        return "\(who) \(what)"
    }
}
