internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import VirtualController

/// One of the advertisements to send, and its interval as somebody asked for it.
struct WantedFrame {
    let source: PayloadSource
    let interval: RequestedInterval
}

/// `advertise`: opens the adapter, starts the session, shows what is on the air, and leaves everything as it was.
struct AdvertisingJob {
    let name: String
    let frames: [WantedFrame]
    /// What the beacon's own clock shows now.
    let eidTime: UInt32
    /// What telemetry starts to count from.
    var counters = TelemetryCounters()
    /// As named; `nil` takes the default.
    let adapter: AdapterName?
    let options: OnAirOptions
    /// The box's sensors; without them their values are sent as unknown.
    var telemetry: ServiceSensors?

    func run() throws {
        if case .managed(let index) = adapter {
            return try ManagedJob(
                name: name, frames: frames, eidTime: eidTime, counters: counters, index: index, options: options,
                telemetry: telemetry
            ).run()
        }
        if options.dryRun { return try dryRun.run() }
        let adapter = try adapter ?? DefaultAdapter.find()
        // Before the adapter is touched: a file that cannot be written must not leave it raised.
        let capture = try options.capture.map(CaptureFile.init)
        let signals = try SignalDescriptor()
        let air = adapter == .virtual ? try VirtualAirServer(VirtualAirConfiguration(model: options.like)) : nil
        let opened = try OpenAdapter(adapter, interruption: signals, air: air)
        do {
            try advertise(opened, air, capture)
        } catch {
            try? opened.close()
            throw error
        }
        try opened.close()
    }

    /// Where no adapter is named a raw hciN would be taken.
    private var dryRun: DryRun {
        let isShared =
            switch adapter {
            case nil, .raw: true
            default: false
            }
        return DryRun(job: self, model: options.like, json: options.json, isExclusive: !isShared)
    }

    private func advertise(_ opened: OpenAdapter, _ air: VirtualAirServer?, _ capture: CaptureFile?) throws {
        let host = HCIHost(channel: opened.channel)
        capture?.record(host)
        do {
            let capabilities = try ControllerCapabilities.read(from: host, isExclusive: opened.isExclusive)
            let session = try makeSession(host, capabilities, isExclusive: opened.isExclusive)
            let listener = try air.map { try VirtualListener($0) }
            try session.start()
            let view = advertisingView(
                OnAirFacts(name: name, adapter: opened.name.description, asked: frames.map(\.interval)), options)
            do {
                view.onAir(session)
                try keepOnAir(session, host, view, listener)
            } catch {
                try? session.stop()
                throw error
            }
            try session.stop()
            view.offAir(session, listener?.heard)
        } catch let error as AdvertisingError {
            // A signal during set-up or in the middle of a command is an ordinary end.
            if case .command(.channel(.interrupted), _) = error { return }
            throw error
        } catch HCICommandError.channel(.interrupted) {
            return
        }
    }

    func makeSession(
        _ host: HCIHost, _ capabilities: ControllerCapabilities, isExclusive: Bool
    ) throws(AdvertisingError) -> BeaconSession {
        let plan = try BeaconPlan(frames.map(\.source), on: capabilities, isExclusive: isExclusive)
        return BeaconSession(
            host: host, plan: plan, clock: EIDClock(saved: eidTime, at: host.now), countersAtStart: counters,
            // What a box measures would make each dry run another.
            telemetry: options.dryRun ? nil : telemetry)
    }

    /// Until the duration is over or a signal comes.
    private func keepOnAir(
        _ session: BeaconSession, _ host: HCIHost, _ view: any AdvertisingView, _ listener: VirtualListener?
    ) throws {
        guard let since = session.onAirSince else { return }
        let end = options.durationS.map { since.advanced(byMicroseconds: $0) } ?? .distantFuture
        do {
            while host.now < end {
                let tick = host.now.advanced(byMicroseconds: view.microsecondsBetweenUpdates ?? 1_000_000)
                try session.run(until: min(tick, end))
                try listener?.listen()
                view.update(session, listener?.heard)
            }
        } catch AdvertisingError.command(.channel(.interrupted), _) {
            return
        }
    }
}

/// A btsnoop file that grows while packets pass.
struct CaptureFile {
    private let file: OutputFile
    private let path: String

    /// Creates the file. Nothing is recorded yet, so that this can fail before an adapter is touched.
    init(_ path: String) throws {
        self.path = path
        do throws(SystemError) {
            file = try OutputFile(replacing: path)
            try file.append(BTSnoopWriter.header)
        } catch {
            let reason = error.errno == SystemError.noReader ? "nobody reads this pipe" : error.text
            throw Failure(.osError, "--capture \(path): it cannot be written: \(reason)")
        }
    }

    /// Writes each packet that `host` sends or receives. A disk that fills up ends the capture, not the beacon.
    func record(_ host: HCIHost) {
        let (file, path) = (file, path)
        host.observer = { [weak host] packet, isFromController, _ in
            do throws(SystemError) {
                try file.append(
                    BTSnoopWriter.record(
                        packet, isFromController: isFromController, unixMicroseconds: WallClock.microseconds()))
            } catch {
                // Half a record may stand at the end: whatever followed it could not be read.
                host?.observer = nil
                Terminal.writeError("pharos: --capture \(path): the capture ends here: \(error.text)\n")
            }
        }
    }
}
