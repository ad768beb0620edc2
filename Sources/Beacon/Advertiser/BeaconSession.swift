internal import BeaconFrames
internal import BluetoothTypes
public import HCI

/// Sends all advertisements of a machine with one controller, with HCI commands.
///
/// The session waits only for the answers to its commands. The caller passes events to ``handle(_:)``, calls
/// ``wake(_:)`` at ``nextWakeUp``, and handles errors. ``AdapterRunner`` does all of this. ``nextWakeUp`` is `nil` if
/// no advertisements share a set, no interval changes and no payload changes.
///
/// The telemetry counters (ADV_CNT, SEC_CNT) begin at ``start()`` and continue through ``rearm(on:allocation:)`` and
/// ``replace(with:)``.
public final class BeaconSession {
    public private(set) var allocation: SetAllocation
    public let live: LiveContent
    private var host: HCIHost
    private var sets: [ActiveSet]
    private var frames: [ActiveFrame]
    /// The number of events of advertisements that a reload has removed.
    private var eventsOfRemovedAdvertisements: UInt64 = 0

    /// - Parameters:
    ///   - clock: The clock for ephemeral ids; `nil` for a new clock that starts now, at 65280 s.
    ///   - memory: The ids and counters of an earlier run; `nil` if there are none.
    ///   - countersAtStart: The first values of the telemetry counters.
    ///   - telemetry: The sensors; `nil` to send their values as unknown.
    ///   - randomness: The source of random numbers for salts, new addresses, and the times at which ids change.
    public init(
        host: HCIHost, allocation: SetAllocation, clock: EIDClock? = nil, memory: BeaconMemory? = nil,
        countersAtStart: TelemetryCounters = TelemetryCounters(), telemetry: (any TelemetrySource)? = nil,
        randomness: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.host = host
        self.allocation = allocation
        live = LiveContent(
            clock ?? EIDClock(at: host.now), memory: memory, countersAtStart: countersAtStart, telemetry: telemetry,
            randomness: randomness)
        frames = allocation.sources.map { ActiveFrame($0) }
        sets = allocation.sets.map { ActiveSet($0, allocation.sources) }
    }

    /// Sets up one set after the other: configures it, sets its data, and enables it. All counters start at their first
    /// values.
    ///
    /// - Throws: The first error. All earlier changes have been undone.
    public func start() throws(SessionError) {
        live.onAirSince = nil
        live.stoppedAt = nil
        eventsOfRemovedAdvertisements = 0
        frames = allocation.sources.map { ActiveFrame($0) }
        sets = allocation.sets.map { ActiveSet($0, allocation.sources) }
        updateEphemeralIDs()
        try arm()
        live.onAirSince = host.now
    }

    /// Turns advertising off and restores the controller.
    ///
    /// - Throws: The reason why advertising may still be on: the controller did not confirm that it is off.
    public func stop() throws(SessionError) {
        let failure = turnOff()
        live.stoppedAt = host.now
        if let failure { throw failure }
    }

    public func stop(by deadline: HCIInstant) throws(SessionError) {
        host.answerDeadline = deadline
        try stop()
    }

    public var now: HCIInstant { host.now }

    /// The time by which ``wake(_:)`` must be called next; `nil` if nothing will become due.
    public var nextWakeUp: HCIInstant? {
        guard isOnAir else { return nil }
        // This property is read at each wake-up, so the sets are accessed through a span, which does not copy them.
        var wakeUp = live.nextIDChange ?? .distantFuture
        let sets = sets
        for index in sets.indices {
            if let change = sets.span[index].scheduler?.nextChange { wakeUp = min(wakeUp, change) }
            let frame = sets.span[index].currentFrame
            if let renewal = frames[frame].renewalDue { wakeUp = min(wakeUp, renewal) }
            if let endOfPart = frames[frame].patternClock?.end { wakeUp = min(wakeUp, endOfPart) }
        }
        return wakeUp == .distantFuture ? nil : wakeUp
    }

    /// `true` if all sets are enabled, according to the reports of the controller.
    public var isOnAir: Bool {
        guard live.stoppedAt == nil, live.onAirSince != nil else { return false }
        for index in sets.indices where !sets[index].isEnabled { return false }
        return true
    }

