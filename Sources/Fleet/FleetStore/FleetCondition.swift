public import BeaconService
internal import BluetoothTypes
public import Configuration
public import Fleet

/// The condition of a fleet: the reports of its machines compared with its manifest.
public struct FleetCondition: Sendable {
    /// A beacon of the manifest with its report.
    public struct Entry: Sendable {
        public let beacon: FleetManifest.Beacon
        /// The report of the beacon; `nil` when there is none.
        public let report: BeaconReport?
        /// The differences from the manifest; empty if the beacon sends the advertisements of the manifest.
        public let problems: [BeaconProblem]
    }

    /// The beacons in the order of the manifest.
    public let entries: [Entry]
    /// Reports of beacons that are not in the manifest.
    public let foreignReports: [BeaconReport]

    public var isGood: Bool { entries.allSatisfy { $0.problems.isEmpty } }

    /// - Parameters:
    ///   - reports: The reports, in any order. If several reports have the name of a beacon, the report from the host
    ///     of the beacon is used.
    ///   - reasons: The reasons of missing reports, by host.
    ///   - now: The present time.
    ///   - staleAfter: The age in seconds above which the last verification in a report counts as stale.
    public init(
        _ manifest: FleetManifest, _ reports: [BeaconReport], reasons: [String: String] = [:], now: RFC3339Time,
        staleAfter: Int
    ) {
        var reportsByName: [String: [BeaconReport]] = [:]
        for report in reports { reportsByName[report.name, default: []].append(report) }
        entries = manifest.beacons.map { beacon in
            let beaconReports = reportsByName.removeValue(forKey: beacon.name) ?? []
            let report = beaconReports.first { $0.source == beacon.host } ?? beaconReports.first
            var problems: [BeaconProblem]
            if let report {
                problems = Self.problems(beacon, report, now, staleAfter)
            } else {
                problems = [.noReport(beacon.host.flatMap { reasons[$0] } ?? "no status file")]
            }
            let sendingSources = beaconReports.filter { $0.state == .onAir }.map(\.source)
            if sendingSources.count > 1 { problems.append(.several(sendingSources)) }
            return Entry(beacon: beacon, report: report, problems: problems)
        }
        foreignReports = reports.filter { reportsByName[$0.name] != nil }
    }

    private static func problems(
        _ beacon: FleetManifest.Beacon, _ report: BeaconReport, _ now: RFC3339Time, _ staleAfter: Int
    ) -> [BeaconProblem] {
        var problems: [BeaconProblem] = []
        if report.state != .onAir {
            problems.append(.silent(report.state, since: report.since, lastError: report.lastError))
        } else if let verified = report.lastVerified {
            if now.secondsSince1970 - verified.secondsSince1970 > staleAfter {
                problems.append(.stale(since: verified))
            }
        } else {
            problems.append(.stale(since: nil))
        }
        if let hash = report.profileHash, hash != beacon.profileHash {
            // The granted values in the report belong to the other profile, so they are not compared.
            return problems + [.otherProfile(hash)]
        }
        var unmatched = report.advertisements
        for requested in beacon.advertisements {
            guard let index = unmatched.firstIndex(where: { $0.type == requested.type }) else { continue }
            let granted = unmatched.remove(at: index)
            // Controllers round to the nearest multiple of 0.625 ms.
            if let interval = granted.grantedInterval?.lowerBound, interval - 313 > requested.intervalMicroseconds {
                problems.append(
                    .slow(type: requested.type, requested: requested.intervalMicroseconds, granted: interval))
            }
            if let minimum = requested.radioPower, let power = granted.grantedRadioPower, power < minimum {
                problems.append(.weak(type: requested.type, requested: minimum, granted: power))
            }
        }
        return problems
    }
}

/// The status of a beacon, and its source.
@dynamicMemberLookup
public struct BeaconReport: Equatable, Sendable {
    /// The status. The name of the instance is the name of the beacon.
    public var status: InstanceStatus
    /// The host or file of the report.
    public var source: String

    /// - Parameter source: The host or file of the report.
    public init(_ status: InstanceStatus, from source: String) {
        self.status = status
        self.source = source
    }

    /// The values of ``status``.
    public subscript<Value>(dynamicMember path: WritableKeyPath<InstanceStatus, Value>) -> Value {
        get { status[keyPath: path] }
        set { status[keyPath: path] = newValue }
    }
}

/// A difference between the report of a beacon and the manifest.
public enum BeaconProblem: Hashable, Sendable {
    /// There is no report. The value is the reason.
    case noReport(String)
    /// The beacon is not on the air.
    case silent(InstanceStatus.State, since: RFC3339Time?, lastError: String?)
    /// The beacon is on the air, but the last verification is too old.
    case stale(since: RFC3339Time?)
    /// The beacon sends another profile than the fleet has. The value is the hash of the profile that it sends.
    case otherProfile(String)
    /// An advertisement has a longer interval than requested, in µs.
    case slow(type: String, requested: Int, granted: Int)
    /// The transmit power is lower than requested, in dBm.
    case weak(type: String, requested: Int, granted: Int)
    /// Several machines send this beacon. The values are the sources of their reports.
    case several([String])

