public import BeaconFrames
public import BluetoothTypes
public import HCI

/// One beacon of a crowd.
public struct CrowdIdentity: Hashable, Sendable {
    /// The name of the identity in messages.
    public let name: String
    /// The advertisement. A crowd sends it in non-connectable PDUs, at the interval of ``CrowdTiming``.
    public let advertisement: Advertisement
    /// The static random address.
    public let address: DeviceAddress

    public init(name: String, advertisement: Advertisement, address: DeviceAddress) {
        self.name = name
        self.advertisement = advertisement
        self.address = address
    }

    /// Returns the bytes that are sent with this radio power.
    ///
    /// - Throws: `payload`, with the name of the identity.
    public func payload(_ radioPower: RadioPower?) throws(SessionError) -> AdvertisingData {
        do throws(PayloadError) {
            return try advertisement.payload(Advertisement.LiveValues(radioPower: radioPower))
        } catch {
            throw .payload("\(name): \(error)")
        }
    }
}

/// The advertising interval and the dwell time with which a crowd uses a controller.
public struct CrowdTiming: Hashable, Sendable {
    /// The largest random delay after each interval, in microseconds (Core Specification 5.4, Vol 6 Part B 4.4.2.2.1).
    public static let largestDelay = 10_000

    /// The advertising interval.
    public let interval: AdvertisingInterval
    /// The time for which a set sends an identity, in microseconds.
    public let dwellMicroseconds: Int

    /// - Parameters:
    ///   - interval: The advertising interval; `nil` for the shortest interval that the controller accepts.
    ///   - dwellMicroseconds: The time for which a set sends an identity. `nil` for the shortest time that always
    ///     contains one advertising event: the interval plus the largest random delay.
    /// - Throws: `impossible` if the dwell time is shorter than the interval plus the largest random delay.
    public init(
        interval: AdvertisingInterval?, dwellMicroseconds: Int?, on capabilities: ControllerCapabilities
    ) throws(SessionError) {
        let interval = interval ?? capabilities.intervalRange(for: .nonconnectable).lowerBound
        let minimumDwell = interval.microseconds + Self.largestDelay
        if let dwellMicroseconds, dwellMicroseconds < minimumDwell {
            let shortest = capabilities.intervalRange(for: .nonconnectable).lowerBound
            throw .impossible(
                "\(DecimalText.thousandths(dwellMicroseconds)) ms may be too short for one advertising event at an interval "
                    + "of \(interval): give each identity at least \(DecimalText.thousandths(minimumDwell)) ms"
                    + (interval > shortest ? ", or choose a shorter interval; the shortest is \(shortest)" : ""))
        }
        self.interval = interval
        self.dwellMicroseconds = dwellMicroseconds ?? minimumDwell
    }

    /// The minimum number of advertising events in each turn.
    public var leastEvents: Int { events(in: dwellMicroseconds...dwellMicroseconds).lowerBound }

    /// Returns the share of turns, from 0 to 1, in which a receiver gets at least one event if there is no
    /// interference.
    ///
    /// - Parameters:
    ///   - window: The scan window of the receiver, in microseconds.
    ///   - scanInterval: The scan interval of the receiver, in microseconds.
    public func reception(window: Int, scanInterval: Int) -> Double {
        guard window < scanInterval else { return 1 }
        // A turn contains at least `leastEvents` events. Each event after the first increases the chance of reception
        // as much as a scan window that is longer by the spacing of the events.
        let spacing = min(window, interval.microseconds)
        let effectiveWindow = max(0, window - Self.longestPDU) + (leastEvents - 1) * spacing
        return min(1, Double(effectiveWindow) / Double(max(1, scanInterval)))
    }

    /// The airtime of the longest legacy PDU, in microseconds. A receiver gets a PDU only if the whole PDU is sent
    /// during a scan window.
    private static let longestPDU = 376