    /// Carries out what is due: changes ids, changes the interval of patterns, changes shared sets to their next
    /// advertisement, and renews telemetry.
    ///
    /// - Throws: The first error. Some advertisements may be off the air until ``rearm(on:allocation:)``.
    public func wake(_ now: HCIInstant) throws(SessionError) {
        guard isOnAir else { return }
        for index in live.idSchedules.indices {
            if let schedule = live.changeIDIfDue(index, at: now) { try changeID(schedule) }
        }
        for index in sets.indices {
            try changeInterval(index, now)
            try renew(index, now)
        }
    }
}

// MARK: Starting again, and changing the advertisements

extension BeaconSession {
    /// Sets everything up again, after a reset of the controller or after it was absent. Counters, ids, addresses and
    /// the order of the advertisements in shared sets continue.
    ///
    /// - Parameters:
    ///   - newHost: A new connection to the controller, which must use the same clock as the old connection; `nil` for
    ///     the same connection.
    ///   - newAllocation: The allocation for another controller, or for changed capabilities of the same controller;
    ///     `nil` for the same allocation.
    /// - Throws: The first error. Everything that could be turned off is off. The counters have not changed.
    public func rearm(on newHost: HCIHost?, allocation newAllocation: SetAllocation?) throws(SessionError) {
        silence(since: (newHost ?? host).now)
        if let newHost { host = newHost }
        if let newAllocation { adopt(newAllocation) }
        for index in sets.indices { sets[index].data = nil }
        try arm()
        live.stoppedAt = nil
        live.onAirSince = live.onAirSince ?? host.now
    }

    public func rearm() throws(SessionError) { try rearm(on: nil, allocation: nil) }

    /// Records that nothing has been on the air since `instant`. Until ``rearm(on:allocation:)``, no events are
    /// counted, and nothing is due.
    public func silence(since instant: HCIInstant) {
        for index in sets.indices { sets[index].end(at: instant) }
    }

    /// Replaces the advertisements. A set whose parameters stay the same stays on the air, and only its data is
    /// replaced. Every other set is off the air only while its commands are carried out.
    ///
    /// - Throws: The first error. If ``isOnAir`` is `true`, the old advertisements are on the air again.
    public func replace(with newAllocation: SetAllocation) throws(SessionError) {
        let oldSets = sets
        let oldState = (allocation, frames, eventsOfRemovedAdvertisements)
        let oldSchedules = live.idSchedules
        do throws(SessionError) {
            try takeOver(newAllocation)
        } catch {
            let newSets = sets
            if error.isInterruption {
                // The program is ending: the caller must turn off both the old sets and the new ones.
                sets += oldSets.filter { set in !newSets.contains { $0.parameters.family == set.parameters.family } }
                throw error
            }
            sets = oldSets
            (allocation, frames, eventsOfRemovedAdvertisements) = oldState
            live.restoreIDs(oldSchedules)
            release(newSets.filter { set in !sets.contains { $0.parameters.family == set.parameters.family } })
            try? rearm()
            throw error
        }
    }

    private func takeOver(_ newAllocation: SetAllocation) throws(SessionError) {
        let oldSets = sets
        let now = host.now
        for index in sets.indices { sets[index].tally.end(at: now) }
        adopt(newAllocation)
        release(oldSets.filter { old in !sets.contains { $0.parameters.family == old.parameters.family } })
        for index in sets.indices {
            // New content with the same pattern starts a new cycle of the pattern, so its set is set up again.
            let isInCycle =
                sets[index].assignment.pattern == nil || frames[sets[index].currentFrame].patternClock?.end != nil
            if isInCycle, let old = oldSets.first(where: { $0.canContinue(as: sets[index]) }) {
                try continueSet(index, from: old)
            } else {
                try setUp(index)
            }
        }
    }

    private func continueSet(_ index: Int, from old: ActiveSet) throws(SessionError) {
        let now = host.now
        sets[index].grant = old.grant
        sets[index].address = old.address
        sets[index].isAddressRefused = old.isAddressRefused
        sets[index].data = old.data
        sets[index].isEnabled = true
        if let interval = frames[sets[index].currentFrame].patternClock?.interval {
            sets[index].tally.change(periodMicroseconds: interval.meanPeriodMicroseconds, at: now)
        }
        for frame in sets[index].assignment.members { try buildPayload(frame, sets[index], now) }
        try updateData(index, sets[index].currentFrame)
        sets[index].scheduler?.start(at: now)
        sets[index].tally.begin(sets[index].currentMember, at: now)
    }

