internal import Advertiser
internal import HCI
internal import HCITransports
internal import LinuxHost

/// Something beside the adapter that tells what happens to it.
protocol ServiceEventSource: AnyObject {
    var descriptor: Descriptor { get }
    /// What has happened since it was last asked.
    func take() -> [Supervisor.Input]
    /// When to ask although nothing can be read; `nil` for never.
    var nextWakeUp: HCIInstant? { get }
}

extension ServiceEventSource {
    var nextWakeUp: HCIInstant? { nil }
}

/// What the kernel's management tells of adapters that come, go, and lose their power. Open to everybody.
final class AdapterEvents: ServiceEventSource {
    let descriptor: Descriptor
    private let socket: ManagementSocket
    private unowned let finder: AdapterFinder
    private static let messagesInATurn = 64

    init(_ finder: AdapterFinder) throws(TransportError) {
        socket = try ManagementSocket()
        descriptor = socket.descriptor
        self.finder = finder
    }

    func take() -> [Supervisor.Input] {
        var inputs: [Supervisor.Input] = []
        for _ in 0..<Self.messagesInATurn {
            guard let packet = try? socket.receive(until: socket.now) else { break }
            if let input = input(ManagementEvent(packet)) { inputs.append(input) }
        }
        return inputs
    }

    private func input(_ event: ManagementEvent) -> Supervisor.Input? {
        if case .indexAdded = event.content { return .adapterArrived }
        guard event.index == finder.indexInUse else { return nil }
        let name = "hci\(event.index)"
        switch event.content {
        // The user channel takes the adapter away from the kernel's list: its own socket tells when it is gone.
        case .indexRemoved where !finder.isUserChannelOpen:
            return .failed(.adapterGone, "\(name): the adapter was unplugged, or taken by another program")
        case .newSettings(let settings) where !settings.contains(.powered):
            return .failed(.poweredDown, "\(name): the adapter was powered down")
        case .controllerSuspend: return .failed(.suspended, "the machine goes to sleep")
        case .controllerResume: return .resumed
        default: return nil
        }
    }
}

/// What /dev/rfkill tells of our adapter.
final class RFKillEvents: ServiceEventSource {
    let descriptor: Descriptor
    private let rfkill: RFKill
    private unowned let finder: AdapterFinder
    /// Names of switches by number: one that is being removed has none any more.
    private var names: [UInt32: String] = [:]

    init(_ finder: AdapterFinder) throws(SystemError) {
        rfkill = try RFKill()
        descriptor = rfkill.descriptor
        self.finder = finder
    }

    func take() -> [Supervisor.Input] {
        rfkill.changes().compactMap(input)
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

/// Tells when the machine has slept, and when the wall clock was set.
final class ClockEvents: ServiceEventSource {
    let descriptor: Descriptor
    private let watch: ClockChangeDescriptor
    private var detector = SuspendDetector(.now())
    private let onChange: () -> Void

    init(onChange: @escaping () -> Void) throws(SystemError) {
        watch = try ClockChangeDescriptor()
        descriptor = watch.descriptor
        self.onChange = onChange
    }

    func take() -> [Supervisor.Input] {
        guard (try? watch.take()) == true else { return [] }
        onChange()
        return detector.sleep(until: .now()) == nil ? [] : [.resumed]
    }
}

/// What is told of the clock of ephemeral ids, and when the wall clock is looked at again.
struct EIDClockWatch {
    /// By how many seconds the counter is ahead of a wall clock that nobody vouches for, negative where it is behind;
    /// `nil` where they agree.
    private(set) var ahead: Int?
    /// When the wall clock is looked at again, in nanoseconds of the monotonic clock; `nil` while they agree: setting the
    /// wall clock is heard.
    private(set) var nextLook: UInt64?

    /// One minute, in nanoseconds: nobody tells when a time server has been heard.
    private static let pause: UInt64 = 60_000_000_000

    func isDue(at now: UInt64) -> Bool { nextLook.map { $0 <= now } ?? false }

    /// Takes what came of a look at the wall clock. Returns what is to be said, if it is news.
    mutating func note(_ correction: EIDClock.Correction, at now: UInt64) -> (Supervisor.LogPriority, String)? {
        let before = ahead
        switch correction {
        case .none, .advanced:
            ahead = nil
            nextLook = nil
            return before.map { _ in (.notice, "the clock of ephemeral ids and the wall clock agree again") }
        case .setBack(let seconds):
            ahead = nil
            nextLook = nil
            return (
                .notice,
                "\(StatusText.eidClock(ahead: seconds)), which is known to be right: it is set back, and ids turn over"
            )
        case .doubted(let seconds):
            nextLook = now + Self.pause
            // They run at one pace: a second more or less is no news.
            if let before, abs(before - seconds) < 60 { return nil }
            ahead = seconds
            return (
                .warning,
                StatusText.eidClock(ahead: seconds)
                    + ", and it is not known which of them is right, so ids do not change; with NTP "
                    + "(`sudo timedatectl set-ntp true`) the clock of ephemeral ids is corrected automatically"
            )
        }
    }
}
