internal import Advertiser
internal import HCI
internal import HCITransports
internal import LinuxHost

/// Listens on the monitor channel for others who undo what is on the air. Without CAP_NET_RAW it hears nothing.
final class ForeignWatch {
    private let monitor: MonitorSocket?
    private var activity: ForeignActivity

    init(index: UInt16, _ watched: ForeignActivity.Watched) {
        monitor = try? MonitorSocket()
        activity = ForeignActivity(
            index: index, watching: watched, ownProgram: Files.firstLine("/proc/self/comm") ?? "pharos")
    }

    /// Announces a message of ours, before it is sent.
    func sent(_ packet: ManagementPacket) {
        if monitor != nil { activity.sent(packet) }
    }

    /// Waits until one of `others` or the monitor channel has something to read, or until `deadline`.
    func wait(_ others: [Descriptor], until deadline: HCIInstant) throws(SystemError) {
        let descriptors = others + [monitor?.descriptor].compactMap { $0 }
        let wake = min(deadline, activity.wakeTime ?? deadline)
        _ = try Poller.wait(descriptors.map { Poller.Interest($0, .read) }, until: wake.nanoseconds)
    }

    /// What has happened since the last call. Returns at once.
    func causes() throws(HCIChannelError) -> [ForeignActivity.Cause] {
        guard let monitor else { return [] }
        var causes: [ForeignActivity.Cause] = []
        while let packet = try monitor.receive(until: monitor.now) {
            if let cause = activity.receive(packet, at: monitor.now) { causes.append(cause) }
        }
        if let cause = activity.expire(at: monitor.now) { causes.append(cause) }
        return causes
    }
}
