public import BeaconFrames
public import BluetoothTypes

/// Assigns advertisements to the advertising sets of a controller. The allocation is checked before anything is sent.
///
/// On a controller with extended advertising, each advertisement gets its own set, with its own interval, power and
/// address. If there are too few sets, several advertisements share a set. A legacy controller has only one set, which
/// all advertisements share.
public struct SetAllocation: Sendable {
    /// An advertising set and its advertisements.
    public struct AdvertisingSet: Hashable, Sendable {
        /// The positions of its advertisements among ``SetAllocation/sources``, in their order.
        public let members: [Int]
        /// The set's parameters. The interval of a shared set is shorter than the intervals of its members. With a
        /// pattern, it is the interval of the first part.
        public let parameters: SetParameters
        /// If the set's address changes together with an ephemeral id, the key of this id; `nil` for a fixed address.
        public let rotatingKey: Advertisement.RotatingKey?
        /// A repeating schedule of intervals; `nil` for a constant interval.
        public let pattern: AdvertisingPattern?

        public var isShared: Bool { members.count > 1 }
    }

    public let sources: [PayloadSource]
    public let capabilities: ControllerCapabilities
    /// `true` if no other program uses the controller, so that it may be reset.
    public let isExclusive: Bool
    public let sets: [AdvertisingSet]

    /// - Parameters:
    ///   - isExclusive: `true` if no other program uses the controller.
    ///   - setLimit: The largest number of sets to use; `nil` for all. The kernel may use some of the controller's sets
    ///     itself.
    /// - Throws: `impossible` if the advertisements cannot be sent. The error names advertisements that cannot be sent
    ///   together, and says what to change.
    public init(
        _ sources: [PayloadSource], on capabilities: ControllerCapabilities, isExclusive: Bool, setLimit: Int? = nil
    ) throws(SessionError) {
        self.sources = sources
        self.capabilities = capabilities
        self.isExclusive = isExclusive
        let advertisements = sources.map(\.advertisement)
        let limit = max(1, min(setLimit ?? .max, capabilities.advertisingSets, Int(SetParameters.sharedHandle) + 1))
        let rules = SharingRules(advertisements)
        try rules.check()
        let groups = try rules.groups(sets: limit, hasExtendedAdvertising: capabilities.hasExtendedAdvertising)
        var sets: [AdvertisingSet] = []
        for (index, members) in groups.enumerated() {
            guard let firstMember = members.first else { continue }
            var advertisement = advertisements[firstMember]
            if members.count > 1 {
                advertisement.interval = try Self.interval(
                    members.map { advertisements[$0] }, advertisement.pdu, capabilities)
            }
            // The set must accept the data of each extended advertisement, so the other members of the set are checked
            // too.
            for member in members.dropFirst() where advertisements[member].phy != nil {
                _ = try SetParameters(advertisements[member], on: capabilities, isExclusive: isExclusive)
            }
            let offset = UInt8(truncatingIfNeeded: index)
            let parameters = try SetParameters(
                advertisement, on: capabilities, handle: isExclusive ? offset : SetParameters.sharedHandle - offset)
            sets.append(
                AdvertisingSet(
                    members: members, parameters: parameters, rotatingKey: rules.rotatingKey(of: firstMember),
                    pattern: advertisement.pattern))
        }
        guard !sets.isEmpty else { throw .impossible("there is no advertisement to send") }
        self.sets = sets
    }

    /// Returns an allocation of the same advertisements to at most `limit` sets.
    func limited(toSets limit: Int) throws(SessionError) -> SetAllocation {
        try SetAllocation(sources, on: capabilities, isExclusive: isExclusive, setLimit: limit)
    }

    /// Returns the position of the set that sends an advertisement; `nil` if there is no such advertisement.
    public func set(of advertisement: Int) -> Int? {
        sets.firstIndex { $0.members.contains(advertisement) }
    }

    /// Returns the interval of a set that sends each of these advertisements often enough.
    private static func interval(
        _ members: [Advertisement], _ pdu: AdvertisingPDU, _ capabilities: ControllerCapabilities
    ) throws(SessionError) -> AdvertisingInterval {
        let intervals = members.map(\.interval)
        let range = capabilities.intervalRange(for: pdu)
        let pace = SharedPace(intervals)
        guard let interval = pace.interval, interval >= range.lowerBound else {
            throw .impossible(refusal(intervals, qualifier: "", range.lowerBound))
        }
        guard interval <= range.upperBound else {
            throw .impossible(refusal(intervals, qualifier: "at least ", range.upperBound))
        }
        return interval
    }

    private static func refusal(
        _ intervals: [AdvertisingInterval], qualifier: String, _ bound: AdvertisingInterval
    ) -> String {
        let neededRate = SharedPace.eventsPerThousandSeconds(intervals)
        let possibleRate = SharedPace.eventsPerThousandSeconds([bound])
        // The rates are shown with one decimal, or with three decimals if they would otherwise look equal.
        let roundingStep = (neededRate + 50) / 100 == (possibleRate + 50) / 100 ? 1 : 100
        func text(_ rate: Int) -> String {
            let text = DecimalText.thousandths((rate + roundingStep / 2) / roundingStep * roundingStep)
            return text.contains(".") ? text : text + ".0"
        }
        let remedy =
            neededRate > possibleRate ? "choose longer intervals or fewer frames" : "choose a shorter interval"
        return "these frames need \(text(neededRate)) events/s; this controller gives "
            + "\(qualifier)\(text(possibleRate)) at \(bound): \(remedy)"
    }
}
