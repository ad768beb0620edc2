internal import BluetoothTypes
internal import Configuration
internal import Listener
internal import Sightings

/// Reads the output of `pharos scan --json`, which has one report in each line. Passes the reports to a gatherer.
struct ScanLines {
    private let gatherer: SecondGatherer
    private let clock: HearingClock
    private let name: String
    private var wall = RecordingClock()
    /// The wall-clock time minus the time since boot at the first report, in microseconds.
    private var difference: Int64?
    private var pending: [UInt8] = []
    /// The number of the current line, from 1.
    private var line = 0
    private(set) var reports = 0
    /// The number of lines that are summaries of a scan round.
    private var rounds = 0
    /// The number of lines that are not reports.
    private var faults = 0

    init(_ gatherer: SecondGatherer, _ clock: HearingClock, name: String) {
        self.gatherer = gatherer
        self.clock = clock
        self.name = name
    }

    mutating func take(_ octets: [UInt8]) {
        for octet in octets {
            if octet == UInt8(ascii: "\n") {
                end()
            } else if pending.count < 1 << 20 {
                pending.append(octet)
            }
        }
    }

    mutating func finish() {
        // A last line without a line end is incomplete, so it is dropped.
        pending = []
        if rounds > 0, reports == 0 {
            gatherer.onSentence("\(name): these are summaries, not packets; use pharos scan without --every-s", true)
        }
        if faults > 1 { gatherer.onSentence("\(name): \(faults) lines are not reports and were left out", true) }
        gatherer.finish(at: wall.now)
    }

    private mutating func end() {
        line += 1
        defer { pending.removeAll(keepingCapacity: true) }
        guard !pending.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) else { return }
        let (root, problems) = JSONDocument.parse(pending)
        guard problems.isEmpty, let root, let event = root["event"]?.string else { return fault() }
        if event == "beacons" { rounds += 1 }
        guard event == "report" else { return }
        guard let data = root["data"]?.string, let octets = try? Hexadecimal.octets(data), let time = time(root) else {
            return fault()
        }
        reports += 1
        let instant = wall.instant(unixMicroseconds: time)
        clock.follow(wall)
        let sender = root["address"]?.string.flatMap { DeviceAddress($0) }
            .map { Sender($0, isRandom: root["addressType"]?.string?.hasPrefix("random") ?? true) }
        let rssi = root["rssiDbm"]?.integer.flatMap { Int8(exactly: $0) }
        let sighting = Sighting(
            at: instant, from: sender, rssi: rssi, isScanResponse: root["pdu"]?.string == "SCAN_RSP")
        gatherer.advance(to: instant)
        gatherer.receive(sighting, octets.span, octets.indices, name: root["beacon"]?.string)
    }

    private mutating func fault() {
        faults += 1
        if faults == 1 { gatherer.onSentence("\(name):\(line):1: this is not a report of `pharos scan --json`", true) }
    }

    /// Returns the time of a report. Uses the time since boot if the report contains it, because that time never jumps.
    private mutating func time(_ root: JSONNode) -> Int64? {
        let wallTime = root["at"]?.string.flatMap(SurveyTime.seconds).map { Int64(($0 * 1_000_000).rounded()) }
        guard let bootNs = root["bootNs"]?.integer else { return wallTime }
        let difference = self.difference ?? wallTime.map { $0 - Int64(bootNs / 1000) } ?? 0
        self.difference = difference
        return Int64(bootNs / 1000) + difference
    }
}
