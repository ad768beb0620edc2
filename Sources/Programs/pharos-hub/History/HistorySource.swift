internal import Collector
internal import CommandSupport
internal import Configuration
internal import Store

/// Where something is kept: in a file of a listener or a collector, or wherever a collector file says.
enum HistorySource {
    case file(EventStore)
    case site(SiteHistory, name: String)

    /// - Parameters:
    ///   - path: Of what is kept, or of a collector file.
    ///   - stateDirectory: Of files that a collector file names without a directory; `nil` for the service's.
    init(_ path: String, stateDirectory: String?) throws {
        guard let file = try Self.collector(path) else {
            self = .file(try EventStore(path: path, isReadOnly: true))
            return
        }
        if let section = file.siteStore {
            let options = try SiteOptions(section, in: InputFile.directory(of: path))
            self = .site(try SiteHistory(options, isReadOnly: true), name: file.name)
        } else if let rule = file.history {
            let kept = rule.path(of: file.name, in: StateDirectory.path(stateDirectory))
            self = .file(try EventStore(path: kept, isReadOnly: true))
        } else {
            throw Failure(
                .configuration, "\(path): this collector keeps nothing: it has no \"history\" and no \"postgresql\"")
        }
    }

    /// The collector file at `path`; `nil` for what is no such file.
    private static func collector(_ path: String) throws -> CollectorFile? {
        guard path.hasSuffix(".json") else { return nil }
        let octets = try InputFile.read(path)
        guard JSONDocument.parse(octets).root?["receivers"] != nil else { return nil }
        let (file, problems) = CollectorFile.decode(octets)
        guard let file else { throw Failure(problems, of: path) }
        return file
    }

    /// What happened with a beacon or in a place, oldest first.
    func events(of name: String, _ range: ClosedRange<Int64>, _ each: (EventStore.Event) -> Void) throws {
        switch self {
        case .file(let store): try store.history(of: name, range, each)
        case .site(let store, let site): try store.events(of: name, at: site, range, each)
        }
    }

    /// Who heard a beacon, minute by minute.
    func minutes(of name: String, _ range: ClosedRange<Int64>, _ each: (HeardMinute) -> Void) throws {
        switch self {
        case .file(let store): try store.minutes(of: name, range, each)
        case .site(let store, _): try store.minutes(of: name, range, each)
        }
    }

    /// Of whom something is kept.
    func names() throws -> [String] {
        switch self {
        case .file(let store): try store.names()
        case .site(let store, let site): try store.names(at: site)
        }
    }
}
