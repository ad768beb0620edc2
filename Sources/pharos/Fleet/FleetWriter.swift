internal import Configuration
internal import Fleet
internal import LinuxHost

/// Brings a fleet's files onto the disk: first all of them beside the old ones, then the lock, then all at once.
struct FleetWriter {
    let fleet: Fleet
    let allocation: FleetAllocation
    let folder: String
    let lockFile: String
    let keys: FleetKeyFolder?
    let manifestOnly: Bool

    struct Result {
        /// What was found; where it is not good, nothing was written.
        var report: FleetReport
        var outcome = FolderReplacement.Outcome()
        var lockWritten = false
    }

    private static let manifest = "manifest.json"
    private static let table = "manifest.csv"

    func write() throws -> Result {
        let replacement: FolderReplacement
        do throws(SystemError) {
            replacement = try FolderReplacement(folder)
        } catch {
            throw failure(error, folder)
        }
        try refuseForeignFiles(replacement)
        let lock = FileDraft(lockFile, draft: lockDraft)
        do throws(SystemError) {
            let report = try generate(into: replacement)
            guard report.isGood else {
                replacement.discard()
                return Result(report: report)
            }
            try allocation.lock.write { (piece) throws(SystemError) in try lock.append(piece) }
            try lock.finish()
            let lockWritten = lock.isChanged
            // From here on the identities are given out, whether or not the folder follows.
            try lock.commit()
            return Result(report: report, outcome: try replacement.commit(), lockWritten: lockWritten)
        } catch {
            replacement.discard()
            lock.discard()
            throw failure(error, folder)
        }
    }

    private var lockDraft: String {
        let folder = FleetFiles.folder(of: lockFile)
        return "\(folder).\(lockFile.dropFirst(folder.count)).new"
    }

    private func generate(into replacement: FolderReplacement) throws(SystemError) -> FleetReport {
        let assembly = FleetAssembly(fleet, allocation, keys: keys, manifestOnly: manifestOnly)
        let generator = FleetGenerator(fleet, allocation)
        let manifest = replacement.draft(Self.manifest)
        let table = replacement.draft(Self.table)
        let progress = FleetProgress(of: fleet.beaconCount, what: "beacons")
        defer { progress.finish() }
        var end = generator.manifestEnd
        var done = 0
        try manifest.append(generator.manifestStart)
        try table.append(generator.tableStart)
        let report = try assembly.run { (part) throws(SystemError) in
            for (name, text) in part.profiles { try replacement.put(name + ".json", text) }
            try manifest.append(part.manifest)
            try table.append(part.table)
            end = part.manifestEnd
            done += part.beacons
            progress.report(done)
        }
        guard report.isGood else { return report }
        try manifest.append(end)
        try replacement.finish(manifest, Self.manifest)
        try replacement.finish(table, Self.table)
        return report
    }

    /// A folder is ours when it is empty, or when all that is in it was made by an earlier run for the same fleet.
    private func refuseForeignFiles(_ replacement: FolderReplacement) throws {
        let names = replacement.names
        guard !names.isEmpty else { return }
        guard names.contains(Self.manifest) else {
            throw Failure(
                .configuration,
                "\(folder): this folder holds \(Self.some(names)) and no manifest.json: it was not made by `pharos fleet "
                    + "generate`; choose an empty one")
        }
        var known: Set<String> = [Self.manifest, Self.table]
        let path = "\(replacement.path)/\(Self.manifest)"
        var manifest = try ManifestNames(path)
        guard let owner = manifest.fleet else {
            throw Failure(
                .configuration,
                "\(path): this is no manifest that `pharos fleet generate` wrote; choose an empty folder")
        }
        guard owner == fleet.name else {
            throw Failure(
                .configuration, "\(folder): this folder holds the fleet \(owner), not \(fleet.name); choose another")
        }
        // Only a folder with other files needs the names of all that were made.
        if !names.isSubset(of: known) { try manifest.forEach { known.insert($0 + ".json") } }
        let foreign = names.subtracting(known)
        guard foreign.isEmpty else {
            throw Failure(
                .configuration,
                "\(folder): \(Self.some(foreign)) was not made by `pharos fleet generate`; move it elsewhere, or choose "
                    + "another folder")
        }
        if manifestOnly, let profile = names.first(where: { $0 != Self.manifest && $0 != Self.table }) {
            throw Failure(
                .configuration,
                "\(folder): this folder holds profiles such as \(profile), which would no longer fit their manifest; choose "
                    + "another for --manifest-only")
        }
    }

