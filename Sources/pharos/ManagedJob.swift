internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost

/// `advertise --adapter hciN:mgmt`: through the kernel's advertising manager, beside what other programs send.
struct ManagedJob {
    struct Frame {
        let source: PayloadSource
        let interval: RequestedInterval
    }

    let name: String
    let frames: [Frame]
    let index: UInt16
    let options: OnAirOptions

    func run() throws {
        guard options.capture == nil else {
            throw Failure(
                .usage,
                "--capture: with hci\(index):mgmt the kernel sends the HCI packets; `btmon -w FILE` captures them")
        }
        if options.dryRun { return try ManagedDryRun(job: self).run() }
        let channel = try ManagementSocket("hci\(index):mgmt", interruption: try SignalDescriptor())
        let host = ManagementHost(channel: channel)
        do {
            let adapter = try ManagedAdapter(host, index: index)
            defer { adapter.restore() }
            try advertise(adapter)
        } catch let error as AdvertisingError where error.isInterruption {
            // A signal during set-up or in the middle of a command is an ordinary end.
            return
        }
    }

    private func advertise(_ adapter: ManagedAdapter) throws {
        let plan = try ManagedPlan(frames.map(\.source.advertisement), on: adapter.capabilities)
        for warning in plan.warnings { Terminal.writeError("pharos: warning: \(warning)\n") }
        let session = ManagedSession(host: adapter.host, plan: plan, sources: frames.map(\.source))
        let view = ManagedView(name: name, frames: frames, adapter: adapter.capabilities, options: options)
        try session.start()
        do {
            view.onAir(session)
            try keepOnAir(session, adapter.host, view)
        } catch {
            try? session.stop()
            throw error
        }
        try session.stop()
        view.offAir(session)
    }

    /// Until the duration is over or a signal comes.
    private func keepOnAir(
        _ session: ManagedSession, _ host: ManagementHost, _ view: ManagedView
    ) throws(AdvertisingError) {
        guard let since = session.onAirSince else { return }
        let end = options.durationS.map { since.advanced(byMicroseconds: $0) } ?? .distantFuture
        do throws(AdvertisingError) {
            while host.now < end {
                try session.run(until: min(host.now.advanced(byMicroseconds: view.microsecondsBetweenUpdates), end))
                view.update(session)
            }
        } catch {
            guard error.isInterruption else { throw error }
        }
    }
}
