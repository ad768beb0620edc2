internal import BeaconService
internal import BluetoothTypes
internal import Configuration
internal import LinuxHost
internal import Planner
public import Sites

/// The files of an inventory. For `tools.json`, the directory `tools.counts` next to it contains a directory for each
/// count. Each receiver writes its own log in the directory of the count.
public struct InventoryStore: Sendable {
    /// The inventory file; `-` for standard input.
    public let path: String

    /// Creates the store of the inventory file at `path`.
    public init(_ path: String) { self.path = path }

    /// The directory of the inventory file, with its last slash; empty for the working directory.
    private var directory: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "" }

    /// The name of the inventory file without its directory and without `.json`.
    private var stem: String {
        let name = path.dropFirst(directory.count)
        return String(name.hasSuffix(".json") ? name.dropLast(5) : name)
    }

    private var countsDirectory: String { directory + stem + ".counts" }

    /// Returns the path of a file that the inventory names. Relative paths start at the directory of the inventory
    /// file.
    public func path(of name: String) -> String { name.hasPrefix("/") ? name : directory + name }

    // MARK: The inventory file

    /// Reads and decodes the inventory file.
    ///
    /// - Throws: An error with all problems of the file.
    public func read() throws(InventoryError) -> Inventory {
        let (inventory, problems) = Inventory.decode(try readOctets())
        if let inventory { return inventory }
        let name = path == "-" ? "standard input" : path
        let errors = problems.filter(\.isError)
        throw InventoryError(
            errors.refusal == .malformed ? .malformed : .invalid, errors.map { $0.text(file: name) })
    }

    /// True if the file is a JSON object with the key `items`.
    var hasItems: Bool { (try? readOctets()).map { JSONDocument.parse($0).root?["items"] != nil } ?? false }

    /// Reads the inventory file without decoding it.
    public func readOctets() throws(InventoryError) -> [UInt8] {
        do throws(SystemError) {
            return try Files.readInput(path, limit: Self.fileLimit)
        } catch {
            throw InventoryError(
                BeaconServiceError(error, reading: path == "-" ? "standard input" : path, limit: Self.fileLimit))
        }
    }

    /// Creates the inventory file, which must not exist yet.
    public func create(_ inventory: Inventory) throws(InventoryError) {
        do throws(SystemError) {
            try Files.create(path, with: Array(inventory.text.utf8), mode: 0o644)
        } catch {
            switch error.errno {
            case SystemError.alreadyThere:
                throw InventoryError(.request, "\(path): this file exists already; it was left as it is")
            case SystemError.noEntry:
                throw InventoryError(.missing, "\(path): the directory of this file does not exist")
            default: throw InventoryError(error)
            }
        }
    }

    /// Reads the inventory file, changes the inventory, and replaces the file. Other processes wait until this is done.
    ///
    /// - Returns: The result of `body`.
    public func change<Answer>(
        _ body: (inout Inventory) throws(InventoryError) -> Answer
    ) throws(InventoryError) -> Answer {
        guard path != "-" else {
            throw InventoryError(.request, "standard input cannot be changed: name a file")
        }
        _ = try read()
        let lock = try lock("pharos inventory: changing \(stem)")
        defer { lock.release() }
        var inventory = try read()
        let answer = try body(&inventory)
        try system { () throws(SystemError) in
            try Files.replace(path, with: Array(inventory.text.utf8), keepsRights: true)
        }
        return answer
    }

    private func lock(_ purpose: String) throws(InventoryError) -> FileLock {
        do throws(FileLockError) {
            return try FileLock("\(directory).\(stem).lock", purpose: purpose, waiting: .seconds(10))
        } catch {
            if case .system(let error) = error { throw InventoryError(error) }
            throw InventoryError(.busy, "\(error)")
        }
    }

    private func system<Answer>(_ body: () throws(SystemError) -> Answer) throws(InventoryError) -> Answer {
        do throws(SystemError) { return try body() } catch { throw InventoryError(error) }
    }

    /// Reads the pictures of the items of a report. A picture that cannot be used is left out.
    ///
    /// - Parameter inventory: The current inventory. If an item of a finished count has no picture, the picture of this
    ///   item in the current inventory is used.
    /// - Returns: The pictures by the ids of their items, and one sentence for each picture that is left out.
    public func photos(
        of report: CountReport, _ inventory: Inventory
    ) -> (photos: [String: ItemPhoto], problems: [String]) {
        let currentNames = Dictionary(inventory.items.map { ($0.id, $0.photo) }) { first, _ in first }
        var (photos, problems): ([String: ItemPhoto], [String]) = ([:], [])
        var (photoOfName, totalSize): ([String: ItemPhoto?], Int) = ([:], 0)
        for item in report.outcomes.map(\.item) {
            guard let name = item.photo ?? currentNames[item.id] ?? nil else { continue }
            if let photo = photoOfName[name] {
                photos[item.id] = photo
                continue
            }
            photoOfName[name] = .some(nil)
            do throws(InventoryError) {
                let photo = try ItemPhoto(path(of: name))
                guard totalSize + photo.octets.count <= ItemPhoto.totalLimit else {
                    problems.append(
                        "\(path(of: name)): this picture is left out, because all pictures of a report together may have "
                            + "at most \(ItemPhoto.totalLimit >> 20) MiB: make smaller copies of them")
                    continue
                }
                totalSize += photo.octets.count
                photoOfName[name] = photo
                photos[item.id] = photo
            } catch {
                problems += error.messages
            }
        }
        return (photos, problems)
    }

    /// Reads the site file at `path`.
    ///
    /// - Throws: An error with all problems of the file.
    public static func site(_ path: String) throws(InventoryError) -> Site {
        let octets: [UInt8]
        do throws(SystemError) {
            octets = try Files.read(path)
        } catch {
            throw InventoryError(.missing, "\(path): this site file cannot be read: \(error.text)")
        }
        let (site, problems) = Site.decode(octets)
        if let site { return site }
        let errors = problems.filter(\.isError)
        throw InventoryError(
            errors.refusal == .malformed ? .malformed : .invalid, errors.map { $0.text(file: path) })
    }

    /// Reads the site file at `path` and its picture, for a drawing.
    ///
    /// - Throws: An error with all problems of the file, or with the problem of its picture.
    public static func drawnSite(_ path: String) throws(InventoryError) -> Site {
        var site = try site(path)
        do throws(FloorPictureError) {
            try site.readPicture(ofSite: path)
        } catch {
            throw InventoryError(error.isMissing ? .missing : .malformed, error.problem.text(file: path))
        }
        return site
    }

    // MARK: Counts

    private static let journalName = "count.jsonl"
    private static let fileLimit = 1 << 30
    private static let logLimit = 1 << 28

    /// The names of all counts, the oldest first.
    public var countNames: [String] {
        let names = Files.names(in: countsDirectory).filter {
            Files.exists("\(countsDirectory)/\($0)/\(Self.journalName)")
        }
        // If the journal of a count is damaged, the start of the count is not known. Such a count is listed after all
        // other counts.
        let starts = names.map { (name: $0, start: (try? journal($0))?.start) }
        return starts.sorted { left, right in
            switch (left.start, right.start) {
            case (let first?, let second?) where first != second: first < second
            case (_?, nil): true
            case (nil, _?): false
            default: CountJournal.isBefore(left.name, right.name)
            }
        }.map(\.name)
    }

    /// Returns the journal of the count `name`, with its start and its end.
    ///
    /// - Throws: An error if the journal cannot be read, or if it contains the name of another count. Logs would then
    ///   be written to the directory of that other count.
    func journal(_ name: String) throws(InventoryError) -> CountJournal {
        let file = "\(countsDirectory)/\(name)/\(Self.journalName)"
        let octets = try system { () throws(SystemError) in try Files.read(file, limit: Self.logLimit) }
        guard let journal = CountJournal(octets), journal.countName == name else {
            throw InventoryError(.malformed, "\(file): this is not the journal of a count")
        }
        return journal
    }

    /// Returns the last readable journal of these counts, and the files of the damaged journals of later counts.
    private func last(_ names: some BidirectionalCollection<String>) -> (journal: CountJournal?, damaged: [String]) {
        var damaged: [String] = []
        for name in names.reversed() {
            if let journal = try? journal(name) { return (journal, damaged) }
            damaged.append("\(name)/\(Self.journalName)")
        }
        return (nil, damaged)
    }

    /// Returns the journal of the last of these counts that is not finished; `nil` if all counts are finished.
    private func lastOpen(_ names: [String]) -> CountJournal? {
        names.reversed().lazy.compactMap { try? journal($0) }.first { $0.finish == nil }
    }

    /// Returns the logs of the count `name`, and the names of files that are not logs.
    func logs(_ name: String) -> (logs: [CountLog], damaged: [String]) {
        let directory = "\(countsDirectory)/\(name)"
        var (logs, damaged): ([CountLog], [String]) = ([], [])
        for file in Files.names(in: directory) where file.hasSuffix(".jsonl") && file != Self.journalName {
            guard let octets = try? Files.read("\(directory)/\(file)", limit: Self.logLimit) else {
                damaged.append(file)
                continue
            }
            if let log = CountLog(octets) { logs.append(log) } else if !octets.isEmpty { damaged.append(file) }
        }
        return (logs, damaged)
    }

    /// Returns the report of the count `name`, or of the last count if `name` is `nil`. Returns `nil` if there is no
    /// count yet.
    ///
    /// - Throws: `request` if there is no count of this name.
    public func report(_ inventory: Inventory, of name: String? = nil) throws(InventoryError) -> CountReport? {
        let names = countNames
        if let name, !names.contains(name) {
            let advice =
                names.isEmpty ? "there are no counts yet" : "there are \(names.suffix(10).joined(separator: ", "))"
            throw InventoryError(
                .request, "--count \(ProblemText.quoted(name)): there is no such count of \(path); \(advice)")
        }
        var (journal, damaged) = last(names)
        if let name { (journal, damaged) = (try self.journal(name), []) }
        guard let journal, let index = names.firstIndex(of: journal.countName) else { return nil }
        let (logs, damagedLogs) = logs(journal.countName)
        let earlier = last(names[..<index])
        let previous = earlier.journal.map { (journal: $0, logs: self.logs($0.countName).logs) }
        damaged += damagedLogs + earlier.damaged
        return CountReport(inventory, journal, logs, previous: previous, damaged: damaged)
    }

    /// Returns the report of the count `name`, or of the last count if `name` is `nil`.
    ///
    /// - Throws: `missing` if there is no count yet.
    public func lastReport(_ inventory: Inventory, of name: String? = nil) throws(InventoryError) -> CountReport {
        if let report = try report(inventory, of: name) { return report }
        throw InventoryError(
            .missing, "\(path): there are no counts yet; start one with `pharos inventory start \(path)`")
    }

    /// Joins an open count, or starts a new count.
    ///
    /// - Parameter name: The count to join or to start. `nil` to join the last open count, or, if none is open, to start
    ///   a count named after the day.
    func begin(_ inventory: Inventory, by: String, name: String?) throws(InventoryError) -> CountJournal {
        try system { () throws(SystemError) in try Files.makeDirectory(countsDirectory) }
        let lock = try lock("pharos inventory start \(stem)")
        defer { lock.release() }
        let names = countNames
        if let name {
            if names.contains(name) {
                let journal = try journal(name)
                guard journal.finish == nil else {
                    throw InventoryError(
                        .request, "--count \(name): this count is finished; leave out --count to start a new one")
                }
                return journal
            }
        } else if let open = lastOpen(names) {
            return open
        }
        let now = RFC3339Time.now
        let journal = CountJournal(
            countName: name ?? CountJournal.name(on: now, taken: Set(names)), inventory: inventory.name, start: now,
            by: by)
        let directory = "\(countsDirectory)/\(journal.countName)"
        try system { () throws(SystemError) in
            try Files.makeDirectory(directory)
            try Files.create("\(directory)/\(Self.journalName)", with: Array(journal.firstLine.utf8), mode: 0o644)
            try Files.synchronize(directory)
        }
        return journal
    }

    /// Finishes the count `name`, or the last open count if `name` is `nil`.
    ///
    /// - Returns: The name of the count.
    /// - Throws: `missing` if the count does not exist or is already finished, or if no count is open.
    public func finish(_ inventory: Inventory, by: String, name: String?) throws(InventoryError) -> String {
        let noCount = InventoryError(
            .missing, "\(path): no count is open; start one with `pharos inventory start \(path)`")
        guard Files.isDirectory(countsDirectory) else { throw noCount }
        let lock = try lock("pharos inventory finish \(stem)")
        defer { lock.release() }
        let names = countNames
        if let name, !names.contains(name) {
            let advice = names.isEmpty ? "" : "; there are \(names.suffix(10).joined(separator: ", "))"
            throw InventoryError(
                .missing, "--count \(ProblemText.quoted(name)): there is no such count of \(path)\(advice)")
        }
        guard let name = name ?? lastOpen(names)?.countName else {
            throw noCount
        }
        let journal = try journal(name)
        guard journal.finish == nil else {
            throw InventoryError(.missing, "--count \(ProblemText.quoted(name)): this count is finished already")
        }
        let file = "\(countsDirectory)/\(name)/\(Self.journalName)"
        let text = journal.firstLine + CountJournal.finishLine(inventory, at: .now, by: by)
        try system { () throws(SystemError) in
            try Files.replace(file, with: Array(text.utf8), keepsRights: true)
        }
        return name
    }

    /// Creates the file for the log of a receiver.
    func log(_ header: CountLog.Header) throws(SystemError) -> OutputFile {
        try OutputFile(replacing: "\(countsDirectory)/\(header.countName)/\(header.session).jsonl")
    }
}
