internal import BeaconService
internal import BluetoothTypes
internal import Configuration
public import Listener

/// Whoever takes the seconds of runs, one after the other.
public protocol RunConsumer: AnyObject {
    /// Whether nothing more is wanted.
    var isSatisfied: Bool { get }
    /// Another run begins: somebody else, or somewhere else.
    func begin(session: String?)
    /// When the runs began, in microseconds since 1970; `nil` where nobody knows. Told before the first second, where at
    /// all.
    func date(_ unixMicroseconds: Int64?)
    /// Which adapter hears. Told before the first second, where there is one.
    func listen(on adapter: String)
    /// A second of it: when, in seconds since its start, and what was heard.
    func take(seconds: Double, _ heard: [HeardBeacon])
    /// A sentence for whoever watches.
    func say(_ sentence: String, isWarning: Bool)
}

extension RunConsumer {
    /// It does not matter.
    public func date(_ unixMicroseconds: Int64?) {}
    /// It does not matter.
    public func listen(on adapter: String) {}
}

/// A file with runs, or with packets that are one: btsnoop, pcap, pcapng, what `pharos scan --json` prints, JSON Lines as
/// surveys have them, with stays or without, or a table.
///
/// What comes in lines is told as it comes, so that another program can write them meanwhile.
public struct RunFile {
    private let path: String
    private let known: KnownBeacons
    private let reading: SurveyFiles.Reading
    private let shared: Set<BeaconKey>
    /// Whether sightings of strangers are left out.
    public var isOnlyKnown = false

    /// - Parameters:
    ///   - path: The file, or `-` for standard input.
    ///   - known: Who has a name.
    ///   - reading: What levels in tables and surveys stand for.
    ///   - shared: Identities that are known to come from several devices.
    public init(_ path: String, _ known: KnownBeacons, reading: SurveyFiles.Reading, shared: Set<BeaconKey> = []) {
        self.path = path
        self.known = known
        self.reading = reading
        self.shared = shared
    }

    /// Tells everything.
    ///
    /// - Throws: where the file is missing, or cannot be followed; what came before was told.
    public func run(_ consumer: any RunConsumer) throws(ListenerServiceError) {
        let pieces = try InputPieces(path)
        let start = try pieces.peek(32)
        switch InputForm(start) {
        case .recording:
            let source = SightingSource.recording(pieces)
            let gatherer = gatherer(source.clock)
            gatherer.tell(consumer, source.clock)
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
            known, clock, isOnlyKnown: isOnlyKnown, shared: shared, acceptsZero: reading.acceptsZero)
    }

    private func scan(_ pieces: InputPieces, _ consumer: any RunConsumer) throws(ListenerServiceError) {
        let clock = HearingClock()
        let gatherer = gatherer(clock)
        gatherer.tell(consumer, clock)
        var lines = ScanLines(gatherer, clock, name: pieces.name)
        while !consumer.isSatisfied {
            let piece = try pieces.next()
            if piece.isEmpty { break }
            lines.take(piece)
        }
        lines.finish()
        if lines.reports == 0 { throw .refused(.malformed, "\(pieces.name): there is no report in it") }
    }

    private func lines(_ pieces: InputPieces, _ consumer: any RunConsumer) throws(ListenerServiceError) {
        var reader = SurveyReader(file: pieces.name, acceptsZero: reading.acceptsZero, acceptsRuns: true)
        var teller = SurveyTeller()
        while !consumer.isSatisfied {
            let piece = try pieces.next()
            if piece.isEmpty { break }
            reader.take(piece)
            teller.tell(reader.survey, consumer)
        }
        reader.finish()
        teller.tell(reader.survey, consumer)
        try end(reader.survey, reader.problems, pieces.name, consumer)
    }

    private func table(_ pieces: InputPieces, _ consumer: any RunConsumer) throws(ListenerServiceError) {
        var whole: [UInt8] = []
        while true {
            let piece = try pieces.next()
            if piece.isEmpty { break }
            whole += piece
            guard whole.count <= SurveyFiles.tableLimit else {
                throw .refused(.malformed, "\(pieces.name): it is larger than \(SurveyFiles.tableLimit >> 20) MiB")
            }
        }
        let (survey, problems) = SurveyTableReader.read(
            whole, file: pieces.name, absent: reading.absent, acceptsZero: reading.acceptsZero, acceptsRuns: true)
        let faults = problems.map { $0.inFile(pieces.name) }
        // Any text has rows: one without a single level is no run, and least of all one that heard nothing.
        guard let survey, Self.hasLevels(survey) || !faults.contains(where: \.isError) else {
            throw Self.noRun(faults, pieces.name)
        }
        var teller = SurveyTeller()
        teller.tell(survey, consumer)
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
                SurveyFiles.sentences(problems, limit: 3) + ["\(name): there is no second of any run in it"]))
    }
}

extension SecondGatherer {
    /// Hands everything on as one run without a name.
    ///
    /// - Parameter source: The adapter's; `nil` for a recording.
    public func tell(_ consumer: any RunConsumer, _ clock: HearingClock, of source: SightingSource? = nil) {
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

/// Tells the stays of a survey that still grows, each as a run. Stays that a later line takes back are told all the same:
/// what was told cannot depend on how much of the file is there already.
private struct SurveyTeller {
    private var stay = 0
    private var vector = 0
    private var hasBegun = false

    mutating func tell(_ survey: Survey, _ consumer: any RunConsumer) {
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
                let heard = survey.vector(vector)
                consumer.take(
                    seconds: heard.seconds,
                    zip(heard.readings, survey.packets(vector)).map {
                        HeardBeacon(survey.beacons[$0.beacon], levels: $1)
                    })
                vector += 1
            }
            // The last one may go on.
            guard stay + 1 < survey.stays.count else { return }
            stay += 1
            hasBegun = false
        }
    }
}
