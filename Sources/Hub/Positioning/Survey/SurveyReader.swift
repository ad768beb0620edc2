internal import Airtime
public import Configuration

/// Reads a survey from JSON Lines in pieces. At most one line of text is in memory at a time.
///
/// A line that cannot be used is reported, and the other lines are kept. If the last line is cut off, for example by a
/// power failure, it is left out with a warning.
public struct SurveyReader: Sendable {
    /// The survey, up to the last line that was read.
    public private(set) var survey = Survey()
    /// Errors and warnings in the order of the file. Their columns are counted in bytes.
    public private(set) var problems: [FileProblem] = []
    /// The number of readings whose value is not a level, by the value in whole dBm.
    private var refusedLevels: [Int: Int] = [:]

    private let acceptsZeroLevel: Bool
    private let acceptsRowsWithoutPlace: Bool
    private let file: String?
    /// The start of a line whose end has not been read.
    private var pending: [UInt8] = []
    /// The number of the current line, from 1.
    private var line = 0
    /// True while the rest of an overlong line is being skipped.
    private var isTooLong = false
    private var isInStay = false
    private var hasHeader = false
    /// The time of the last second of the stay.
    private var lastSeconds = -Double.infinity
    /// The number of problems that are not in ``problems``, because that list was full.
    private var unlisted = 0
    private var leftOutBeacons: Set<String> = []
    /// The number of each beacon in the survey, by its key as written in the file.
    private var numberOfName: [String: Int] = [:]
    /// The index in ``problems`` of the problem with the previous line; `nil` if that line was a JSON object.
    private var brokenLineProblem: Int?

    /// The longest line, in bytes.
    public static let longestLine = 8_000_000
    private static let cutOff =
        "the line was cut off, for example by a power failure: only this line is dropped"

    /// Creates a reader of one survey.
    ///
    /// - Parameters:
    ///   - file: The file's name in the problems.
    ///   - acceptsZeroLevel: True if 0 dBm is a level. Many sources use 0 for "unknown".
    ///   - acceptsRowsWithoutPlace: True if readings may appear outside of a stay, as in the recording of a run.
    public init(file: String? = nil, acceptsZeroLevel: Bool = false, acceptsRowsWithoutPlace: Bool = false) {
        self.file = file
        self.acceptsRowsWithoutPlace = acceptsRowsWithoutPlace
        self.acceptsZeroLevel = acceptsZeroLevel
    }

    /// Reads the next bytes of the file. They may end anywhere.
    public mutating func take(_ octets: some Sequence<UInt8>) {
        for octet in octets {
            if octet == UInt8(ascii: "\n") {
                endLine(isWhole: true)
            } else if pending.count < Self.longestLine {
                pending.append(octet)
            } else {
                isTooLong = true
            }
        }
    }

