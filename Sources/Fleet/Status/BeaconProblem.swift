internal import BluetoothTypes
public import Configuration

/// Why a beacon is not as its fleet wants it.
public enum BeaconProblem: Hashable, Sendable {
    /// Nobody has said anything about it.
    case noReport(String)
    /// It says that it is not on the air.
    case silent(BeaconReport.State, since: RFC3339Time?, lastError: String?)
    /// It says that it is, but nobody has looked for so long.
    case stale(since: RFC3339Time?)
    /// It sends another profile than the fleet has for it.
    case otherProfile(String)
    /// An advertisement goes out more rarely than was asked for; in µs.
    case slow(type: String, asked: Int, granted: Int)
    /// The transmitter is weaker than was asked for; in dBm.
    case weak(type: String, asked: Int, granted: Int)
    /// Several boxes send as this beacon.
    case several([String])

    /// A word for programs.
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

    /// Since when, where that is known.
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
        case .stale: "says that it is on the air, but has not looked lately"
        case .otherProfile(let hash): "sends another profile (\(hash)) than the fleet has"
        case .slow(let type, let asked, let granted):
            "\(type) every \(DecimalText.thousandths(granted)) ms instead of \(DecimalText.thousandths(asked)) ms"
        case .weak(let type, let asked, let granted): "\(type) with \(granted) dBm instead of \(asked) dBm"
        case .several(let sources): "is sent by several boxes: \(sources.joined(separator: ", "))"
        }
    }
}
