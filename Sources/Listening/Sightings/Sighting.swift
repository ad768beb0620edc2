public import BluetoothTypes

/// Who sent an advertisement.
public struct Sender: Hashable, Sendable {
    public let address: DeviceAddress
    /// Whether the address is a random one; otherwise it is public.
    public let isRandom: Bool

    /// A sender by its address; public and random addresses of the same octets are two senders.
    public init(_ address: DeviceAddress, isRandom: Bool) {
        self.address = address
        self.isRandom = isRandom
    }
}

/// That an advertisement was heard: everything but its data.
public struct Sighting: Hashable, Sendable {
    public let instant: HeardInstant
    /// `nil` where the advertisement carried no address.
    public let sender: Sender?
    /// In dBm; `nil` where the receiver did not tell.
    public let rssi: Int8?
    /// Whether it answered a scanner: such a report says nothing of the beacon's interval.
    public let isScanResponse: Bool

    /// - Parameter rssi: What lies outside -127...20 dBm is kept out of all arithmetic.
    public init(at instant: HeardInstant, from sender: Sender?, rssi: Int8?, isScanResponse: Bool = false) {
        self.instant = instant
        self.sender = sender
        self.rssi = rssi
        self.isScanResponse = isScanResponse
    }
}

/// A beacon that somebody has named.
public struct KnownBeacon: Hashable, Sendable {
    public var name: String
    /// `nil` for one that is known by its ephemeral ids alone.
    public var identity: BeaconIdentity?
    /// The interval that it is configured with, in microseconds; `nil` to learn it.
    public var intervalMicroseconds: Int?
    /// What a receiver sees at 1 m, in dBm, where somebody has measured it: it counts before the octet that is sent.
    public var calibrationAtOneMeter: Int?

    /// A beacon of this name that is told by `identity`.
    public init(
        name: String, identity: BeaconIdentity?, intervalMicroseconds: Int? = nil, calibrationAtOneMeter: Int? = nil
    ) {
        self.name = name
        self.identity = identity
        self.intervalMicroseconds = intervalMicroseconds
        self.calibrationAtOneMeter = calibrationAtOneMeter
    }
}
