public import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
public import HCI
public import VirtualController

/// A machine with one adapter, on which many things fail, and a beacon that must stay on the air. The test advances the
/// clock.
///
/// The world drives a runner in the same way as the service, and jumps from one event to the next.
public final class EnduranceWorld {
    public let pacing: SupervisorPacing
    /// Violations of the rules that must always hold, in words.
    public internal(set) var complaints: [String] = []
    /// The number of times that the log reported the beacon's return.
    public private(set) var returns = 0
    /// The number of `ready` notifications.
    public private(set) var readies = 0

    /// The number of advertising events on the air.
    public private(set) var events = 0
    /// The number of `reloading` notifications.
    public private(set) var reloads = 0

    let air: VirtualAir
    var virtual: VirtualChannel?
    var isPowered = false
    var isBlocked = false
    var isBusy = false
    /// The instant of the request to stop for good; `nil` if there is none.
    var stopWantedAt: HCIInstant?
    var isAsleep = false { didSet { if isAsleep != oldValue { sleptOrWoke() } } }
    private var asleepSince: HCIInstant?
    /// The time asleep in microseconds. The monotonic clock of a real machine does not count it.
    public private(set) var microsecondsAsleep = 0
    /// The result of the next reading of the profile.
    var profile: Result<UInt16, Refusal> = .success(1)
    var incidents: [(at: HCIInstant, happen: (EnduranceWorld) -> Void)] = []
    var inputs: [Supervisor.Input] = []
    var random: SplitMix64

    private let model: VirtualControllerModel
    private let intervalUnits: UInt32
    private let address: DeviceAddress
    private var channel: WorldChannel?
    private var minor: UInt16 = 1
    private var nextMinor: UInt16 = 1
    var lastFed: HCIInstant
    private var lastHeard: (at: HCIInstant, minor: UInt16)?
    private var runner: AdapterRunner?
    private var beacon: BeaconSession?

    struct Refusal: Error {}

    public init(
        _ model: VirtualControllerModel, seed: UInt64, intervalUnits: UInt32,
        pacing: SupervisorPacing = SupervisorPacing()
    ) {
        self.model = model
        self.pacing = pacing
        self.intervalUnits = intervalUnits
        random = SplitMix64(seed: seed)
        var parameters = VirtualAir.Parameters()
        parameters.seed = seed
        air = VirtualAir(parameters)
        lastFed = air.now
        var octets = FixedOctets<6>()
        octets[5] = 1
        address = DeviceAddress(octets)
        plug()
    }

    public var now: HCIInstant { air.now }
    public var supervisor: Supervisor? { runner?.supervisor }
    /// The number of advertising events that the session has counted; `nil` before there is a session.
    public var countedEvents: Int? { beacon.map { Int(clamping: $0.computedEvents) } }
    public var hasEnded: Bool { runner?.ended != nil }

    /// Switches the machine on.
    public func begin() {
        let runner = AdapterRunner(Supervisor(adapter: "hci0", pacing: pacing, at: now), in: self)
        self.runner = runner
        runner.wake()
    }

    /// Advances the time to `end`.
    public func run(until end: HCIInstant) {
        guard let runner else { return }
        while now < end, runner.ended == nil {
            let wake = [isAsleep ? nil : runner.nextWakeUp, nextIncident].compactMap { $0 }.min() ?? end
            let hasNews = waitForNews(until: max(now, min(wake, end)))
            happen()
            if isAsleep { continue }
            if isStopWanted {
                runner.handle(.stop)
                return
            }
            while !inputs.isEmpty { runner.handle(inputs.removeFirst()) }
            if hasNews || channel?.isEnded == true { runner.receive() }
            if let due = runner.nextWakeUp, due <= now { runner.wake() }
        }
    }

    public func run(microseconds: Int) {
        run(until: now.advanced(byMicroseconds: microseconds))
    }

    public func handle(_ input: Supervisor.Input) { runner?.handle(input) }

    private func waitForNews(until deadline: HCIInstant) -> Bool {
        guard let channel, !isAsleep else {
            air.advance(to: deadline)
            return false
        }
        return (try? channel.hasPacket(until: deadline)) ?? true
    }

    /// True if the beacon was received within the last three intervals, with the right contents.
    public var isHeard: Bool {
        guard let lastHeard else { return false }
        let longest = 3 * AdvertisingInterval(rawValue: intervalUnits).meanPeriodMicroseconds + 100_000
        return now.microseconds(since: lastHeard.at) <= longest && lastHeard.minor == minor
    }

