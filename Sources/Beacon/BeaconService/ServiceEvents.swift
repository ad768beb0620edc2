internal import Advertiser
internal import HCI
internal import HCITransports
internal import LinuxHost

/// An event that does not come from the adapter's channel.
enum ServiceEvent {
    /// An input for the supervisor.
    case input(Supervisor.Input)
    /// Another program has changed the random address of the controller.
    case addressChanged
    /// The wall clock was set.
    case clockSet
}

/// A descriptor that reports what happens to the adapter or the machine.
protocol ServiceEventSource: AnyObject {
    var descriptor: Descriptor { get }
    /// The events since the last call.
    func take() -> [ServiceEvent]
    /// The time at which ``take()`` returns an event even if the descriptor has no data; `nil` for never.
    var nextWakeUp: HCIInstant? { get }
}

extension ServiceEventSource {
    var nextWakeUp: HCIInstant? { nil }
}

/// The kernel's management events of adapters that are added, removed or powered down. Needs no capability.
final class AdapterEvents: ServiceEventSource {
    let descriptor: Descriptor
    private let socket: ManagementSocket
    private unowned let finder: AdapterFinder
    private static let messagesPerCall = 64

    init(_ finder: AdapterFinder) throws(TransportError) {
        socket = try ManagementSocket()
        descriptor = socket.descriptor
        self.finder = finder
    }

    func take() -> [ServiceEvent] {
        var events: [ServiceEvent] = []
        for _ in 0..<Self.messagesPerCall {
            guard let packet = try? socket.receive(until: socket.now) else { break }
            if let input = input(ManagementEvent(packet)) { events.append(.input(input)) }
        }
        return events
    }

    private func input(_ event: ManagementEvent) -> Supervisor.Input? {
        if case .indexAdded = event.content { return .adapterArrived }
        guard event.index == finder.indexInUse else { return nil }
        let name = finder.nameInUse
        switch event.content {
        // If this program opens the user channel, the kernel removes the adapter from its list. The channel's own
        // socket reports when the adapter is unplugged.
        case .indexRemoved where !finder.isUserChannelOpen:
            return .failed(.adapterGone, "\(name): the adapter was unplugged, or taken by another program")
        case .newSettings(let settings) where !settings.contains(.powered):
            return .failed(.poweredDown, "\(name): the adapter was powered down")
        // The kernel's own advertisement, which keeps all other advertisements off the air, may have ended.
        case .newSettings(let settings) where !settings.contains(.advertising): return .radioFreed
        case .controllerSuspend: return .failed(.suspended, "the machine goes to sleep")
        case .controllerResume: return .resumed
        default: return nil
        }
    }
}

/// The events of /dev/rfkill for the adapter in use.
final class RFKillEvents: ServiceEventSource {
    let descriptor: Descriptor
    private let rfkill: RFKill
    private unowned let finder: AdapterFinder
    /// The switches' names by number: a switch that is being removed has no name any more.
    private var names: [UInt32: String] = [:]

    init(_ finder: AdapterFinder) throws(SystemError) {
        rfkill = try RFKill()
        descriptor = rfkill.descriptor
        self.finder = finder
    }

    func take() -> [ServiceEvent] {
        rfkill.changes().compactMap(input).map(ServiceEvent.input)
    }

    private func input(_ event: RFKillEvent) -> Supervisor.Input? {
        if event.operation == .remove {
            names[event.number] = nil
            return nil
        }
        if names[event.number] == nil {
            names[event.number] = RFKill.switches().first { $0.number == event.number }?.adapter
        }
        guard let name = names[event.number], name == finder.indexInUse.map({ "hci\($0)" }) else { return nil }
        guard event.isSoftBlocked || event.isHardBlocked else { return .rfkillUnblocked }
        let remedy = event.isHardBlocked ? "the machine's radio switch turns it on" : "rfkill unblock bluetooth"
        return .failed(.rfkill, "\(name): rfkill switched the radio off (\(remedy))")
    }
}

