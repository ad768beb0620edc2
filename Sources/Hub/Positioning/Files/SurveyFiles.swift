internal import BeaconService
public import Configuration
internal import EddystoneSecurity
public import Listener

/// Surveys that a person has named: each JSON Lines or CSV, told by what is in it.
public struct SurveyFiles: Sendable {
    /// What stands for what in tables.
    public struct Reading: Hashable, Sendable {
        /// The number that stands for "not heard" in a table; `nil` where none does.
        public var absent: Double?
        /// Whether 0 dBm is a level.
        public var acceptsZero: Bool

        /// - Parameters are as the properties of the same names.
        public init(absent: Double? = nil, acceptsZero: Bool = false) {
            self.absent = absent
            self.acceptsZero = acceptsZero
        }
    }

    /// All stays, in the order of the files.
    public private(set) var survey: Survey
    /// The files with their digests, in their order.
    public private(set) var sources: [SignalMap.Source] = []
    /// What is wrong with single lines or worth knowing, in the order of the files.
    public private(set) var problems: [FileProblem] = []
    /// The file that each of the survey's stays is in.
    public private(set) var fileOfStay: [String] = []

    /// A table may hold so much, in octets; lines of JSON are read piece by piece, however many there are.
    public static let tableLimit = 1 << 29

    /// - Parameters:
    ///   - paths: Files, or `-` for standard input.
    ///   - reading: What levels stand for.
    ///   - keepsPackets: Whether single packets are kept: a map needs the mean of each second only.
    /// - Throws: where a file is missing, or is something else than a survey. Lines that cannot be used are problems, and
    ///   the rest counts.
    public init(
        _ paths: [String], reading: Reading = .init(), keepsPackets: Bool = true
    ) throws(ListenerServiceError) {
        survey = Survey(keepsPackets: keepsPackets)
        for path in paths { try add(path, reading, keepsPackets) }
    }

    /// Whether any stay has a vector.
    public var isEmpty: Bool { survey.vectorCount == 0 }

    private mutating func add(_ path: String, _ reading: Reading, _ keepsPackets: Bool) throws(ListenerServiceError) {
        let pieces = try InputPieces(path)
        var digest = RunningDigest()
        var octets = try pieces.next()
        if let problem = try WrongFile.refusal(pieces, octets, wanted: .survey) { throw problem }
        let found: (survey: Survey, problems: [FileProblem])
        if InputForm(octets) == .lines {
            var reader = SurveyReader(
                file: pieces.name, acceptsZero: reading.acceptsZero, keepsPackets: keepsPackets)
            while !octets.isEmpty {
                digest.take(octets)
                reader.take(octets)
                octets = try pieces.next()
            }
            reader.finish()
            found = (reader.survey, reader.problems)
        } else {
            var whole: [UInt8] = []
            while !octets.isEmpty {
                digest.take(octets)
                whole += octets
                guard whole.count <= Self.tableLimit else {
                    throw .refused(.malformed, "\(pieces.name): it is larger than \(Self.tableLimit >> 20) MiB")
                }
                octets = try pieces.next()
            }
            let (table, faults) = SurveyTableReader.read(
                whole, file: pieces.name, absent: reading.absent, acceptsZero: reading.acceptsZero)
            found = (table ?? Survey(), faults.map { $0.inFile(pieces.name) })
        }
        let source = SignalMap.Source(name: pieces.name, sha256: digest.text)
        problems += found.problems
        if let same = sources.first(where: { $0.sha256 == source.sha256 }) {
            problems.append(
                FileProblem(
                    "this is the same as \(same.name): it counts once", at: .init(line: 1, column: 1),
                    severity: .warning, in: pieces.name))
            return
        }
        sources.append(source)
        fileOfStay += found.survey.stays.map { _ in pieces.name }
        if survey.stays.isEmpty, survey.recordings.isEmpty {
            survey = found.survey
        } else {
            survey.append(found.survey)
        }
    }

    /// The problems as sentences, of which nobody reads more than a few.
    public var sentences: [String] { Self.sentences(problems) }

    static func sentences(_ problems: [FileProblem], limit: Int = 20) -> [String] {
        let shown = problems.prefix(limit).map { "\($0)" }
        let rest = problems.count - shown.count
        return rest > 0 ? shown + ["\(rest) more problems are not shown; `pharos map check` lists them"] : shown
    }

    /// Refuses what holds nothing to make a map of.
    public func refuseEmpty() throws(ListenerServiceError) {
        guard isEmpty else { return }
        let names = sources.map(\.name).joined(separator: ", ")
        throw .service(
            .refused(
                .malformed,
                Self.sentences(problems, limit: 3) + [
                    "\(names): there is no second of any stay in there: is it a survey, as `pharos map record` "
                        + "writes it?"
                ]))
    }
}