    /// Makes `newAllocation` the current allocation. Advertisements whose content stays the same keep their event
    /// counts.
    private func adopt(_ newAllocation: SetAllocation) {
        countCompleted()
        var oldFrames = frames
        frames = newAllocation.sources.map { source in
            let content = source.advertisement.content
            guard let index = oldFrames.firstIndex(where: { $0.source.advertisement.content == content }) else {
                return ActiveFrame(source)
            }
            var frame = oldFrames.remove(at: index)
            frame.replaceSource(source)
            return frame
        }
        eventsOfRemovedAdvertisements += oldFrames.reduce(0) { $0 + $1.eventsBefore }
        allocation = newAllocation
        sets = newAllocation.sets.map { ActiveSet($0, newAllocation.sources) }
        updateEphemeralIDs()
    }

    /// Adds the events of each set to its advertisements' counts, before the sets are replaced.
    private func countCompleted() {
        let now = host.now
        for set in sets {
            for (member, frame) in set.assignment.members.enumerated() where frames.indices.contains(frame) {
                frames[frame].eventsBefore += set.tally.events(of: member, at: now)
            }
        }
    }

    /// Passes the rotating keys of all sets to ``live``, which decides when their ids and addresses change.
    private func updateEphemeralIDs() {
        live.setRotatingKeys(allocation.sets.compactMap(\.rotatingKey), at: host.now)
    }

    /// Sets up and enables all sets. If that fails, turns everything off again.
    private func arm() throws(SessionError) {
        do throws(SessionError) {
            var enabledCount = 0
            while enabledCount < sets.count {
                do throws(SessionError) {
                    try setUp(enabledCount)
                    enabledCount += 1
                } catch {
                    // The kernel or another program uses some of the controller's sets, so only the available sets are
                    // used.
                    guard enabledCount > 0, case .command(let refusal, _) = error,
                        refusal.status == .memoryCapacityExceeded
                    else { throw error }
                    release(Array(sets.prefix(enabledCount)))
                    adopt(try allocation.limited(toSets: enabledCount))
                    enabledCount = 0
                }
            }
        } catch {
            turnOff(after: error)
            throw error
        }
    }

    /// The maximum time for turning off a controller that did not answer: 0.5 s, in microseconds. It is short, because
    /// the error message is printed only after this time.
    private static let turnOffTimeout = 500_000

    private func turnOff(after error: SessionError) {
        let deadline = host.answerDeadline
        defer { host.answerDeadline = deadline }
        if error.isHopeless {
            host.answerDeadline = min(deadline, host.now.advanced(byMicroseconds: Self.turnOffTimeout))
        }
        _ = turnOff()
    }

    /// Sets up a set and enables it, whatever its state was before.
    private func setUp(_ index: Int) throws(SessionError) {
        sets[index].end(at: host.now)
        if let schedule = live.idSchedule(of: sets[index].assignment.rotatingKey) {
            sets[index].address = schedule.address
        }
        let commands = sets[index].commands
        frames[sets[index].currentFrame].patternClock?.update(to: host.now)
        let parameters = currentParameters(index)
        let configuration = try commands.configure(parameters, host)
        // If an ephemeral id were sent from another program's address, the beacon could be tracked. So the set stays
        // off until the controller accepts the set's own address.
        if let refusal = configuration.addressRefusal, sets[index].assignment.rotatingKey != nil { throw refusal }
        sets[index].isAddressRefused = configuration.addressRefusal != nil
        sets[index].grant = configuration.power
        // All payloads are built now, so that an error in a payload is reported at the start and not when its turn
        // comes.
        for frame in sets[index].assignment.members { try buildPayload(frame, sets[index], host.now) }
        sets[index].data = nil
        try updateData(index, sets[index].currentFrame)
        if parameters.pdu != .nonconnectable, parameters.phy == nil {
            try commands.setScanResponse(parameters.scanResponse, host)
        }
        try enable(index, parameters)
        begin(index, parameters.interval)
    }