/// The packets of the kernel's monitor channel, from its socket or from a test.
protocol MonitorChannel: AnyObject {
    var descriptor: Descriptor { get }
    var now: HCIInstant { get }
    /// Waits for the next packet until `deadline`, and returns `nil` at the deadline.
    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> MonitorPacket?
}

extension MonitorSocket: MonitorChannel {}

/// Reports changes of this program's advertisements by other programs and the kernel, from the monitor channel. Needs
/// CAP_NET_RAW.
final class ForeignEvents: ServiceEventSource {
    let descriptor: Descriptor
    private let monitor: any MonitorChannel
    private unowned let finder: AdapterFinder
    private var activity: ForeignActivity
    private var isWatching = false
    /// The findings of ``obstacle(until:)``, for the next call of ``take()``.
    private var unreadFindings: [ForeignActivity.Finding] = []
    private static let messagesPerCall = 256

    convenience init(_ finder: AdapterFinder) throws(TransportError) { self.init(finder, try MonitorSocket()) }

    init(_ finder: AdapterFinder, _ monitor: any MonitorChannel) {
        self.monitor = monitor
        descriptor = monitor.descriptor
        self.finder = finder
        // The monitor channel lists the open sockets only when it is opened, so it is opened before the adapter is
        // known.
        activity = ForeignActivity(
            index: ManagementPacket.noController, watching: .legacy,
            ownProgram: Files.firstLine("/proc/self/comm") ?? "pharos")
    }

    /// Announces an HCI command of this program.
    func announce(_ packet: HCIPacket) { activity.announce(packet) }

    /// Announces a management command of this program.
    func announce(_ packet: ManagementPacket) { activity.announce(packet) }

    /// Follows the adapter hci`index`. Call it before the first command.
    func follow(_ index: UInt16) { activity.follow(index) }

    /// Drops all events that have arrived.
    func skip() { _ = take() }

    /// Reports changes of the advertisements in `watched` from now on.
    func watch(_ watched: ForeignActivity.Watched) {
        isWatching = true
        activity.watch(watched)
    }

    /// Reports nothing from now on.
    func ignore() { isWatching = false }

    var nextWakeUp: HCIInstant? {
        if !unreadFindings.isEmpty { return .distantPast }
        return isWatching ? activity.wakeTime : nil
    }

    func take() -> [ServiceEvent] {
        findings().map { finding in
            switch finding {
            case .disturbance(let cause): .input(input(cause))
            case .addressChanged: .addressChanged
            case .radioFreed: .input(.radioFreed)
            }
        }
    }

    /// The disturbances since the last call.
    func causes() -> [ForeignActivity.Cause] {
        findings().compactMap { if case .disturbance(let cause) = $0 { cause } else { nil } }
    }

    private func findings() -> [ForeignActivity.Finding] {
        var findings = unreadFindings
        unreadFindings = []
        for _ in 0..<Self.messagesPerCall {
            guard let packet = try? monitor.receive(until: monitor.now) else { break }
            if let finding = finding(packet) { findings.append(finding) }
        }
        if let cause = activity.expire(at: monitor.now), isWatching { findings.append(.disturbance(cause)) }
        return findings
    }

    /// Waits until the monitor channel shows that the controller advertises.
    ///
    /// - Returns: The reason, in one sentence, why the controller does not advertise; `nil` if it does, or if nothing
    ///   has shown that it does not.
    func obstacle(until deadline: HCIInstant) -> String? {
        for _ in 0..<Self.messagesPerCall {
            // Wait only if the packets that have arrived show that advertising is off.
            let end = activity.isAdvertising == false ? deadline : monitor.now
            guard let packet = try? monitor.receive(until: end) else { break }
            if let finding = finding(packet) { unreadFindings.append(finding) }
        }
        guard activity.isAdvertising == false else { return nil }
        let scanner = activity.scanningProgram ?? "another program"
        return
            "\(finder.nameInUse): off the air, because the kernel has accepted the advertisement, but keeps advertising "
            + "turned off" + (activity.isScanning ? " while \(scanner) scans" : "")
    }