    /// Connects the controller, which is in the state after power-on. If two incidents have removed it, the first one
    /// to end brings it back.
    func plug() {
        guard virtual == nil else { return }
        let channel = VirtualChannel(model, on: air, address: address)
        virtual = channel
        air.observer = { [weak self] pdu in
            // The minor number of an iBeacon is in the two octets before the last one, the measured power.
            guard let self, pdu.sender == channel.controller.id, pdu.data.count == 30 else { return }
            if pdu.channel == 37 { self.events += 1 }
            self.lastHeard = (pdu.start, UInt16(pdu.data[27]) << 8 | UInt16(pdu.data[28]))
        }
    }

    /// Resets the controller as a power cut does. Open channels to it end.
    func cutPower() {
        let isThere = virtual != nil
        unplug()
        if isThere { plug() }
    }

    func unplug() {
        isPowered = false
        channel?.end()
        if let virtual { air.detach(virtual.controller) }
        virtual = nil
    }

    private func sleptOrWoke() {
        if let asleepSince { microsecondsAsleep += now.microseconds(since: asleepSince) }
        asleepSince = isAsleep ? now : nil
    }
}

extension EnduranceWorld: AdapterEnvironment {
    public var isStopWanted: Bool { stopWantedAt != nil }

    public func open() throws(AdapterFault) {
        guard let virtual else { throw AdapterFault(.adapterMissing, "there is no hci0") }
        if isBusy { throw AdapterFault(.adapterBusy, "hci0 is in use") }
        if isBlocked { throw AdapterFault(.rfkill, "hci0 is switched off by rfkill") }
        isPowered = true
        channel = WorldChannel(virtual, self)
    }

    public func close() {
        channel?.end()
        channel = nil
    }

    public var session: (any AdapterSession)? { beacon }

    public func startSession() throws(SessionError) -> any AdapterSession {
        guard let channel else { throw .ended(.adapterGone, "the adapter is closed") }
        let host = HCIHost(channel: channel)
        let allocation = try SetAllocation([source(minor)], on: capabilities(host), isExclusive: false)
        if let beacon {
            try beacon.rearm(on: host, allocation: allocation)
            return beacon
        }
        let first = BeaconSession(host: host, allocation: allocation, randomness: SplitMix64(seed: 1))
        try first.start()
        beacon = first
        return first
    }

    public func changeOver() throws(SessionError) -> any AdapterSession {
        guard let beacon else { throw .ended(.adapterGone, "the adapter is closed") }
        let capabilities = beacon.allocation.capabilities
        try beacon.replace(with: SetAllocation([source(nextMinor)], on: capabilities, isExclusive: false))
        return beacon
    }

    private func capabilities(_ host: HCIHost) throws(SessionError) -> ControllerCapabilities {
        do throws(HCICommandError) {
            return try ControllerCapabilities.read(from: host, isExclusive: false)
        } catch {
            throw .command(error, remedy: nil)
        }
    }

    private func source(_ minor: UInt16) -> PayloadSource {
        PayloadSource(
            Advertisement(
                content: .iBeacon(uuid: FixedOctets(repeating: 0xAB), major: 1, minor: minor, flags: .beacon),
                interval: AdvertisingInterval(rawValue: intervalUnits),
                measuredPower: .atOneMeter(MeasuredPowerAtOneMeter(octet: 0xC5)),
                address: .staticRandom(DeviceAddress.staticRandom(from: FixedOctets(repeating: 0x5A)))))
    }

    public func readProfile() -> Supervisor.Input {
        guard case .success(let minor) = profile else { return .reloadBad("it makes no sense") }
        nextMinor = minor
        return .reloadGood(adapter: "hci0")
    }

    public func adoptProfile() { minor = nextMinor }

    public func explain(_ error: HCIChannelError) -> AdapterFault {
        if virtual == nil { return AdapterFault(.adapterGone, "hci0 was unplugged") }
        if !isPowered { return AdapterFault(.poweredDown, "hci0 was powered down") }
        return AdapterFault(.controllerReset, "hci0 was reset")
    }

    public func log(_ priority: Supervisor.LogPriority, _ text: String) {
        if text.hasPrefix("back on the air") { returns += 1 }
    }

    public func notify(_ notice: Supervisor.Notice) {
        switch notice {
        case .ready:
            readies += 1
            if supervisor?.hasBeenOnAir == false { complaints.append("ready before the beacon is on the air") }
        case .watchdog:
            // The longest action is to read a controller that does not answer, after an answer that came in time.
            if now.microseconds(since: lastFed) > 2 * pacing.verification {
                complaints.append("the watchdog starved for \(now.microseconds(since: lastFed) / 1000) ms")
            }
            lastFed = now
        case .reloading: reloads += 1
        case .stopping, .status: break
        }
    }
}