    /// Records that a set has been enabled with `interval`.
    private func begin(_ index: Int, _ interval: AdvertisingInterval) {
        let now = host.now
        if sets[index].assignment.pattern != nil {
            sets[index].tally.change(periodMicroseconds: interval.meanPeriodMicroseconds, at: now)
            frames[sets[index].currentFrame].patternClock?.begin(at: now)
        }
        sets[index].begin(at: now)
    }

    /// Returns the parameters that a set should have now.
    private func currentParameters(_ index: Int) -> SetParameters {
        sets[index].currentParameters(frames[sets[index].currentFrame].patternClock?.interval)
    }

    /// If the current part of a set's pattern is over, enables the set with the interval of the next part. Address,
    /// data and power do not change, so the set is off the air for only three commands.
    private func changeInterval(_ index: Int, _ now: HCIInstant) throws(SessionError) {
        let frame = sets[index].currentFrame
        guard let clock = frames[frame].patternClock, let end = clock.end, end <= now else { return }
        frames[frame].patternClock?.update(to: now)
        let parameters = currentParameters(index)
        guard parameters.interval != clock.interval else { return }
        try disable(index)
        try sets[index].commands.change(parameters, host)
        if parameters.pdu == .connectable {
            // During a connection, the controller may refuse to enable the set. The set is then enabled again after the
            // disconnection.
            try enableAgain(index)
        } else {
            try enable(index, parameters)
        }
        begin(index, parameters.interval)
    }

    private func enable(_ index: Int, _ parameters: SetParameters) throws(SessionError) {
        let commands = sets[index].commands
        do throws(SessionError) {
            try commands.enable(host)
        } catch {
            guard sets[index].isAddressRefused, error.status == .invalidParameters else { throw error }
            // The controller has no random address yet, so the set uses the public address.
            _ = try commands.configure(parameters.withPublicAddress(), host)
            try commands.enable(host)
        }
    }

    /// Tries again to set each address that the controller refused during a scan or that another program changed.
    private func restoreAddresses() throws(SessionError) {
        for index in sets.indices where sets[index].isAddressRefused {
            sets[index].end(at: host.now)
            if try sets[index].commands.move(to: sets[index].address, host) {
                try setUp(index)
            } else {
                try sets[index].commands.enable(host)
                sets[index].begin(at: host.now)
            }
        }
    }

    /// Records that another program has changed the random address of a legacy advertiser. The advertisement stays on
    /// the air with the changed address, and ``verify()`` restores its own address.
    ///
    /// - Throws: `ended` if the advertisement is an ephemeral id, because that must not be sent from another address.
    public func noteForeignAddress() throws(SessionError) {
        for index in sets.indices where sets[index].parameters.randomAddress != nil {
            guard sets[index].assignment.rotatingKey == nil else {
                throw .ended(.foreignChanged, "another program changed the address of the ephemeral id")
            }
            sets[index].isAddressRefused = true
        }
    }

    private func disable(_ index: Int) throws(SessionError) {
        end(index)
        try sets[index].commands.disable(host)
    }

    /// Records that a set is off the air from now on.
    private func end(_ index: Int) { sets[index].end(at: host.now) }
}

// MARK: Payloads

extension BeaconSession {
    /// Changes a shared set to the advertisement whose turn it is, and renews its payload if it is too old.
    private func renew(_ index: Int, _ now: HCIInstant) throws(SessionError) {
        let (frame, hasChanged) = sets[index].advance(to: now)
        if frames[frame].renewalDue != nil, frames[frame].isDue(at: now, afterPause: hasChanged) {
            try buildPayload(frame, sets[index], now)
        }
        try updateData(index, frame)
    }

    /// Replaces the data of a set if it differs from the payload of `frame`.
    private func updateData(_ index: Int, _ frame: Int) throws(SessionError) {
        let payload = frames[frame].payload
        guard sets[index].data != payload else { return }
        sets[index].data = nil
        // Controllers accept fragments only while the set is disabled.
        let mustPause = sets[index].isEnabled && payload.octets.count > LESetExtendedAdvertisingData.fragmentLimit
        if mustPause { try disable(index) }
        try sets[index].commands.setData(payload, host)
        sets[index].data = payload
        guard mustPause else { return }
        let parameters = currentParameters(index)
        try enable(index, parameters)
        begin(index, parameters.interval)
    }