    /// Reads the last line if it has no line end, and adds the warnings about the whole file.
    public mutating func finish() {
        if !pending.isEmpty { endLine(isWhole: false) }
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

    private mutating func endLine(isWhole: Bool) {
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
                brokenLineProblem = problems.count
                report(faults.first.map { $0.message } ?? "a line of a survey is an object", at: faults.first?.column)
            } else {
                warn(Self.cutOff, at: nil)
            }
            return
        }
        // A header directly after a broken line starts a new recording, so the previous recording was cut off.
        if root["survey"] != nil, let brokenLineProblem, brokenLineProblem < problems.count {
            problems[brokenLineProblem] = FileProblem(
                Self.cutOff, at: problems[brokenLineProblem].position, severity: .warning, in: file)
        }
        brokenLineProblem = nil
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
        } else if root["drop"] != nil {
            let number = read(root) { $0.read(DropKeys.number, in: $1) }
            guard let number, !survey.cancel(stay: number) else { return }
            report("drop: there is no stay with this number", at: root["drop"]?.position.column)
        } else if root["move"] != nil {
            move(root)
        } else {
            warn(
                "this line is left out: it has none of the keys survey, stay, t, end, drop and move",
                at: root.position.column)
        }
    }

    /// Reads the values of a line. Returns `nil` and reports the problem if one of them is not valid.
    private mutating func read<Value>(
        _ root: JSONNode, _ values: (inout ConfigurationDecoder, JSONNode) -> Value?
    ) -> Value? {
        var decoder = ConfigurationDecoder()
        let value = values(&decoder, root)
        for problem in decoder.problems {
            add(
                FileProblem(
                    problem.message, at: JSONPosition(line: line, column: problem.column), path: problem.path,
                    kind: .malformed, in: file))
        }
        return decoder.problems.isEmpty ? value : nil
    }

    private mutating func header(_ root: JSONNode) {
        let recording = read(root) { decoder, root -> Survey.Recording? in
            _ = decoder.read(RecordingKeys.version, in: root)
            var recording = Survey.Recording(site: decoder.read(RecordingKeys.site, in: root))
            if let receiver = root["receiver"] {
                recording.receiver = decoder.read(RecordingKeys.receiverName, in: receiver)
                recording.adapter = decoder.read(RecordingKeys.adapter, in: receiver)
                recording.address = decoder.read(RecordingKeys.address, in: receiver)
            }
            recording.started = decoder.read(RecordingKeys.started, in: root).flatMap { RFC3339Time($0) }
            return recording
        }
        guard let recording else { return }
        if root["started"] != nil, recording.started == nil {
            warn("\"started\" is not a time such as 2026-05-01T09:00:00Z", at: root["started"]?.position.column)
        }
        hasHeader = true
        isInStay = false
        survey.begin(recording)
    }

    private mutating func stay(_ root: JSONNode) {
        isInStay = false
        let stay = read(root) { decoder, root in
            decoder.read(StayKeys.number, in: root).map { number in
                Survey.Stay(
                    number: number, place: decoder.read(StayKeys.place, in: root),
                    position: decoder.read(StayKeys.position, in: root),
                    floor: decoder.read(StayKeys.floor, in: root),
                    heading: decoder.read(StayKeys.heading, in: root),
                    session: decoder.read(StayKeys.session, in: root))
            }
        }
        guard var stay else { return }
        if !hasHeader, !acceptsRowsWithoutPlace { warn("this stay precedes the first line {\"survey\":1,…}", at: nil) }
        if survey.stays.contains(where: { $0.number == stay.number }) {
            warn("stay \(stay.number) appears twice: drop and move refer to the later one", at: nil)
        }
        stay.line = line
        begin(stay)
    }

    private mutating func begin(_ stay: Survey.Stay) {
        survey.begin(stay)
        isInStay = true
        lastSeconds = -.infinity
    }

    private mutating func move(_ root: JSONNode) {
        guard MoveKeys.changes.contains(where: { root[$0] != nil }) else {
            report("move needs a position, such as \"position\":[4,6], or a place", at: nil)
            return
        }
        let change = read(root) { decoder, root -> (stay: Int, spot: SurveySpot)? in
            let spot = SurveySpot(
                place: decoder.read(MoveKeys.place, in: root), position: decoder.read(MoveKeys.position, in: root),
                floor: decoder.read(MoveKeys.floor, in: root))
            return decoder.read(MoveKeys.number, in: root).map { ($0, spot) }
        }
        guard let change, !survey.move(stay: change.stay, to: change.spot) else { return }
        report("move: there is no stay with this number", at: root["move"]?.position.column)
    }

    // MARK: Vectors

    /// Returns true if a vector may have this time. Otherwise reports the problem.
    private mutating func acceptsTime(_ seconds: Double) -> Bool {
        if !isInStay, acceptsRowsWithoutPlace {
            var run = Survey.Stay(number: survey.stays.count + 1)
            run.line = line
            begin(run)
        }
        guard isInStay else {
            report("readings outside of a stay: a line {\"stay\":…} must come first", at: nil)
            return false
        }
        guard seconds.isFinite, abs(seconds) < 1e10 else {
            report("t must be a number of seconds, below 10000000000", at: nil)
            return false
        }
        if lastSeconds.isFinite, seconds - lastSeconds > SurveyTime.longest {
            report("t is more than 366 days after the second before it: t is in seconds", at: nil)
            return false
        }
        if seconds < lastSeconds {
            warn("the time runs backwards: the clock was changed during the recording", at: nil)
        }
        lastSeconds = seconds
        return true
    }

    private mutating func vector(_ root: JSONNode) {
        guard let node = root["t"], let seconds = node.real, let readings = root["rssi"]?.members else {
            report("a second is {\"t\":SECONDS,\"rssi\":{BEACON:[DBM,…],…}}", at: root.position.column)
            return
        }
        guard acceptsTime(seconds) else { return }
        var levelsByBeacon: [Int: [Double]] = [:]
        for member in readings {
            let values = member.value.elements ?? [member.value]
            let levels = values.compactMap(\.real)
            guard levels.count == values.count else {
                report("the levels of a beacon must be numbers in dBm", at: member.value.position.column)
                continue
            }
            let received = levels.compactMap { level($0) }
            // Readings of one beacon under two spellings are merged.
            if let beacon = beacon(member.key), !received.isEmpty { levelsByBeacon[beacon, default: []] += received }
        }
        survey.append(
            seconds: seconds,
            levelsByBeacon.sorted { $0.key < $1.key }.map { (beacon: $0.key, levels: $0.value) })
    }

    private mutating func beacon(_ text: String) -> Int? {
        if let number = numberOfName[text] { return number }
        guard let key = BeaconKey(text) else {
            report("\(ProblemText.quoted(text)) is not the key of a beacon", at: nil)
            return nil
        }
        let number = survey.number(of: key)
        if number == nil { leftOutBeacons.insert(text) }
        numberOfName[text] = number
        return number
    }

    private mutating func level(_ value: Double) -> Double? {
        if let level = ReceivedLevel.level(value, acceptsZeroLevel: acceptsZeroLevel) { return level }
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
