public import Configuration

/// What one box says of one beacon: as `pharos status --json` has it, and from where it was heard.
public struct BeaconReport: Hashable, Sendable {
    public enum State: String, Hashable, Sendable {
        case onAir = "on-air"
        case starting
        case recovering
        case off
    }

    /// The instance's name, which is the beacon's.
    public var name: String
    /// The host or file that said so.
    public var source: String
    public var state: State
    /// Since when it is in this state.
    public var since: RFC3339Time?
    /// When the radio was last known to be advertising.
    public var lastVerified: RFC3339Time?
    public var profileHash: String?
    public var lastError: String?
    public var advertisements: [Advertisement]

    public init(
        name: String, source: String, state: State, since: RFC3339Time? = nil, lastVerified: RFC3339Time? = nil,
        profileHash: String? = nil, lastError: String? = nil, advertisements: [Advertisement] = []
    ) {
        self.name = name
        self.source = source
        self.state = state
        self.since = since
        self.lastVerified = lastVerified
        self.profileHash = profileHash
        self.lastError = lastError
        self.advertisements = advertisements
    }

    /// What the controller granted.
    public struct Advertisement: Hashable, Sendable {
        /// As in profiles.
        public var type: String
        /// In µs; `nil` when it is not known.
        public var grantedInterval: Int?
        /// In dBm; `nil` when it is not known.
        public var grantedRadioPower: Int?

        public init(type: String, grantedInterval: Int? = nil, grantedRadioPower: Int? = nil) {
            self.type = type
            self.grantedInterval = grantedInterval
            self.grantedRadioPower = grantedRadioPower
        }
    }
}
