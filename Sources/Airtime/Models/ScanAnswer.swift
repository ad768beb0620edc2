/// What follows a scannable packet when an active scanner asks: SCAN_REQ 150 µs after it, SCAN_RSP 150 µs after that.
///
/// The three are one cluster: another packet that meets two of them is lost once, so an advertiser takes the union of
/// their windows in one factor, never three factors. Core Specification 5.4, Vol 6 Part B 4.4.2.3 and 4.1.1.
public struct ScanAnswer: Hashable, Sendable {
    /// Airtime of SCAN_RSP in µs, 128...376 by ``PacketTiming``.
    public let responseAirtimeMicroseconds: Double
    /// The share of the events on a channel in which a scanner asks, 0...1.
    public let answeredShare: Double

    /// SCAN_REQ: preamble, access address, header, two device addresses and CRC, 22 octets on LE 1M.
    public static let requestAirtimeMicroseconds = 176.0

    /// Refuses an airtime that is no positive number and a share outside 0...1.
    public init(responseAirtimeMicroseconds: Double, answeredShare: Double = 1) throws(AirtimeError) {
        guard responseAirtimeMicroseconds > 0, responseAirtimeMicroseconds.isFinite else {
            throw .airtime(responseAirtimeMicroseconds)
        }
        guard answeredShare >= 0, answeredShare <= 1 else { throw .share(answeredShare) }
        self.responseAirtimeMicroseconds = responseAirtimeMicroseconds
        self.answeredShare = answeredShare
    }

    /// From the start of an advertising packet of `airtime` µs to the end of its SCAN_RSP, in µs.
    public func spanMicroseconds(afterPacketOf airtime: Double) -> Double {
        airtime + 2 * PacketTiming.interFrameSpaceMicroseconds + Self.requestAirtimeMicroseconds
            + responseAirtimeMicroseconds
    }

    /// The mean time that one event keeps the channel busy, in µs.
    func meanBusyMicroseconds(afterPacketOf airtime: Double) -> Double {
        airtime + answeredShare * (Self.requestAirtimeMicroseconds + responseAirtimeMicroseconds)
    }

    /// The mean length, in µs, of the union of start times that hurt a packet of `wanted` µs, for a cluster that begins
    /// with a packet of `airtime` µs.
    ///
    /// Each part widens by `wanted`; of the two silences only what is longer than `wanted` stays harmless.
    func meanWindowMicroseconds(of wanted: Double, againstPacketOf airtime: Double) -> Double {
        let gap = PacketTiming.interFrameSpaceMicroseconds
        let harmless = 2 * max(0, gap - wanted)
        let cluster = wanted + spanMicroseconds(afterPacketOf: airtime) - harmless
        return (1 - answeredShare) * (wanted + airtime) + answeredShare * cluster
    }
}
