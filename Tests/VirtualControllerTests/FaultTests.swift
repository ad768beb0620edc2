import BluetoothTypes
import HCI
import Testing
import VirtualController

@Suite struct FaultTests {
    private let complete: [UInt8] = [0x0E, 4, 1, 0x03, 0x0C, 0]

    @Test func latencyDelaysTheAnswer() throws {
        let host = TestHost()
        host.controller.latencyMicroseconds = 1500
        #expect(try host.answer(to: .reset, within: 1499) == nil)
        #expect(try host.channel.receive(until: host.air.now.advanced(byMicroseconds: 1))?.octets == complete)
    }

    @Test func droppedCommandIsNotExecuted() throws {
        let host = TestHost()
        host.controller.commandHook = { _ in .drop }
        #expect(try host.answer(to: .enable, within: 1_000_000) == nil)
        #expect(!host.controller.isAdvertising())
    }

    @Test func delayedCommandIsExecutedLater() throws {
        let host = TestHost()
        host.controller.commandHook = { _ in .delay(microseconds: 2000) }
        #expect(try host.answer(to: .enable, within: 1999) == nil)
        #expect(!host.controller.isAdvertising())
        #expect(try host.channel.receive(until: host.air.now.advanced(byMicroseconds: 1)) != nil)
        #expect(host.controller.isAdvertising())
    }

    @Test func replacementIsExecutedInsteadOfTheCommand() throws {
        let host = TestHost()
        host.controller.commandHook = { _ in .replace(RawCommand.reset.packet) }
        #expect(try host.answer(to: .enable) == complete)
    }

    @Test func failedCommandIsNotExecuted() throws {
        let host = TestHost()
        host.controller.commandHook = { _ in .fail(.hardwareFailure) }
        #expect(try host.send(.enable) == 3)
        #expect(!host.controller.isAdvertising())
    }

    @Test func creditsAreWithheldAndReturned() throws {
        let host = TestHost()
        host.controller.commandHook = { _ in .withoutCredits(forMicroseconds: 5000) }
        #expect(try host.answer(to: .reset) == [0x0E, 4, 0, 0x03, 0x0C, 0])
        #expect(try host.channel.receive(until: host.air.now.advanced(byMicroseconds: 4999)) == nil)
        #expect(
            try host.channel.receive(until: host.air.now.advanced(byMicroseconds: 1))?.octets == [0x0E, 3, 1, 0, 0])
        host.controller.commandHook = { _ in .withoutCredits(forMicroseconds: nil) }
        #expect(try host.answer(to: RawCommand(0x2FFF)) == [0x0F, 4, 1, 0, 0xFF, 0x2F])
        #expect(try host.channel.receive(until: host.air.now.advanced(byMicroseconds: 1_000_000)) == nil)
        host.controller.commandHook = nil
        #expect(try host.answer(to: .reset) == complete)
    }

    @Test func eventsCanBeDroppedDelayedReplacedAndFailed() throws {
        let host = TestHost()
        host.controller.eventHook = { _ in .drop }
        #expect(try host.answer(to: .enable, within: 1000) == nil)
        #expect(host.controller.isAdvertising())
        host.controller.eventHook = { _ in .delay(microseconds: 700) }
        #expect(try host.answer(to: .reset, within: 699) == nil)
        #expect(try host.channel.receive(until: host.air.now.advanced(byMicroseconds: 1))?.octets == complete)
        let other = HCIPacket(.event, [0x0E, 4, 1, 1, 2, 0])
        host.controller.eventHook = { _ in .replace(other) }
        #expect(try host.answer(to: .reset) == other.octets)
        host.controller.eventHook = { _ in .fail(.controllerBusy) }
        #expect(try host.send(.reset) == 0x3A)
        #expect(try host.send(RawCommand(0x2FFF)) == 0x3A)
        host.controller.eventHook = { _ in .withoutCredits(forMicroseconds: nil) }
        #expect(try host.answer(to: .reset) == [0x0E, 4, 0, 0x03, 0x0C, 0])
    }

    @Test func hooksCanChooseTheirPackets() throws {
        let host = TestHost()
        host.controller.commandHook = { packet in
            packet.commandHeader?.opcode == LESetAdvertisingEnable.opcode ? .fail(.commandDisallowed) : .pass
        }
        #expect(try host.send(.parameters()) == 0)
        #expect(try host.send(.enable) == 0x0C)
    }

    @Test func vanishedControllerIsGone() throws {
        let host = TestHost()
        try host.send([.parameters(), .enable])
        host.controller.commandHook = { _ in .vanish }
        var seen = 0
        host.air.observer = { _ in seen += 1 }
        try host.channel.send(RawCommand.reset.packet)
        #expect(throws: HCIChannelError.self) { try host.channel.receive(until: host.air.now) }
        #expect(throws: HCIChannelError.self) { try host.channel.send(RawCommand.reset.packet) }
        host.air.advance(to: host.air.now.advanced(byMicroseconds: 1_000_000))
        #expect(seen == 0)
    }

    @Test func controllerThatVanishesWhileAnsweringIsGone() throws {
        let host = TestHost()
        host.controller.eventHook = { _ in .vanish }
        try host.channel.send(RawCommand.reset.packet)
        #expect(throws: HCIChannelError.self) { try host.channel.receive(until: host.air.now) }
    }

    @Test func injectedPacketsReachTheHost() throws {
        let host = TestHost()
        let error = HCIPacket(.event, [0x10, 1, 0x42])
        host.controller.inject(error)
        #expect(try host.channel.receive(until: host.air.now) == error)
    }

    @Test func endlessWaitReturnsIfNothingIsPlanned() throws {
        let host = TestHost()
        #expect(try host.channel.receive(until: .distantFuture) == nil)
        #expect(host.air.now.nanoseconds == 0)
    }
}
