public import Advertiser
internal import BeaconFrames
public import BluetoothTypes
public import HCI
internal import HCITransports
internal import LinuxHost
public import VirtualController

/// One of the advertisements to send, and its interval as somebody asked for it.
public struct WantedFrame {
    public let source: PayloadSource
    public let interval: RequestedInterval

    public init(source: PayloadSource, interval: RequestedInterval) {
        self.source = source
        self.interval = interval
    }
}

/// A beacon in the foreground: opens the adapter, starts the session, tells what is on the air, and leaves everything
/// as it was.
public struct AdvertisingJob {
    /// How a job is done.
    public struct Options {
        /// After so many microseconds it ends; `nil` for a signal alone.
        public var duration: Int?
        /// Sends nothing, and tells every command.
        public var dryRun = false
        /// What a dry run, or the virtual adapter, behaves like.
        public var like = VirtualControllerModel.raspberryPi
        /// The btsnoop file that gets all HCI packets.
        public var capture: String?
        /// Whether a dry run is told as JSON lines.
        public var json = false

        public init() {}
    }

    let name: String
    let frames: [WantedFrame]
    /// What the beacon's own clock shows now.
    let eidTime: UInt32
    let options: Options
    let output: any AdvertisingOutput
    /// What telemetry starts to count from.
    public var counters = TelemetryCounters()
    /// The machine's sensors; without them their values are sent as unknown.
    public var telemetry: ServiceSensors?

    /// - Parameters:
    ///   - name: The beacon's.
    ///   - frames: What to send, at least one.
    ///   - eidTime: What the beacon's own clock shows now, in seconds.
    public init(
        name: String, frames: [WantedFrame], eidTime: UInt32, options: Options, output: any AdvertisingOutput
    ) {
        self.name = name
        self.frames = frames
        self.eidTime = eidTime
        self.options = options
        self.output = output
    }

    /// Advertises until the time is over, or SIGINT, SIGTERM, SIGQUIT or SIGHUP comes.
    ///
    /// - Parameter adapter: `nil` for the first hciN with LE.
    /// - Throws: why it is not on the air, or not any more. Nothing is on the air then, and the adapter is as it was.
    public func run(on adapter: AdapterName?) throws(BeaconServiceError) {
        do { try advertise(on: adapter) } catch { throw BeaconServiceError(error) }
    }

