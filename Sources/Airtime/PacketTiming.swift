/// The time that a legacy advertising packet is on the air on LE 1M.
///
/// One octet takes 8 µs. Around the advertising data stand preamble (1 octet), access address (4), PDU header (2),
/// advertiser's address (6) and CRC (3): 16 octets. Core Specification 5.4, Vol 6 Part B 2.1 and 2.3.1.
public enum PacketTiming {
    /// Octets of advertising data that a legacy packet may carry.
    public static let payloadRange = 0...31

    /// tau in µs: 8·(16 + n), 128 µs for an empty packet, 376 µs for 31 octets.
    public static func airtimeMicroseconds(payloadOctets: Int) throws(AirtimeError) -> Double {
        guard payloadRange.contains(payloadOctets) else { throw .payload(payloadOctets) }
        return Double(8 * (16 + payloadOctets))
    }

    /// T_IFS, the silence between a packet and its answer, in µs. Core Specification 5.4, Vol 6 Part B 4.1.1.
    public static let interFrameSpaceMicroseconds = 150.0
}