    /// Returns the meaning of a packet for the watched advertisements. While no advertisements are watched, returns
    /// only the end of a scan or another change that frees the radio.
    private func finding(_ packet: MonitorPacket) -> ForeignActivity.Finding? {
        guard let finding = activity.receive(packet, at: monitor.now) else { return nil }
        return isWatching || finding == .radioFreed ? finding : nil
    }

    private func input(_ cause: ForeignActivity.Cause) -> Supervisor.Input {
        let text = "\(finder.nameInUse): \(cause)"
        return switch cause.kind {
        case .advertisingDisabled, .advertisementRemoved: .failed(.foreignDisabled, text)
        case .dataChanged, .scanResponseChanged, .parametersChanged, .addressChanged: .failed(.foreignChanged, text)
        case .controllerReset: .failed(.controllerReset, text)
        case .poweredDown: .failed(.poweredDown, text)
        case .unplugged: .failed(.adapterGone, text)
        case .takenOver: .failed(.adapterBusy, text)
        }
    }
}

/// Reports that the machine has slept, and that the wall clock was set.
final class ClockEvents: ServiceEventSource {
    let descriptor: Descriptor
    private let watch: ClockChangeDescriptor
    private var detector = SuspendDetector(.now())

    init() throws(SystemError) {
        watch = try ClockChangeDescriptor()
        descriptor = watch.descriptor
    }

    func take() -> [ServiceEvent] {
        guard (try? watch.take()) == true else { return [] }
        return [.clockSet] + (detector.sleep(until: .now()) == nil ? [] : [.input(.resumed)])
    }
}

/// Decides when the wall clock is read again, and which differences from the clock of ephemeral ids are logged.
struct EIDClockWatch {
    /// Seconds by which the clock of ephemeral ids is ahead of a wall clock that may be wrong, negative if it is
    /// behind; `nil` if they agree.
    private(set) var ahead: Int?
    /// The time at which the wall clock is read again, in nanoseconds of the monotonic clock; `nil` if the clocks
    /// agree. In that case no reading is needed, because an event reports when the wall clock is set.
    private(set) var nextReading: UInt64?

    /// The time between two readings of the wall clock while the clocks differ: one minute, in nanoseconds. The kernel
    /// sends no event when the wall clock becomes synchronised.
    private static let readingInterval: UInt64 = 60_000_000_000

    func isDue(at now: UInt64) -> Bool { nextReading.map { $0 <= now } ?? false }

    /// Notes the result of a comparison. Returns a log line if the result is new.
    mutating func note(_ correction: EIDClock.Correction, at now: UInt64) -> (Supervisor.LogPriority, String)? {
        let previousAhead = ahead
        switch correction {
        case .none, .advanced:
            ahead = nil
            nextReading = nil
            return previousAhead.map { _ in (.notice, "the clock of ephemeral ids and the wall clock agree again") }
        case .setBack(let seconds):
            ahead = nil
            nextReading = nil
            return (
                .notice,
                "\(StatusText.eidClock(ahead: seconds)), which is synchronised: the clock of ephemeral ids is set "
                    + "back, and the ids change now"
            )
        case .doubted(let seconds):
            nextReading = now + Self.readingInterval
            // A change of the difference by less than 60 s is not logged, because both clocks run at the same speed.
            if let previousAhead, abs(previousAhead - seconds) < 60 { return nil }
            ahead = seconds
            return (
                .warning,
                StatusText.eidClock(ahead: seconds)
                    + ", and it is not known which of the two clocks is right, so the ids do not change; with NTP "
                    + "(`sudo timedatectl set-ntp true`) the clock of ephemeral ids is corrected automatically"
            )
        }
    }
}
