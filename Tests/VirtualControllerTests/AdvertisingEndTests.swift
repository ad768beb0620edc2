import BluetoothTypes
import HCI
import Testing
import VirtualController

@Suite struct AdvertisingEndTests {
    private func host() throws -> TestHost {
        let host = TestHost(.zephyr)
        try host.send([.allEvents, .allLEEvents])
        return host
    }

    @Test func durationEndsWithAdvertisingTimeout() throws {
        let host = try host()
        try host.send([.set(), .setEnable(duration: 50)])
        #expect(try host.listen(milliseconds: 499) == [])
        #expect(host.controller.isAdvertising(handle: 1))
        #expect(try host.listen(milliseconds: 1) == [[0x12, 0x3C, 1, 0, 0, 0]])
        #expect(!host.controller.isAdvertising(handle: 1))
    }

    @Test func maximumOfEventsEndsWithLimitReached() throws {
        let host = try host()
        try host.send([.set(), .setEnable(events: 5)])
        #expect(try host.listen(milliseconds: 10_000) == [[0x12, 0x43, 1, 0, 0, 5]])
        #expect(host.controller.advertisingEvents(handle: 1) == 5)
    }

    @Test func timeoutReportsTheNumberOfEvents() throws {
        let host = try host()
        try host.send([.set(), .setEnable(duration: 100, events: 200)])
        let end = try #require(host.listen(milliseconds: 1000).first)
        #expect(Array(end.prefix(5)) == [0x12, 0x3C, 1, 0, 0])
        #expect((9...10).contains(end[5]))
    }

    @Test func enablingAgainRestartsTheDuration() throws {
        let host = try host()
        try host.send([.set(), .setEnable(duration: 50, events: 9)])
        try host.listen(milliseconds: 400)
        try host.send(.setEnable(duration: 50, events: 9))
        #expect(try host.listen(milliseconds: 400) == [])
        #expect(try host.listen(milliseconds: 100).first?[1] == 0x3C)
    }

    @Test func enablingAgainUsesTheNewAddress() throws {
        let host = try host()
        var seen: Set<String> = []
        host.air.observer = { seen.insert($0.address.description) }
        try host.send([.set(own: 1), .setAddress(), .setEnable()])
        try host.listen(milliseconds: 150)
        try host.send(RawCommand(0x2035, [1, 9, 9, 9, 9, 9, 0xC9]))
        try host.listen(milliseconds: 150)
        #expect(seen == ["C1:02:03:04:05:06"])
        try host.send(.setEnable())
        try host.listen(milliseconds: 150)
        #expect(seen == ["C1:02:03:04:05:06", "C9:09:09:09:09:09"])
    }

    @Test func terminationEventNeedsBothEventMasks() throws {
        for commands in [[], [RawCommand.allEvents], [RawCommand.allLEEvents]] {
            let host = TestHost(.zephyr)
            try host.send(commands + [.set(), .setEnable(events: 1)])
            #expect(try host.listen(milliseconds: 1000) == [])
            #expect(!host.controller.isAdvertising(handle: 1))
        }
        let host = TestHost(.zephyr)
        try host.send([RawCommand(0x0C01, [0, 0, 0, 0, 0, 0, 0, 0x20]), RawCommand(0x2001, [0, 0, 2, 0, 0, 0, 0, 0])])
        try host.send([.set(), .setEnable(events: 1)])
        #expect(try host.listen(milliseconds: 1000).count == 1)
    }

    @Test func directedAdvertisingOfHighDutyCycleTimesOut() throws {
        let host = try host()
        try host.send([.parameters(type: 1), .enable])
        #expect(try host.listen(milliseconds: 1279) == [])
        let events = try host.listen(milliseconds: 1)
        #expect(events.map { Array($0.prefix(2)) } == [[0x01, 0x3C]])
        #expect(events.first?.count == 19)
        #expect(!host.controller.isAdvertising())
    }

    @Test func controllerOfAReleasedHostIsSilent() throws {
        let air = VirtualAir()
        var seen = 0
        air.observer = { _ in seen += 1 }
        do {
            let host = TestHost(.raspberryPi, on: air)
            try host.send([.parameters(), .enable])
            try host.listen(milliseconds: 1000)
            #expect(seen > 24)
            seen = 0
        }
        air.advance(to: air.now.advanced(byMicroseconds: 1_000_000))
        #expect(seen == 0)
    }

    @Test func detachedControllerDoesNotAnswer() throws {
        let air = VirtualAir()
        var packets = 0
        let controller = air.attach(.zephyr) { _ in packets += 1 }
        controller.receive(RawCommand.reset.packet)
        #expect(packets == 1)
        air.detach(controller)
        air.detach(controller)
        controller.receive(RawCommand.reset.packet)
        controller.inject(HCIPacket(.event, [0x10, 1, 0]))
        #expect(packets == 1 && !controller.isAttached)
    }
}