    /// A few names, as part of a sentence.
    private static func some(_ names: Set<String>) -> String {
        let shown = names.sorted().prefix(3).map { JSONValue.string($0).line }.joined(separator: ", ")
        return names.count > 3 ? shown + " and \(names.count - 3) more" : shown
    }

    private func failure(_ error: SystemError, _ folder: String) -> Failure {
        let place = error.subject.isEmpty ? folder : error.subject
        switch error.errno {
        case SystemError.noSpace:
            return Failure(.osError, "\(place): the disk is full; nothing was changed")
        case SystemError.wouldBlock:
            return Failure(.unavailable, "\(folder): another `pharos fleet generate` is at work there")
        case SystemError.busy:
            return Failure(.osError, "\(folder): this is a mount point; choose a folder in it")
        case SystemError.notADirectory: return Failure(.noInput, "\(place): this is a file, not a folder")
        case SystemError.noEntry: return Failure(.noInput, "\(place): the folder around it is not there")
        case SystemError.accessDenied, SystemError.notPermitted:
            return Failure(.notPermitted, "\(place): this user may not write here")
        default: return Failure(.osError, "\(place): \(error.call): \(error.text); nothing was changed")
        }
    }
}

/// The names in a `manifest.json`, read piece by piece: it may be larger than the memory.
private struct ManifestNames {
    /// `nil` where the file is none.
    let fleet: String?
    private let file: Descriptor
    private var rest: [UInt8]

    init(_ path: String) throws(SystemError) {
        file = try Descriptor.open(path, .read)
        rest = try file.read(upTo: 1 << 18)
        fleet = Self.word(behind: FleetManifest.firstOctets, in: rest[...])
    }

    /// The letters up to a quote, behind a start that must be there.
    private static func word(behind start: [UInt8], in line: ArraySlice<UInt8>) -> String? {
        guard line.starts(with: start) else { return nil }
        let word = line.dropFirst(start.count).prefix { $0 != UInt8(ascii: "\"") && $0 != 0x0A }
        return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
    }

    mutating func forEach(_ body: (String) -> Void) throws(SystemError) {
        let start = Array("{\"name\":\"".utf8)
        var isAtEnd = false
        while !isAtEnd {
            var from = rest.startIndex
            while let end = rest[from...].firstIndex(of: 0x0A) {
                if let name = Self.word(behind: start, in: rest[from..<end]) { body(name) }
                from = end + 1
            }
            rest.removeSubrange(..<from)
            let part = try file.read(upTo: 1 << 18)
            isAtEnd = part.isEmpty
            rest += part
        }
    }
}

/// How far a long job is, for a person at a terminal.
final class FleetProgress {
    private let isShown = Terminal.errorIsTerminal
    private let start = BootClock.nanoseconds()
    private let total: Int
    private let what: String
    private var shown: UInt64 = 0

    init(of total: Int, what: String) {
        self.total = total
        self.what = what
    }

    /// To be called after each step; looks up only now and then.
    func report(_ done: Int) {
        guard isShown else { return }
        let now = BootClock.nanoseconds()
        guard now - start > 1_000_000_000, now - shown > 100_000_000 else { return }
        shown = now
        Terminal.writeError("\r\u{1B}[K\(done) of \(total) \(what), \(total > 0 ? done * 100 / total : 100) %")
    }

    func finish() {
        if isShown, shown > 0 { Terminal.writeError("\r\u{1B}[K") }
    }
}
