import BluetoothTypes
import HCI
import Testing

/// A kernel that sends scripted messages at their times, with a clock that jumps to the next one.
private final class ScriptedKernel: ManagementChannel {
    private(set) var now = HCIInstant(nanoseconds: 0)
    private(set) var sent: [ManagementPacket] = []
    /// The messages, in order of time, in milliseconds.
    var script: [(time: Int, event: ManagementEvent)] = []

    func send(_ packet: ManagementPacket) throws(HCIChannelError) { sent.append(packet) }

    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> ManagementPacket? {
        guard let next = script.first, at(next.time) <= deadline else {
            now = max(now, deadline)
            return nil
        }
        now = max(now, at(next.time))
        return script.removeFirst().event.packet
    }
}

private func complete(_ opcode: UInt16, index: UInt16 = 0, _ returned: [UInt8] = []) -> ManagementEvent {
    ManagementEvent(index: index, .commandComplete(opcode: opcode, status: .success, returned: returned))
}

@Suite struct ManagementHostTests {
    @Test func aCommandEndsWithTheAnswerToItsOpcodeAndAdapter() throws {
        let kernel = ScriptedKernel()
        kernel.script = [
            (1, complete(SetPowered.opcode, index: 1, [0, 0, 0, 0])),
            (2, complete(SetLowEnergy.opcode, [0, 0, 0, 0])),
            (3, ManagementEvent(index: 0, .commandStatus(opcode: SetPowered.opcode, status: .success))),
            (4, complete(SetPowered.opcode, [1, 2, 0, 0])),
        ]
        let host = ManagementHost(channel: kernel)
        #expect(try host.execute(SetPowered(true), index: 0).settings == [.powered, .lowEnergy])
        #expect(kernel.sent == [SetPowered(true).packet(0)])
        #expect(host.now == at(4))
    }

    @Test(arguments: [
        ManagementEvent.Content.commandStatus(opcode: SetPowered.opcode, status: .rfkilled),
        .commandComplete(opcode: SetPowered.opcode, status: .rfkilled, returned: []),
    ])
    func refusalNamesCommandAdapterAndStatus(_ content: ManagementEvent.Content) {
        let kernel = ScriptedKernel()
        kernel.script = [(1, ManagementEvent(index: 0, content))]
        #expect(throws: ManagementError.refused(command: "Set Powered", index: 0, status: .rfkilled)) {
            try ManagementHost(channel: kernel).execute(SetPowered(true), index: 0)
        }
    }

    @Test func anAnswerThatIsTooShortIsAnError() {
        let kernel = ScriptedKernel()
        kernel.script = [(1, complete(SetPowered.opcode, [1, 2, 0]))]
        #expect(
            throws: ManagementError.malformedReturn(command: "Set Powered", index: 0, octets: [1, 2, 0])
        ) {
            try ManagementHost(channel: kernel).execute(SetPowered(true), index: 0)
        }
    }

    @Test func missingAnswerIsReportedAtTheDeadline() {
        let kernel = ScriptedKernel()
        let host = ManagementHost(channel: kernel)
        #expect(
            throws: ManagementError.noAnswer(command: "Set Powered", index: 0, after: .milliseconds(500))
        ) {
            try host.execute(SetPowered(true), index: 0, timeout: .milliseconds(500))
        }
        #expect(host.now == at(500))
    }

    @Test func aLateAnswerIsNotTakenForTheNextOnes() throws {
        let kernel = ScriptedKernel()
        kernel.script = [
            (700, complete(SetPowered.opcode, [0, 0, 0, 0])), (800, complete(SetPowered.opcode, [1, 0, 0, 0])),
        ]
        let host = ManagementHost(channel: kernel)
        #expect(throws: ManagementError.self) {
            try host.execute(SetPowered(false), index: 0, timeout: .milliseconds(500))
        }
        #expect(try host.execute(SetPowered(true), index: 0).settings == .powered)
        #expect(kernel.sent.count == 2)
    }

    @Test func missingAnswerDelaysTheSameCommandForTheGraceTime() throws {
        var queue = ManagementQueue()
        _ = queue.submit(SetPowered(true).packet(0), deadline: at(100))
        #expect(queue.nextToSend(at: at(0)) != nil)
        #expect(queue.expire(at: at(100))?.outcome == .unanswered)
        let again = queue.submit(SetPowered(true).packet(0), deadline: at(5000))
        #expect(queue.nextToSend(at: at(100)) == nil)
        #expect(queue.wakeTime == at(1100))
        #expect(queue.nextToSend(at: at(1100)) == SetPowered(true).packet(0))
        #expect(queue.receive(complete(SetPowered.opcode))?.ticket == again)
    }

    @Test func eventsAreKeptInTheirOrder() throws {
        let kernel = ScriptedKernel()
        kernel.script = [
            (1, ManagementEvent(index: 0, .advertisingAdded(instance: 1))),
            (2, complete(SetPowered.opcode, [1, 0, 0, 0])),
            (3, ManagementEvent(index: 1, .indexAdded)),
        ]
        let host = ManagementHost(channel: kernel)
        try host.execute(SetPowered(true), index: 0)
        #expect(try host.nextEvent(until: at(10))?.content == .advertisingAdded(instance: 1))
        #expect(try host.nextEvent(until: at(10)) == ManagementEvent(index: 1, .indexAdded))
        #expect(try host.nextEvent(until: at(10)) == nil)
        #expect(host.now == at(10))
    }

    @Test func aFloodOfEventsDropsTheOldest() throws {
        let kernel = ScriptedKernel()
        kernel.script = (0..<2000).map { (1, ManagementEvent(index: UInt16($0), .indexAdded)) }
        kernel.script.append((2, complete(SetPowered.opcode, [1, 0, 0, 0])))
        let host = ManagementHost(channel: kernel)
        try host.execute(SetPowered(true), index: 0)
        #expect(try host.nextEvent(until: at(10))?.index == UInt16(2000 - ManagementHost.backlogLimit))
    }
}
