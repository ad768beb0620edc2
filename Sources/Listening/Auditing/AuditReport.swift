public import BeaconFrames
public import Sightings

/// What an audit found of one advertisement.
public enum AuditVerdict: String, Hashable, Sendable, CaseIterable {
    case ok
    /// Nothing of it was heard.
    case silent
    case wrongOctets = "wrong-octets"
    case wrongAddress = "wrong-address"
    case wrongInterval = "wrong-interval"
    /// Less than half of what the planner expects in a free line of sight.
    case weak
    /// Silent for longer than losses explain.
    case longSilence = "long-silence"
    /// Telemetry that cannot be.
    case telemetry
    /// Somebody else sends the same at the same time.
    case cloned
    /// Somebody else sends our identity with other octets, or from another address.
    case impostor
}

/// What an audit found beside its verdicts: these do not fail it.
public enum AuditWarning: Hashable, Sendable {
    /// Our UUID or namespace, and none of the fleet's beacons.
    case stranger(BeaconIdentity, from: Sender?, reports: Int)
    /// Nothing was heard of a beacon, and no receiver could have heard it.
    case notInRange(beacon: String)
    /// An ephemeral id or encrypted telemetry whose key is not at hand, or whose beacon has no epoch.
    case unjudged(beacon: String, type: String)

    /// Its word.
    public var name: String {
        switch self {
        case .stranger: "stranger"
        case .notInRange: "not-in-range"
        case .unjudged: "unjudged"
        }
    }
}

/// What was heard of one advertisement, and what that means.
public struct AdvertisementAudit: Hashable, Sendable {
    /// The beacon's name.
    public let beacon: String
    public let expected: ExpectedAdvertisement
    /// One of them, or ``AuditVerdict/ok`` alone; empty where nothing can be said.
    public internal(set) var verdicts: [AuditVerdict] = []
    /// Why, one sentence for each verdict but ok.
    public internal(set) var reasons: [String] = []
    /// Advertising events that were heard, by any receiver.
    public internal(set) var heard = 0
    /// Events that were sent in the time that was listened through, by the configured interval.
    public internal(set) var owed = 0
    /// Of the events owed, 0...1; a lower bound where reports were lost. `nil` where nothing was owed.
    public internal(set) var share: Double?
    /// The interval as it was heard, in microseconds; `nil` with fewer than 30 gaps.
    public internal(set) var intervalMicroseconds: Int?
    public internal(set) var longestSilenceMicroseconds = 0
    /// What the planner's model allows; `nil` where nothing was owed.
    public internal(set) var silenceLimitMicroseconds: Int?
    /// Who sent it; `nil` where nobody did, and for an address that turns over.
    public internal(set) var sender: Sender?
    /// Octets that were heard and are not the expected ones; empty without any.
    public internal(set) var wrongOctets: [UInt8] = []
    /// In dBm; `nil` where no level was told.
    public internal(set) var meanLevel: Double?
    /// In dB; `nil` with fewer than two levels.
    public internal(set) var levelDeviation: Double?
    /// The last telemetry of this advertisement.
    public internal(set) var telemetry: EddystoneTLM?

    init(beacon: String, expected: ExpectedAdvertisement) {
        self.beacon = beacon
        self.expected = expected
    }

    mutating func add(_ verdict: AuditVerdict, _ reason: String) {
        guard !verdicts.contains(verdict) else { return }
        verdicts.append(verdict)
        reasons.append(reason)
    }
}

/// What an audit found.
public struct AuditReport: Sendable {
    /// In the order of the files.
    public let advertisements: [AdvertisementAudit]
    public let warnings: [AuditWarning]
    public let receivers: [Auditor.Receiver]
    /// The time in which at least one receiver could hear, in microseconds.
    public let listenedMicroseconds: Int

    /// Whether every advertisement that can be judged is as it should be, and at least one of them was judged: an audit
    /// that heard nothing and expected nothing has proven nothing.
    public var isGood: Bool {
        advertisements.allSatisfy { $0.verdicts.allSatisfy { $0 == .ok } }
            && (judgedCount > 0 || !advertisements.contains { $0.expected.isJudgeable })
    }
    /// How many advertisements have a verdict.
    var judgedCount: Int { advertisements.count { !$0.verdicts.isEmpty } }
    /// Reports were lost on their way: what counts as not heard may have been on the air.
    public var isLowerBound: Bool { receivers.contains { $0.lost > 0 } }
    /// How many advertisements have that verdict.
    public func count(_ verdict: AuditVerdict) -> Int { advertisements.count { $0.verdicts.contains(verdict) } }
}

/// Where the receivers of an audit are: what beacons on other floors send cannot be expected to be heard.
public struct AuditPlace: Hashable, Sendable {
    /// `nil` for any.
    public var site: String?
    public var floor: String?

    /// A floor of a site, as groups of a fleet are called.
    public init(site: String?, floor: String?) {
        self.site = site
        self.floor = floor
    }

    /// Whether a beacon of that group is within earshot.
    public func contains(_ group: [String]) -> Bool {
        if let site, let first = group.first, first != site { return false }
        if let floor, group.count > 1, group[1] != floor { return false }
        return true
    }
}
