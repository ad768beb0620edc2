public import BeaconFrames
internal import BluetoothTypes

/// Which advertisement is sent from which advertising set: decided, and checked, before anything is sent.
///
/// A controller with extended advertising gives each advertisement a set of its own, with its own interval, power and
/// address, as long as there are sets; those that are left over share. Everywhere else all share the one advertiser.
public struct SetAllocation: Hashable, Sendable {
    /// One advertising set and who is sent from it.
    public struct AdvertisingSet: Hashable, Sendable {
        /// Positions in what was handed in, in its order.
        public let members: [Int]
        /// The set's parameters; the interval is that of the set, not that of a member that shares it.
        public let plan: AdvertisingPlan
        /// The key with whose ephemeral id the set's address turns over.
        public let rotatingKey: Advertisement.RotatingKey?

        public var isShared: Bool { members.count > 1 }
    }

    public let sets: [AdvertisingSet]

    /// - Parameters:
    ///   - isExclusive: nobody else uses this controller.
    ///   - setLimit: how many sets may be used; `nil` for all that the controller has. The kernel may hold some of them.
    /// - Throws: `impossible`, with the two advertisements that get into each other's way and what to do about it.
    public init(
        _ advertisements: [Advertisement], on capabilities: ControllerCapabilities, isExclusive: Bool,
        setLimit: Int? = nil
    ) throws(SessionError) {
        let limit = max(1, min(setLimit ?? .max, capabilities.advertisingSets, Int(AdvertisingPlan.sharedHandle) + 1))
        let rules = SharingRules(advertisements)
        try rules.check()
        let groups = try rules.groups(sets: limit, hasExtendedAdvertising: capabilities.hasExtendedAdvertising)
        var sets: [AdvertisingSet] = []
        for (number, members) in groups.enumerated() {
            guard let first = members.first else { continue }
            var wanted = advertisements[first]
            if members.count > 1 {
                wanted.interval = try Self.interval(members.map { advertisements[$0] }, wanted.pdu, capabilities)
            }
            let handle = UInt8(truncatingIfNeeded: number)
            let plan = try AdvertisingPlan(
                wanted, on: capabilities, handle: isExclusive ? handle : AdvertisingPlan.sharedHandle - handle)
            sets.append(AdvertisingSet(members: members, plan: plan, rotatingKey: rules.rotatingKey(of: first)))
        }
        guard !sets.isEmpty else { throw .impossible("there is no advertisement to send") }
        self.sets = sets
    }

    /// The position of the set that an advertisement is sent from.
    public func set(of advertisement: Int) -> Int? {
        sets.firstIndex { $0.members.contains(advertisement) }
    }

    /// The interval at which one set meets all of these, if the controller has it.
    private static func interval(
        _ members: [Advertisement], _ pdu: AdvertisingPDU, _ capabilities: ControllerCapabilities
    ) throws(SessionError) -> AdvertisingInterval {
        let intervals = members.map(\.interval)
        let range = capabilities.intervalRange(for: pdu)
        let pace = SharedPace(intervals)
        guard let interval = pace.interval, interval >= range.lowerBound else {
            throw .impossible(refusal(intervals, gives: range.lowerBound, "at"))
        }
        guard interval <= range.upperBound else {
            throw .impossible(refusal(intervals, gives: range.upperBound, "at the least, at"))
        }
        return interval
    }

    private static func refusal(
        _ intervals: [AdvertisingInterval], gives bound: AdvertisingInterval, _ how: String
    ) -> String {
        let needed = SharedPace.eventsPerThousandSeconds(intervals)
        let given = SharedPace.eventsPerThousandSeconds([bound])
        // One decimal, unless that hides the difference.
        let digits = (needed + 50) / 100 == (given + 50) / 100 ? 1 : 100
        func rate(_ value: Int) -> String {
            let text = DecimalText.thousandths((value + digits / 2) / digits * digits)
            return text.contains(".") ? text : text + ".0"
        }
        let remedy = needed > given ? "choose longer intervals or fewer frames" : "choose a shorter interval"
        return "these frames need \(rate(needed)) events/s; this controller gives \(rate(given)) \(how) \(bound): "
            + remedy
    }
}

/// All that one box sends, on one controller: found possible before anything is sent.
public struct SendingPlan: Sendable {
    public let sources: [PayloadSource]
    public let capabilities: ControllerCapabilities
    /// Nobody else uses the controller, so it may be reset.
    public let isExclusive: Bool
    public let allocation: SetAllocation

    /// - Parameters:
    ///   - isExclusive: nobody else uses the controller.
    ///   - setLimit: how many advertising sets may be used; `nil` for all that the controller has.
    /// - Throws: `impossible`, saying what this controller cannot do and what could be changed.
    public init(
        _ sources: [PayloadSource], on capabilities: ControllerCapabilities, isExclusive: Bool, setLimit: Int? = nil
    ) throws(SessionError) {
        allocation = try SetAllocation(
            sources.map(\.advertisement), on: capabilities, isExclusive: isExclusive, setLimit: setLimit)
        self.sources = sources
        self.capabilities = capabilities
        self.isExclusive = isExclusive
    }

    /// The same on fewer sets: somebody else holds the others.
    func limited(toSets limit: Int) throws(SessionError) -> SendingPlan {
        try SendingPlan(sources, on: capabilities, isExclusive: isExclusive, setLimit: limit)
    }
}
