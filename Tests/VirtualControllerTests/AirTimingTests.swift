import BluetoothTypes
import HCI
import Testing
import VirtualController

@Suite struct AirTimingTests {
    /// Advertises and returns the starts of the copies on channel 37, in microseconds.
    private func starts(_ seed: UInt64, events: Int, _ commands: [RawCommand]) throws -> [Int] {
        let host = TestHost(.zephyr, on: VirtualAir(.init(seed: seed)))
        var starts: [Int] = []
        host.air.observer = { if $0.channel == 37 { starts.append(Int($0.start.nanoseconds / 1000)) } }
        try host.send(commands)
        while starts.count < events { host.air.advance(to: try #require(host.air.nextEvent)) }
        return starts
    }

    private func gaps(_ starts: [Int]) -> [Int] { zip(starts, starts.dropFirst()).map { $1 - $0 } }

    @Test(
        arguments: [
            [.parameters(0xA0, 0xA0), .enable], [.set(1, 0xA0, 0xA0), .setEnable()],
        ] as [[RawCommand]])
    func periodIsIntervalAndUniformDelay(_ commands: [RawCommand]) throws {
        let gaps = gaps(try starts(7, events: 10_001, commands))
        #expect(gaps.count == 10_000)
        let mean = Double(gaps.reduce(0, +)) / 10_000
        // Standard error of 10,000 delays of 0...10 ms: 29 µs.
        #expect(abs(mean - 105_000) < 120)
        #expect(gaps.allSatisfy { (100_000...110_000).contains($0) })
        #expect(try #require(gaps.min()) < 100_020 && #require(gaps.max()) > 109_980)
        // Each quarter of the delay's range is as likely as the others.
        for quarter in 0..<4 {
            let low = 100_000 + quarter * 2500
            let count = gaps.count { (low..<low + 2500).contains($0) }
            #expect((2300...2700).contains(count))
        }
    }

    @Test func sameSeedGivesTheSameTimes() throws {
        let commands: [RawCommand] = [.parameters(), .enable]
        #expect(try starts(3, events: 500, commands) == starts(3, events: 500, commands))
        #expect(try starts(3, events: 500, commands) != starts(4, events: 500, commands))
    }

    @Test func highDutyCycleHasNoDelay() throws {
        #expect(gaps(try starts(1, events: 100, [.parameters(0, 0, type: 1), .enable])).allSatisfy { $0 == 3750 })
    }

    @Test func copiesAreSentOnTheChannelsInOrder() throws {
        let host = TestHost()
        var copies: [AirPDU] = []
        host.air.observer = { copies.append($0) }
        try host.send([.data([2, 1, 6]), .parameters(), .enable])
        try host.listen(milliseconds: 50)
        #expect(copies.map(\.channel) == [37, 38, 39])
        #expect(copies.map { $0.start.nanoseconds / 1000 } == [0, 1000, 2000])
        #expect(copies.allSatisfy { $0.airtimeMicroseconds == 8 * (16 + 3) && $0.data == [2, 1, 6] })
        #expect(copies.allSatisfy { $0.name == "ADV_NONCONN_IND" })
    }

    @Test(arguments: [(1, [37]), (2, [38]), (4, [39]), (5, [37, 39])] as [(UInt8, [Int])])
    func onlyTheChannelsOfTheMapAreUsed(_ map: UInt8, _ channels: [Int]) throws {
        let host = TestHost()
        var used: [Int] = []
        host.air.observer = { used.append($0.channel) }
        try host.send([.parameters(map: map), .enable])
        try host.listen(milliseconds: 50)
        #expect(used == channels)
    }

    @Test(arguments: [
        (UInt8(0), 0, "ADV_IND"), (1, 6, "ADV_DIRECT_IND"), (2, 0, "ADV_SCAN_IND"), (3, 0, "ADV_NONCONN_IND"),
    ])
    func pduHasTheTypeThatWasSet(_ type: UInt8, _ octets: Int, _ name: String) throws {
        let host = TestHost()
        var seen: [AirPDU] = []
        host.air.observer = { seen.append($0) }
        try host.send([.parameters(type: type), .enable])
        try host.listen(milliseconds: 1)
        #expect(seen.first?.name == name)
        #expect(seen.first?.airtimeMicroseconds == 8 * (16 + octets))
    }

    @Test func newDataIsUsedFromTheNextEventOn() throws {
        let host = TestHost()
        var seen: [[UInt8]] = []
        host.air.observer = { seen.append($0.data) }
        try host.send([.data([1]), .parameters(), .enable])
        host.air.advance(to: host.air.now.advanced(byMicroseconds: 500))
        try host.send(.data([2]))
        try host.listen(milliseconds: 115)
        #expect(seen == [[1], [1], [1], [2], [2], [2]])
    }

    @Test func disableAndResetTakeEffectWithinAnEvent() throws {
        for stop in [RawCommand.disable, .reset] {
            let host = TestHost()
            var seen = 0
            host.air.observer = { _ in seen += 1 }
            try host.send([.parameters(), .enable])
            host.air.advance(to: host.air.now.advanced(byMicroseconds: 1500))
            try host.send(stop)
            try host.listen(milliseconds: 5000)
            #expect(seen == 2)
            #expect(!host.controller.isAdvertising())
        }
    }

    @Test func enablingAgainCausesNoEarlyEvents() throws {
        let host = TestHost()
        var starts: [UInt64] = []
        host.air.observer = { if $0.channel == 37 { starts.append($0.start.nanoseconds) } }
        try host.send([.parameters(), .enable])
        for _ in 0..<100 {
            try host.listen(milliseconds: 20)
            try host.send(.enable)
        }
        #expect(starts.count <= 21)
        #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 >= 100_000_000 })
    }

    @Test func setsOfOneControllerAreIndependent() throws {
        let host = TestHost(.zephyr)
        var count: [[UInt8]: Int] = [:]
        host.air.observer = { if $0.channel == 37 { count[$0.data, default: 0] += 1 } }
        try host.send([.set(1, 0xA0, 0xA0), .set(2, 0x640, 0x640), .setData(1, [1]), .setData(2, [2])])
        try host.send(.setEnable(1, [1, 2]))
        try host.listen(milliseconds: 105_000)
        #expect(try (990...1011).contains(#require(count[[1]])))
        #expect(try (103...106).contains(#require(count[[2]])))
        #expect(host.controller.advertisingEvents(handle: 1) == count[[1]])
        #expect(host.controller.advertisingEvents(handle: 2) == count[[2]])
    }

    @Test func manyRestartsDoNotFillTheMemory() throws {
        let host = TestHost(.zephyr)
        try host.send(.set(1, 0xFFFFFF, 0xFFFFFF))
        for _ in 0..<20_000 {
            try host.send(.setEnable(duration: 0xFFFF))
            host.air.advance(to: host.air.now.advanced(byMicroseconds: 1000))
        }
        // The planned ends of earlier runs have no effect, and most of them are removed.
        var waits = 0
        while let next = host.air.nextEvent, waits < 10_000 {
            host.air.advance(to: next)
            waits += 1
        }
        #expect(waits < 3000)
    }
}
