internal import Collector
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Store

/// A database of past events: an SQLite file, or a PostgreSQL database.
enum HistorySource {
    case file(EventStore)
    case postgreSQL(PostgreSQLHistory, name: String)

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - path: An SQLite file, or the file of a listener or a collector.
    ///   - stateDirectory: The directory in which relative paths of databases start; `nil` for the state directory of
    ///     the services.
    init(_ path: String, stateDirectory: String?) throws {
        guard let file = try Self.collector(path) else {
            let databasePath = try Self.listenerDatabase(path, stateDirectory: stateDirectory) ?? path
            self = .file(try EventStore(path: databasePath, isReadOnly: true))
            return
        }
        if let section = file.postgreSQL {
            let options = try PostgreSQLOptions(section, in: Files.directory(of: path))
            self = .postgreSQL(try PostgreSQLHistory(options, isReadOnly: true), name: file.name)
        } else if let rule = file.history {
            let databasePath = rule.path(of: file.name, in: StateDirectory.path(stateDirectory))
            self = .file(try EventStore(path: databasePath, isReadOnly: true))
        } else {
            throw Failure(
                .configuration, "\(path): this collector stores no events: it has no \"history\" and no \"postgresql\"")
        }
    }

    /// Returns the collector file at `path`; `nil` if the file is not a collector file.
    private static func collector(_ path: String) throws -> CollectorFile? {
        guard path.hasSuffix(".json") else { return nil }
        let octets = try InputFile.read(path)
        guard JSONDocument.parse(octets).root?["receivers"] != nil else { return nil }
        let (file, problems) = CollectorFile.decode(octets)
        guard let file else { throw Failure(problems, of: path) }
        return file
    }

    /// Returns the path of the database of the listener file at `path`; `nil` if the file is not a listener file.
    private static func listenerDatabase(_ path: String, stateDirectory: String?) throws -> String? {
        guard path.hasSuffix(".json") else { return nil }
        let root = JSONDocument.parse(try InputFile.read(path)).root
        guard root?["version"] != nil, let name = root?["name"]?.string else { return nil }
        let file = root?["history"]?["file"]?.string ?? "\(name).db"
        return file.hasPrefix("/") ? file : "\(StateDirectory.path(stateDirectory))/\(file)"
    }

    /// Returns a cursor over the events of a beacon, a zone or a room, the oldest first.
    func events(of name: String, _ range: ClosedRange<Int64>) -> HistoryCursor {
        switch self {
        case .file(let store):
            var numbers: ArraySlice<Int64>?
            return HistoryCursor {
                let rest = try numbers ?? store.numbers(of: name, range)[...]
                numbers = rest.dropFirst(HistoryCursor.pageSize)
                return try store.events(rest.prefix(HistoryCursor.pageSize))
            }
        case .postgreSQL(let store, let site):
            // The server needs as much time for one page as for all events. So the pages are 50 times as large as for a
            // file.
            return HistoryCursor(range, pageSize: 50 * HistoryCursor.pageSize) {
                try store.events(of: name, at: site, $0, limit: $1)
            }
        }
    }

    /// Returns a cursor over the minutes in which receivers received a beacon, as events.
    func minutes(of name: String, _ range: ClosedRange<Int64>) -> HistoryCursor {
        HistoryCursor(range) { range, limit in
            let minutes: [HeardMinute]
            switch self {
            case .file(let store): minutes = try store.minutes(of: name, range, limit: limit)
            case .postgreSQL(let store, _): minutes = try store.minutes(of: name, range, limit: limit)
            }
            return minutes.map { HistoryRow.event($0, of: name) }
        }
    }

    /// Returns the pauses before `now` in which the service did not run, by site, the oldest first. In the database of
    /// one service, the site is `nil`.
    func pauses(until now: Int64) throws -> [String?: [ServicePause]] {
        switch self {
        case .file(let store): return [nil: try store.pauses(until: now)]
        case .postgreSQL(let store, _):
            var bySite: [String?: [ServicePause]] = [:]
            for (site, pauses) in try store.pauses(until: now) { bySite[site] = pauses }
            return bySite
        }
    }

    /// Returns the names of beacons, zones and rooms that have events.
    func names() throws -> [String] {
        switch self {
        case .file(let store): try store.names()
        case .postgreSQL(let store, let site): try store.names(at: site)
        }
    }
}