    private func advertise(on adapter: AdapterName?) throws {
        if case .managed(let index) = adapter { return try ManagedJob(job: self, index: index).run() }
        if options.dryRun { return try dryRun(on: adapter).run() }
        let adapter = try adapter ?? DefaultAdapter.find()
        // Before the adapter is touched: a file that cannot be written must not leave it raised.
        let capture = try options.capture.map(CaptureFile.init)
        let claim = try AdapterClaim(adapter, .send, for: "pharos advertise")
        defer { withExtendedLifetime(claim) {} }
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
    private func dryRun(on adapter: AdapterName?) -> DryRun {
        let isShared =
            switch adapter {
            case nil, .raw: true
            default: false
            }
        return DryRun(job: self, isExclusive: !isShared)
    }

    /// What turning off after an error may take, in microseconds.
    private static let shutdownTimeout = 500_000

    private func advertise(_ opened: OpenAdapter, _ air: VirtualAirServer?, _ capture: CaptureFile?) throws {
        let host = HCIHost(channel: opened.channel)
        capture?.record(host, output)
        do {
            let capabilities = try ControllerCapabilities.read(from: host, isExclusive: opened.isExclusive)
            let session = try makeSession(host, capabilities, isExclusive: opened.isExclusive)
            let listener = try air.map { try VirtualListener($0) }
            try session.start()
            let view = output.view(facts(opened.name.description))
            do {
                view.onAir(session)
                try keepOnAir(session, host, view, listener)
            } catch {
                // The error is told after this: a controller that does not answer is not waited for again at length.
                try? session.stop(by: host.now.advanced(byMicroseconds: Self.shutdownTimeout))
                throw error
            }
            try session.stop()
            view.offAir(session, listener?.heard)
        } catch let error as SessionError {
            // A signal during set-up or in the middle of a command is an ordinary end.
            if case .command(.channel(.interrupted), _) = error { return }
            throw error
        } catch HCICommandError.channel(.interrupted) {
            return
        }
    }

    func facts(_ adapter: String) -> OnAirFacts {
        OnAirFacts(name: name, adapter: adapter, asked: frames.map(\.interval))
    }

    func makeSession(
        _ host: HCIHost, _ capabilities: ControllerCapabilities, isExclusive: Bool
    ) throws(SessionError) -> BeaconSession {
        let plan = try SendingPlan(frames.map(\.source), on: capabilities, isExclusive: isExclusive)
        return BeaconSession(
            host: host, plan: plan, clock: EIDClock(saved: eidTime, at: host.now), countersAtStart: counters,
            // What a machine measures would make each dry run another.
            telemetry: options.dryRun ? nil : telemetry)
    }

    /// Until the duration is over or a signal comes.
    private func keepOnAir(
        _ session: BeaconSession, _ host: HCIHost, _ view: any AdvertisingView, _ listener: VirtualListener?
    ) throws {
        guard let since = session.onAirSince else { return }
        let end = options.duration.map { since.advanced(byMicroseconds: $0) } ?? .distantFuture
        do {
            while host.now < end {
                let tick = host.now.advanced(byMicroseconds: view.microsecondsBetweenUpdates ?? 1_000_000)
                try session.run(until: min(tick, end))
                try listener?.listen()
                view.update(session, listener?.heard)
            }
        } catch SessionError.command(.channel(.interrupted), _) {
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
            let reason = error.errno == SystemError.noReader ? "no program reads this pipe" : error.text
            throw BeaconServiceError.refused(.system, "--capture \(path): it cannot be written: \(reason)")
        }
    }

    /// Writes each packet that `host` sends or receives. A disk that fills up ends the capture, not the beacon.
    func record(_ host: HCIHost, _ output: any AdvertisingOutput) {
        let (file, path) = (file, path)
        host.observer = { [weak host] packet, isFromController, _ in
            do throws(SystemError) {
                try file.append(
                    BTSnoopWriter.record(
                        packet, isFromController: isFromController, unixMicroseconds: WallClock.microseconds()))
            } catch {
                // Half a record may stand at the end: whatever followed it could not be read.
                host?.observer = nil
                output.warn("--capture \(path): the capture ends here: \(error.text)")
            }
        }
    }
}

/// Where a foreground job tells what it does.
public protocol AdvertisingOutput {
    /// What was asked for: the lines of a dry run, each with its end.
    func write(_ text: String)
    /// Something that is not as it was asked for, or that others did, in one sentence.
    func warn(_ sentence: String)
    /// Somebody who is told what happens on the air.
    func view(_ facts: OnAirFacts) -> any AdvertisingView
}

/// What does not change while the beacon is on the air.
public struct OnAirFacts {
    /// The beacon's name.
    public let name: String
    /// The adapter as it was named.
    public let adapter: String
    /// The intervals as somebody asked for them, one for each advertisement.
    public let asked: [RequestedInterval]
}

/// Somebody who is told what happens on the air, by whatever way it is sent.
public protocol AdvertisingView {
    /// How often something is drawn anew, in microseconds; `nil` for never.
    var microsecondsBetweenUpdates: Int? { get }
    /// All advertisements are on the air.
    func onAir(_ session: some AdvertisingSession)
    /// Time has passed.
    ///
    /// - Parameter heard: What a second virtual controller hears of it; `nil` on real adapters.
    func update(_ session: some AdvertisingSession, _ heard: HeardOnAir?)
    /// Nothing is on the air any more, as it was asked for.
    ///
    /// - Parameter heard: What a second virtual controller has heard of it; `nil` on real adapters.
    func offAir(_ session: some AdvertisingSession, _ heard: HeardOnAir?)
}

extension AdvertisingView {
    public var microsecondsBetweenUpdates: Int? { nil }
    public func update(_ session: some AdvertisingSession, _ heard: HeardOnAir?) {}
}

/// What a second controller on the same virtual air has heard so far.
public struct HeardOnAir: Sendable {
    /// Advertising reports.
    public internal(set) var reports = 0
    /// `nil` while there was none.
    public internal(set) var last: AdvertisingReport?

    /// In a few words.
    public var text: String {
        guard let last else { return "nothing yet" }
        let what = BeaconFrame(decoding: last.data).map(\.sentence) ?? "\(last.data.octets.count) bytes"
        return "\(reports) times\(last.rssi.map { " at \($0) dBm" } ?? ""): \(what)"
    }
}

/// A second controller on the same virtual air: proof that what the first one sends can be received and decoded.
private final class VirtualListener {
    private let host: HCIHost
    private(set) var heard = HeardOnAir()

    init(_ air: VirtualAirServer) throws {
        host = HCIHost(channel: H4Channel(try air.connect(), name: "listener"))
        let capabilities = try ControllerCapabilities.read(from: host, isExclusive: true)
        try PassiveScan(capabilities).start(host)
    }

    /// Takes in what has arrived, without waiting.
    func listen() throws {
        while let event = try host.nextEvent(until: host.now) {
            switch event {
            case .advertisingReports(let reports), .extendedAdvertisingReports(let reports):
                heard.reports += reports.count
                heard.last = reports.last ?? heard.last
            default: break
            }
        }
    }
}
