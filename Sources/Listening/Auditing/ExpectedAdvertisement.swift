public import BeaconFrames
internal import BluetoothTypes
public import Sightings

/// A box, and what it is to send.
public struct ExpectedBeacon: Hashable, Sendable {
    public var name: String
    /// Site, floor and room, as far as they are given.
    public var group: [String]
    public var advertisements: [ExpectedAdvertisement]

    /// A beacon of this name; with a group where a fleet has put it somewhere.
    public init(name: String, group: [String] = [], advertisements: [ExpectedAdvertisement]) {
        self.name = name
        self.group = group
        self.advertisements = advertisements
    }
}

/// One advertisement as it is to be heard.
public struct ExpectedAdvertisement: Hashable, Sendable {
    /// What tells it from others.
    public enum Content: Hashable, Sendable {
        case frame(BeaconIdentity)
        /// An ephemeral id: its key tells whose it is.
        case ephemeralID
        case telemetry(isEncrypted: Bool)
        /// A packet of BTHome, whose values and length change.
        case btHome(isEncrypted: Bool)
        /// Octets of no known layout.
        case raw
    }

    /// From which address it is to come.
    public enum Address: Hashable, Sendable {
        case exactly(Sender)
        /// From a static random address, whichever: the box makes it of its own machine's id.
        case anyStatic
        /// From the controller's own address, whichever that is.
        case anyPublic
        /// From another one after each turn-over.
        case turning
    }

    /// As in profiles, such as `ibeacon`.
    public var type: String
    public var content: Content
    /// `nil` where nothing says what they are: only what is heard under the identity counts then.
    public var octets: ExpectedOctets?
    /// The configured interval, without the mean delay of 5 ms.
    public var intervalMicroseconds: Int
    public var address: Address
    /// Whether enough is known of it: of an ephemeral id and of encrypted telemetry the key, of raw octets the octets.
    public var isJudgeable: Bool

    /// An advertisement as a file describes it.
    public init(
        type: String, content: Content, octets: ExpectedOctets?, intervalMicroseconds: Int, address: Address,
        isJudgeable: Bool = true
    ) {
        self.type = type
        self.content = content
        self.octets = octets
        self.intervalMicroseconds = intervalMicroseconds
        self.address = address
        self.isJudgeable = isJudgeable
    }

    /// What is wanted on the air, as a listener should find it.
    ///
    /// - Parameters:
    ///   - address: The one that listeners see.
    ///   - isJudgeable: `false` where the key of a rotating payload is not at hand.
    /// - Throws: `PayloadError` where the frame may not be sent at all.
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
            intervalMicroseconds: advertisement.interval.microseconds, address: address, isJudgeable: isJudgeable)
    }

    /// `nil` for BTHome: a sensor that tells nothing makes a packet shorter.
    private static func octets(_ advertisement: Advertisement) throws(PayloadError) -> ExpectedOctets? {
        if case .btHome = advertisement.content { return nil }
        return ExpectedOctets(try sample(advertisement, 0), or: try sample(advertisement, 1))
    }

    /// One of two payloads that differ wherever a live value stands.
    private static func sample(_ advertisement: Advertisement, _ number: Int) throws(PayloadError) -> [UInt8] {
        var sample = advertisement
        // What the controller grants is not known here; a calibration of one value needs no grant.
        if case .calibrated(let calibration) = advertisement.measuredPower,
            !calibration.points.isEmpty || calibration.fallback == nil
        {
            sample.measuredPower = .atOneMeter(MeasuredPowerAtOneMeter(octet: number == 0 ? 0xC5 : 0xA6))
        }
        let octet: UInt8 = number == 0 ? 0x01 : 0x02
        return try sample.payload(advertisement.content.sampleValues(octet)).octets
    }

    /// The mean time between two events that are sent: the interval and 5 ms, in microseconds.
    public var periodMicroseconds: Double {
        Double(intervalMicroseconds + IntervalEstimate.meanDelayMicroseconds)
    }

    /// As text: the identity, or the type where there is none.
    public var title: String {
        if case .frame(let identity) = content { identity.description } else { type }
    }
}

/// The octets of an advertisement, some of which may be anything: counters, ephemeral ids, a measured power that
/// depends on what the controller grants.
public struct ExpectedOctets: Hashable, Sendable {
    private let octets: [UInt8]
    private let isFree: [Bool]

    /// What both have in common; where they differ anything may stand.
    ///
    /// - Parameter other: Of the same length.
    public init(_ octets: [UInt8], or other: [UInt8]) {
        self.octets = octets
        isFree = octets.indices.map { other.indices.contains($0) && octets[$0] != other[$0] }
    }

    /// Exactly these.
    public init(_ octets: [UInt8]) { self.init(octets, or: octets) }

    /// How many there are.
    public var count: Int { octets.count }

    /// Whether `range` of `span` holds these octets, and nothing more.
    public func matches(_ span: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard range.count == octets.count else { return false }
        for index in octets.indices where !isFree[index] && span[range.lowerBound + index] != octets[index] {
            return false
        }
        return true
    }

    /// Hexadecimal digits, with two dots for an octet that may be anything.
    public var text: String {
        octets.indices.map { isFree[$0] ? ".." : Hexadecimal.text([octets[$0]]) }.joined()
    }
}
