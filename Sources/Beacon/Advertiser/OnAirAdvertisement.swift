public import BeaconFrames
public import BluetoothTypes
public import HCI

/// An advertisement on the air: the requested values, the values in use, and the number of events so far.
public struct OnAirAdvertisement: Equatable, Sendable {
    /// The advertising set or the kernel's instance that sends the advertisement.
    public enum Place: Hashable, Sendable {
        /// An advertising set, by its position among the sets in use, from 0.
        case set(Int)
        /// An instance of the kernel's advertising manager, by its number.
        case instance(UInt8)
    }

    public let advertisement: Advertisement
    public let place: Place
    /// The number of advertisements that share the place; 1 for a place of its own.
    public let sharers: Int
    /// `true` if the place sends this advertisement now.
    public let isItsTurn: Bool
    /// The interval at which the place sends; with a pattern, the interval of the current part. The bounds differ if
    /// the kernel chooses the interval.
    public let setInterval: ClosedRange<AdvertisingInterval>
    /// The interval that the advertisement itself gets, in microseconds: the requested interval, or slightly less in a
    /// shared set. The bounds differ if the kernel chooses the interval.
    public let grantedMicroseconds: ClosedRange<Int>
    /// The mean time between two events of this advertisement, in microseconds.
    public let meanPeriodMicroseconds: Int
    /// The advertisement's pattern and its current part; `nil` for a constant interval.
    public let pattern: OnAirPattern?
    /// The address that receivers see; `nil` if it is unknown, because the kernel or another program chooses it.
    public let address: DeviceAddress?
    /// `true` while the advertisement is sent from an address that is not its own. Either the controller has refused
    /// the advertisement's own address, as controllers do while they scan or connect, or another program has changed
    /// the address.
    public let isAddressRefused: Bool
    /// `true` if the address is random: by request, or because it changes with an ephemeral id.
    public let isAddressRandom: Bool
    /// The radio power in use.
    public let grant: RadioPowerGrant
    /// The data that is sent now, or at the advertisement's next turn if it shares its place.
    public let payload: AdvertisingData
    /// The number of advertising events so far. It is computed from the time on the air and the mean period, because
    /// legacy controllers and the kernel do not count events, and controllers with extended advertising report the
    /// number only when a set ends.
    public let events: UInt64

    /// The payload in words: the frame with its identity or values. Data of any other layout is shown in hexadecimal.
    public var contentText: String {
        if let frame = BeaconFrame(decoding: payload) { return frame.sentence }
        let names = payload.structures.filter { $0.type == .completeLocalName || $0.type == .shortenedLocalName }
            .compactMap { String(validating: $0.data, as: UTF8.self) }.map { "\"\($0)\"" }
        let kind = ([advertisement.content.typeName] + names).joined(separator: " ")
        return "\(kind), \(payload.octets.count) bytes: \(octetsText())"
    }

    /// The local name in the scan response; `nil` if it has none.
    public var localName: String? {
        advertisement.scanResponse.structures.first { $0.type == .completeLocalName || $0.type == .shortenedLocalName }
            .flatMap { String(validating: $0.data, as: UTF8.self) }
    }

    /// Returns the first bytes of the payload in hexadecimal, at most 62, which is the length of a legacy advertisement
    /// and its scan response together.
    ///
    /// - Parameter separator: The text between two bytes.
    public func octetsText(separator: String = "") -> String {
        let prefix = payload.octets.prefix(2 * AdvertisingData.legacyLimit)
        return Hexadecimal.text(Array(prefix), separator: separator) + (prefix.count < payload.octets.count ? "…" : "")
    }

    /// ``grantedMicroseconds`` in milliseconds: `100`, or `100...150`.
    public var grantedMilliseconds: String {
        let bounds = [grantedMicroseconds.lowerBound, grantedMicroseconds.upperBound].map(DecimalText.thousandths)
        return bounds[0] == bounds[1] ? bounds[0] : bounds.joined(separator: "...")
    }

    /// ``setInterval`` with its unit: `100 ms`, or `100...150 ms`.
    public var setIntervalText: String {
        let (shortest, longest) = (setInterval.lowerBound, setInterval.upperBound)
        return shortest == longest
            ? "\(shortest)" : "\(DecimalText.thousandths(shortest.microseconds))...\(longest)"
    }
}

/// A short description of a session's controller.
public struct OnAirController: Hashable, Sendable {
    /// The commands that the session uses.
    public enum Family: String, Hashable, Sendable {
        case legacy
        case extended
        /// Messages to the kernel's advertising manager.
        case managed
    }

    public let family: Family
    /// `true` if the controller has extended advertising, even if the session does not use it.
    public let hasExtendedAdvertising: Bool
    public let version: HCIVersion
    /// The manufacturer's name; `nil` if unknown.
    public let manufacturer: String?
    /// The controller's public address; `nil` if it has none.
    public let address: DeviceAddress?

    /// Version and manufacturer in words.
    public var description: String { ["\(version)", manufacturer].compactMap(\.self).joined(separator: ", ") }
}
