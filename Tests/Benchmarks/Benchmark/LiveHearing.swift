import BeaconFrames
import BluetoothTypes
import Glibc
import HCI
import LinuxHost
import VirtualController

/// A program that listens to a controller on a unix socket, which this program simulates: the delay from a report to
/// its line, and the cost of listening.
final class LiveHearing {
    private let socket: String
    private let command: [String]
    /// Returns the number of the beacon in a line; `nil` for other lines.
    private let number: (String) -> Int?
    private let air: VirtualAir
    private var framer = H4Framer()
    private var stream: Descriptor?
    private var controller: VirtualController?
    private let beacons: Int
    /// The instant of each beacon's last report in nanoseconds, by the beacon's number.
    private var sent: [UInt64] = []
    private var count = 0
    private var delays: [Double] = []
    /// The subscriber of the broker to which the program publishes.
    private let reader: BrokerReader?
    private var toldDelays: [Double] = []
    private var line: [UInt8] = []

    /// - Parameters:
    ///   - command: The program that listens at `socket` and prints lines.
    ///   - beacons: The number of beacons, which send in turn.
    ///   - reader: Reads the same lines from a broker.
    ///   - number: Returns the number of the beacon in a line; `nil` for other lines.
    init(
        socket: String, _ command: [String], beacons: Int = .max, reader: BrokerReader? = nil,
        number: @escaping (String) -> Int?
    ) {
        self.socket = socket
        self.reader = reader
        self.beacons = beacons
        self.command = command
        self.number = number
        air = VirtualAir(now: HCIInstant(nanoseconds: MonotonicClock.nanoseconds()))
    }

    /// The measured values.
    struct Result {
        /// The delays from the report to its line in milliseconds, sorted.
        var delays: [Double] = []
        /// The delays from the report to the broker's subscriber.
        var toldDelays: [Double] = []
        /// The growth of the resident memory in KiB while the load was measured.
        var growth = 0.0
        /// The share of a core in percent at 100 reports per second.
        var load = 0.0
        var memory: ProcessMemory
    }

    /// Measures `pharos scan`, which prints one line for each report.
    static func scan(_ pharos: String, _ folder: String, _ report: Report) throws {
        report.section("Hearing: a live controller over a unix socket")
        let socket = "\(folder)/live.sock"
        let hearing = LiveHearing(socket: socket, [pharos, "scan", "--adapter", "unix:\(socket)", "--json"]) { line in
            // The major and the minor number of the identity.
            guard let identity = line.split(separator: "\"identity\":\"ibeacon:").last?.split(separator: "\"").first,
                case let parts = identity.split(separator: "-"), parts.count == 7, let major = Int(parts[5]),
                let minor = Int(parts[6])
            else { return nil }
            return major << 16 | minor
        }
        let result = try hearing.run(atOnce: 20_000)
        guard result.delays.count >= 20_000 else {
            throw BenchmarkError("only \(result.delays.count) of 20000 reports were printed")
        }
        let (middle, most) = (result.delays[result.delays.count / 2], result.delays[result.delays.count - 1])
        report.line("2,000 reports a second: \(middle.text(2)) ms in the median, \(most.text(2)) ms at most")
        report.target(
            "from the controller to the printed line, 99 in 100", result.delays[result.delays.count * 99 / 100], "ms",
            atMost: 5)
        report.target("processor time at 100 reports a second", result.load, "%", atMost: 1.5)
        report.line("peak RSS \(result.memory.text)")
        report.target("peak RSS", result.memory.peak / 1024, "MiB", atMost: 28)
        report.target("private dirty", result.memory.privateDirty / 1024, "MiB", atMost: 4)
    }

