public import Advertiser
internal import BluetoothTypes
internal import HCI
internal import VirtualController

/// A failure that ends after a while.
public enum Incident: CaseIterable, Hashable, Sendable {
    case unplugged
    case unpluggedUnheard
    case poweredDown
    case rfkill
    case hardwareError
    case resetByOthers
    case resetUnseen
    case disabledByOthers
    case disabledUnseen
    case changedByOthers
    case mute
    case lostAnswers
    case slow
    case refusing
    case withoutCredits
    case suspended
    case busyAfterPowerDown
    case goodReload
    case badReload

    /// The cause under which the outage is counted if no other incident happens at the same time; `nil` if there is no
    /// outage, or if it may stay undetected.
    public var cause: SupervisorCause? {
        switch self {
        case .unplugged, .unpluggedUnheard: .adapterGone
        case .poweredDown, .busyAfterPowerDown: .poweredDown
        case .rfkill: .rfkill
        case .hardwareError: .hardwareError
        case .resetByOthers: .controllerReset
        case .disabledByOthers: .foreignDisabled
        case .changedByOthers: .foreignChanged
        case .suspended: .suspended
        case .resetUnseen, .disabledUnseen: .silent
        case .mute, .lostAnswers, .slow, .refusing, .withoutCredits, .goodReload, .badReload: nil
        }
    }

    /// The causes under which an outage that may stay undetected can be counted.
    public var possibleCauses: Set<SupervisorCause> {
        switch self {
        case .mute, .lostAnswers, .slow, .withoutCredits: [.noAnswer]
        case .refusing: [.refused]
        default: cause.map { [$0] } ?? []
        }
    }
}

extension EnduranceWorld {
    /// The instant of the next planned step of an incident.
    var nextIncident: HCIInstant? { incidents.first?.at }

    /// Executes the steps that are due.
    func happen() {
        while let first = incidents.first, first.at <= now {
            incidents.removeFirst()
            first.happen(self)
        }
    }

    func plan(after microseconds: Int, _ happen: @escaping (EnduranceWorld) -> Void) {
        let at = now.advanced(byMicroseconds: microseconds)
        let place = incidents.firstIndex { $0.at > at } ?? incidents.count
        incidents.insert((at, happen), at: place)
    }

    /// Lets the controller refuse all advertising parameters from now on with Invalid HCI Command Parameters (0x12).
    public func refuseParameters() {
        virtual?.controller.commandHook = { packet in
            let opcode = packet.octets.prefix(2)
            return opcode.elementsEqual([0x06, 0x20]) || opcode.elementsEqual([0x36, 0x20])
                ? .fail(.invalidParameters) : .pass
        }
    }

    /// Plans a SIGTERM after `microseconds`.
    func wantStop(after microseconds: Int) {
        plan(after: microseconds) { $0.stopWantedAt = $0.now }
    }

    /// Begins an incident now. It ends after at most `microseconds`.
    public func begin(_ incident: Incident, for microseconds: Int) {
        switch incident {
        case .unplugged, .unpluggedUnheard:
            unplug()
            if random.next(upTo: 1) == 0 { inputs.append(.failed(.adapterGone, "Index Removed")) }
            let isHeard = incident == .unplugged
            plan(after: microseconds) { world in
                world.plug()
                if isHeard { world.inputs.append(.adapterArrived) }
            }
        case .poweredDown: cutPower()
        case .busyAfterPowerDown:
            isBusy = true
            cutPower()
            plan(after: microseconds) { $0.isBusy = false }
        case .rfkill: block(for: microseconds)
        case .hardwareError:
            virtual?.controller.inject(HCIPacket(.event, [0x10, 0x01, 0x42]))
            virtual?.controller.receive(HCIReset().packet)
        case .resetByOthers:
            virtual?.controller.receive(HCIReset().packet)
            inputs.append(.failed(.controllerReset, "HCI Reset was seen"))
        case .resetUnseen: virtual?.controller.receive(HCIReset().packet)
        case .disabledByOthers:
            disable()
            inputs.append(.failed(.foreignDisabled, "hcitool turned advertising off"))
        case .disabledUnseen: disable()
        case .changedByOthers:
            changeData()
            inputs.append(.failed(.foreignChanged, "hcitool changed the data"))
        case .mute: setHook(for: microseconds) { $0.commandHook = { _ in .drop } }
        case .lostAnswers: setHook(for: microseconds) { $0.eventHook = { _ in .drop } }
        case .slow: setHook(for: microseconds) { $0.latencyMicroseconds = 2_500_000 }
        case .refusing: setHook(for: microseconds) { $0.commandHook = { _ in .fail(HCIStatus(rawValue: 0x1F)) } }
        case .withoutCredits:
            setHook(for: microseconds) { $0.eventHook = { _ in .withoutCredits(forMicroseconds: 5_000_000) } }
        case .suspended: suspend(for: microseconds)
        case .goodReload:
            profile = .success(UInt16(random.next(upTo: 0xFFFF)))
            inputs.append(.reloadRequested)
        case .badReload:
            profile = .failure(Refusal())
            inputs.append(.reloadRequested)
        }
    }

    private func setHook(for microseconds: Int, _ set: (VirtualController) -> Void) {
        guard let controller = virtual?.controller else { return }
        set(controller)
        plan(after: microseconds) { [weak controller] _ in
            controller?.commandHook = nil
            controller?.eventHook = nil
            controller?.latencyMicroseconds = 0
        }
    }

    private func block(for microseconds: Int) {
        isBlocked = true
        cutPower()
        // The kernel reports an rfkill switch in two ways, which arrive in any order.
        plan(after: random.next(upTo: 50_000)) { world in
            if world.isBlocked { world.inputs.append(.failed(.rfkill, "rfkill switched the radio off")) }
        }
        plan(after: max(microseconds, 60_000)) { world in
            world.isBlocked = false
            world.inputs.append(.rfkillUnblocked)
        }
    }

    private func suspend(for microseconds: Int) {
        inputs.append(.failed(.suspended, "the machine goes to sleep"))
        let forgets = random.next(upTo: 1) == 0
        plan(after: 1000) { world in
            world.isAsleep = true
            if forgets { world.virtual?.controller.receive(HCIReset().packet) }
        }
        plan(after: max(microseconds, 2000)) { world in
            world.isAsleep = false
            // Neither the monotonic clock nor the service manager counts the time asleep.
            world.lastFed = world.now
            world.inputs.append(.resumed)
        }
    }

    private func disable() {
        guard let controller = virtual?.controller else { return }
        if controller.model.hasExtendedAdvertising {
            // An empty list of sets means all sets (Core Specification 5.4, Vol 4 Part E 7.8.56).
            controller.receive(HCIPacket(.command, [0x39, 0x20, 0x02, 0x00, 0x00]))
        } else {
            controller.receive(LESetAdvertisingEnable(false).packet)
        }
    }

    private func changeData() {
        guard let controller = virtual?.controller else { return }
        if controller.model.hasExtendedAdvertising {
            controller.receive(
                HCIPacket(
                    .command, [0x37, 0x20, 0x07, SetParameters.sharedHandle, 0x03, 0x01, 0x03, 0x02, 0x01, 0x06]))
        } else {
            let data: [UInt8] = [0x03, 0x02, 0x01, 0x06] + [UInt8](repeating: 0, count: 28)
            controller.receive(HCIPacket(.command, [0x08, 0x20, 0x20] + data))
        }
    }
}
