internal import Airtime
public import Configuration

/// Reads a survey from JSON Lines in pieces. Only one line of text is in memory at a time.
///
/// A line that cannot be used is reported, and the lines before and after it are kept. If the last line is cut off, for
/// example by a loss of power, it is dropped with a warning.
public struct SurveyReader: Sendable {
    /// The survey as far as it has been read.
    public private(set) var survey: Survey
    /// Errors and warnings in the order of the file. Columns count bytes.
    public private(set) var problems: [FileProblem] = []
    /// How many readings had a value that is no level, by the value in whole dBm.
    private var refusedLevels: [Int: Int] = [:]

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
    private var numbers: [String: Int] = [:]
    /// The index of the problem with the previous line, if that line was no JSON object.
    private var brokenLine: Int?

    /// The longest line, in bytes.
    public static let longestLine = 8_000_000
    static let version = 1
    private static let cut = "the line was cut off, as by a loss of power: it is dropped, everything before it is kept"

    /// A reader of one survey.
    ///
    /// - Parameters:
    ///   - file: The file's name in the problems.
    ///   - acceptsZero: Whether 0 dBm is a level. Many sources use 0 for "unknown".
    ///   - acceptsRuns: Whether readings may appear outside of a stay, as in a run that is to be located.
    ///   - keepsPackets: Whether the level of every packet is kept. A map needs only the mean of each second.
    public init(
        file: String? = nil, acceptsZero: Bool = false, acceptsRuns: Bool = false, keepsPackets: Bool = true
    ) {
        survey = Survey(keepsPackets: keepsPackets)
        self.file = file
        self.acceptsRuns = acceptsRuns
        self.acceptsZero = acceptsZero
    }

    /// Reads the next bytes of the file. They may end anywhere.
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

    /// Ends the file.
    public mutating func finish() {
        if !pending.isEmpty { end(isWhole: false) }
        for (level, count) in refusedLevels.sorted(by: { $0.key < $1.key }) {
            warn(ReceivedLevel.leftOut(count, of: level, advice: nil), at: nil)
        }
        if !leftOutBeacons.isEmpty {
            warn(
                "\(leftOutBeacons.count) beacons beyond the limit of \(Survey.beaconLimit) were left out",
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
            report("the line is longer than \(Self.longestLine) bytes", at: nil)
            return
        }
        let (root, faults) = JSONDocument.parse(pending)
        guard faults.isEmpty, let root, case .object = root.value else {
            if isWhole {
                brokenLine = problems.count
                report(faults.first.map { $0.message } ?? "a line of a survey is an object", at: faults.first?.column)
            } else {
                warn(Self.cut, at: nil)
            }
            return
        }
        // A recording that follows a loss of power begins with a header, so the broken line before it was cut off.
        if root["survey"] != nil, let brokenLine, brokenLine < problems.count {
            problems[brokenLine] = FileProblem(
                Self.cut, at: problems[brokenLine].position, severity: .warning, in: file)
        }
        brokenLine = nil
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
                report("drop: there is no stay with this number", at: node.position.column)
                return
            }
        } else if let node = root["move"] {
            move(node.integer, root)
        } else {
            warn("unknown line: expected survey, stay, t, end, drop or move; it is left out", at: root.position.column)
        }
    }

    private mutating func header(_ root: JSONNode) {
        guard root["survey"]?.integer == Self.version else {
            report("unknown version: surveys have version \(Self.version)", at: root["survey"]?.position.column)
            return
        }
        hasHeader = true
        isInStay = false
        let started = root["started"]?.string.flatMap { RFC3339Time($0) }
        if root["started"] != nil, started == nil {
            warn("started is not a time such as 2026-05-01T09:00:00Z", at: root["started"]?.position.column)
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
            report("stay must be a whole number", at: root["stay"]?.position.column)
            return
        }
        if !hasHeader, !acceptsRuns { warn("a stay before the first line {\"survey\":1,…}", at: nil) }
        if survey.stays.contains(where: { $0.number == number }) {
            warn("stay \(number) appears twice: drop and move refer to the later one", at: nil)
        }
        var position: FloorPosition?
        if let node = root["position"] {
            position = self.position(node)
            guard position != nil else { return }
        }
        var heading: Double?
        if let node = root["heading"], node.string != "unknown", node.kind != "null" {
            guard let value = real(node), value.isFinite else {
                report("heading must be a number of degrees or \"unknown\"", at: node.position.column)
                return
            }
            heading = value - (value / 360).rounded(.down) * 360
        }
        let place = root["place"]?.string
        if place == nil, position == nil, !acceptsRuns {
            warn("stay \(number) has neither a place nor a position: it is ignored", at: nil)
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
            report("move needs a position, such as \"position\":[4,6]", at: nil)
            return
        }
        guard let position = position(node) else { return }
        guard let stay, survey.move(stay: stay, to: position, place: root["place"]?.string) else {
            report("move: there is no stay with this number", at: root["move"]?.position.column)
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

    /// Whether a vector may begin at this time. Reports problems.
    private mutating func begins(_ seconds: Double) -> Bool {
        if !isInStay, acceptsRuns {
            var run = Survey.Stay(number: survey.stays.count + 1)
            run.line = line
            survey.begin(run)
            isInStay = true
            lastSeconds = -.infinity
        }
        guard isInStay else {
            report("readings outside of a stay: a line {\"stay\":…} must come first", at: nil)
            return false
        }
        guard seconds.isFinite, abs(seconds) < 1e12 else {
            report("t must be a number of seconds", at: nil)
            return false
        }
        if seconds < lastSeconds {
            warn("the time runs backwards: the clock was changed during the recording", at: nil)
        }
        lastSeconds = seconds
        return true
    }

    private mutating func vector(_ root: JSONNode) {
        guard let node = root["t"], let seconds = real(node), let readings = root["rssi"]?.members else {
            report("a second is {\"t\":SECONDS,\"rssi\":{BEACON:[DBM,…],…}}", at: root.position.column)
            return
        }
        guard begins(seconds) else { return }
        var found: [Int: [Double]] = [:]
        for member in readings {
            let values = member.value.elements ?? [member.value]
            let levels = values.compactMap { real($0) }
            guard levels.count == values.count else {
                report("the levels of a beacon must be numbers in dBm", at: member.value.position.column)
                continue
            }
            let received = levels.compactMap { level($0) }
            // Two spellings of one beacon are one beacon.
            if let beacon = beacon(member.key), !received.isEmpty { found[beacon, default: []] += received }
        }
        survey.append(seconds: seconds, found.sorted { $0.key < $1.key }.map { (beacon: $0.key, levels: $0.value) })
    }

    private mutating func beacon(_ text: String) -> Int? {
        if let known = numbers[text] { return known }
        guard let key = BeaconKey(text) else {
            report("\(ProblemText.quoted(text)) is not the key of a beacon", at: nil)
            return nil
        }
        let number = survey.number(of: key)
        if number == nil { leftOutBeacons.insert(text) }
        numbers[text] = number
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
