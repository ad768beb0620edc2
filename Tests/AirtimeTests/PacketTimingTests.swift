import Airtime
import Testing

@Suite struct PacketTimingTests {
    @Test(arguments: [(0, 128.0), (9, 200), (30, 368), (31, 376)])
    func octetsTakeEightMicrosecondsEach(payload: Int, airtime: Double) throws {
        #expect(try PacketTiming.airtimeMicroseconds(payloadOctets: payload) == airtime)
    }

    @Test(arguments: [-1, 32, Int.max, Int.min])
    func refusesPayloadLengthsOutOfRange(payload: Int) {
        #expect(throws: AirtimeError.payload(payload)) { try PacketTiming.airtimeMicroseconds(payloadOctets: payload) }
    }

    @Test func meanPeriodIncludesTheMeanDelay() throws {
        let group = try AdvertiserGroup(count: 1, intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
        #expect(group.meanPeriodMicroseconds == 105_000)
    }

    @Test(arguments: [(0, 0), (11, 10), (-1, 10), (1, -1)])
    func windowsLongerThanTheirIntervalsAreRefused(window: Int, interval: Int) {
        #expect(throws: AirtimeError.scan(windowMicroseconds: window, intervalMicroseconds: interval)) {
            try ScanPattern(windowMicroseconds: window, intervalMicroseconds: interval)
        }
    }
}
