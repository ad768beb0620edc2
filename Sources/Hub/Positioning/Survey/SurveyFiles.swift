internal import BeaconService
public import Configuration
internal import EddystoneSecurity
public import Listener

/// Reads surveys, which are JSON Lines or tables. The form is determined from the contents.
public struct SurveyFiles: Sendable {
    /// The rules for reading levels.
    public struct LevelRules: Hashable, Sendable {
        /// The number that means "not received" in a table; `nil` if there is no such number.
        public var notReceivedLevel: Double?
        /// True if 0 dBm is a level.
        public var acceptsZeroLevel: Bool

        /// Creates rules for reading levels.
        public init(notReceivedLevel: Double? = nil, acceptsZeroLevel: Bool = false) {
            self.notReceivedLevel = notReceivedLevel
            self.acceptsZeroLevel = acceptsZeroLevel
        }
    }

    /// All stays, in the order of the files.
    public private(set) var survey = Survey()
    /// The files with their SHA-256.
    public private(set) var sources: [SignalMap.Source] = []
    /// Errors and warnings about lines, in the order of the files.
    public private(set) var problems: [FileProblem] = []
    /// The file of each stay of the survey.
    public private(set) var fileOfStay: [String] = []

    /// True if a table was refused as a whole.
    private var hasRefusedTable = false
    /// True if a refused table has rows. The problems of these rows are then reported instead of the message that no
    /// stay was found.
    private var hasFaultyRows = false

    /// The largest size of a table, in bytes. JSON Lines are read in pieces, so they may be longer.
    public static let tableLimit = 1 << 29

    /// Reads surveys. Lines that cannot be used are reported in ``problems``.
    ///
    /// - Parameter paths: Files, or `-` for standard input.
    /// - Throws: If a file is missing or not a survey.
    public init(_ paths: [String], rules: LevelRules = .init()) throws(ListenerServiceError) {
        for path in paths { try addSurvey(path, rules) }
    }

    /// True if the survey has no vectors, apart from those of cancelled stays.
    public var isEmpty: Bool { survey.countedVectors == 0 }

    private mutating func addSurvey(_ path: String, _ rules: LevelRules) throws(ListenerServiceError) {
        let pieces = try InputPieces(path)
        var digest = IncrementalDigest()
        var octets = try pieces.next()
        if let problem = try WrongFile.refusal(pieces, octets, wanted: .survey) { throw problem }
        let content: (survey: Survey, problems: [FileProblem])
        if InputForm(octets) == .lines {
            var reader = SurveyReader(file: pieces.name, acceptsZeroLevel: rules.acceptsZeroLevel)
            while !octets.isEmpty {
                digest.update(octets)
                reader.take(octets)
                octets = try pieces.next()
            }
            reader.finish()
            content = (reader.survey, reader.problems)
        } else {
            var whole: [UInt8] = []
            while !octets.isEmpty {
                digest.update(octets)
                whole += octets
                guard whole.count <= Self.tableLimit else {
                    throw .refused(.malformed, "\(pieces.name): the file is larger than \(Self.tableLimit >> 20) MiB")
                }
                octets = try pieces.next()
            }
            let (table, faults) = SurveyTableReader.read(
                whole, file: pieces.name, notReceivedLevel: rules.notReceivedLevel,
                acceptsZeroLevel: rules.acceptsZeroLevel)
            let faultsInFile = faults.map { $0.inFile(pieces.name) }
            if table == nil {
                hasRefusedTable = true
                if !whole.isEmpty { hasFaultyRows = true }
            }
            content = (table ?? Survey(), faultsInFile)
        }
        let source = SignalMap.Source(name: pieces.name, sha256: digest.text)
        problems += content.problems
        if let same = sources.first(where: { $0.sha256 == source.sha256 }) {
            problems.append(
                FileProblem(
                    "this file is the same as \(same.name): it is used once", at: .init(line: 1, column: 1),
                    severity: .warning, in: pieces.name))
            return
        }
        sources.append(source)
        fileOfStay += content.survey.stays.map { _ in pieces.name }
        if survey.stays.isEmpty, survey.recordings.isEmpty {
            survey = content.survey
        } else {
            survey.append(content.survey)
        }
    }

    /// The first problems, one sentence each, and the number of the remaining problems.
    public var sentences: [String] { Self.sentences(problems) }

    static func sentences(_ problems: [FileProblem], limit: Int = 20) -> [String] {
        let shown = problems.prefix(limit).map { "\($0)" }
        let hidden = problems.count - shown.count
        return hidden > 0 ? shown + ["\(hidden) more problems are not shown; `pharos map check` lists them"] : shown
    }

    /// Throws an error if no stay has a vector, or if a table was refused.
    public func refuseEmpty() throws(ListenerServiceError) {
        guard isEmpty, !hasFaultyRows else {
            if hasRefusedTable { throw .service(.refused(.malformed, sentences)) }
            return
        }
        let names = sources.map(\.name).joined(separator: ", ")
        throw .service(
            .refused(
                .malformed,
                Self.sentences(problems, limit: 3) + [
                    "\(names): no stay has data of any second: is this a survey, as `pharos map record` writes it?"
                ]))
    }
}
