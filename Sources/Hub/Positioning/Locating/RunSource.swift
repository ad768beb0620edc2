internal import BeaconService
internal import BluetoothTypes
internal import Configuration
public import Listener

/// An object that receives runs second by second.
public protocol RunConsumer: AnyObject {
    /// True if no more seconds are needed.
    var isSatisfied: Bool { get }
    /// Begins a new run. `session` is its name, or `nil` if it has none.
    func begin(session: String?)
    /// Receives the time at which the run began, in microseconds since 1970; `nil` if it is not known. If this function
    /// is called, it is called before the first second.
    func date(_ unixMicroseconds: Int64?)
    /// Receives the name of the adapter. If there is an adapter, this function is called before the first second.
    func listen(on adapter: String)
    /// Receives one second of the run: the time since its start, and the received beacons.
    func take(seconds: Double, _ heard: [HeardBeacon])
    /// Receives a message for the user.
    func say(_ sentence: String, isWarning: Bool)
}

extension RunConsumer {
    /// Does nothing.
    public func date(_ unixMicroseconds: Int64?) {}
    /// Does nothing.
    public func listen(on adapter: String) {}
}

/// A file with runs or packets. It is a capture (btsnoop, pcap or pcapng), the output of `pharos scan --json`, a table,
/// or JSON Lines as in surveys, with or without stays.
///
/// Lines are passed on as soon as they are written, so the file may still grow.
public struct RunFile {
    private let path: String
    private let known: KnownBeacons
    private let rules: SurveyFiles.LevelRules
    private let shared: Set<BeaconKey>
    /// True if unknown beacons are left out.
    public var isOnlyKnown = false

    /// Creates a file of runs.
    ///
    /// - Parameters:
    ///   - path: The file, or `-` for standard input.
    ///   - known: The known beacons: those that profiles, fleets or listener files name.
    ///   - rules: The rules for reading levels from tables and surveys.
    ///   - shared: Identities that several devices send.
    public init(_ path: String, _ known: KnownBeacons, rules: SurveyFiles.LevelRules, shared: Set<BeaconKey> = []) {
        self.path = path
        self.known = known
        self.rules = rules
        self.shared = shared
    }

    /// Passes all seconds to a consumer.
    ///
    /// - Throws: If the file is missing or cannot be read. The consumer receives the seconds before the problem.
    public func run(_ consumer: any RunConsumer) throws(ListenerServiceError) {
        let pieces = try InputPieces(path)
        let start = try pieces.peek(32)
        switch InputForm(start) {
        case .recording:
            let source = SightingSource.recording(pieces)
            let gatherer = gatherer(source.clock)
            gatherer.passSeconds(to: consumer, source.clock)
            try source.run(gatherer)
        case .lines where SurveyLine.isScan(start): try scan(pieces, consumer)
        case .lines: try lines(pieces, consumer)
        case .object:
            if let problem = try WrongFile.refusal(pieces, try pieces.next(), wanted: .run) { throw problem }
        case .table: try table(pieces, consumer)
        }
    }

    private func gatherer(_ clock: HearingClock) -> SecondGatherer {
        SecondGatherer(
            known, clock, isOnlyKnown: isOnlyKnown, shared: shared, acceptsZeroLevel: rules.acceptsZeroLevel)
    }

    private func scan(_ pieces: InputPieces, _ consumer: any RunConsumer) throws(ListenerServiceError) {
        let clock = HearingClock()
        let gatherer = gatherer(clock)
        gatherer.passSeconds(to: consumer, clock)
        var lines = ScanLines(gatherer, clock, name: pieces.name)
        while !consumer.isSatisfied {
            let piece = try pieces.next()
            if piece.isEmpty { break }
            lines.take(piece)
        }
        lines.finish()
        if lines.reports == 0 { throw .refused(.malformed, "\(pieces.name): the file contains no report") }
    }

    private func lines(_ pieces: InputPieces, _ consumer: any RunConsumer) throws(ListenerServiceError) {
        var reader = SurveyReader(
            file: pieces.name, acceptsZeroLevel: rules.acceptsZeroLevel, acceptsRowsWithoutPlace: true)
        var feed = StayFeed()
        while !consumer.isSatisfied {
            let piece = try pieces.next()
            if piece.isEmpty { break }
            reader.take(piece)
            feed.pass(reader.survey, to: consumer)
        }
        reader.finish()
        feed.pass(reader.survey, to: consumer)
        try end(reader.survey, reader.problems, pieces.name, consumer)
    }

