internal import BluetoothTypes
public import HCI

/// Detects from the kernel's monitor channel that another program disturbs an advertisement: the program turns it off,
/// changes its data, or resets or powers down the controller. It also detects the end of a scan, because controllers
/// refuse some commands while they scan. Call `announce(_:)` before each command of this program, so that the command
/// is not reported as a disturbance.
///
/// The monitor channel does not name the program that sent an HCI command. It names the programs that have a raw socket
/// to the adapter, and the sender of each management command.
public struct ForeignActivity: Sendable {
    /// The advertisements to watch.
    public enum Watched: Hashable, Sendable {
        /// The legacy advertiser, set up by HCI commands.
        case legacy
        /// Advertising sets, set up by HCI commands.
        case sets(handles: Set<UInt8>)
        /// Instances of the kernel's advertising manager.
        case managed(instances: Set<UInt8>)
    }

    /// The meaning of a packet for the watched advertisements.
    public enum Finding: Hashable, Sendable {
        case disturbance(Cause)
        /// Another program has changed the random address of the legacy advertiser. The advertisement stays on the air.
        case addressChanged
        /// A scan has ended, or the kernel has turned advertising on again. A command that was refused before may
        /// succeed now.
        case radioFreed
    }

    /// A disturbance, and the programs that may have caused it.
    public struct Cause: Hashable, Sendable {
        /// The kind of disturbance.
        public enum Kind: String, Hashable, Sendable {
            case advertisingDisabled
            case dataChanged
            case scanResponseChanged
            case parametersChanged
            case addressChanged
            /// An advertising set of the controller, or an advertising instance of the kernel's management interface,
            /// was removed.
            case advertisementRemoved
            case controllerReset
            case poweredDown
            case unplugged
            /// A program has opened the user channel, which excludes all other programs from the adapter.
            case takenOver
        }

        public let kind: Kind
        /// The names of the programs, sorted; empty if the kernel itself is the cause, or if the cause is unknown.
        public let programs: [String]

        /// - Parameter programs: The names of the programs; empty if the kernel itself is the cause, or if the cause is
        ///   unknown.
        public init(_ kind: Kind, programs: [String]) {
            self.kind = kind
            self.programs = programs
        }
    }

    /// The time after a program's management command during which the program is named as the cause of the kernel's
    /// actions, in microseconds: 2 s.
    static let explanationMicroseconds = 2_000_000
    /// A pause of advertising through the kernel is reported after this time, in microseconds. Shorter pauses are
    /// normal: the kernel itself turns advertising off for a moment at each change of the data.
    static let pauseMicroseconds = 700_000
    /// If another program has a raw socket to the adapter, a pause is reported after this shorter time, in
    /// microseconds. So the beacon can be back on the air within 2 s.
    static let suspiciousPauseMicroseconds = 250_000
    /// The largest number of announced commands that are stored until they appear on the monitor channel.
    private static let expectationLimit = 1024
    /// The management commands Start Discovery, Start Service Discovery and Start Limited Discovery.
    private static let discoveryCodes: Set<UInt16> = [0x0023, 0x003A, 0x0041]
    private static let stopDiscovery: UInt16 = 0x0024

