import BluetoothTypes
import HCI

/// Simulates the advertising of a controller.
extension VirtualController {
    /// The maximum advDelay in microseconds. Each advertising event has a new random delay of 0...10 ms (Core
    /// Specification 5.4, Vol 6 Part B 4.4.2.2.1).
    private static let delayLimitMicroseconds: UInt32 = 10_000

    func isRunning(_ run: AdvertisingRun) -> Bool { state.sets[run.set]?.run == run }

    /// Enables a set. If the set is already enabled, its events continue at the planned times, but its event count
    /// starts again at 0, and it sends from the address `identity`.
    func startAdvertising(
        _ id: AdvertisingSetID, as identity: DeviceIdentity, durationMicroseconds: Int = 0, maximumEvents: Int = 0
    ) {
        guard let air, var set = state.sets[id] else { return }
        let run = AdvertisingRun(controller: self.id, set: id, number: newRun())
        let due = set.isEnabled ? set.nextEvent ?? air.now : air.now
        set.run = run
        set.identity = identity
        set.nextEvent = due
        set.eventsSent = 0
        set.maximumEvents = maximumEvents
        state.sets[id] = set
        air.plan(.advertisingEvent(run), at: due)
        if durationMicroseconds > 0 { air.plan(.durationOver(run), inMicroseconds: durationMicroseconds) }
    }

    func stopAdvertising(_ id: AdvertisingSetID) {
        state.sets[id]?.run = nil
    }

    /// Sends an advertising event with the current content of the set, and plans the next event.
    func beginAdvertisingEvent(_ run: AdvertisingRun) {
        guard let air, var set = state.sets[run.set], set.run == run, let identity = set.identity else { return }
        let isLast = set.maximumEvents > 0 && set.eventsSent + 1 >= set.maximumEvents
        let delay = set.isHighDuty ? 0 : air.generator.next(upTo: Self.delayLimitMicroseconds)
        let due = air.now.advanced(byMicroseconds: set.periodMicroseconds + delay)
        set.nextEvent = due
        state.sets[run.set] = set
        if !isLast { air.plan(.advertisingEvent(run), at: due) }
        air.transmit(event(of: set, run, identity, isLast: isLast), index: 0)
    }

    private func event(
        of set: AdvertisingSet, _ run: AdvertisingRun, _ identity: DeviceIdentity, isLast: Bool
    ) -> AdvertisingEvent {
        let isScannable = set.properties.contains(.scannable)
        let pdu = AirPDU(
            sender: id, start: HCIInstant(nanoseconds: 0), channel: 37, properties: set.properties,
            isScanResponse: false, addressType: identity.type, address: identity.address,
            target: set.properties.contains(.directed) ? set.peer : nil,
            data: AdvertisingSet.allowsData(set.properties) ? set.data.octets : [], power: set.power,
            announcedPower: set.properties.contains(.includeTxPower) ? set.power : nil, primaryPHY: set.primaryPHY,
            rate: set.primaryRate, isSecondaryS2: set.isSecondaryS2,
            secondaryPHY: set.isLegacyPDU ? .none : set.secondaryPHY,
            setID: set.isLegacyPDU ? nil : set.setIdentifier, dataID: set.isLegacyPDU ? 0 : set.dataID)
        var response = pdu
        response.isScanResponse = true
        response.data = set.scanResponse.octets
        return AdvertisingEvent(
            run: run, channels: set.channels.numbers, pdu: pdu, scanResponse: isScannable ? response : nil,
            filterPolicy: set.filterPolicy, isLast: isLast)
    }

    /// Counts an advertising event whose PDU has been sent on its last channel.
    func completedAdvertisingEvent(_ event: AdvertisingEvent) {
        state.sets[event.run.set]?.eventsSent += 1
    }

    func durationIsOver(_ run: AdvertisingRun) {
        guard isRunning(run) else { return }
        terminate(run.set, .advertisingTimeout)
    }

    func eventsAreOver(_ run: AdvertisingRun) {
        guard isRunning(run) else { return }
        terminate(run.set, .limitReached)
    }

    /// Disables a set that has reached the duration or the number of events that the host requested, and reports this
    /// to the host.
    private func terminate(_ id: AdvertisingSetID, _ status: HCIStatus) {
        guard let set = state.sets[id] else { return }
        stopAdvertising(id)
        guard let handle = id.handle else {
            return sendMeta(ControllerEvents.directedAdvertisingTimeout, .connectionComplete)
        }
        // The number of events is valid only if a maximum was given (7.7.65.18).
        let completedEvents = set.maximumEvents > 0 ? set.eventsSent : 0
        let event = AdvertisingSetTerminated(
            status: status, handle: handle, completedEvents: UInt8(clamping: completedEvents))
        sendMeta(.advertisingSetTerminated(event), .advertisingSetTerminated)
    }