    /// - Parameter atOnce: The number of reports at 2,000 per second whose delays are returned; 0 for the delays at 100
    ///   per second.
    func run(atOnce: Int = 0) throws -> Result {
        let listener = try StreamSocket.listen(path: socket)
        var pipe = try Pipe()
        let process = try ChildProcess(command, output: try pipe.writing)
        pipe.closeWriting()
        try pipe.reading.setNonblocking()
        guard try Poller.wait([Poller.Interest(listener, .read)], milliseconds: 5000)[0] else {
            throw BenchmarkError("\(command[1]) did not connect")
        }
        let stream = try StreamSocket.accept(listener)
        try stream.setNonblocking()
        self.stream = stream
        controller = air.attach(.raspberryPi) { packet in
            // The socket has room for each of these packets. A packet that had to wait would only arrive later.
            try? stream.writeAll([packet.kind.rawValue] + packet.octets)
        }
        for _ in 0..<500 where !(controller?.isScanning ?? false) { try turn(pipe, for: 10) }
        guard controller?.isScanning ?? false else { throw BenchmarkError("\(command[1]) did not start to scan") }

        try send(2_000, perSecond: 100, pipe)
        let memory = try ProcessMemory(of: process.id)
        let before = try ProcessWork(of: process.id)
        let start = MonotonicClock.nanoseconds()
        try send(1_000, perSecond: 100, pipe)
        let work = try ProcessWork(of: process.id) - before
        let seconds = Double(MonotonicClock.nanoseconds() - start) / 1e9
        let growth = try ProcessMemory(of: process.id).resident - memory.resident
        if atOnce > 0 {
            delays = []
            try send(atOnce, perSecond: 2_000, pipe)
        }
        try process.stop()
        return Result(
            delays: delays.sorted(), toldDelays: toldDelays.sorted(), growth: growth,
            load: work.seconds / seconds * 100, memory: memory)
    }

    /// Sends `count` reports at equal distances in time and waits for the last lines.
    private func send(_ count: Int, perSecond: Int, _ pipe: Pipe) throws {
        let start = MonotonicClock.nanoseconds()
        for number in 0..<count {
            let due = start + UInt64(number) * 1_000_000_000 / UInt64(perSecond)
            while case let now = MonotonicClock.nanoseconds(), now < due {
                try turn(pipe, for: Int((due - now) / 1_000_000))
            }
            let beacon = self.count % beacons
            self.count += 1
            let frame = IBeacon(
                uuid: .uuid128(HearingRecording.uuid), major: UInt16(beacon >> 16),
                minor: UInt16(truncatingIfNeeded: beacon), measuredPower: try MeasuredPowerAtOneMeter(dBm: -59))
            let report = AdvertisingReport(
                type: .legacy(3), addressType: .random, address: DeviceAddress(FixedOctets(repeating: 0xC6)), rssi: -60,
                data: try frame.advertisingData())
            let now = MonotonicClock.nanoseconds()
            if beacon < sent.count { sent[beacon] = now } else { sent.append(now) }
            controller?.inject(HCIEvent.advertisingReports([report]).packet)
        }
        for _ in 0..<50 { try turn(pipe, for: 10) }
    }

    /// Serves the controller and the pipe for at most `milliseconds`.
    private func turn(_ pipe: Pipe, for milliseconds: Int) throws {
        guard let stream else { return }
        let sources = [stream, pipe.reading] + [reader?.stream].compactMap(\.self)
        let ready = try Poller.wait(sources.map { Poller.Interest($0, .read) }, milliseconds: milliseconds)
        air.advance(to: HCIInstant(nanoseconds: MonotonicClock.nanoseconds()))
        if ready[0] {
            framer.push(try stream.read(upTo: 4096))
            while let packet = try framer.next() { controller?.receive(packet) }
        }
        if ready[1] { take(try pipe.reading.read(upTo: 1 << 16), at: MonotonicClock.nanoseconds()) }
        guard let reader, ready[2] else { return }
        let now = MonotonicClock.nanoseconds()
        toldDelays += try reader.read().compactMap { delay($0, at: now) }
    }

    /// Finds the report of each line.
    private func take(_ octets: [UInt8], at now: UInt64) {
        for octet in octets {
            guard octet == 0x0A else {
                line.append(octet)
                continue
            }
            let text = String(decoding: line, as: UTF8.self)
            line.removeAll(keepingCapacity: true)
            if let delay = delay(text, at: now) { delays.append(delay) }
        }
    }

    /// Returns the time in milliseconds since the report of a line.
    private func delay(_ text: String, at now: UInt64) -> Double? {
        guard let number = number(text), sent.indices.contains(number) else { return nil }
        return Double(now - sent[number]) / 1e6
    }
}