    /// Builds the payload of an advertisement that is sent from `set`.
    private func buildPayload(_ frame: Int, _ set: ActiveSet, _ now: HCIInstant) throws(SessionError) {
        let payload = try live.payload(
            frames[frame].source, power: set.grant.power, counters: counters(at: now),
            isFirst: frames[frame].madeAt == nil, at: now)
        if let payload {
            frames[frame].payload = payload
            frames[frame].madeAt = now
        }
        frames[frame].planRenewal(at: now, isShared: set.assignment.isShared)
    }

    /// Changes an id and its address together, in all sets that send the id. Each set is disabled for a moment, because
    /// some controllers refuse a new address for an enabled set. This costs one advertising event.
    private func changeID(_ schedule: EphemeralIDSchedule) throws(SessionError) {
        let setsWithID = sets.indices.filter { sets[$0].assignment.rotatingKey == schedule.key }
        // All sets are turned off first. Otherwise an observer could receive the old address and the new address at the
        // same time and connect the two.
        if setsWithID.count > 1 {
            for index in setsWithID { try disable(index) }
        }
        for index in setsWithID { try setUp(index) }
    }
}

// MARK: Turning off

extension BeaconSession {
    /// Turns everything off and restores the controller. Returns the reason why advertising may still be on; `nil` if
    /// it is off.
    private func turnOff() -> SessionError? {
        silence(since: host.now)
        return host.turnOff(sets.map(\.parameters), isExclusive: allocation.isExclusive)
    }

    /// Turns off sets that are no longer needed. A set that the controller refuses to turn off is skipped.
    private func release(_ sets: [ActiveSet]) {
        for set in sets {
            do throws(SessionError) {
                try set.commands.disable(host)
                try set.commands.release(set.parameters, host)
            } catch {
                if error.isHopeless { return }
            }
        }
    }
}

extension BeaconSession: AdvertisingSession {
    public func receive(until deadline: HCIInstant) throws(SessionError) {
        try takeEvents(until: deadline, { try host.nextEvent(until: max($0, host.now)) }, handle)
    }

    public var watched: ForeignActivity.Watched {
        let handles = allocation.sets.compactMap { set -> UInt8? in
            guard case .extended(let handle) = set.parameters.family else { return nil }
            return handle
        }
        return handles.isEmpty ? .legacy : .sets(handles: Set(handles))
    }

    /// Checks that each set is enabled. To find out, the parameters of the set are set again, which a controller
    /// refuses for an enabled set; the set itself does not change (Core Specification 5.4, Vol 4 Part E 7.8.5 and
    /// 7.8.53). Before the check, this function tries again to set each address that the controller refused during a
    /// scan or that another program changed.
    public func verify() throws(SessionError) -> Bool {
        guard isOnAir else { return false }
        try restoreAddresses()
        return try advertising {
            for index in sets.indices where try !host.isAdvertising(currentParameters(index)) { return false }
            return true
        }
    }
}

// MARK: Events

extension BeaconSession {
    /// Handles an event of the controller that is not the answer to a command.
    ///
    /// - Throws: `ended` if the event means that an advertisement is off the air.
    public func handle(_ event: HCIEvent) throws(SessionError) {
        guard live.stoppedAt == nil, live.onAirSince != nil else { return }
        switch event {
        case .hardwareError(let code):
            silence(since: host.now)
            throw .hardwareError(code)
        case .advertisingSetTerminated(let terminated):
            guard let index = sets.firstIndex(where: { $0.parameters.family == .extended(handle: terminated.handle) })
            else { return }
            guard terminated.status == .success else {
                end(index)
                throw .ended(.silent, "the controller ended the advertising set: \(terminated.status)")
            }
            try enableAgain(index)
        case .unknown(let code, let parameters):
            guard Self.isConnection(code, parameters) || code == Self.disconnectionComplete else { return }
            for index in sets.indices where sets[index].parameters.pdu == .connectable { try enableAgain(index) }
        default:
            return
        }
    }

    /// Returns true for a successful Connection Complete or Enhanced Connection Complete (LE subevents 0x01 and 0x0A).
    private static func isConnection(_ code: UInt8, _ parameters: [UInt8]) -> Bool {
        code == HCIEventCode.leMeta && parameters.count > 1 && [0x01, 0x0A].contains(parameters[0])
            && parameters[1] == 0
    }