    /// Returns the smallest and the largest possible number of advertising events of a set. `airtimes` are the shortest
    /// and the longest time for which the set was on the air, in microseconds. The controller sends the first event at
    /// any time up to one interval after the command to enable the set.
    public func events(in airtimes: ClosedRange<Int>) -> ClosedRange<Int> {
        let least = max(0, airtimes.lowerBound / (interval.microseconds + Self.largestDelay))
        return least...max(least, 1 + airtimes.upperBound / max(1, interval.microseconds))
    }
}

/// Sends many beacons from one controller, one after the other. A ``CrowdRotation`` decides their order.
///
/// A set is turned off before it gets the address and the data of the next identity. So the address of one identity is
/// never sent with the data of another.
public final class CrowdSession {
    public let identities: [CrowdIdentity]
    public let timing: CrowdTiming
    public let capabilities: ControllerCapabilities
    public private(set) var rotation: CrowdRotation
    private let host: HCIHost
    private let isExclusive: Bool
    /// The parameters with which each set was configured last; `nil` if the set was not configured yet.
    private var lastParameters: [SetParameters?]
    /// The radio power of each set.
    private var grants: [RadioPowerGrant]
    /// The time at which the controller first refused the address of the next identity; `nil` if it did not refuse it.
    private var waitingSince: HCIInstant?
    /// The time at which everything was turned off.
    private var stoppedAt: HCIInstant?

    /// The time between two attempts to set an address that the controller refuses, in microseconds.
    private static let retryPause = 100_000
    /// The maximum time to wait for the end of a scan, in microseconds: 10 s. A longer scan is an error.
    private static let retryTimeout = 10_000_000

    /// - Parameter isExclusive: `true` if no other program uses the controller.
    /// - Throws: `impossible` without an identity, or if one of them cannot be sent.
    public init(
        host: HCIHost, identities: [CrowdIdentity], timing: CrowdTiming, on capabilities: ControllerCapabilities,
        isExclusive: Bool
    ) throws(SessionError) {
        guard !identities.isEmpty else { throw .impossible("there is no identity to send") }
        self.host = host
        self.identities = identities
        self.timing = timing
        self.capabilities = capabilities
        self.isExclusive = isExclusive
        let sets = max(1, min(capabilities.advertisingSets, Int(SetParameters.sharedHandle) + 1))
        rotation = CrowdRotation(
            identities: identities.count, sets: sets, dwellMicroseconds: timing.dwellMicroseconds)
        lastParameters = [SetParameters?](repeating: nil, count: rotation.sets)
        grants = [RadioPowerGrant](repeating: .unknown, count: rotation.sets)
        for identity in identities.indices {
            _ = try parameters(of: CrowdRotation.Turn(set: 0, identity: identity))
        }
    }

    /// The current time of the controller's clock.
    public var now: HCIInstant { host.now }

    /// `true` while the controller refuses the address of the next identity, because it scans.
    public var isWaiting: Bool { waitingSince != nil }

    /// The time from the first turn to the end or to now, in microseconds.
    public var elapsedMicroseconds: Int { rotation.elapsedMicroseconds(at: stoppedAt ?? host.now) }

    /// The time at which ``wake()`` has work to do; `nil` if every identity has a set of its own.
    public var nextWakeUp: HCIInstant? { rotation.nextTurn }

    /// Carries out the turns that are due.
    ///
    /// - Throws: The first error. The caller must then call ``stop(by:)``.
    public func wake() throws(SessionError) {
        // At most one turn for each set is carried out. Otherwise a set whose commands take longer than the dwell time
        // would block the other sets.
        for _ in 0..<rotation.sets {
            guard let turn = rotation.take(at: host.now) else { return }
            try perform(turn)
        }
    }

