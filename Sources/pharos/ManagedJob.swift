internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost

/// `advertise --adapter hciN:mgmt`: through the kernel's advertising manager, beside what other programs send.
struct ManagedJob {
    let name: String
    let frames: [WantedFrame]
    /// What the beacon's own clock shows now.
    let eidTime: UInt32
    /// What telemetry starts to count from.
    let counters: TelemetryCounters
    let index: UInt16
    let options: OnAirOptions
    let telemetry: ServiceSensors?

    func run() throws {
        guard options.capture == nil else {
            throw Failure(
                .usage,
                "--capture: with hci\(index):mgmt the kernel sends the HCI packets; `btmon -w FILE` captures them")
        }
        if options.dryRun { return try ManagedDryRun(job: self).run() }
        let signals = try SignalDescriptor()
        let socket = try ManagementSocket("hci\(index):mgmt", interruption: signals)
        do {
            let adapter = try ManagedAdapter(ManagementHost(channel: socket), index: index)
            defer { adapter.restore() }
            try advertise(adapter, [socket.descriptor, signals.descriptor])
        } catch let error as AdvertisingError where error.isInterruption {
            // A signal during set-up or in the middle of a command is an ordinary end.
            return
        }
    }

    /// - Parameter waking: what ends a wait, beside the monitor channel.
    private func advertise(_ adapter: ManagedAdapter, _ waking: [Descriptor]) throws {
        let plan = try ManagedPlan(frames.map(\.source.advertisement), on: adapter.capabilities)
        for warning in plan.warnings { Terminal.writeError("pharos: warning: \(warning)\n") }
        let session = ManagedSession(
            host: adapter.host, plan: plan, sources: frames.map(\.source),
            clock: EIDClock(saved: eidTime, at: adapter.host.now), countersAtStart: counters, telemetry: telemetry)
        let view = advertisingView(
            OnAirFacts(name: name, adapter: adapter.capabilities.name, asked: frames.map(\.interval)), options)
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
        let end = options.durationS.map { since.advanced(byMicroseconds: $0) } ?? .distantFuture
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
    private func goOn(_ session: ManagedSession) throws(AdvertisingError) -> Bool {
        do throws(AdvertisingError) {
            try session.run(until: session.now)
            return true
        } catch {
            guard error.isInterruption else { throw error }
            return false
        }
    }

    /// Says what others did.
    private func tellCauses(_ watch: ForeignWatch) throws(AdvertisingError) -> [ForeignActivity.Cause] {
        do throws(HCIChannelError) {
            let causes = try watch.causes()
            for cause in causes { Terminal.writeError("pharos: hci\(index):mgmt: \(cause)\n") }
            return causes
        } catch {
            throw .management(.channel(error))
        }
    }
}
