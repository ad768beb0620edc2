internal import BeaconFrames

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
    ) throws(AdvertisingError) {
        allocation = try SetAllocation(
            sources.map(\.advertisement), on: capabilities, isExclusive: isExclusive, setLimit: setLimit)
        self.sources = sources
        self.capabilities = capabilities
        self.isExclusive = isExclusive
    }

    /// The same on fewer sets: somebody else holds the others.
    func limited(toSets limit: Int) throws(AdvertisingError) -> SendingPlan {
        try SendingPlan(sources, on: capabilities, isExclusive: isExclusive, setLimit: limit)
    }
}
