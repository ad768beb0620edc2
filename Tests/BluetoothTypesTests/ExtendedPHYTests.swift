import BluetoothTypes
import Testing

@Suite struct ExtendedPHYTests {
    /// Numbers of the specification: 251 bytes of data with header and MIC take 2120, 1064, 4542 and 17040 µs (Core
    /// Specification 5.4, Vol 6 Part B 4.5.10), empty packets 80, 44, 462 and 720 µs.
    @Test(arguments: [
        (PacketRate.le1M, 0, 80), (.le1M, 255, 2120), (.le2M, 0, 44), (.le2M, 255, 1064), (.codedS2, 0, 462),
        (.codedS2, 255, 4542), (.codedS8, 0, 720), (.codedS8, 255, 17_040),
    ])
    func packetAirtimeFollowsTheSpecification(_ rate: PacketRate, _ payload: Int, _ microseconds: Int) {
        #expect(rate.microseconds(payload: payload) == microseconds)
    }

    /// An ADV_EXT_IND with 7 bytes, and an AUX_ADV_IND with 10 bytes of header and 31 bytes of data, by hand: on LE 1M
    /// 8·(10+7) and 8·(10+41); on LE 2M 4·(11+41); with S=2 376+16·12+6 and 376+16·46+6; with S=8 376+64·12+24 and
    /// 376+64·46+24.
    @Test(arguments: [
        (ExtendedPHY.le1M, 136, 408), (.le2M, 136, 208), (.codedS2, 574, 1118), (.codedS8, 1168, 3344),
        (.coded, 1168, 3344),
    ])
    func extendedEventOf31OctetsHasTheExpectedAirtimes(_ phy: ExtendedPHY, _ primary: Int, _ auxiliary: Int) {
        let event = ExtendedEvent(phy, octets: 31)
        #expect(event.primaryMicroseconds == primary)
        #expect(event.auxiliaryMicroseconds == [auxiliary])
        #expect(event.shortestMicroseconds() == 3 * primary + 300 + auxiliary)
    }

    /// 1650 bytes: 242 next to a pointer in AUX_ADV_IND, 248 in each AUX_CHAIN_IND but the last one, and 168 there.
    @Test func longDataIsSentInAChain() {
        let event = ExtendedEvent(.le1M, octets: 1650)
        #expect(event.auxiliaryMicroseconds == [2120, 2120, 2120, 2120, 2120, 2120, 8 * (10 + 4 + 168)])
        #expect(event.auxiliarySpanMicroseconds == 6 * 2120 + 1456 + 6 * 300)
        #expect(ExtendedEvent(.le1M, octets: 245).auxiliaryMicroseconds == [2120])
        #expect(ExtendedEvent(.le1M, octets: 246).auxiliaryMicroseconds == [2120, 8 * (10 + 4 + 4)])
        #expect(ExtendedEvent(.le1M, octets: 245, headerOctets: 1).auxiliaryMicroseconds.count == 2)
        #expect(ExtendedEvent(.le1M, octets: 0).auxiliaryMicroseconds == [160])
    }
}