    private func table(_ pieces: InputPieces, _ consumer: any RunConsumer) throws(ListenerServiceError) {
        var whole: [UInt8] = []
        while true {
            let piece = try pieces.next()
            if piece.isEmpty { break }
            whole += piece
            guard whole.count <= SurveyFiles.tableLimit else {
                throw .refused(
                    .malformed, "\(pieces.name): the file is larger than \(SurveyFiles.tableLimit >> 20) MiB")
            }
        }
        let (survey, problems) = SurveyTableReader.read(
            whole, file: pieces.name, notReceivedLevel: rules.notReceivedLevel,
            acceptsZeroLevel: rules.acceptsZeroLevel, acceptsRowsWithoutPlace: true)
        let faults = problems.map { $0.inFile(pieces.name) }
        // Any text can be read as rows of a table. So a table with errors and without a single level is not a run.
        guard let survey, Self.hasLevels(survey) || !faults.contains(where: \.isError) else {
            if survey == nil { throw .service(.refused(.malformed, SurveyFiles.sentences(faults))) }
            throw Self.noRun(faults, pieces.name)
        }
        var feed = StayFeed()
        feed.pass(survey, to: consumer)
        try end(survey, faults, pieces.name, consumer)
    }

    private func end(
        _ survey: Survey, _ problems: [FileProblem], _ name: String, _ consumer: any RunConsumer
    ) throws(ListenerServiceError) {
        guard survey.vectorCount > 0 else { throw Self.noRun(problems, name) }
        for sentence in SurveyFiles.sentences(problems) { consumer.say(sentence, isWarning: true) }
    }

    private static func hasLevels(_ survey: Survey) -> Bool {
        (0..<survey.vectorCount).contains { !survey.vector($0).readings.isEmpty }
    }

    private static func noRun(_ problems: [FileProblem], _ name: String) -> ListenerServiceError {
        .service(
            .refused(
                .malformed,
                SurveyFiles.sentences(problems, limit: 3) + ["\(name): this run has no data of any second"]))
    }
}

extension SecondGatherer {
    /// Passes all seconds to a consumer, as one run without a name.
    ///
    /// - Parameter source: The source that receives with an adapter; `nil` for a recording.
    public func passSeconds(to consumer: any RunConsumer, _ clock: HearingClock, of source: SightingSource? = nil) {
        var hasBegun = false
        onSecond = { [unowned self] second, heard in
            if !hasBegun {
                if let adapter = source?.adapter { consumer.listen(on: adapter.description) }
                consumer.date(origin.flatMap { clock.unixMicroseconds(at: $0) })
                consumer.begin(session: nil)
            }
            hasBegun = true
            consumer.take(seconds: Double(second), heard)
        }
        onSentence = { consumer.say($0, isWarning: $1) }
        isEnough = { consumer.isSatisfied }
    }
}

/// Passes on the stays of a survey that is still being read, each as a run. A stay is passed on even if a later line of
/// the survey cancels it. Otherwise the result would depend on how much of the file is already written.
private struct StayFeed {
    /// The index of the stay that is being passed on.
    private var stay = 0
    /// The index in the survey of the next vector to pass on.
    private var vector = 0
    private var hasBegun = false

    mutating func pass(_ survey: Survey, to consumer: any RunConsumer) {
        while stay < survey.stays.count, !consumer.isSatisfied {
            let current = survey.stays[stay]
            if !hasBegun {
                hasBegun = true
                vector = current.vectors.lowerBound
                let recording = current.recording.map { survey.recordings[$0] }
                consumer.date(recording?.started.map { Int64($0.secondsSince1970) * 1_000_000 })
                consumer.begin(session: survey.session(of: current))
            }
            while vector < current.vectors.upperBound, !consumer.isSatisfied {
                let second = survey.vector(vector)
                consumer.take(
                    seconds: second.seconds,
                    zip(second.readings, survey.packets(vector)).map {
                        HeardBeacon(survey.beacons[$0.beacon], levels: $1)
                    })
                vector += 1
            }
            // Lines that are still to be written may add vectors to the last stay.
            guard stay + 1 < survey.stays.count else { return }
            stay += 1
            hasBegun = false
        }
    }
}