    /// The kind of the difference in JSON.
    public var kind: String {
        switch self {
        case .noReport: "no-report"
        case .silent: "silent"
        case .stale: "stale"
        case .otherProfile: "other-profile"
        case .slow: "slow"
        case .weak: "weak"
        case .several: "several"
        }
    }

    /// The start of the problem; `nil` when it is unknown.
    public var since: RFC3339Time? {
        switch self {
        case .silent(_, let since, _), .stale(let since): since
        default: nil
        }
    }
}

extension BeaconProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noReport(let reason): reason
        case .silent(let state, _, let lastError): state.rawValue + (lastError.map { ": \($0)" } ?? "")
        case .stale: "is on the air, but was last verified too long ago"
        case .otherProfile(let hash): "sends another profile (\(hash)) than the fleet has"
        case .slow(let type, let requested, let granted):
            "\(type) every \(DecimalText.thousandths(granted)) ms instead of \(DecimalText.thousandths(requested)) ms"
        case .weak(let type, let requested, let granted): "\(type) with \(granted) dBm instead of \(requested) dBm"
        case .several(let sources): "is sent by several machines: \(sources.joined(separator: ", "))"
        }
    }
}

/// The output of `fleet status`.
extension FleetCondition {
    /// The largest width of the problems of a beacon, and of the name of an unexpected beacon, in columns.
    private static let columnLimit = 400
    /// The largest number of listed beacons that are not in the manifest.
    private static let foreignReportLimit = 5

    /// A row for each beacon with a problem, and then the number of beacons without a problem.
    ///
    /// - Parameters:
    ///   - fleet: The fleet's name.
    ///   - now: The present time.
    ///   - all: `true` if beacons without a problem get a row, too.
    public func text(of fleet: String, at now: RFC3339Time, all: Bool = false) -> String {
        let listedEntries = entries.filter { all || !$0.problems.isEmpty }
        var table = Table(["beacon", "place", "host", "since", "what"])
        for entry in listedEntries {
            let problems = entry.problems.map(\.description)
            let since = entry.problems.first.map(\.since) ?? entry.report?.since
            table.add([
                entry.beacon.name, entry.beacon.group.joined(separator: "/"), entry.beacon.host ?? "-",
                since.map { StatusText.duration(from: $0, to: now) } ?? "-",
                Self.line(problems.isEmpty ? "on the air" : problems.joined(separator: "; ")),
            ])
        }
        var text = listedEntries.isEmpty ? "" : table.text + "\n"
        text += "\(goodCount) of \(entries.count) beacons of \(fleet) are as they should be.\n"
        if !foreignReports.isEmpty {
            let names = foreignReports.prefix(Self.foreignReportLimit).map { Self.line("\($0.name) (\($0.source))") }
            let omitted = foreignReports.count - Self.foreignReportLimit
            text +=
                "Not in this fleet: \(names.joined(separator: ", "))" + (omitted > 0 ? " and \(omitted) more\n" : "\n")
        }
        return text
    }

    private static func line(_ text: String) -> String {
        TerminalText.line(TerminalText.shortened(text, to: columnLimit))
    }

    /// The number of beacons without a problem.
    public var goodCount: Int { entries.count { $0.problems.isEmpty } }

    /// The condition of every beacon as JSON.
    ///
    /// - Parameters:
    ///   - fleet: The fleet's name.
    ///   - now: The time of the comparison.
    public func json(of fleet: String, at now: RFC3339Time) -> JSONValue {
        .record([
            ("fleet", .string(fleet)), ("time", .string(now.description)), ("beacons", .integer(entries.count)),
            ("good", .integer(goodCount)), ("entries", .array(entries.map(Self.json))),
            (
                "strangers",
                .array(foreignReports.map { .record([("name", .string($0.name)), ("source", .string($0.source))]) })
            ),
        ])
    }

    private static func json(_ entry: Entry) -> JSONValue {
        .record([
            ("name", .string(entry.beacon.name)), ("group", .array(entry.beacon.group.map(JSONValue.string))),
            ("host", .optional(entry.beacon.host, JSONValue.string)),
            ("state", .optional(entry.report?.state) { .string($0.rawValue) }),
            ("since", .optional(entry.report?.since) { .string($0.description) }),
            ("lastVerified", .optional(entry.report?.lastVerified) { .string($0.description) }),
            ("problems", .array(entry.problems.map(Self.json))),
        ])
    }

    private static func json(_ problem: BeaconProblem) -> JSONValue {
        .record([
            ("kind", .string(problem.kind)), ("message", .string(problem.description)),
            ("since", .optional(problem.since) { .string($0.description) }),
        ])
    }
}
