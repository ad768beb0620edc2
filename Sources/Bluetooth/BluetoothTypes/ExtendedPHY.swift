/// The physical layers (PHYs) of an extended advertisement: one for its packets on the primary channels 37, 38 and 39,
/// and one for its auxiliary packets on the secondary channels 0...36, which carry the data.
///
/// An advertisement without an extended PHY is sent in legacy PDUs on LE 1M. Some phones receive only legacy PDUs.
public enum ExtendedPHY: String, Hashable, Sendable, CaseIterable {
    /// LE 1M on all channels.
    case le1M = "1M"
    /// LE 1M on the primary channels, and LE 2M on the secondary channels.
    case le2M = "2M"
    /// LE Coded on all channels. The controller chooses between S=2 and S=8.
    case coded
    /// LE Coded on all channels with two symbols for each bit (S=2), 500 kbit/s.
    case codedS2 = "coded-s2"
    /// LE Coded on all channels with eight symbols for each bit (S=8), 125 kbit/s.
    case codedS8 = "coded-s8"

    public var isCoded: Bool { self != .le1M && self != .le2M }

    /// The rate of the packets on the primary channels. If the controller may choose the coding, it uses S=8 on these
    /// channels.
    public var primaryRate: PacketRate { isCoded ? secondaryRate : .le1M }

    /// The rate of the packets on the secondary channels.
    public var secondaryRate: PacketRate {
        switch self {
        case .le1M: .le1M
        case .le2M: .le2M
        case .coded, .codedS8: .codedS8
        case .codedS2: .codedS2
        }
    }

    /// The physical layers in words, such as `LE 1M and LE 2M`.
    public var name: String {
        switch self {
        case .le1M: "LE 1M"
        case .le2M: "LE 1M and LE 2M"
        case .coded: "LE Coded"
        case .codedS2: "LE Coded, S=2"
        case .codedS8: "LE Coded, S=8"
        }
    }
}

/// The bit rate of a packet, which determines its time on the air (Core Specification 5.4, Vol 6 Part B 2.1, 2.2).
public enum PacketRate: Hashable, Sendable, CaseIterable {
    case le1M
    case le2M
    case codedS2
    case codedS8

    /// Returns the time on the air of one packet, in microseconds.
    ///
    /// Uncoded packets have a preamble of 1 byte (2 bytes on LE 2M), an access address of 4 bytes, a header of 2 bytes,
    /// the payload, and a CRC of 3 bytes. Coded packets begin with a preamble of 80 µs. The access address, the coding
    /// indicator and TERM1 follow; they are always sent with S=8 and take 256, 16 and 24 µs. The header, the payload,
    /// the CRC and the 3 bits of TERM2 come last; they are sent with S=2 or S=8, as the PHY requires.
    ///
    /// - Parameter payload: The bytes after the PDU's header, 0...255.
    public func microseconds(payload: Int) -> Int {
        switch self {
        case .le1M: 8 * (10 + payload)
        case .le2M: 4 * (11 + payload)
        case .codedS2: 376 + 16 * (5 + payload) + 6
        case .codedS8: 376 + 64 * (5 + payload) + 24
        }
    }
}

/// The packets of an extended advertising event: an ADV_EXT_IND on each primary channel, then one AUX_ADV_IND, and an
/// AUX_CHAIN_IND for each further part of the data (Core Specification 5.4, Vol 6 Part B 2.3.1, 2.3.4).
///
/// The times are those of the shortest event: each packet contains as much data as possible, and starts as soon as
/// possible after the previous packet.
public struct ExtendedEvent: Hashable, Sendable {
    /// The time on the air of the ADV_EXT_IND on one channel, in microseconds.
    public let primaryMicroseconds: Int
    /// The times on the air of AUX_ADV_IND and each AUX_CHAIN_IND, in microseconds.
    public let auxiliaryMicroseconds: [Int]

    /// T_MAFS: the shortest time from the end of a packet to the start of the auxiliary packet that it points to, in
    /// microseconds (Vol 6 Part B 4.2.4).
    public static let gapMicroseconds = 300
    /// The number of secondary channels.
    public static let secondaryChannels = 37
    /// The largest number of data bytes in a single AUX_ADV_IND: the payload of 255 bytes minus the 10 bytes of header
    /// length, flags, address and data info.
    public static let firstPacketLimit = 255 - 10
    /// The size of a pointer to the next packet, in bytes.
    private static let pointerOctets = 3
    /// The size of an ADV_EXT_IND's payload in bytes: header length, flags, data info and a pointer.
    private static let primaryPayload = 4 + pointerOctets

    /// The packets of an event that sends `octets` bytes.
    ///
    /// - Parameters:
    ///   - octets: The number of bytes of advertising data.
    ///   - headerOctets: The number of optional bytes in the extended header, such as 1 for a TX power.
    public init(_ phy: ExtendedPHY, octets: Int, headerOctets: Int = 0) {
        primaryMicroseconds = phy.primaryRate.microseconds(payload: Self.primaryPayload)
        var packets: [Int] = []
        var remainingOctets = octets
        var minimumHeader = 10 + headerOctets
        repeat {
            let isLast = remainingOctets <= 255 - minimumHeader
            let header = minimumHeader + (isLast ? 0 : Self.pointerOctets)
            let dataOctets = min(remainingOctets, 255 - header)
            packets.append(phy.secondaryRate.microseconds(payload: header + dataOctets))
            remainingOctets -= dataOctets
            // An AUX_CHAIN_IND has no address.
            minimumHeader = 4
        } while remainingOctets > 0
        auxiliaryMicroseconds = packets
    }

    /// The time from the start of the first auxiliary packet to the end of the last one, in microseconds.
    public var auxiliarySpanMicroseconds: Int {
        auxiliaryMicroseconds.reduce(0, +) + Self.gapMicroseconds * (auxiliaryMicroseconds.count - 1)
    }

    /// Returns the shortest possible duration of the event in microseconds: the packets on the `channels` primary
    /// channels follow each other without gaps.
    public func shortestMicroseconds(channels: Int = 3) -> Int {
        channels * primaryMicroseconds + Self.gapMicroseconds + auxiliarySpanMicroseconds
    }
}
