public import Advertiser
internal import BeaconFrames
public import BluetoothTypes
public import HCI
internal import HCITransports
internal import LinuxHost
public import VirtualController

/// The options of `advertise`.
public struct ForegroundOptions {
    /// The time on the air after which the service ends, in microseconds; `nil` to run until a signal arrives.
    public var duration: Int?
    /// `true` to print every command and send none.
    public var dryRun = false
    /// The controller that a dry run, or the virtual adapter, imitates.
    public var like = VirtualControllerModel.raspberryPi
    /// The path of the btsnoop file that receives all HCI packets; `nil` for no capture.
    public var capture: String?
    /// `true` if a dry run prints lines of JSON.
    public var json = false

    public init() {}

    /// - Throws: `refused` if this adapter does not allow these options.
    func check(_ adapter: AdapterName?) throws(BeaconServiceError) {
        guard case .managed(let index) = adapter, capture != nil else { return }
        throw BeaconServiceError.refused(
            .request,
            "--capture: with hci\(index):mgmt the kernel sends the HCI packets; `btmon -w FILE` captures them")
    }
}

/// The output of `advertise`.
public protocol AdvertisingOutput {
    /// Writes lines of a dry run, each with its newline.
    func write(_ text: String)
    /// Reports a deviation from the request, or an action of another program, in one sentence.
    func warn(_ sentence: String)
    /// Returns the view of the advertisements on the air.
    func view(_ facts: OnAirFacts) -> any AdvertisingView
}

/// The facts about a beacon that stay the same while it is on the air.
public struct OnAirFacts {
    /// The beacon's name.
    public let name: String
    /// The adapter as the user named it.
    public let adapter: String
    /// The requested intervals, one for each advertisement.
    public let requestedIntervals: [RequestedInterval]
}

/// Shows the advertisements on the air.
public protocol AdvertisingView {
    /// The time between two updates, in microseconds; `nil` for none.
    var microsecondsBetweenUpdates: Int? { get }
    /// The service calls this when all advertisements are on the air.
    func onAir(_ session: some AdvertisingSession)
    /// The service calls this each time that ``microsecondsBetweenUpdates`` has passed.
    ///
    /// - Parameter heard: The reports that a second virtual controller has received; `nil` on real adapters.
    func update(_ session: some AdvertisingSession, _ heard: HeardOnAir?)
    /// The service calls this after the end, if nothing failed.
    ///
    /// - Parameter heard: The reports that a second virtual controller has received; `nil` on real adapters.
    func offAir(_ session: some AdvertisingSession, _ heard: HeardOnAir?)
}

extension AdvertisingView {
    public var microsecondsBetweenUpdates: Int? { nil }
    public func update(_ session: some AdvertisingSession, _ heard: HeardOnAir?) {}
}

/// The reports that a second virtual controller, on the air of the virtual adapter, has received so far.
public struct HeardOnAir: Sendable {
    /// The number of advertising reports.
    public private(set) var reports = 0
    /// The frames in the order of their first reports.
    private var frames: [Frame] = []

    private struct Frame: Sendable {
        /// The text by which reports of the same frame are recognised: the frame without the values that change.
        let key: String
        var reports: Int
        var lastReport: AdvertisingReport
    }

    /// The largest number of frames that are counted one by one. No profile has as many advertisements.
    private static let frameLimit = 64

    /// Creates the state before the first report.
    public init() {}

    /// Counts a report.
    public mutating func take(_ report: AdvertisingReport) {
        reports += 1
        let key = Self.key(report)
        if let index = frames.firstIndex(where: { $0.key == key }) {
            frames[index].reports += 1
            frames[index].lastReport = report
        } else if frames.count < Self.frameLimit {
            frames.append(Frame(key: key, reports: 1, lastReport: report))
        }
    }

    private static func key(_ report: AdvertisingReport) -> String {
        switch BeaconFrame(decoding: report.data) {
        case .eddystoneTLM, .eddystoneEncryptedTLM: "telemetry"
        case .eddystoneEID: "eid"
        case .btHome: "bthome"
        case .iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL, nil: Hexadecimal.text(report.data.octets)
        }
    }

    /// The reports in a few words for each frame: `12 times at -50 dBm: Eddystone-URL https://example.org, …`.
    public var sentences: [String] {
        frames.isEmpty
            ? ["nothing yet"]
            : frames.map { frame in
                let data = frame.lastReport.data
                let content = BeaconFrame(decoding: data).map(\.sentence) ?? "\(data.octets.count) bytes"
                let level = frame.lastReport.rssi.map { " at \($0) dBm" } ?? ""
                return "\(NumberFormat.count(frame.reports, "time"))\(level): \(content)"
            }
    }
}

