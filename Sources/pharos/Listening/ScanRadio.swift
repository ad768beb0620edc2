internal import Advertiser
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import Listener
internal import Sightings
internal import VirtualController

/// A radio as a source of packets: listens until it is told to stop, and comes back after everything that takes the
/// adapter away once it has listened.
final class ScanRadio: ScanSurroundings {
    private let options: ScanSourceOptions
    private let settings: ScanSettings
    private let engine: ScanEngine
    private let signals: SignalDescriptor
    private let recording: ScanRecording?
    private let finder = AdapterFinder()
    private let known: KnownBeacons
    private var opened: OpenAdapter?
    private var air: VirtualAirServer?
    private var sample: ScanSample?
    /// What kept the first attempt from listening: it ends the command.
    private var refusal: (any Error)?
    private var hasListened = false

    init(_ options: ScanSourceOptions, _ known: KnownBeacons, _ engine: ScanEngine) throws {
        self.options = options
        self.engine = engine
        self.known = known
        settings = try options.settings()
        // Before an adapter is raised: a file that cannot be written must not leave it raised.
        recording = try options.record.map(ScanRecording.init)
        signals = try SignalDescriptor()
    }

    func run() throws {
        let keeper = ScanKeeper(adapter: options.adapter?.description ?? "the adapter", in: self)
        let end = options.durationS.map { now.advanced(byMicroseconds: $0) } ?? .distantFuture
        keeper.wake()
        if keeper.isListening { engine.begin(at: heard(now)) }
        while keeper.ended == nil, !Terminal.outputIsGone {
            let next =
                [keeper.nextWakeUp, engine.hearing.nextWakeUp.map { HCIInstant(nanoseconds: $0.nanoseconds) }]
                .compactMap { $0 }.min() ?? end
            let tick = now.advanced(byMicroseconds: engine.output.repaintMicroseconds)
            let deadline = min(next, end, tick)
            if keeper.isListening { keeper.receive(until: deadline) } else { try wait(until: deadline, keeper) }
            keeper.wake()
            note(keeper.state)
            engine.advance(to: heard(now))
            engine.output.repaint(engine.hearing.table, at: heard(now))
            engine.output.flush()
            if now >= end { keeper.handle(.stop) }
        }
        if keeper.ended == false, let refusal { throw refusal }
        engine.finish(at: heard(now))
        try? opened?.close()
    }

    /// Nothing to wait for but time and a signal.
    private func wait(until deadline: HCIInstant, _ keeper: ScanKeeper) throws {
        let ready = try Poller.wait([.init(signals.descriptor, .read)], until: deadline.nanoseconds)
        if ready.contains(true), signals.take() != nil { keeper.handle(.stop) }
    }

    private var stated: ScanKeeper.State?

    /// Silence counts only while somebody listens.
    private func note(_ state: ScanKeeper.State) {
        guard state != stated else { return }
        let isHearing = state == .listening || state == .foreign
        if isHearing { engine.becomeHearing(at: heard(now)) } else { engine.becomeDeaf(at: heard(now)) }
        if let stated, stated != .starting, state != .off { engine.output.show(state, at: heard(now)) }
        stated = state
    }

    private func heard(_ instant: HCIInstant) -> HeardInstant { HeardInstant(nanoseconds: instant.nanoseconds) }

