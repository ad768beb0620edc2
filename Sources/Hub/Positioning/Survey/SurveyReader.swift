internal import Airtime
public import Configuration

/// Reads a survey from JSON Lines, piece by piece: however long the file is, only one line of its text is held.
///
/// A line that cannot be used is a problem of that line, and nothing before or after it is lost. A last line without an
/// end was cut by whatever ended the recording: it is dropped with a notice.
public struct SurveyReader: Sendable {
    /// All that was read so far.
    public private(set) var survey: Survey
    /// What is wrong or worth knowing, in the order of the file; columns count octets.
    public private(set) var problems: [FileProblem] = []
    /// Readings that were none, by what they said in whole dBm.
    public private(set) var refusedLevels: [Int: Int] = [:]

    private let acceptsZero: Bool
    private let acceptsRuns: Bool
    private let file: String?
    private var pending: [UInt8] = []
    private var line = 0
    private var isTooLong = false
    private var isInStay = false
    private var hasHeader = false
    private var lastSeconds = -Double.infinity
    private var unlisted = 0
    private var leftOutBeacons: Set<String> = []
    private var scanner = VectorLineScanner()
    private var numbers: [String: Int?] = [:]
    /// Of the line before, where that was none.
    private var brokenProblem: Int?

    /// Longer lines are no lines of a survey, in octets.
    public static let longestLine = 8_000_000
    static let version = 1
    private static let cut = "the line was cut, as by a loss of power: it is dropped, and all before it is kept"

    /// - Parameters:
    ///   - file: What the text is called in the problems.
    ///   - acceptsZero: Whether a level of 0 dBm is one. Many sources mean "unknown" by it.
    ///   - acceptsRuns: Whether readings may come without a stay, as of somebody who is to be located.
    ///   - keepsPackets: Whether single packets are kept: a map needs the mean of each second only.
    public init(
        file: String? = nil, acceptsZero: Bool = false, acceptsRuns: Bool = false, keepsPackets: Bool = true
    ) {
        survey = Survey(keepsPackets: keepsPackets)
        self.file = file
        self.acceptsRuns = acceptsRuns
        self.acceptsZero = acceptsZero
    }

    /// Takes the next octets of the file, ending anywhere.
    public mutating func take(_ octets: some Sequence<UInt8>) {
        for octet in octets {
            if octet == UInt8(ascii: "\n") {
                end(isWhole: true)
            } else if pending.count < Self.longestLine {
                pending.append(octet)
            } else {
                isTooLong = true
            }
        }
    }

    /// The same of a piece of a file, line by line.
    public mutating func take(_ octets: [UInt8]) {
        var start = 0
        while start < octets.count {
            let end = octets[start...].firstIndex(of: UInt8(ascii: "\n")) ?? octets.count
            let room = max(0, Self.longestLine - pending.count)
            if end - start > room { isTooLong = true }
            pending += octets[start..<min(end, start + room)]
            if end < octets.count { self.end(isWhole: true) }
            start = end + 1
        }
    }

    /// Says that no more octets come.
    public mutating func finish() {
        if !pending.isEmpty { end(isWhole: false) }
        for (level, count) in refusedLevels.sorted(by: { $0.key < $1.key }) {
            warn(ReceivedLevel.leftOut(count, of: level, advice: nil), at: nil)
        }
        if !leftOutBeacons.isEmpty {
            warn(
                "\(leftOutBeacons.count) beacons beyond the \(Survey.beaconLimit) that there may be were left out",
                at: nil)
        }
        if unlisted > 0 { problems.append(problem("\(unlisted) more problems are not listed", .warning, at: nil)) }
    }

    // MARK: Lines