    private var index: UInt16
    private let ownProgram: String
    private var watched: Watched
    private var sockets = MonitoredSockets()
    /// The announced HCI commands that have not appeared on the monitor channel yet.
    private var expectedPackets: [HCIPacket] = []
    /// The announced management commands that have not appeared on the monitor channel yet.
    private var expectedManagement: [ManagementPacket] = []
    /// The commands to the controller that were not answered yet.
    private var unansweredCommands: [(command: ForeignCommandEffect, isOwn: Bool)] = []
    /// The last value of each setting that this program has set itself.
    private var ownValues: [ForeignCommandEffect.Field: [UInt8]] = [:]
    /// The sender and the time of the last management command of another program.
    private var lastManagementCommand: (program: String, time: HCIInstant)?
    /// The current pause of advertising through the kernel, with the programs that may have caused it; `nil` while
    /// there is no pause.
    private var pause: (since: HCIInstant, suspects: [String], hasRawProgram: Bool)?
    /// The instances of the kernel's manager that this program has added and that still exist, according to the monitor
    /// channel. Only the removal of such an instance is a disturbance.
    private var ownInstances: Set<UInt8> = []
    /// The data and the scan response of each instance of the kernel's manager that the monitor channel has shown.
    private var instanceValues: [UInt8: [[UInt8]]] = [:]
    /// A change of the data of advertising through the kernel that no management command explains; `nil` if there is
    /// none.
    private var unexplainedChange: (since: HCIInstant, cause: Cause)?
    /// `true` if a pause of managed advertising was too long and has been reported, and advertising is still off.
    private var isPauseReported = false
    /// `true` while a program scans with this adapter, according to the monitor channel.
    public private(set) var isScanning = false
    /// The program that has asked the kernel to scan; `nil` if there is none.
    public private(set) var scanningProgram: String?
    /// The state of advertising on the controller; `nil` before the first command that turns it on or off.
    public private(set) var isAdvertising: Bool?

    /// - Parameter ownProgram: The name of this process in the kernel. Its sockets are ignored.
    public init(index: UInt16, watching watched: Watched, ownProgram: String) {
        self.index = index
        self.watched = watched
        self.ownProgram = String(ownProgram.prefix(15))
    }

    /// Watches these sets or instances from now on, instead of the previous ones.
    public mutating func watch(_ watched: Watched) {
        guard watched != self.watched else { return }
        self.watched = watched
        pause = nil
        unexplainedChange = nil
        isPauseReported = false
    }

    /// Watches another adapter from now on. Call this before the first command to the new adapter. The list of open
    /// sockets is kept, because the monitor channel reports it only once.
    public mutating func follow(_ index: UInt16) {
        guard index != self.index else { return }
        self.index = index
        resetController()
        expectedPackets = []
        expectedManagement = []
        unansweredCommands = []
        ownValues = [:]
        instanceValues = [:]
        ownInstances = []
        lastManagementCommand = nil
    }

    /// Announces an HCI command of this program, before it is sent.
    public mutating func announce(_ packet: HCIPacket) {
        guard packet.kind == .command else { return }
        if expectedPackets.count >= Self.expectationLimit { expectedPackets.removeFirst() }
        expectedPackets.append(packet)
    }

    /// Announces a management command of this program, before it is sent.
    public mutating func announce(_ packet: ManagementPacket) {
        if expectedManagement.count >= Self.expectationLimit { expectedManagement.removeFirst() }
        expectedManagement.append(packet)
    }

    /// Clears the stored state of the controller, because the controller is off or was reset.
    private mutating func resetController() {
        pause = nil
        unexplainedChange = nil
        isPauseReported = false
        isScanning = false
        isAdvertising = nil
    }

    /// Handles a packet of the monitor channel. Returns its meaning for the watched advertisements; `nil` if it has
    /// none.
    public mutating func receive(_ packet: MonitorPacket, at now: HCIInstant) -> Finding? {
        sockets.receive(packet)
        guard packet.index == index else { return nil }
        switch packet.content {
        case .deleteIndex:
            return .disturbance(Cause(.unplugged, programs: []))
        case .closeIndex:
            unansweredCommands = []
            ownInstances = []
            resetController()
            return .disturbance(Cause(.poweredDown, programs: suspects(now, includingIoctl: true)))
        case .socketOpened(_, .user, let program) where program != ownProgram:
            return .disturbance(Cause(.takenOver, programs: [program]))
        case .managementCommand(let cookie, let command):
            noteCommand(command, from: sockets[cookie]?.program ?? "", at: now)
            return nil
        case .managementEvent(_, let packet):
            return handleEvent(ManagementEvent(packet), at: now).map(Finding.disturbance)
        case .hci(let packet, isFromController: false):
            noteCommand(packet)
            return nil
        case .hci(let packet, isFromController: true):
            return handleAnswer(packet, at: now)
        default:
            return nil
        }
    }