    private func perform(_ turn: CrowdRotation.Turn) throws(SessionError) {
        let newParameters = try parameters(of: turn)
        let commands = newParameters.commands
        let offSentAt = host.now
        // Another program can turn the set off only with the legacy commands, because all programs then share one set.
        let isLost = try advertising {
            guard !isExclusive, newParameters.family == .legacy, let running = lastParameters[turn.set], !isWaiting
            else {
                return false
            }
            return try !host.isAdvertising(running)
        }
        switch try configureSet(turn, newParameters, offSentAt: offSentAt, isLost: isLost) {
        case .accepted: waitingSince = nil
        case .addressRefused: return try wait(turn)
        case .noMemory: return rotation.withdraw(turn)
        }
        try commands.setData(try identities[turn.identity].payload(grants[turn.set].power), host)
        let sent = host.now
        try commands.enable(host)
        rotation.begin(turn, sent: sent, at: host.now)
    }

    private enum ConfigurationResult {
        case accepted
        case addressRefused
        /// The controller has no memory for this set, because the kernel or another program uses it.
        case noMemory
    }

    /// Turns the set off and gives it the parameters of the turn.
    private func configureSet(
        _ turn: CrowdRotation.Turn, _ newParameters: SetParameters, offSentAt: HCIInstant, isLost: Bool
    ) throws(SessionError) -> ConfigurationResult {
        let commands = newParameters.commands
        if let oldParameters = lastParameters[turn.set],
            oldParameters.replacingAddress(newParameters.address) == newParameters
        {
            let isAccepted = try commands.move(to: newParameters.address, host)
            rotation.end(turn.set, sent: offSentAt, at: host.now, isLost: isLost)
            lastParameters[turn.set] = newParameters
            return isAccepted ? .accepted : .addressRefused
        }
        let configuration: SetConfiguration
        do throws(SessionError) {
            configuration = try commands.configure(newParameters, host)
        } catch {
            guard turn.set > 0, error.status == .memoryCapacityExceeded else { throw error }
            return .noMemory
        }
        rotation.end(turn.set, sent: offSentAt, at: host.now, isLost: isLost)
        grants[turn.set] = configuration.power
        lastParameters[turn.set] = newParameters
        return configuration.addressRefusal == nil ? .accepted : .addressRefused
    }

    private func wait(_ turn: CrowdRotation.Turn) throws(SessionError) {
        let since = waitingSince ?? host.now
        waitingSince = since
        guard host.now.microseconds(since: since) < Self.retryTimeout else {
            throw .ended(.refused, "the adapter scans all the time, so it accepts no other address; end the scan")
        }
        rotation.postpone(turn, until: host.now.advanced(byMicroseconds: Self.retryPause))
    }

    private func parameters(of turn: CrowdRotation.Turn) throws(SessionError) -> SetParameters {
        let identity = identities[turn.identity]
        var advertisement = identity.advertisement
        advertisement.pattern = nil
        advertisement.interval = timing.interval
        advertisement.pdu = .nonconnectable
        advertisement.scanResponse = AdvertisingData(octets: [])
        advertisement.address = .staticRandom(identity.address)
        let set = UInt8(truncatingIfNeeded: turn.set)
        return try SetParameters(
            advertisement, on: capabilities, handle: isExclusive ? set : SetParameters.sharedHandle - set)
    }

    /// Handles the events that have arrived, without waiting.
    ///
    /// - Throws: `hardwareError`, or the failure of the channel.
    public func receive() throws(SessionError) {
        try takeEvents(until: host.now, { try host.nextEvent(until: max($0, host.now)) }) {
            event throws(SessionError) in
            if case .hardwareError(let code) = event { throw .hardwareError(code) }
        }
    }

    /// Turns everything off and restores the controller, by `deadline`.
    ///
    /// - Throws: The reason why advertising may still be on.
    public func stop(by deadline: HCIInstant) throws(SessionError) {
        host.answerDeadline = deadline
        let offSentAt = host.now
        let failure = host.turnOff(lastParameters.compactMap(\.self), isExclusive: isExclusive)
        stoppedAt = host.now
        for set in 0..<rotation.sets { rotation.end(set, sent: offSentAt, at: host.now) }
        if let failure { throw failure }
    }
}