    private mutating func end(isWhole: Bool) {
        line += 1
        defer {
            pending.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
        guard !pending.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { return }
        guard !isTooLong else {
            report("the line is longer than \(Self.longestLine) octets", at: nil)
            return
        }
        // The plain form is known without a tree; taken out so that the reader can change while its octets are looked at.
        var scanner = self.scanner
        let seconds = scanner.scan(pending.span)
        defer { self.scanner = scanner }
        if let seconds, vector(seconds, scanner) {
            brokenProblem = nil
            return
        }
        let (root, faults) = JSONDocument.parse(pending)
        guard faults.isEmpty, let root, case .object = root.value else {
            if isWhole {
                brokenProblem = problems.count
                report(faults.first.map { $0.message } ?? "a line of a survey is an object", at: faults.first?.column)
            } else {
                warn(Self.cut, at: nil)
            }
            return
        }
        // Who records again after a loss of power begins with a header: what is broken before it was cut.
        if root["survey"] != nil, let brokenProblem, brokenProblem < problems.count {
            problems[brokenProblem] = FileProblem(
                Self.cut, at: problems[brokenProblem].position, severity: .warning, in: file)
        }
        brokenProblem = nil
        object(root)
    }

    private mutating func object(_ root: JSONNode) {
        if root["survey"] != nil {
            header(root)
        } else if root["stay"] != nil {
            stay(root)
        } else if root["t"] != nil {
            vector(root)
        } else if root["end"] != nil {
            isInStay = false
        } else if let node = root["drop"] {
            guard let number = node.integer, survey.drop(stay: number) else {
                report("there is no such stay to drop", at: node.position.column)
                return
            }
        } else if let node = root["move"] {
            move(node.integer, root)
        } else {
            warn("the line is none of survey, stay, t, end, drop and move: it is left out", at: root.position.column)
        }
    }

    private mutating func header(_ root: JSONNode) {
        guard root["survey"]?.integer == Self.version else {
            report("only version \(Self.version) of surveys is known", at: root["survey"]?.position.column)
            return
        }
        hasHeader = true
        isInStay = false
        let started = root["started"]?.string.flatMap { RFC3339Time($0) }
        if root["started"] != nil, started == nil {
            warn("started is no time such as 2026-05-01T09:00:00Z", at: root["started"]?.position.column)
        }
        let receiver = root["receiver"]
        survey.begin(
            Survey.Recording(
                site: root["site"]?.string, receiver: receiver?["name"]?.string, adapter: receiver?["adapter"]?.string,
                address: receiver?["address"]?.string, started: started))
    }

    private mutating func stay(_ root: JSONNode) {
        isInStay = false
        guard let number = root["stay"]?.integer else {
            report("a stay has a whole number", at: root["stay"]?.position.column)
            return
        }
        if !hasHeader, !acceptsRuns { warn("a stay before any line {\"survey\":1,…}", at: nil) }
        if survey.stays.contains(where: { $0.number == number }) {
            warn("stay \(number) is there twice: drop and move mean the later one", at: nil)
        }
        var position: FloorPosition?
        if let node = root["position"] {
            position = self.position(node)
            guard position != nil else { return }
        }
        var heading: Double?
        if let node = root["heading"], node.string != "unknown", node.kind != "null" {
            guard let value = real(node), value.isFinite else {
                report("a heading is a number of degrees or \"unknown\"", at: node.position.column)
                return
            }
            heading = value - (value / 360).rounded(.down) * 360
        }
        let place = root["place"]?.string
        if place == nil, position == nil, !acceptsRuns {
            warn("stay \(number) has neither a place nor a position: it counts for nothing", at: nil)
        }
        var stay = Survey.Stay(
            number: number, place: place, position: position, floor: root["floor"]?.string, heading: heading,
            session: root["session"]?.string)
        stay.line = line
        survey.begin(stay)
        isInStay = true
        lastSeconds = -.infinity
    }

    private mutating func move(_ stay: Int?, _ root: JSONNode) {
        guard let node = root["position"] else {
            report("a move says where to: \"position\":[4,6]", at: nil)
            return
        }
        guard let position = position(node) else { return }
        guard let stay, survey.move(stay: stay, to: position, place: root["place"]?.string) else {
            report("there is no such stay to move", at: root["move"]?.position.column)
            return
        }
    }

    private mutating func position(_ node: JSONNode) -> FloorPosition? {
        if let parts = node.elements, parts.count == 2, let x = real(parts[0]), let y = real(parts[1]),
            abs(x) <= Survey.extent, abs(y) <= Survey.extent
        {
            return FloorPosition(x: x, y: y)
        }
        report("a position is two numbers, metres east and north, such as [4, 6]", at: node.position.column)
        return nil
    }

    private func real(_ node: JSONNode) -> Double? {
        guard case .number(let number) = node.value else { return nil }
        return Double(number.text)
    }

    // MARK: Vectors

    /// Whether a vector may begin at this time; says what is strange about it.
    private mutating func begins(_ seconds: Double) -> Bool {
        if !isInStay, acceptsRuns {
            var run = Survey.Stay(number: survey.stays.count + 1)
            run.line = line
            survey.begin(run)
            isInStay = true
            lastSeconds = -.infinity
        }
        guard isInStay else {
            report("readings outside of a stay: a line {\"stay\":…} comes first", at: nil)
            return false
        }
        guard seconds.isFinite, abs(seconds) < 1e12 else {
            report("t is no number of seconds", at: nil)
            return false
        }
        if seconds < lastSeconds { warn("the time runs backwards: the clock was set while recording", at: nil) }
        lastSeconds = seconds
        return true
    }

    /// `false`, with nothing done, where a beacon is there twice: that takes the long way.
    private mutating func vector(_ seconds: Double, _ scanner: VectorLineScanner) -> Bool {
        var found: [(beacon: Int, levels: [Double])] = []
        found.reserveCapacity(scanner.entries.count)
        for entry in scanner.entries {
            let key = String(decoding: pending[entry.key], as: UTF8.self)
            guard let beacon = beacon(key) else { continue }
            found.append((beacon, scanner.packets[entry.packets].map(Double.init)))
        }
        found.sort { $0.beacon < $1.beacon }
        for index in found.indices.dropFirst() where found[index].beacon == found[index - 1].beacon { return false }
        if begins(seconds) { append(seconds, found) }
        return true
    }

    private mutating func vector(_ root: JSONNode) {
        guard let node = root["t"], let seconds = real(node), let readings = root["rssi"]?.members else {
            report("a second is {\"t\":SECONDS,\"rssi\":{BEACON:[DBM,…],…}}", at: root.position.column)
            return
        }
        guard begins(seconds) else { return }
        var found: [(beacon: Int, levels: [Double])] = []
        for member in readings {
            let values = member.value.elements ?? [member.value]
            let numbers = values.compactMap { real($0) }
            guard numbers.count == values.count else {
                report("the levels of a beacon are numbers in dBm", at: member.value.position.column)
                continue
            }
            guard let beacon = beacon(member.key) else { continue }
            // One beacon may have two spellings.
            if let index = found.firstIndex(where: { $0.beacon == beacon }) {
                found[index].levels += numbers
            } else {
                found.append((beacon, numbers))
            }
        }
        append(seconds, found.sorted { $0.beacon < $1.beacon })
    }

    private mutating func append(_ seconds: Double, _ found: [(beacon: Int, levels: [Double])]) {
        var good: [(beacon: Int, levels: [Double])] = []
        good.reserveCapacity(found.count)
        for (beacon, levels) in found {
            let levels = levels.compactMap { level($0) }
            if !levels.isEmpty { good.append((beacon, levels)) }
        }
        survey.append(seconds: seconds, good)
    }

    private mutating func beacon(_ text: String) -> Int? {
        if let known = numbers[text] { return known }
        guard let key = BeaconKey(text) else {
            report("\(ProblemText.quoted(text)) is no key of a beacon", at: nil)
            return nil
        }
        let number = survey.number(of: key)
        if number == nil { leftOutBeacons.insert(text) } else { numbers[text] = .some(number) }
        return number
    }

    private mutating func level(_ value: Double) -> Double? {
        if let level = ReceivedLevel.level(value, acceptsZero: acceptsZero) { return level }
        if value.isFinite, abs(value) < 1e6, refusedLevels.count < 100 {
            refusedLevels[Int(value.rounded()), default: 0] += 1
        }
        return nil
    }

    // MARK: Problems

    private func problem(_ message: String, _ severity: FileProblem.Severity, at column: Int?) -> FileProblem {
        FileProblem(
            message, at: JSONPosition(line: max(1, line), column: column ?? 1), severity: severity,
            kind: severity == .error ? .malformed : .invalid, in: file)
    }

    private mutating func report(_ message: String, at column: Int?) { add(problem(message, .error, at: column)) }
    private mutating func warn(_ message: String, at column: Int?) { add(problem(message, .warning, at: column)) }

    private mutating func add(_ problem: FileProblem) {
        guard problems.count < JSONDocument.problemLimit else {
            unlisted += 1
            return
        }
        problems.append(problem)
    }
}
