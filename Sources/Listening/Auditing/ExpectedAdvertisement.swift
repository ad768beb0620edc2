public import BeaconFrames
public import BluetoothTypes
public import Sightings

/// A beacon and the advertisements that it should send.
public struct ExpectedBeacon: Hashable, Sendable {
    public var name: String
    /// Site, floor and room, as far as the fleet contains them.
    public var group: [String]
    public var advertisements: [ExpectedAdvertisement]

    /// Creates a beacon with its group in the fleet; the group is empty if the beacon is not part of a fleet.
    public init(name: String, group: [String] = [], advertisements: [ExpectedAdvertisement]) {
        self.name = name
        self.group = group
        self.advertisements = advertisements
    }
}

/// An advertisement that should be received.
public struct ExpectedAdvertisement: Hashable, Sendable {
    /// The content by which the advertisement is recognised.
    public enum Content: Hashable, Sendable {
        case frame(BeaconIdentity)
        /// An ephemeral id, which is resolved with its key.
        case ephemeralID
        case telemetry(isEncrypted: Bool)
        /// A BTHome packet, whose values and length change.
        case btHome(isEncrypted: Bool)
        /// Data without a known frame.
        case raw
    }

    /// The address from which the advertisement should come.
    public enum Address: Hashable, Sendable {
        case exactly(Sender)
        /// Any static random address: the machine derives it from its id.
        case anyStatic
        /// Any public address.
        case anyPublic
        /// An address that changes together with the ephemeral id.
        case changing
    }

    /// The type as in profiles, such as `ibeacon`.
    public var type: String
    public var content: Content
    /// The expected data; `nil` if it is not known. Then any data with the identity is right.
    public var octets: ExpectedOctets?
    /// The configured interval in microseconds, without the mean delay of 5 ms; for a pattern, the constant interval
    /// with the same number of events.
    public var intervalMicroseconds: Int
    /// The intervals that follow each other in a cycle; `nil` for a constant interval.
    public var pattern: AdvertisingPattern?
    public var address: Address
    /// The physical layers of an extended advertisement; `nil` for legacy PDUs.
    public var phy: ExtendedPHY?
    /// True if the advertisement can be judged: an ephemeral id and encrypted telemetry need their key, raw data must
    /// be known.
    public var isJudgeable: Bool

    /// Creates an advertisement with these properties.
    public init(
        type: String, content: Content, octets: ExpectedOctets?, intervalMicroseconds: Int,
        pattern: AdvertisingPattern? = nil, address: Address, phy: ExtendedPHY? = nil, isJudgeable: Bool = true
    ) {
        self.type = type
        self.content = content
        self.octets = octets
        self.intervalMicroseconds = intervalMicroseconds
        self.pattern = pattern
        self.address = address
        self.phy = phy
        self.isJudgeable = isJudgeable
    }

    /// Creates the advertisement that receivers should find if `advertisement` is sent.
    ///
    /// - Parameters:
    ///   - address: The address that receivers see.
    ///   - isJudgeable: `false` if the key of a rotating payload is missing.
    /// - Throws: `PayloadError` if the frame cannot be sent.
    public init(
        _ advertisement: Advertisement, from address: Address, isJudgeable: Bool = true
    ) throws(PayloadError) {
        let content: Content
        switch advertisement.content {
        case .eddystoneEID: content = .ephemeralID
        case .eddystoneTLM(_, let encryption): content = .telemetry(isEncrypted: encryption != nil)
        case .btHome(let source): content = .btHome(isEncrypted: source.isEncrypted)
        case .iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL, .raw:
            let data = try Self.sample(advertisement, 0)
            content =
                BeaconFrame(decoding: AdvertisingData(octets: data)).flatMap(BeaconIdentity.init).map(Content.frame)
                ?? .raw
        }
        self.init(
            type: advertisement.content.typeName, content: content,
            octets: try Self.octets(advertisement),
            intervalMicroseconds: advertisement.interval.microseconds, pattern: advertisement.pattern, address: address,
            phy: advertisement.phy, isJudgeable: isJudgeable)
    }

    /// Returns `nil` for BTHome, whose length depends on its sensors.
    private static func octets(_ advertisement: Advertisement) throws(PayloadError) -> ExpectedOctets? {
        if case .btHome = advertisement.content { return nil }
        return ExpectedOctets(try sample(advertisement, 0), or: try sample(advertisement, 1))
    }

    /// Returns one of two payloads that differ in every byte whose value changes while the beacon sends. `variant` is 0
    /// or 1.
    private static func sample(_ advertisement: Advertisement, _ variant: Int) throws(PayloadError) -> [UInt8] {
        var sample = advertisement
        // If a calibration has points, the measured power depends on the transmit power that the controller grants.
        // This power is not known here.
        if case .calibrated(let calibration) = advertisement.measuredPower,
            !calibration.points.isEmpty || calibration.fallback == nil
        {
            sample.measuredPower = .atOneMeter(MeasuredPowerAtOneMeter(octet: variant == 0 ? 0xC5 : 0xA6))
        }
        let octet: UInt8 = variant == 0 ? 0x01 : 0x02
        return try sample.payload(advertisement.content.sampleValues(octet)).octets
    }

    /// The shortest interval in microseconds; for a constant interval, that interval.
    var shortestMicroseconds: Int { pattern?.shortestInterval.microseconds ?? intervalMicroseconds }
    /// The longest interval in microseconds; for a constant interval, that interval.
    var longestMicroseconds: Int { pattern?.longestInterval.microseconds ?? intervalMicroseconds }

    /// The mean time between two transmitted events in microseconds: the interval plus 5 ms.
    public var periodMicroseconds: Double {
        Double(intervalMicroseconds + IntervalEstimate.meanDelayMicroseconds)
    }

    /// Returns whether `heard` is the expected physical layer. Most receivers do not report the coding on LE Coded.
    func isSent(on heard: ExtendedPHY?) -> Bool {
        guard let phy, phy.isCoded, let heard, heard.isCoded else { return phy == heard }
        return phy == .coded || phy == heard || heard == .coded
    }
}

/// The data of an advertisement, in which some bytes may have any value: counters, ephemeral ids, and a measured power
/// that depends on the granted power.
public struct ExpectedOctets: Hashable, Sendable {
    private let octets: [UInt8]
    /// For each byte, whether it may have any value.
    private let isVariable: [Bool]

    /// Creates data in which the bytes that differ between two samples may have any value.
    ///
    /// - Parameter other: A sample of the same length.
    public init(_ octets: [UInt8], or other: [UInt8]) {
        self.octets = octets
        isVariable = octets.indices.map { other.indices.contains($0) && octets[$0] != other[$0] }
    }

    /// Creates data without variable bytes.
    public init(_ octets: [UInt8]) { self.init(octets, or: octets) }

    /// The number of bytes.
    public var count: Int { octets.count }

    /// Returns whether `range` of `span` contains exactly this data.
    public func matches(_ span: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard range.count == octets.count else { return false }
        for index in octets.indices where !isVariable[index] && span[range.lowerBound + index] != octets[index] {
            return false
        }
        return true
    }

    /// Hexadecimal digits, with two dots for a byte that may have any value.
    public var text: String {
        octets.indices.map { isVariable[$0] ? ".." : Hexadecimal.text([octets[$0]]) }.joined()
    }
}
