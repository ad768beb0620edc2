import BluetoothTypes
import HCI
import Testing

@Suite struct HCICommandQueueTests {
    private var queue = HCICommandQueue()
    private let parameters = HCIOpcode(rawValue: 0x2006)

    private mutating func submit(_ opcode: HCIOpcode, by deadline: Int) -> HCICommandQueue.Ticket {
        queue.submit(opcode, .command(opcode, []), deadline: at(deadline))
    }

    private func complete(_ opcode: HCIOpcode, _ status: HCIStatus = .success, credits: UInt8 = 1) -> HCIEvent {
        .completed(opcode, status, credits: credits)
    }

    @Test mutating func oneCommandIsUnderWayAtATime() throws {
        queue = HCICommandQueue(credits: 5)
        let first = submit(HCIReset.opcode, by: 2000)
        let second = submit(ReadBDADDR.opcode, by: 2000)
        #expect(queue.nextToSend(at: at(0)) == .command(HCIReset.opcode, []))
        #expect(queue.nextToSend(at: at(0)) == nil)
        let end = queue.receive(complete(HCIReset.opcode))
        #expect(end?.ticket == first)
        #expect(end?.outcome == .completed([0]))
        #expect(queue.nextToSend(at: at(1)) == .command(ReadBDADDR.opcode, []))
        #expect(queue.receive(complete(ReadBDADDR.opcode))?.ticket == second)
        #expect(queue.wakeTime == nil)
    }

    @Test mutating func answersToOtherCommandsAreCountedAndIgnored() {
        let ticket = submit(parameters, by: 2000)
        #expect(queue.nextToSend(at: at(0)) != nil)
        #expect(queue.receive(complete(ReadBDADDR.opcode)) == nil)
        #expect(queue.foreignAnswers == 1)
        #expect(queue.receive(complete(parameters))?.ticket == ticket)
        #expect(queue.foreignAnswers == 1)
    }

    @Test mutating func answersToOtherProgramsAreIgnored() {
        queue.noteForeign(parameters, at: at(0))
        let ticket = submit(parameters, by: 2000)
        #expect(queue.nextToSend(at: at(0)) != nil)
        #expect(queue.receive(complete(parameters)) == nil)
        #expect(queue.foreignAnswers == 1)
        #expect(queue.receive(complete(parameters, .commandDisallowed))?.ticket == ticket)
    }

    @Test mutating func foreignCommandsAreForgottenAfterTwoSeconds() {
        queue.noteForeign(parameters, at: at(0))
        _ = queue.expire(at: at(2000))
        let ticket = submit(parameters, by: 4000)
        #expect(queue.nextToSend(at: at(2000)) != nil)
        #expect(queue.receive(complete(parameters))?.ticket == ticket)
    }

    @Test mutating func commandStatusEndsACommandOnlyWithAnError() {
        _ = submit(parameters, by: 2000)
        #expect(queue.nextToSend(at: at(0)) != nil)
        let taken = HCIEvent.commandStatus(CommandStatus(status: .success, opcode: parameters))
        #expect(queue.receive(taken) == nil)
        let refused = HCIEvent.commandStatus(CommandStatus(status: .unknownCommand, opcode: parameters))
        #expect(queue.receive(refused)?.outcome == .refused(.unknownCommand))
    }

    @Test mutating func commandsWaitUntilAnEventGivesCredits() {
        _ = submit(HCIReset.opcode, by: 2000)
        #expect(queue.nextToSend(at: at(0)) != nil)
        #expect(queue.receive(complete(HCIReset.opcode, credits: 0)) != nil)
        _ = submit(parameters, by: 4000)
        #expect(queue.nextToSend(at: at(10)) == nil)
        let allowance = CommandComplete(credits: 1, opcode: .noOperation, returnOctets: [])
        #expect(queue.receive(.commandComplete(allowance)) == nil)
        #expect(queue.foreignAnswers == 0)
        #expect(queue.nextToSend(at: at(20)) != nil)
    }

    @Test mutating func commandStatusGivesCreditsToo() {
        queue = HCICommandQueue(credits: 0)
        _ = submit(parameters, by: 4000)
        #expect(queue.nextToSend(at: at(0)) == nil)
        let allowance = CommandStatus(status: .success, credits: 1, opcode: .noOperation)
        #expect(queue.receive(.commandStatus(allowance)) == nil)
        #expect(queue.nextToSend(at: at(0)) != nil)
    }

    @Test mutating func commandWithoutCreditsEndsAsNotSent() {
        queue = HCICommandQueue(credits: 0)
        let ticket = submit(HCIReset.opcode, by: 2000)
        #expect(queue.wakeTime == at(2000))
        #expect(queue.nextToSend(at: at(1999)) == nil)
        #expect(queue.expire(at: at(1999)) == nil)
        let end = queue.expire(at: at(2000))
        #expect(end?.ticket == ticket)
        #expect(end?.outcome == .notSent)
        #expect(queue.credits == 0, "time alone gives no credits")
    }