    /// Returns true if a scan request of this device is answered.
    func answersScanRequest(of scanner: DeviceIdentity, _ policy: AdvertisingFilterPolicy) -> Bool {
        policy.rawValue & 1 == 0 || state.acceptList.contains(scanner)
    }

    func reportScanRequest(_ id: AdvertisingSetID, from scanner: DeviceIdentity) {
        guard let handle = id.handle, state.sets[id]?.notifiesScanRequests == true else { return }
        sendMeta(ControllerEvents.scanRequestReceived(handle: handle, from: scanner), .scanRequestReceived)
    }
}

/// The legacy advertising commands (Core Specification 5.4, Vol 4 Part E 7.8.5...7.8.9).
extension VirtualController {
    func setAdvertisingParameters(_ command: LESetAdvertisingParameters) throws(HCIStatus) {
        guard var set = state.sets[.legacy] else { throw HCIStatus.hardwareFailure }
        try HCIStatus.require(!set.isEnabled, else: .commandDisallowed)
        guard let properties = Self.properties(of: command.type) else { throw HCIStatus.invalidParameters }
        try HCIStatus.require(
            command.ownAddressType.rawValue <= 3 && command.peerAddressType.rawValue <= 1
                && command.filterPolicy.rawValue <= 3 && command.channels.rawValue & 7 != 0,
            else: .invalidParameters)
        // Directed advertising with a high duty cycle has no interval.
        if command.type != .directedHighDuty {
            let isNonconnectable = command.type == .scannable || command.type == .nonconnectable
            let shortest =
                isNonconnectable ? model.shortestNonconnectableInterval : AdvertisingInterval.legacyRange.lowerBound
            try HCIStatus.require(command.intervalMinimum <= command.intervalMaximum, else: .invalidParameters)
            try HCIStatus.require(
                command.intervalMinimum >= shortest
                    && command.intervalMaximum <= AdvertisingInterval.legacyRange.upperBound,
                else: .unsupportedFeatureOrParameterValue)
        }
        set.properties = properties
        set.interval = command.intervalMinimum
        set.channels = command.channels
        set.ownAddressType = command.ownAddressType
        set.peer = DeviceIdentity(command.peerAddressType, command.peerAddress)
        set.filterPolicy = command.filterPolicy
        state.sets[.legacy] = set
    }

    /// The corresponding properties of extended advertising; `nil` for reserved types.
    private static func properties(of type: LegacyAdvertisingType) -> AdvertisingEventProperties? {
        switch type {
        case .connectable: .legacyConnectable
        case .directedHighDuty: [.legacyPDU, .connectable, .directed, .highDutyDirected]
        case .scannable: .legacyScannable
        case .nonconnectable: .legacyNonconnectable
        case .directedLowDuty: [.legacyPDU, .connectable, .directed]
        default: nil
        }
    }

    func readAdvertisingPower(
        _: LEReadAdvertisingPhysicalChannelTxPower
    ) throws(HCIStatus) -> LEReadAdvertisingPhysicalChannelTxPower.ReturnParameters {
        LEReadAdvertisingPhysicalChannelTxPower.ReturnParameters(state.sets[.legacy]?.power ?? model.defaultPower)
    }

    func setAdvertisingData(_ command: LESetAdvertisingData) throws(HCIStatus) {
        try HCIStatus.require(Int(command.length) <= AdvertisingData.legacyLimit, else: .invalidParameters)
        state.sets[.legacy]?.data.octets = command.data
    }

    func setScanResponseData(_ command: LESetScanResponseData) throws(HCIStatus) {
        try HCIStatus.require(Int(command.length) <= AdvertisingData.legacyLimit, else: .invalidParameters)
        state.sets[.legacy]?.scanResponse.octets = command.data
    }

    func setAdvertisingEnable(_ command: LESetAdvertisingEnable) throws(HCIStatus) {
        guard let set = state.sets[.legacy] else { throw HCIStatus.hardwareFailure }
        try HCIStatus.require(command.enable <= 1, else: .invalidParameters)
        if command.enable == 0 {
            try HCIStatus.require(set.isEnabled || !model.refusesDisablingTwice, else: .commandDisallowed)
            return stopAdvertising(.legacy)
        }
        let identity = try identity(set.ownAddressType, random: state.randomAddress)
        // Directed advertising with a high duty cycle ends by itself after 1.28 s (Vol 6 Part B 4.4.2.4.3).
        startAdvertising(.legacy, as: identity, durationMicroseconds: set.isHighDuty ? 1_280_000 : 0)
    }
}