    /// The time at which ``expire(at:)`` must be called even if no packet arrives; `nil` if it need not be called.
    public var wakeTime: HCIInstant? { [pauseEnd, unexplainedEnd].compactMap(\.self).min() }

    private var pauseEnd: HCIInstant? {
        pause.map { pause in
            pause.since.advanced(
                byMicroseconds: pause.hasRawProgram ? Self.suspiciousPauseMicroseconds : Self.pauseMicroseconds)
        }
    }

    private var unexplainedEnd: HCIInstant? {
        unexplainedChange?.since.advanced(byMicroseconds: Self.suspiciousPauseMicroseconds)
    }

    /// Returns a disturbance if a pause of advertising through the kernel has become too long, or if unexplained data
    /// are still on the air. Each disturbance is returned only once.
    public mutating func expire(at now: HCIInstant) -> Cause? {
        if let pauseEnd, pauseEnd <= now, let programs = pause?.suspects {
            pause = nil
            isPauseReported = true
            return Cause(.advertisingDisabled, programs: programs)
        }
        guard let unexplainedEnd, unexplainedEnd <= now, let cause = unexplainedChange?.cause else { return nil }
        unexplainedChange = nil
        return cause
    }
}

extension ForeignActivity {
    private mutating func noteCommand(_ command: ManagementPacket, from program: String, at now: HCIInstant) {
        let parameters = command.parameters
        if command.code == AddAdvertising.opcode, let addition = AddAdvertising(parameters: parameters.span) {
            instanceValues[addition.instance] = [addition.data, addition.scanResponse]
        } else if command.code == AddExtendedAdvertisingData.opcode,
            let addition = AddExtendedAdvertisingData(parameters: parameters.span)
        {
            instanceValues[addition.instance] = [addition.data, addition.scanResponse]
        }
        if let expectedIndex = expectedManagement.firstIndex(of: command) {
            expectedManagement.remove(at: expectedIndex)
            noteOwnInstance(command)
        } else if !program.isEmpty, program != ownProgram {
            lastManagementCommand = (program, now)
            if Self.discoveryCodes.contains(command.code) { scanningProgram = program }
            if command.code == Self.stopDiscovery { scanningProgram = nil }
        }
    }

    /// - Parameter command: A command of this program.
    private mutating func noteOwnInstance(_ command: ManagementPacket) {
        guard let instance = command.parameters.first else { return }
        switch command.code {
        case AddAdvertising.opcode, AddExtendedAdvertisingParameters.opcode: ownInstances.insert(instance)
        case RemoveAdvertising.opcode: ownInstances.remove(instance)
        default: break
        }
    }

    private mutating func handleEvent(_ event: ManagementEvent, at now: HCIInstant) -> Cause? {
        // The kernel sends the event to every management socket, and the monitor channel shows each copy. Only the
        // first copy is handled.
        guard case .managed(let instances) = watched, case .advertisingRemoved(let instance) = event.content,
            ownInstances.remove(instance) != nil, instances.contains(instance)
        else { return nil }
        return Cause(.advertisementRemoved, programs: suspects(now))
    }

    private mutating func noteCommand(_ packet: HCIPacket) {
        let expectedIndex = expectedPackets.firstIndex(of: packet)
        if let expectedIndex { expectedPackets.remove(at: expectedIndex) }
        let isOwn = expectedIndex != nil
        guard let command = ForeignCommandEffect(packet, watched) else { return }
        if isOwn, let field = command.field { ownValues[field] = command.value }
        unansweredCommands.append((command, isOwn))
    }