    @Test mutating func aLateAnswerIsNotTakenForTheNextOnes() {
        _ = submit(parameters, by: 2000)
        #expect(queue.nextToSend(at: at(0)) != nil)
        #expect(queue.expire(at: at(2000))?.outcome == .unanswered)
        let second = submit(parameters, by: 4500)
        #expect(queue.nextToSend(at: at(2500)) == nil, "the late answer may still come")
        #expect(queue.receive(complete(parameters, .invalidParameters)) == nil)
        #expect(queue.lateAnswers == 1)
        #expect(queue.nextToSend(at: at(2500)) != nil)
        let end = queue.receive(complete(parameters))
        #expect(end?.ticket == second)
        #expect(end?.outcome == .completed([0]))
    }

    @Test mutating func unansweredCommandDelaysOnlyItsOwnOpcode() {
        queue = HCICommandQueue(credits: 2)
        _ = submit(parameters, by: 2000)
        #expect(queue.nextToSend(at: at(0)) != nil)
        #expect(queue.expire(at: at(2000)) != nil)
        let other = submit(ReadBDADDR.opcode, by: 4000)
        #expect(queue.nextToSend(at: at(2000)) == .command(ReadBDADDR.opcode, []))
        #expect(queue.receive(complete(parameters)) == nil)
        #expect(queue.receive(complete(ReadBDADDR.opcode))?.ticket == other)
        #expect(queue.lateAnswers == 1)
    }

    @Test mutating func sameOpcodeWaitsForTheLateAnswerDespiteCredits() {
        queue = HCICommandQueue(credits: 3)
        _ = submit(parameters, by: 2000)
        #expect(queue.nextToSend(at: at(0)) != nil)
        #expect(queue.expire(at: at(2000)) != nil)
        _ = submit(parameters, by: 4000)
        #expect(queue.credits == 2)
        #expect(queue.nextToSend(at: at(2000)) == nil)
        #expect(queue.receive(complete(parameters, credits: 3)) == nil)
        #expect(queue.nextToSend(at: at(2001)) != nil)
    }

    @Test mutating func missingAnswerDelaysCommandsOnlyForTheGraceTime() {
        _ = submit(parameters, by: 2000)
        #expect(queue.nextToSend(at: at(0)) != nil)
        #expect(queue.expire(at: at(2000)) != nil)
        _ = submit(parameters, by: 4000)
        #expect(queue.nextToSend(at: at(2999)) == nil)
        #expect(queue.wakeTime == at(3000))
        #expect(queue.nextToSend(at: at(3000)) != nil)
        #expect(queue.credits == 0)
    }

    @Test mutating func resetDoesNotWaitForAnUnansweredCommand() {
        _ = submit(parameters, by: 2000)
        #expect(queue.nextToSend(at: at(0)) != nil)
        #expect(queue.expire(at: at(2000)) != nil)
        let reset = submit(HCIReset.opcode, by: 4000)
        #expect(queue.nextToSend(at: at(2000)) != nil)
        #expect(queue.receive(complete(HCIReset.opcode))?.ticket == reset)
        _ = submit(parameters, by: 6000)
        #expect(queue.nextToSend(at: at(2001)) != nil)
    }

    @Test mutating func answerToACancelledCommandCountsAsLate() {
        let ticket = submit(parameters, by: 2000)
        #expect(queue.nextToSend(at: at(0)) != nil)
        queue.cancel(ticket, at: at(1))
        #expect(queue.expire(at: at(900)) == nil)
        #expect(queue.receive(complete(parameters)) == nil)
        #expect(queue.lateAnswers == 1)
    }

    @Test mutating func eachCommandEndsOnceDespiteRandomEvents() {
        var generator = SplitMix64(seed: 7)
        let opcodes = [HCIReset.opcode, parameters, ReadBDADDR.opcode, .noOperation]
        var time = 0
        var open: Set<HCICommandQueue.Ticket> = []
        for _ in 0..<100_000 {
            time += Int.random(in: 0...300, using: &generator)
            let opcode = opcodes[Int.random(in: 0..<4, using: &generator)]
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: open.insert(submit(opcode, by: time + 2000))
            case 1: _ = queue.nextToSend(at: at(time))
            case 2, 3:
                let credits = UInt8.random(in: 0...2, using: &generator)
                if let end = queue.receive(complete(opcode, credits: credits)) {
                    if open.remove(end.ticket) == nil { Issue.record("ended twice") }
                }
            case 4:
                let status = HCIStatus(rawValue: UInt8.random(in: 0...1, using: &generator))
                let answer = CommandStatus(status: status, credits: 1, opcode: opcode)
                if let end = queue.receive(.commandStatus(answer)) {
                    if open.remove(end.ticket) == nil { Issue.record("ended twice") }
                }
            default:
                while let end = queue.expire(at: at(time)) {
                    if open.remove(end.ticket) == nil { Issue.record("ended twice") }
                }
            }
            if queue.credits < 0 { Issue.record("negative credits") }
        }
        while let end = queue.expire(at: at(time + 5000)) {
            if open.remove(end.ticket) == nil { Issue.record("ended twice") }
        }
        #expect(open.isEmpty, "every command ends exactly once")
    }
}
