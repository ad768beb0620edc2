internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost

/// `advertise --adapter hciN:mgmt`: through the kernel's advertising manager, beside what other programs send.
struct ManagedJob {
    let job: AdvertisingJob
    /// N of hciN.
    let index: UInt16

    func run() throws {
        guard job.options.capture == nil else {
            throw BeaconServiceError.refused(
                .request,
                "--capture: with hci\(index):mgmt the kernel sends the HCI packets; `btmon -w FILE` captures them")
        }
        if job.options.dryRun { return try ManagedDryRun(job: job, index: index).run() }
        let signals = try SignalDescriptor()
        let socket = try ManagementSocket("hci\(index):mgmt", interruption: signals)
        do {
            let adapter = try ManagedAdapter(ManagementHost(channel: socket), index: index)
            defer { adapter.restore() }
            try advertise(adapter, [socket.descriptor, signals.descriptor])
        } catch let error as SessionError where error.isInterruption {
            // A signal during set-up or in the middle of a command is an ordinary end.
            return
        }
    }

    /// - Parameter waking: what ends a wait, beside the monitor channel.
    private func advertise(_ adapter: ManagedAdapter, _ waking: [Descriptor]) throws {
        let plan = try ManagedPlan(job.frames.map(\.source.advertisement), on: adapter.capabilities)
        for warning in plan.warnings { job.output.warn("warning: \(warning)") }
        let session = ManagedSession(
            host: adapter.host, plan: plan, sources: job.frames.map(\.source),
            clock: EIDClock(saved: job.eidTime, at: adapter.host.now), countersAtStart: job.counters,
            telemetry: job.telemetry)
        let view = job.output.view(job.facts(adapter.capabilities.name))
        let watch = ForeignWatch(index: index, .managed(instances: Set(plan.instances.map(\.number))))
        adapter.host.observer = { packet, isFromKernel in
            if !isFromKernel { watch.sent(packet) }
        }
        try session.start()
        do {
            view.onAir(session)
            try keepOnAir(session, waking, watch, view)
        } catch {
            // Who did it stands on the monitor channel, if anywhere.
            _ = try? tellCauses(watch)
            try? session.stop()
            throw error
        }
        try session.stop()
        view.offAir(session, nil)
    }

    /// Until the duration is over or a signal comes.
    private func keepOnAir(
        _ session: ManagedSession, _ waking: [Descriptor], _ watch: ForeignWatch, _ view: any AdvertisingView
    ) throws {
        guard let since = session.onAirSince else { return }
        let end = job.options.duration.map { since.advanced(byMicroseconds: $0) } ?? .distantFuture
        while session.now < end {
            let tick = view.microsecondsBetweenUpdates.map { session.now.advanced(byMicroseconds: $0) }
            let wakes = [end, session.nextWakeUp, tick].compactMap { $0 }
            try watch.wait(waking, until: wakes.min() ?? end)
            guard try goOn(session) else { return }
            let causes = try tellCauses(watch)
            if causes.contains(where: { $0.kind == .advertisingDisabled || $0.kind == .controllerReset }) {
                try session.rearm()
            }
            view.update(session, nil)
        }
    }

    /// Does what is due. Returns whether no signal came.
    private func goOn(_ session: ManagedSession) throws(SessionError) -> Bool {
        do throws(SessionError) {
            try session.run(until: session.now)
            return true
        } catch {
            guard error.isInterruption else { throw error }
            return false
        }
    }

    /// Says what others did.
    private func tellCauses(_ watch: ForeignWatch) throws(SessionError) -> [ForeignActivity.Cause] {
        do throws(HCIChannelError) {
            let causes = try watch.causes()
            for cause in causes { job.output.warn("hci\(index):mgmt: \(cause)") }
            return causes
        } catch {
            throw .management(.channel(error))
        }
    }
}
