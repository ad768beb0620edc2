internal import BeaconFrames
internal import BluetoothTypes
public import HCI

extension ManagedSession: AdvertisingSession {
    public var isOnAir: Bool { onAirSince != nil && !isSilent }

    public func receive(until deadline: HCIInstant) throws(SessionError) {
        try takeEvents(until: deadline, { try host.nextEvent(until: max($0, host.now)) }, handle)
    }

    public var watched: ForeignActivity.Watched { .managed(instances: Set(plan.instances.map(\.number))) }

    /// Asks the kernel as far as that disturbs nothing.
    ///
    /// Its list of instances leaves some out. Where the controller has sets, the same data is sent again: the kernel
    /// refuses that for an instance that is gone, and enables one that somebody turned off behind its back. On a legacy
    /// controller that would draw a new address, so there the adapter's settings have to do.
    public func verify() throws(SessionError) -> Bool {
        guard isOnAir else { return false }
        let settings = try advertising {
            try host.execute(ReadControllerInformation(), index: plan.index).current
        }
        guard settings.isSuperset(of: [.powered, .lowEnergy]), !settings.contains(.advertising) else { return false }
        guard plan.form == .extended, plan.capabilities.hasExtendedAdvertising else { return true }
        for (instance, state) in zip(plan.instances, onAir) {
            do throws(SessionError) {
                try send(plan.data(instance, state.payload))
            } catch {
                guard case .management(.refused(_, _, .invalidParameters)) = error else { throw error }
                return false
            }
        }
        return true
    }

    public func stop(by deadline: HCIInstant) throws(SessionError) {
        host.latestAnswer = deadline
        try stop()
    }

    public var advertisements: [OnAirAdvertisement] {
        zip(plan.instances, onAir).enumerated().map { position, pair in
            let (instance, state) = pair
            let range = instance.interval
            return OnAirAdvertisement(
                advertisement: instance.advertisement, place: .instance(instance.number),
                sharers: plan.takesTurns ? plan.instances.count : 1, isItsTurn: true, setInterval: range,
                grantedMicroseconds: range.lowerBound.microseconds...range.upperBound.microseconds,
                meanPeriodMicroseconds: plan.meanPeriodMicroseconds(position), address: nil,
                isAddressRandom: instance.advertisement.pdu != .connectable, grant: state.grant,
                payload: state.payload, events: computedEvents(position))
        }
    }

    public var computedEvents: UInt64 { onAir.indices.reduce(0) { $0 + computedEvents($1) } }

    public var controller: OnAirController {
        let found = plan.capabilities
        return OnAirController(
            family: .managed, hasExtendedAdvertising: found.hasExtendedAdvertising, version: found.version,
            manufacturer: nil, address: found.address)
    }

    public var warnings: [String] { plan.warnings.map(\.description) }
}

extension ManagedPlan {
    /// The mean time between two events of one instance, in microseconds. An instance that takes turns has its share.
    func meanPeriodMicroseconds(_ position: Int) -> Int {
        let range = instances[position].interval
        let period = (range.lowerBound.meanPeriodMicroseconds + range.upperBound.meanPeriodMicroseconds) / 2
        return takesTurns ? period * max(1, instances.count) : period
    }
}

/// What the kernel says of the adapter and of our instances.
extension ManagedSession {
    /// Takes what the kernel has said by itself.
    ///
    /// - Throws: `ended` when it says that ours are off the air.
    public func handle(_ event: ManagementEvent) throws(SessionError) {
        guard event.index == plan.index else { return }
        switch event.content {
        case .indexRemoved:
            throw lost(.adapterGone, "the adapter was unplugged, or a program took its user channel")
        case .newSettings(let settings) where !settings.contains(.powered):
            throw lost(.poweredDown, "the adapter was powered down")
        case .newSettings(let settings) where !settings.contains(.lowEnergy):
            throw lost(.foreignDisabled, "LE was turned off")
        case .newSettings(let settings) where settings.contains(.advertising):
            throw lost(
                .foreignDisabled, "a program turned the adapter's own advertising on, which keeps ours off the air")
        case .advertisingRemoved(let instance) where added.contains { $0.number == instance }:
            added.removeAll { $0.number == instance }
            throw lost(
                .foreignDisabled,
                "advertising instance \(instance) was removed, by another program or with the adapter's power")
        case .advertisingAdded(let instance) where added.contains { $0.number == instance }:
            // It is theirs now, and must not be removed.
            added.removeAll { $0.number == instance }
            throw lost(.foreignChanged, "another program took advertising instance \(instance)")
        case .controllerError(let code):
            throw lost(
                .hardwareError, "the controller reports a hardware error (\(Hexadecimal.number(code, width: 2)))")
        default:
            return
        }
    }

    private func lost(_ cause: SupervisorCause, _ text: String) -> SessionError {
        .ended(cause, "hci\(plan.index):mgmt: \(text)")
    }
}
