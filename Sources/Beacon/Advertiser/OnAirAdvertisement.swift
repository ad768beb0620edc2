public import BeaconFrames
public import BluetoothTypes
public import HCI

/// One advertisement as it is on the air, by whatever way it got there: asked, granted, and sent so far.
public struct OnAirAdvertisement: Hashable, Sendable {
    /// Where it is sent from.
    public enum Place: Hashable, Sendable {
        /// An advertising set: its position among those that are used, from 0.
        case set(Int)
        /// An instance of the kernel's advertising manager, by the kernel's number of it.
        case instance(UInt8)
    }

    public let advertisement: Advertisement
    public let place: Place
    /// How many advertisements are sent from that place in turn; 1 for a place of its own.
    public let sharers: Int
    /// Whether it is the one whose data its place holds now.
    public let isItsTurn: Bool
    /// The interval that its place runs at; two different bounds where the kernel chooses between them.
    public let setInterval: ClosedRange<AdvertisingInterval>
    /// The interval that it comes to, in microseconds: what was asked for, or a little less where it shares a set. Two
    /// different bounds where the kernel chooses between them.
    public let grantedMicroseconds: ClosedRange<Int>
    /// The mean time between two of its events, in microseconds.
    public let meanPeriodMicroseconds: Int
    /// The address that receivers see; `nil` where the kernel chooses it and does not tell.
    public let address: DeviceAddress?
    /// Whether it is a random one: planned so, or because it turns over with an ephemeral id.
    public let isAddressRandom: Bool
    /// What the radio really sends with; known after the start.
    public let grant: RadioPowerGrant
    /// What is sent now, or will be when its turn comes.
    public let payload: AdvertisingData
    /// Advertising events so far, computed from the time on the air and the mean period: legacy controllers and the
    /// kernel do not count them, and an extended controller tells only at the end of a set.
    public let events: UInt64

    /// ``grantedMicroseconds`` in milliseconds: `100`, or `100...150`.
    public var grantedMilliseconds: String {
        let bounds = [grantedMicroseconds.lowerBound, grantedMicroseconds.upperBound].map(DecimalText.thousandths)
        return bounds[0] == bounds[1] ? bounds[0] : bounds.joined(separator: "...")
    }

    /// ``setInterval`` with its unit: `100 ms`, or `100...150 ms`.
    public var setIntervalText: String {
        let (least, most) = (setInterval.lowerBound, setInterval.upperBound)
        return least == most ? "\(least)" : "\(DecimalText.thousandths(least.microseconds))...\(most)"
    }
}

/// The controller behind a session, as far as it matters to whoever reads about it.
public struct OnAirController: Hashable, Sendable {
    /// By which commands it is sent.
    public enum Family: String, Hashable, Sendable {
        case legacy
        case extended
        /// Through the kernel's advertising manager.
        case managed
    }

    public let family: Family
    /// Whether the radio has extended advertising, by whatever way it is used.
    public let hasExtendedAdvertising: Bool
    public let version: HCIVersion
    /// The maker in words; `nil` where it was not asked.
    public let manufacturer: String?
    /// The controller's own address; `nil` where it has none.
    public let address: DeviceAddress?

    /// Version and maker in words.
    public var description: String { ["\(version)", manufacturer].compactMap(\.self).joined(separator: ", ") }
}