/// The parts of a service in the foreground that a service in the background does not have.
final class Foreground {
    let output: any AdvertisingOutput
    let model: VirtualControllerModel
    let capture: CaptureFile?
    /// The second virtual controller, which receives the advertisements of the virtual adapter; `nil` on real adapters.
    private(set) var receiver: VirtualReceiver?

    /// - Throws: `refused` if the capture file cannot be written. No adapter has been touched then.
    init(_ options: ForegroundOptions, _ output: any AdvertisingOutput) throws(BeaconServiceError) {
        self.output = output
        model = options.like
        if let path = options.capture { capture = try CaptureFile(path) } else { capture = nil }
    }

    /// Starts the second virtual controller, which receives the advertisements on `air`.
    func receive(from air: VirtualAirServer) throws {
        if receiver == nil { receiver = try VirtualReceiver(air) }
    }

    /// Writes a packet to the capture file. A full disk ends the capture, not the beacon.
    func record(_ packet: HCIPacket, _ isFromController: Bool) {
        if let problem = capture?.append(packet, isFromController) { output.warn(problem) }
    }
}

/// Shows a service in the foreground.
final class ForegroundView: ServiceView {
    private let output: any AdvertisingOutput
    private var view: (any AdvertisingView)?
    private(set) var nextUpdate: HCIInstant?

    /// The time between two checks of the reports that the second virtual controller has received, in microseconds.
    private static let receiverPause = 1_000_000

    init(_ output: any AdvertisingOutput) {
        self.output = output
    }

    func update(_ runner: AdapterRunner, _ environment: ServiceEnvironment) {
        guard runner.isRunning, let session = environment.advertising else { return }
        let now = environment.now
        if let view {
            guard let due = nextUpdate, due <= now else { return }
            view.update(session, environment.heard)
        } else {
            let facts = OnAirFacts(
                name: environment.job.name, adapter: environment.finder.nameInUse,
                requestedIntervals: environment.job.frames.map(\.interval))
            let view = output.view(facts)
            self.view = view
            view.onAir(session)
        }
        let pause =
            view?.microsecondsBetweenUpdates ?? (environment.heard == nil ? nil : Self.receiverPause)
        nextUpdate = pause.map { now.advanced(byMicroseconds: $0) }
    }

    /// Shows the end.
    func end(_ environment: ServiceEnvironment) {
        guard let view, let session = environment.advertising else { return }
        view.offAir(session, environment.heard)
    }
}

/// A btsnoop file that grows with each packet.
final class CaptureFile {
    private let path: String
    private var file: OutputFile?

    /// Creates the file.
    init(_ path: String) throws(BeaconServiceError) {
        self.path = path
        do throws(SystemError) {
            let file = try OutputFile(replacing: path)
            try file.append(BTSnoopWriter.header)
            self.file = file
        } catch {
            let reason = error.errno == SystemError.noReader ? "no program reads this pipe" : error.text
            throw .refused(.system, "--capture \(path): it cannot be written: \(reason)")
        }
    }

    /// Appends a packet.
    ///
    /// - Returns: The problem that ended the capture; `nil` without a problem.
    func append(_ packet: HCIPacket, _ isFromController: Bool) -> String? {
        guard let file else { return nil }
        do throws(SystemError) {
            try file.append(
                BTSnoopWriter.record(
                    packet, isFromController: isFromController, unixMicroseconds: WallClock.microseconds()))
            return nil
        } catch {
            // The file may end with an incomplete record. A record after it could not be read, so the capture ends.
            self.file = nil
            return "--capture \(path): the capture ends here: \(error.text)"
        }
    }
}

/// A second virtual controller, on the air of the virtual adapter. It proves that the advertisements can be received
/// and decoded.
final class VirtualReceiver {
    private let host: HCIHost
    private var total = HeardOnAir()

    init(_ air: VirtualAirServer) throws {
        host = HCIHost(channel: H4Channel(try air.connect(), name: "receiver"))
        let capabilities = try ControllerCapabilities.read(from: host, isExclusive: true)
        try PassiveScan(capabilities).start(host)
    }

    /// Reads the packets that have arrived, without waiting. Returns all reports that were received so far.
    func heard() -> HeardOnAir {
        while let event = try? host.nextEvent(until: host.now) {
            switch event {
            case .advertisingReports(let reports), .extendedAdvertisingReports(let reports):
                for report in reports { total.take(report) }
            default: break
            }
        }
        return total
    }
}