    private mutating func handleAnswer(_ packet: HCIPacket, at now: HCIInstant) -> Finding? {
        guard let event = try? HCIEvent(octets: packet.octets.span) else { return nil }
        let answer: (opcode: HCIOpcode, isSuccess: Bool)
        switch event {
        case .commandComplete(let complete): answer = (complete.opcode, complete.returnOctets.first == 0)
        case .commandStatus(let status) where !status.status.isSuccess: answer = (status.opcode, false)
        default: return nil
        }
        guard let index = unansweredCommands.firstIndex(where: { $0.command.opcode == answer.opcode }) else {
            return nil
        }
        let (command, isOwn) = unansweredCommands.remove(at: index)
        guard answer.isSuccess else { return nil }
        switch command.effect {
        case .scanEnabled:
            isScanning = true
        case .scanDisabled:
            isScanning = false
            return isOwn ? nil : .radioFreed
        case .enabled:
            isAdvertising = true
            pause = nil
            // With legacy commands, the kernel sends the data of all instances in turn, and enables advertising after
            // each change of the data. So an enable command shows that the kernel made the change. With advertising
            // sets, each instance has its own set, so an enable command does not show who changed the data.
            if command.opcode == LESetAdvertisingEnable.opcode { unexplainedChange = nil }
            guard isPauseReported else { return nil }
            isPauseReported = false
            return .radioFreed
        case .disabled:
            isAdvertising = false
        case .address where !isOwn && watched == .legacy:
            return ownValues[.init(effect: .address, handle: 0)] == command.value ? nil : .addressChanged
        case .reset:
            resetController()
        case .data, .scanResponse, .parameters, .address, .removed:
            break
        }
        return isOwn ? nil : cause(command, at: now).map(Finding.disturbance)
    }

    private mutating func cause(_ command: ForeignCommandEffect, at now: HCIInstant) -> Cause? {
        guard let kind = command.effect.kind else { return nil }
        if let field = command.field, ownValues[field] == command.value { return nil }
        if case .managed = watched, kind != .controllerReset {
            // The kernel itself also changes data and turns advertising off for a moment, so such a command is no proof
            // of a disturbance.
            if kind == .advertisingDisabled { pause = pause ?? (now, suspects(now), !rawPrograms.isEmpty) }
            if kind == .dataChanged || kind == .scanResponseChanged { noteValue(command, kind, at: now) }
            return nil
        }
        return Cause(kind, programs: suspects(now, includingIoctl: kind == .controllerReset))
    }

    /// Records an unexplained change if the new data do not contain the requested data of any watched instance, and
    /// another program has a raw socket. The kernel may add structures to the requested data. With legacy commands, the
    /// kernel may also have changed to another instance; it then enables advertising, which clears the record.
    private mutating func noteValue(_ command: ForeignCommandEffect, _ kind: Cause.Kind, at now: HCIInstant) {
        guard case .managed(let instances) = watched else { return }
        let isExplained = instanceValues.filter { instances.contains($0.key) }.values.joined().contains { value in
            !value.isEmpty && command.value.count >= value.count
                && command.value.indices.dropLast(value.count - 1).contains { command.value[$0...].starts(with: value) }
        }
        if isExplained {
            if unexplainedChange?.cause.kind == kind { unexplainedChange = nil }
        } else if !rawPrograms.isEmpty {
            unexplainedChange = unexplainedChange ?? (now, Cause(kind, programs: suspects(now)))
        }
    }

    private var rawPrograms: [String] { sockets.programs(on: index).filter { $0 != ownProgram } }

    /// Returns the programs that have a raw socket to the adapter. If there are none, returns the sender of the last
    /// management command of the past 2 s.
    private func suspects(_ now: HCIInstant, includingIoctl: Bool = false) -> [String] {
        var names = rawPrograms
        if includingIoctl {
            // Sockets that are used for ioctls are not bound to an adapter.
            names += sockets.programs(on: ManagementPacket.noController).filter { $0 != ownProgram }
        }
        if !names.isEmpty { return Set(names).sorted() }
        guard let lastManagementCommand,
            now.microseconds(since: lastManagementCommand.time) <= Self.explanationMicroseconds
        else { return [] }
        return [lastManagementCommand.program]
    }
}

extension ForeignActivity.Cause: CustomStringConvertible {
    /// One sentence, such as `hcitool turned advertising off`.
    public var description: String {
        switch kind {
        case .unplugged: return "the adapter was unplugged"
        case .poweredDown where programs.isEmpty: return "the adapter was powered down"
        default: break
        }
        let subject = programs.isEmpty ? "the kernel" : programs.joined(separator: " or ")
        let predicate =
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
        return "\(subject) \(predicate)"
    }
}
