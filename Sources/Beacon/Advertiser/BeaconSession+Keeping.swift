internal import BeaconFrames
internal import BluetoothTypes
public import HCI

extension BeaconSession: AdvertisingSession {
    public func receive(until deadline: HCIInstant) throws(SessionError) {
        try takeEvents(until: deadline, { try host.nextEvent(until: max($0, host.now)) }, handle)
    }

    public var watched: ForeignActivity.Watched {
        let handles = plan.allocation.sets.compactMap { set -> UInt8? in
            guard case .extended(let handle) = set.plan.family else { return nil }
            return handle
        }
        return handles.isEmpty ? .legacy : .sets(handles: Set(handles))
    }

    /// Each set is asked by setting the parameters that it has: a controller refuses that while it advertises, and is
    /// left as it was in both cases (Core Specification 5.4, Vol 4 Part E 7.8.5 and 7.8.53).
    public func verify() throws(SessionError) -> Bool {
        guard isOnAir else { return false }
        return try advertising {
            for set in sets where try !host.isAdvertising(set.currentPlan) { return false }
            return true
        }
    }

    public func rearm() throws(SessionError) { try rearm(on: nil, plan: nil) }

    public func stop(by deadline: HCIInstant) throws(SessionError) {
        host.latestAnswer = deadline
        try stop()
    }
}

extension HCIHost {
    fileprivate func isAdvertising(_ plan: AdvertisingPlan) throws -> Bool {
        do {
            switch plan.family {
            case .legacy: _ = try execute(plan.legacyParameters)
            case .extended(let handle): _ = try execute(plan.extendedParameters(handle))
            }
            return false
        } catch HCICommandError.refused(_, _, .commandDisallowed) {
            return true
        }
    }
}

/// What the controller says of itself.
extension BeaconSession {
    /// Takes an event that is no answer to a command.
    ///
    /// - Throws: `ended` where it says that nothing, or not everything, is on the air any more.
    public func handle(_ event: HCIEvent) throws(SessionError) {
        guard stoppedAt == nil, onAirSince != nil else { return }
        switch event {
        case .hardwareError(let code):
            silence(since: host.now)
            throw .hardwareError(code)
        case .advertisingSetTerminated(let terminated):
            guard let index = sets.firstIndex(where: { $0.plan.family == .extended(handle: terminated.handle) })
            else { return }
            guard terminated.status == .success else {
                end(index)
                throw .ended(.silent, "the controller ended the advertising set: \(terminated.status)")
            }
            try enableAgain(index)
        case .unknown(let code, let parameters):
            guard Self.isConnection(code, parameters) || code == Self.disconnectionComplete else { return }
            for index in sets.indices where sets[index].plan.pdu == .connectable { try enableAgain(index) }
        default:
            return
        }
    }

    /// Connection Complete, Enhanced Connection Complete (LE subevents 0x01 and 0x0A), with status success.
    private static func isConnection(_ code: UInt8, _ parameters: [UInt8]) -> Bool {
        code == HCIEventCode.leMeta && parameters.count > 1 && [0x01, 0x0A].contains(parameters[0])
            && parameters[1] == 0
    }

    private static let disconnectionComplete: UInt8 = 0x05

    /// Somebody connected, which ends connectable advertising; it goes on for the next one. A controller that cannot
    /// while the connection lasts can again when it is over.
    private func enableAgain(_ index: Int) throws(SessionError) {
        do throws(SessionError) {
            try sets[index].commands.enable(host)
        } catch {
            let passing: [HCIStatus] = [.commandDisallowed, HCIStatus(rawValue: 0x09), HCIStatus(rawValue: 0x0D)]
            guard case .command(let refusal, _) = error, let status = refusal.status, passing.contains(status)
            else { throw error }
        }
    }
}

/// What is on the air, for whoever wants to know.
extension BeaconSession {
    /// In the order of the plan's sources.
    public var advertisements: [OnAirAdvertisement] {
        let now = countedUntil
        return frames.indices.compactMap { frame in
            guard let index = plan.allocation.set(of: frame), sets.indices.contains(index),
                let member = sets[index].allocation.members.firstIndex(of: frame)
            else { return nil }
            let set = sets[index]
            let period =
                set.scheduler?.meanPeriodMicroseconds(of: member) ?? set.plan.interval.meanPeriodMicroseconds
            // The mean of the random delay after each interval (Core Specification 5.4, Vol 6 Part B 4.4.2.2.1).
            let granted = period - AdvertisingInterval.meanDelayMicroseconds
            return OnAirAdvertisement(
                advertisement: frames[frame].source.advertisement, place: .set(index),
                sharers: set.allocation.members.count, isItsTurn: set.current == frame,
                setInterval: set.plan.interval...set.plan.interval, grantedMicroseconds: granted...granted,
                meanPeriodMicroseconds: period, address: set.address,
                isAddressRandom: set.plan.randomAddress != nil || set.allocation.rotatingKey != nil, grant: set.grant,
                payload: frames[frame].payload,
                events: frames[frame].eventsBefore + set.tally.events(of: member, at: now))
        }
    }

    public var controller: OnAirController {
        let found = plan.capabilities
        return OnAirController(
            family: found.hasExtendedAdvertising ? .extended : .legacy,
            hasExtendedAdvertising: found.hasExtendedAdvertising, version: found.version,
            manufacturer: found.manufacturer.description, address: found.publicAddress)
    }

    public var warnings: [String] {
        advertisements.compactMap { status in
            status.grant.complaint.map { "\(status.advertisement.content.typeName): radio power \($0)" }
        }
    }

    /// Advertising events of all advertisements since the start, computed from the time on the air and the mean period:
    /// a legacy controller does not count them, and an extended one tells only at the end of a set.
    public var computedEvents: UInt64 { events(at: countedUntil) }

    /// Whole seconds since the start.
    public var secondsOnAir: Int { elapsed(at: countedUntil) / 1_000_000 }

    /// What telemetry tells at an instant.
    func counters(at now: HCIInstant) -> TelemetryCounters {
        countersAtStart.advanced(byEvents: events(at: now), microseconds: elapsed(at: now))
    }

    private var countedUntil: HCIInstant { stoppedAt ?? host.now }

    private func elapsed(at now: HCIInstant) -> Int { onAirSince.map { max(0, now.microseconds(since: $0)) } ?? 0 }

    private func events(at now: HCIInstant) -> UInt64 {
        guard onAirSince != nil else { return 0 }
        var events = frames.reduce(eventsOfOthers) { $0 + $1.eventsBefore }
        for set in sets {
            for member in set.allocation.members.indices { events += set.tally.events(of: member, at: now) }
        }
        return events
    }
}

extension RadioPowerGrant {
    /// What is to be said where the power is not the one that was asked for.
    fileprivate var complaint: String? {
        switch self {
        case .notSettable, .unverified: description
        case .granted, .reported, .unknown: nil
        }
    }
}