    private static let disconnectionComplete: UInt8 = 0x05

    /// Enables a connectable set again, because the controller turns it off when a device connects. Some controllers
    /// refuse this while the connection exists; their refusal is ignored.
    private func enableAgain(_ index: Int) throws(SessionError) {
        do throws(SessionError) {
            try sets[index].commands.enable(host)
        } catch {
            // 0x09 is Connection Limit Exceeded, 0x0D is Connection Rejected due to Limited Resources.
            let temporary: [HCIStatus] = [.commandDisallowed, HCIStatus(rawValue: 0x09), HCIStatus(rawValue: 0x0D)]
            guard case .command(let refusal, _) = error, let status = refusal.status, temporary.contains(status)
            else { throw error }
        }
    }
}

// MARK: Status

extension BeaconSession {
    public var advertisements: [OnAirAdvertisement] {
        let now = live.countedUntil(host.now)
        return frames.indices.compactMap { frame in
            guard let index = allocation.set(of: frame), sets.indices.contains(index),
                let member = sets[index].assignment.members.firstIndex(of: frame)
            else { return nil }
            let set = sets[index]
            let advertisement = frames[frame].source.advertisement
            let setInterval = frames[frame].patternClock?.interval ?? set.parameters.interval
            let unsharedInterval = set.assignment.pattern == nil ? setInterval : advertisement.interval
            let period = set.scheduler?.meanPeriodMicroseconds(of: member) ?? unsharedInterval.meanPeriodMicroseconds
            // The period includes the mean of the random delay after each interval (Core Specification 5.4, Vol 6 Part
            // B 4.4.2.2.1).
            let granted = period - AdvertisingInterval.meanDelayMicroseconds
            return OnAirAdvertisement(
                advertisement: advertisement, place: .set(index),
                sharers: set.assignment.members.count, isItsTurn: set.currentFrame == frame,
                setInterval: setInterval...setInterval, grantedMicroseconds: granted...granted,
                meanPeriodMicroseconds: period, pattern: OnAirPattern(frames[frame].patternClock, at: host.now),
                address: set.isAddressRefused ? nil : set.address,
                isAddressRefused: set.isAddressRefused,
                isAddressRandom: set.parameters.randomAddress != nil || set.assignment.rotatingKey != nil,
                grant: set.grant, payload: frames[frame].payload,
                events: frames[frame].eventsBefore + set.tally.events(of: member, at: now))
        }
    }

    public var controller: OnAirController {
        let capabilities = allocation.capabilities
        return OnAirController(
            family: capabilities.hasExtendedAdvertising ? .extended : .legacy,
            hasExtendedAdvertising: capabilities.hasExtendedAdvertising, version: capabilities.version,
            manufacturer: capabilities.manufacturer.description, address: capabilities.publicAddress)
    }

    public var warnings: [String] {
        advertisements.compactMap { status in
            status.grant.complaint.map { "\(status.advertisement.content.typeName): radio power \($0)" }
        } + transmitPowerWarnings
    }

    /// The number of advertising events of all advertisements since the start. It is computed from the time on the air
    /// and the mean period, because legacy controllers do not count events, and controllers with extended advertising
    /// report the number only when a set ends.
    public var computedEvents: UInt64 { events(at: live.countedUntil(host.now)) }

    private func counters(at now: HCIInstant) -> TelemetryCounters {
        live.counters(afterEvents: events(at: now), at: now)
    }

    private func events(at now: HCIInstant) -> UInt64 {
        guard live.onAirSince != nil else { return 0 }
        var events = frames.reduce(eventsOfRemovedAdvertisements) { $0 + $1.eventsBefore }
        for set in sets {
            for member in set.assignment.members.indices { events += set.tally.events(of: member, at: now) }
        }
        return events
    }
}

extension RadioPowerGrant {
    /// The warning for the user if the requested power is not in use, or if it is not certain that it is; otherwise
    /// `nil`.
    fileprivate var complaint: String? {
        switch self {
        case .notSettable, .unverified: description
        case .granted, .reported, .unknown: nil
        }
    }
}