    var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }
    var isStopWanted: Bool { signals.takenAt != nil }

    func open() throws(BeaconFault) {
        do {
            let name = try finder.find(options.adapter)
            if name == .virtual, air == nil {
                air = try VirtualAirServer(VirtualAirConfiguration(model: .raspberryPi))
            }
            opened = try OpenAdapter(name, interruption: signals, air: air)
            engine.output.adapter = name.description
            if let air, sample == nil { sample = try ScanSample(air, known.profiles) }
        } catch {
            throw fault(error)
        }
    }

    /// What has never listened ends with its error; what has is waited for.
    private func fault(_ error: any Error) -> BeaconFault {
        let fault = AdapterFinder.fault(error)
        guard !hasListened else { return fault }
        refusal = error
        if let error = error as? TransportError, error.reason == .notPermitted(.netRaw) {
            refusal = Failure(
                .notPermitted,
                "\(error.adapter): listening needs CAP_NET_RAW: without it the kernel keeps all reports back, silently "
                    + "(run it with sudo)")
        }
        return BeaconFault(fault.cause, fault.text, isPermanent: true)
    }

    func close() {
        opened = nil
    }

    func makeSession(after previous: ScanSession?) throws(ScanError) -> ScanSession {
        guard let opened else { throw .command(.channel(.gone("the adapter is closed"))) }
        let host = HCIHost(channel: opened.channel)
        let capabilities: ControllerCapabilities
        do throws(HCICommandError) {
            capabilities = try ControllerCapabilities.read(from: host, isExclusive: opened.isExclusive)
        } catch {
            if !hasListened { refusal = error }
            throw .command(error)
        }
        let session = ScanSession(
            host: host, capabilities, settings, isExclusive: opened.isExclusive, after: previous)
        let (engine, recording) = (engine, recording)
        session.onPacket = { packet, isFromController, time in
            recording?.append(packet, isFromController: isFromController)
            if isFromController { engine.take(packet, at: HeardInstant(nanoseconds: time.nanoseconds)) }
        }
        return session
    }

    func explain(_ error: HCIChannelError) -> BeaconFault {
        let fault = finder.explain(error)
        if !hasListened { refusal = refusal ?? HCICommandError.channel(error) }
        return fault
    }

    func log(_ priority: Supervisor.LogPriority, _ text: String) {
        // A signal in the middle of a start is an ordinary end.
        if !hasListened, priority != .notice { return }
        if !Terminal.outputIsTerminal || priority != .notice { Terminal.writeError("pharos: \(text)\n") }
    }

    func notify(_ notice: Supervisor.Notice) {
        if notice == .ready { hasListened = true }
    }
}

/// A btsnoop file that grows while packets pass. A disk that fills up ends it, not the listening.
private final class ScanRecording {
    private let file: OutputFile
    private let path: String
    private var hasEnded = false

    init(_ path: String) throws {
        self.path = path
        do throws(SystemError) {
            file = try OutputFile(replacing: path)
            try file.append(BTSnoopWriter.header)
        } catch {
            throw Failure(.osError, "--record \(path): it cannot be written: \(error.text)")
        }
    }

    func append(_ packet: HCIPacket, isFromController: Bool) {
        guard !hasEnded else { return }
        do throws(SystemError) {
            try file.append(
                BTSnoopWriter.record(
                    packet, isFromController: isFromController, unixMicroseconds: WallClock.microseconds()))
        } catch {
            hasEnded = true
            Terminal.writeError("pharos: --record \(path): the recording ends here: \(error.text)\n")
        }
    }
}

/// Something to hear on the virtual adapter: a second controller that sends profiles, or an iBeacon.
final class ScanSample {
    private let session: BeaconSession

    init(_ air: VirtualAirServer, _ profiles: [LoadedProfile]) throws {
        let host = HCIHost(channel: H4Channel(try air.connect(), name: "sample"))
        let capabilities = try ControllerCapabilities.read(from: host, isExclusive: true)
        var sources: [PayloadSource] = []
        for profile in profiles {
            for advertisement in profile.advertisements {
                sources.append(PayloadSource(advertisement, identityKey: try profile.identityKey(for: advertisement)))
            }
        }
        if sources.isEmpty { sources = [PayloadSource(Self.sample)] }
        session = BeaconSession(host: host, plan: try SendingPlan(sources, on: capabilities, isExclusive: true))
        try session.start()
    }

    private static let sample = Advertisement(
        content: .iBeacon(
            uuid: FixedOctets<16>([
                0xFB, 0x0B, 0x57, 0xA2, 0x82, 0x28, 0x44, 0xCD, 0x91, 0x3A, 0x94, 0xA1, 0x22, 0xBA, 0x12, 0x06,
            ]) ?? FixedOctets(), major: 1, minor: 2, flags: .beacon),
        interval: AdvertisingInterval(rawValue: 160), measuredPower: .atOneMeter(MeasuredPowerAtOneMeter(octet: 0xC5)),
        address: .staticRandom(StaticAddress.make(name: "sample")))
}
