internal import CommandSupport
internal import Configuration
internal import Inventory
internal import LinuxHost

/// An inventory's file and its counts: `tools.json`, and beside it `tools.counts` with a directory for each count, in
/// which every receiver has a log of its own.
struct InventoryStore {
    let path: String

    init(_ path: String) { self.path = path }

    /// The directory that paths in the file are relative to, with its last slash.
    var directory: String { InputFile.directory(of: path) }

    private var stem: String {
        let name = path.dropFirst(directory.count)
        return String(name.hasSuffix(".json") ? name.dropLast(5) : name)
    }

    private var countsDirectory: String { directory + stem + ".counts" }

    /// Where something lies that the file names.
    func place(_ name: String) -> String { name.hasPrefix("/") ? name : directory + name }

    // MARK: The file

    /// - Throws: what is wrong with the file, problem by problem.
    func read() throws -> Inventory {
        let (inventory, problems) = Inventory.decode(try InputFile.read(path))
        guard let inventory else { throw Self.refusal(problems, of: path) }
        return inventory
    }

    static func refusal(_ problems: [FileProblem], of path: String) -> Failure {
        let name = path == "-" ? "standard input" : path
        let errors = problems.filter(\.isError)
        let isMalformed = errors.refusal == .malformed
        return Failure(isMalformed ? .dataFormat : .configuration, errors.map { $0.text(file: name) })
    }

    /// Makes the file where nothing is yet.
    func create(_ inventory: Inventory) throws {
        do throws(SystemError) {
            try Files.create(path, with: Array(inventory.text.utf8), mode: 0o644)
        } catch {
            switch error.errno {
            case SystemError.alreadyThere:
                throw Failure(.usage, "\(path): this file is there already; it was left as it is")
            case SystemError.noEntry: throw Failure(.noInput, "\(path): there is no directory for this file")
            default: throw error
            }
        }
    }

    /// Reads the file, changes what is in it and puts the result in its place, alone among all who do that.
    func change<Answer>(_ body: (inout Inventory) throws -> Answer) throws -> Answer {
        guard path != "-" else { throw Failure(.usage, "standard input cannot be changed: name a file") }
        _ = try read()
        let lock = try lock("pharos inventory: changing \(stem)")
        defer { lock.release() }
        var inventory = try read()
        let answer = try body(&inventory)
        try Files.replace(path, with: Array(inventory.text.utf8), keepsRights: true)
        return answer
    }

    private func lock(_ purpose: String) throws(FileLockError) -> FileLock {
        try FileLock("\(directory).\(stem).lock", purpose: purpose, waiting: .seconds(10))
    }

    // MARK: Counts

    /// A count with what everybody wrote down.
    struct Count {
        let journal: CountJournal
        let logs: [CountLog]
        /// Files that are no logs.
        let damaged: [String]
    }

    /// The names of all counts, the oldest first.
    var countNames: [String] {
        Files.names(in: countsDirectory).filter { Files.exists("\(countsDirectory)/\($0)/\(Self.journalName)") }
            .sorted(by: CountJournal.isBefore)
    }

    private static let journalName = "count.jsonl"
    /// Of a log, in octets.
    private static let logLimit = 1 << 28

    func journal(_ name: String) throws -> CountJournal {
        let file = "\(countsDirectory)/\(name)/\(Self.journalName)"
        guard let journal = CountJournal(try Files.read(file, limit: Self.logLimit)) else {
            throw Failure(.dataFormat, "\(file): this is not the journal of a count")
        }
        return journal
    }

    func count(_ name: String) throws -> Count {
        let directory = "\(countsDirectory)/\(name)"
        var (logs, damaged): ([CountLog], [String]) = ([], [])
        for file in Files.names(in: directory) where file.hasSuffix(".jsonl") && file != Self.journalName {
            let octets = try Files.read("\(directory)/\(file)", limit: Self.logLimit)
            if let log = CountLog(octets) { logs.append(log) } else if !octets.isEmpty { damaged.append(file) }
        }
        return Count(journal: try journal(name), logs: logs, damaged: damaged)
    }

    /// The last count, or the one that is named; `nil` where there was none.
    func report(_ inventory: Inventory, of name: String? = nil) throws -> CountReport? {
        let names = countNames
        if let name, !names.contains(name) {
            let advice =
                names.isEmpty ? "nobody has counted yet" : "there are \(names.suffix(10).joined(separator: ", "))"
            throw Failure(.usage, "--count \(ProblemText.quoted(name)): there is no such count of \(path); \(advice)")
        }
        guard let name = name ?? names.last, let place = names.firstIndex(of: name) else { return nil }
        let count = try count(name)
        let before = place > 0 ? try self.count(names[place - 1]) : nil
        return CountReport(
            inventory, count.journal, count.logs, previous: before.map { ($0.journal, $0.logs) },
            damaged: count.damaged)
    }

    /// - Throws: where nobody has counted yet.
    func lastReport(_ inventory: Inventory, of name: String? = nil) throws -> CountReport {
        if let report = try report(inventory, of: name) { return report }
        throw Failure(.noInput, "\(path): nobody has counted yet; begin with `pharos inventory start \(path)`")
    }

    /// The count that goes on; a new one where none does.
    ///
    /// - Parameter name: What a new one is called, or the one that is joined; `nil` for the day.
    func begin(_ inventory: Inventory, by: String, name: String?) throws -> CountJournal {
        try Files.makeDirectory(countsDirectory)
        let lock = try lock("pharos inventory start \(stem)")
        defer { lock.release() }
        let names = countNames
        if let name {
            if names.contains(name) {
                let journal = try journal(name)
                guard journal.finish == nil else {
                    throw Failure(.usage, "--count \(name): this count is finished; leave --count out for a new one")
                }
                return journal
            }
        } else if let last = names.last {
            let journal = try journal(last)
            if journal.finish == nil { return journal }
        }
        let now = Self.now
        let journal = CountJournal(
            count: name ?? CountJournal.name(on: now, taken: Set(names)), inventory: inventory.name, start: now, by: by)
        let directory = "\(countsDirectory)/\(journal.count)"
        try Files.makeDirectory(directory)
        try Files.create("\(directory)/\(Self.journalName)", with: Array(journal.firstLine.utf8), mode: 0o644)
        try Files.synchronize(directory)
        return journal
    }

    /// Ends the count that goes on.
    ///
    /// - Returns: its name.
    func finish(_ inventory: Inventory, by: String, name: String?) throws -> String {
        guard Files.isDirectory(countsDirectory) else { throw noCount }
        let lock = try lock("pharos inventory finish \(stem)")
        defer { lock.release() }
        let names = countNames
        guard let name = name ?? names.last, names.contains(name) else { throw noCount }
        let journal = try journal(name)
        guard journal.finish == nil else { throw noCount }
        let file = "\(countsDirectory)/\(name)/\(Self.journalName)"
        let text = journal.firstLine + CountJournal.finishLine(inventory, at: Self.now, by: by)
        try Files.replace(file, with: Array(text.utf8), keepsRights: true)
        return name
    }

    private var noCount: Failure {
        Failure(.noInput, "\(path): no count goes on; begin one with `pharos inventory start \(path)`")
    }

    /// The file of a new log of a count.
    func log(_ header: CountLog.Header) throws(SystemError) -> OutputFile {
        try OutputFile(replacing: "\(countsDirectory)/\(header.count)/\(header.session).jsonl")
    }

    static var now: RFC3339Time {
        RFC3339Time(secondsSince1970: Int(WallClock.microseconds() / 1_000_000))
    }
}
