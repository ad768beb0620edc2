public import BluetoothTypes
public import HCI

/// One advertisement on one controller, from the first command to the last.
///
/// Runs on the caller's thread: ``run(until:)`` waits in the channel, renews the payload when it is due, and notices
/// when the controller stops by itself.
public final class AdvertisingSession {
    public let plan: AdvertisingPlan
    /// What the radio really sends with; known after ``start()``.
    public private(set) var grant = RadioPowerGrant.unknown
    /// What is on the air now.
    public private(set) var payload = AdvertisingData(octets: [])
    /// The address it is sent from; turns over with an ephemeral id.
    public private(set) var address: DeviceAddress
    /// Whether that address is a random one: planned so, or because it turns over with an ephemeral id.
    public var isAddressRandom: Bool { plan.randomAddress != nil || source.changesAddress }
    /// When advertising was enabled; `nil` before.
    public private(set) var onAirSince: HCIInstant?

    let host: HCIHost
    let source: PayloadSource
    /// The plan with the address that is on the air.
    private(set) var sentPlan: AdvertisingPlan
    private let isExclusive: Bool
    private let commands: any AdvertisingCommands
    private var randomness: any RandomNumberGenerator
    private var nextChange: Int?
    /// When the session was stopped; counters stand still from then on.
    private var stoppedAt: HCIInstant?

    /// - Parameters:
    ///   - isExclusive: nobody else uses the controller, so it may be reset at the end.
    ///   - randomness: for salts and turned-over addresses.
    public init(
        host: HCIHost, plan: AdvertisingPlan, source: PayloadSource, isExclusive: Bool,
        randomness: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.host = host
        self.plan = plan
        self.source = source
        self.isExclusive = isExclusive
        self.randomness = randomness
        address = plan.address
        sentPlan = plan
        switch plan.family {
        case .legacy: commands = LegacyAdvertising()
        case .extended(let handle): commands = ExtendedAdvertising(handle: handle)
        }
    }

    /// Configures the controller, sets the data, and enables advertising, in this order.
    ///
    /// When it fails half-way, what was set is taken back before the error is thrown.
    public func start() throws(AdvertisingError) {
        do throws(AdvertisingError) {
            var first = plan
            if source.changesAddress { first = plan.replacingAddress(newAddress()) }
            sentPlan = first
            address = first.address
            grant = try commands.configure(first, host)
            payload = try makePayload(elapsed: 0, salt: source.firstSalt)
            try commands.setData(payload, host)
            if plan.pdu != .nonconnectable { try commands.setScanResponse(plan.scanResponse, host) }
            try commands.enable(host)
        } catch {
            _ = turnOff()
            throw error
        }
        stoppedAt = nil
        onAirSince = host.now
        nextChange = source.nextChange(after: 0)
    }

    /// When the payload is out of date; `nil` for never.
    public var nextWakeUp: HCIInstant? {
        nextChange.flatMap { change in onAirSince?.advanced(byMicroseconds: change) }
    }

    /// Renews the payload, if it is out of date.
    public func wake() throws(AdvertisingError) {
        if let due = nextWakeUp, due <= host.now { try renew() }
    }

    /// Keeps the advertisement on the air until `deadline`.
    ///
    /// - Throws: `ended` when the controller stopped, `command` with `interrupted` inside when a signal came.
    public func run(until deadline: HCIInstant) throws(AdvertisingError) {
        while true {
            let event = try advertising { try host.nextEvent(until: min(nextWakeUp ?? deadline, deadline)) }
            if let event { try handle(event) }
            try wake()
            if host.now >= deadline { return }
        }
    }

    /// Turns advertising off and gives back what was taken. All that can be tried has been tried when this returns.
    ///
    /// - Throws: when the controller did not confirm that advertising is off: it may still be on the air.
    public func stop() throws(AdvertisingError) {
        let failure = turnOff()
        stoppedAt = host.now
        nextChange = nil
        if let failure { throw failure }
    }

    /// Returns why advertising may still be on, if it may.
    private func turnOff() -> AdvertisingError? {
        let failure = disableDespiteSignals()
        if isExclusive {
            // A reset is the state in which we found it, and the only way back for what has no off switch.
            do throws(HCICommandError) {
                _ = try host.execute(HCIReset())
                return nil
            } catch {
                return failure
            }
        }
        try? commands.release(plan, host)
        return failure
    }

    /// A second Ctrl-C while the first one is obeyed must not leave the beacon on.
    private func disableDespiteSignals() -> AdvertisingError? {
        for _ in 0..<2 {
            do throws(AdvertisingError) {
                try commands.disable(host)
                return nil
            } catch {
                guard case .command(.channel(.interrupted), _) = error else { return error }
            }
        }
        return .command(.channel(.interrupted), remedy: nil)
    }

    /// Advertising events sent so far, computed from the time on the air and the mean period: a legacy controller does
    /// not count them, and an extended one tells only at the end of a set.
    public var computedEvents: UInt64 {
        guard onAirSince != nil else { return 0 }
        return UInt64(elapsed / plan.interval.meanPeriodMicroseconds) + 1
    }

    /// Whole seconds since advertising was enabled.
    public var secondsOnAir: Int { elapsed / 1_000_000 }

    private var elapsed: Int { onAirSince.map { max(0, (stoppedAt ?? host.now).microseconds(since: $0)) } ?? 0 }

    private func makePayload(elapsed: Int, salt: UInt16? = nil) throws(AdvertisingError) -> AdvertisingData {
        try source.payload(
            elapsed: elapsed, events: computedEvents, radioPower: grant.power,
            salt: salt ?? UInt16.random(in: 0...UInt16.max, using: &randomness))
    }

    private func renew() throws(AdvertisingError) {
        let elapsed = elapsed
        payload = try makePayload(elapsed: elapsed)
        if source.changesAddress {
            // Neither family lets the address of an enabled advertiser change in every state, so this costs an event.
            let turned = plan.replacingAddress(newAddress())
            sentPlan = turned
            grant = try commands.configure(turned, host)
            address = turned.address
            try commands.setData(payload, host)
            try commands.enable(host)
        } else {
            try commands.setData(payload, host)
        }
        nextChange = source.nextChange(after: elapsed)
    }

    /// Takes an event of the controller that is no answer to a command.
    ///
    /// - Throws: `ended` when the controller stopped.
    public func handle(_ event: HCIEvent) throws(AdvertisingError) {
        switch event {
        case .hardwareError(let code):
            throw .hardwareError(code)
        case .advertisingSetTerminated(let terminated):
            guard plan.family == .extended(handle: terminated.handle) else { return }
            guard terminated.status == .success else {
                throw .ended("the controller ended the advertising set: \(terminated.status)")
            }
            try enableAgain()
        case .unknown(let code, let parameters) where plan.pdu == .connectable:
            if Self.isConnection(code, parameters) || code == Self.disconnectionComplete { try enableAgain() }
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
    private func enableAgain() throws(AdvertisingError) {
        do throws(AdvertisingError) {
            try commands.enable(host)
        } catch {
            let passing: [HCIStatus] = [.commandDisallowed, HCIStatus(rawValue: 0x09), HCIStatus(rawValue: 0x0D)]
            guard case .command(let refusal, _) = error, let status = refusal.status, passing.contains(status)
            else { throw error }
        }
    }

    private func newAddress() -> DeviceAddress {
        var octets = FixedOctets<6>()
        for index in 0..<6 { octets[index] = UInt8.random(in: 0...255, using: &randomness) }
        return .staticRandom(from: octets)
    }
}
