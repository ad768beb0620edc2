import BluetoothTypes
import Testing

@testable import Airtime

@Suite struct ChannelLoadsTests {
    private struct Wrong: Error {}

    private static func loads(_ text: String) throws -> ChannelLoads? {
        try ChannelLoads(text) { text in
            guard let share = Double(text) else { throw Wrong() }
            return share
        }
    }

    /// A Wi-Fi channel reaches 8.3 MHz and half a Bluetooth channel from its center. So 2412, 2437 and 2462 MHz do not
    /// reach 2402, 2426 and 2480 MHz, but 2432 MHz reaches 2426 MHz, and 2472 MHz reaches 2480 MHz.
    @Test(arguments: [
        ("wifi-1-6-11", [0, 0, 0]), ("wifi-1-5-9-13:0.3", [0, 0.3, 0.3]), ("wifi-4:0.2", [0, 0.2, 0]),
        ("wifi-4-5:0.2", [0, 0.36, 0]), ("37:0,38:0.1,39:0.05", [0, 0.1, 0.05]), ("39:0.5", [0, 0, 0.5]),
    ])
    func readsTheLoadsOfPrimaryChannels(_ text: String, _ expected: [Double]) throws {
        let loads = try #require(try Self.loads(text))
        for (load, wanted) in zip(loads.primary, expected) { #expect(abs(load - wanted) < 1e-12) }
    }

    /// Wi-Fi channel 1 is at 2412 MHz: the Bluetooth channels from 2404 (index 0) to 2420 MHz (8) lie in it.
    @Test func secondaryChannels() throws {
        let loads = try #require(try Self.loads("wifi-1:0.4"))
        #expect(loads.secondary.indices.filter { loads.secondary[$0] > 0 } == Array(0...8))
        #expect(loads.secondary[0] == 0.4)
        let all = try #require(try Self.loads("data:0.2"))
        #expect(all.secondary == Array(repeating: 0.2, count: 37) && all.primary == [0, 0, 0])
        let usual = try #require(try Self.loads("wifi-6"))
        #expect(usual.secondary.max() == ChannelLoads.usualWiFiShare)
    }

    @Test(arguments: ["", "wifi", "wifi-", "wifi-1-", "wifi-x", "36:0.1", "38", "38:0.1,38:0.2", "38:0.1:2"])
    func otherTexts(_ text: String) throws {
        #expect(try Self.loads(text) == nil)
    }

    @Test(arguments: ["wifi-0", "wifi-14", "wifi-1:1", "38:1", "38:x", "38:-0.1"])
    func refusesImpossibleLoads(_ text: String) {
        #expect(throws: (any Error).self) { try Self.loads(text) }
    }

    @Test func theErrorNamesTheWrongWiFiChannel() {
        let error = #expect(throws: AirtimeError.self) { try ChannelLoads(wifi: [1, 6, 14], share: 0.3) }
        #expect("\(String(describing: error))".contains("14"), "\(String(describing: error))")
    }

    /// For one beacon and packets of equal length, the probability is the mean of (1 - O)² over the channels.
    @Test func clearProbabilityIsTheMeanOverTheChannels() throws {
        let load = try BackgroundLoad(ChannelLoads(primary: [0, 0.25, 0.5], secondary: 0))
        #expect(abs(load.clearProbability(forPacketOf: 376) - (1 + 0.5625 + 0.25) / 3) < 1e-12)
        #expect(abs(load.share - 0.25) < 1e-12)
        let even = try BackgroundLoad(share: 0.25)
        #expect(even.loads.isEven && even.share == 0.25)
        #expect(abs(even.clearProbability(forPacketOf: 376) - 0.5625) < 1e-12)
    }

    /// A receiver that listens on three channels at once receives an event of one beacon with probability 1 - Π(1 - p).
    @Test func anEventIsLostOnlyIfAllThreeCopiesAreLost() throws {
        let load = try BackgroundLoad(ChannelLoads(primary: [0.1, 0.25, 0.5], secondary: 0))
        let one = try AdvertiserGroup(
            count: 1, interval: AdvertisingInterval(rawValue: 160), airtimeMicroseconds: 376)
        let any = try AnyOfThreeModel(
            groups: [one], spacing: CopySpacing(identicalMicroseconds: 1000), background: load
        ).atLeastOneProbability
        #expect(abs(any - (1 - (1 - 0.81) * (1 - 0.5625) * (1 - 0.25))) < 1e-12)
    }
}
