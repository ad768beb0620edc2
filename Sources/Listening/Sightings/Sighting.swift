public import BluetoothTypes

/// The sender of an advertisement.
public struct Sender: Hashable, Sendable {
    public let address: DeviceAddress
    /// True if the address is random. Otherwise it is public.
    public let isRandom: Bool

    /// Creates a sender. A public and a random address with the same octets are two senders.
    public init(_ address: DeviceAddress, isRandom: Bool) {
        self.address = address
        self.isRandom = isRandom
    }
}

/// An advertisement that was received, without its data.
public struct Sighting: Hashable, Sendable {
    public let instant: HeardInstant
    /// The sender; `nil` if the advertisement had no address.
    public let sender: Sender?
    /// The level in dBm; `nil` if the receiver did not report it.
    public let rssi: Int8?
    /// True for a scan response. Scan responses say nothing about the beacon's interval.
    public let isScanResponse: Bool
    /// The physical layers of an extended advertisement; `nil` for legacy PDUs.
    public let phy: ExtendedPHY?

    /// - Parameter rssi: The level in dBm. Levels outside -127...20 are ignored in all calculations.
    public init(
        at instant: HeardInstant, from sender: Sender?, rssi: Int8?, isScanResponse: Bool = false,
        phy: ExtendedPHY? = nil
    ) {
        self.instant = instant
        self.sender = sender
        self.rssi = rssi
        self.isScanResponse = isScanResponse
        self.phy = phy
    }
}

/// A beacon to which the user has given a name.
public struct KnownBeacon: Hashable, Sendable {
    public var name: String
    /// The identity; `nil` for a beacon that is known by a key, and for a beacon with a ``region``.
    public var identity: BeaconIdentity?
    /// The property that all devices of this beacon share: a UUID, a namespace, a service, or a local name; `nil`
    /// for a beacon with an identity or a key.
    public private(set) var region: RegionPattern?
    /// The configured interval in microseconds; `nil` to learn it.
    public var intervalMicroseconds: Int?
    /// The level at 1 m in dBm, as measured by a calibration; `nil` to use the value that the beacon states.
    public var calibrationAtOneMeter: Int?

    /// Creates a beacon with this name and identity.
    public init(
        name: String, identity: BeaconIdentity?, intervalMicroseconds: Int? = nil, calibrationAtOneMeter: Int? = nil
    ) {
        self.name = name
        self.identity = identity
        self.intervalMicroseconds = intervalMicroseconds
        self.calibrationAtOneMeter = calibrationAtOneMeter
    }

    /// Creates a beacon with the identity in `pattern`, or a group of all devices that match `pattern`.
    public init(name: String, _ pattern: RegionPattern) {
        self.name = name
        if case .identity(let identity) = pattern { self.identity = identity } else { region = pattern }
    }

    /// True if several devices may count as this beacon at once. A local name belongs to one device.
    public var isGroup: Bool {
        switch region {
        case nil, .identity, .localName: false
        case .iBeacon, .eddystoneUID, .service: true
        }
    }

    /// True if the beacon is known only by the key of its ephemeral ids, or by the key of its addresses.
    public var isKnownByKey: Bool { identity == nil && region == nil }
}
