import BluetoothTypes
import HCI
import Testing

/// A scripted controller: its answers to each packet, and their delays in milliseconds.
private final class ScriptedChannel: HCIChannel {
    typealias Answer = (milliseconds: Int, packet: HCIPacket)

    private(set) var now = at(0)
    private(set) var sent: [HCIPacket] = []
    var answers: (HCIPacket) -> [Answer]
    var sendError: HCIChannelError?
    var receiveError: HCIChannelError?
    /// All packets, in order of time. The first `taken` of them have been received.
    private var coming: [(time: HCIInstant, packet: HCIPacket)] = []
    private var taken = 0

    init(_ answers: @escaping (HCIPacket) -> [Answer] = { _ in [] }) {
        self.answers = answers
    }

    func announce(_ event: HCIEvent, after milliseconds: Int = 0) {
        announce(event.packet, after: milliseconds)
    }

    func announce(_ packet: HCIPacket, after milliseconds: Int = 0) {
        let time = now.advanced(byMicroseconds: milliseconds * 1000)
        let index = coming.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        coming.insert((time, packet), at: max(index, taken))
    }

    func send(_ packet: HCIPacket) throws(HCIChannelError) {
        if let sendError { throw sendError }
        sent.append(packet)
        for answer in answers(packet) { announce(answer.packet, after: answer.milliseconds) }
    }

    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        if let receiveError { throw receiveError }
        guard taken < coming.count, coming[taken].time <= deadline else {
            now = max(now, deadline)
            return nil
        }
        now = max(now, coming[taken].time)
        taken += 1
        return coming[taken - 1].packet
    }
}

@Suite struct HCIHostTests {
    private func host(_ answers: @escaping (HCIPacket) -> [(Int, HCIEvent)]) -> (HCIHost, ScriptedChannel) {
        let channel = ScriptedChannel { packet in answers(packet).map { ($0.0, $0.1.packet) } }
        return (HCIHost(channel: channel), channel)
    }

    private func failure<C: HCICommand>(_ host: HCIHost, _ command: C) -> HCICommandError? {
        do throws(HCICommandError) {
            try host.execute(command)
            return nil
        } catch {
            return error
        }
    }

    @Test func returnParametersAreDecoded() throws {
        let (host, channel) = host { _ in
            [(5, .completed(ReadBDADDR.self, .init(address("00:11:22:33:44:55"))))]
        }
        #expect(try host.execute(ReadBDADDR()).address.description == "00:11:22:33:44:55")
        #expect(channel.sent == [ReadBDADDR().packet])
        #expect(channel.now == at(5))
    }

    @Test func aRefusalNamesCommandAndStatus() throws {
        let (host, _) = host { _ in [(0, .completed(LESetAdvertisingParameters.opcode, .commandDisallowed))] }
        let command = try LESetAdvertisingParameters(
            intervalMinimum: AdvertisingInterval(rawValue: 0xA0), intervalMaximum: AdvertisingInterval(rawValue: 0xA0),
            type: .nonconnectable, ownAddressType: .random)
        let error = failure(host, command)
        #expect(
            error?.description
                == "LE Set Advertising Parameters (0x2006) was refused: Command Disallowed (0x0C)")
        #expect(error?.status == .commandDisallowed)
    }

    @Test func anUnknownCommandIsRefusedByEitherEvent() {
        let opcode = LEReadTransmitPower.opcode
        let answers: [HCIEvent] = [
            .commandStatus(CommandStatus(status: .unknownCommand, opcode: opcode)),
            // The return parameters are missing: the status decides.
            .completed(opcode, .unknownCommand),
        ]
        for answer in answers {
            let (host, _) = host { _ in [(0, answer)] }
            #expect(
                failure(host, LEReadTransmitPower())
                    == .refused(command: "LE Read Transmit Power", opcode: opcode, status: .unknownCommand))
        }
    }

    @Test func successWithTooFewOctetsIsMalformed() {
        let opcode = LEReadTransmitPower.opcode
        for octets in [[], [0x00], [0x00, 0x01]] as [[UInt8]] {
            let (host, _) = host { _ in
                [(0, .commandComplete(CommandComplete(opcode: opcode, returnOctets: octets)))]
            }
            #expect(
                failure(host, LEReadTransmitPower())
                    == .malformedReturn(command: "LE Read Transmit Power", opcode: opcode, octets: octets))
        }
    }

    @Test func missingAnswerIsReportedAtTheTimeLimit() {
        let (host, channel) = host { _ in [] }
        let error = failure(host, HCIReset())
        #expect(error == .noAnswer(command: "Reset", opcode: HCIReset.opcode, after: .seconds(2)))
        #expect(error?.description == "Reset (0x0C03) was not answered within 2 s")
        #expect(channel.now == at(2000))
    }

    @Test func otherAnswersAndEventsDoNotExtendTheTimeLimit() {
        let (host, channel) = host { _ in
            (0..<500).map { ($0 * 10, HCIEvent.completed(ReadBDADDR.opcode, .success)) }
                + (0..<500).map { ($0 * 10, HCIEvent.hardwareError(code: UInt8($0 % 256))) }
        }
        #expect(failure(host, HCIReset()) != nil)
        #expect(channel.now == at(2000))
        #expect(host.queue.foreignAnswers > 100)
    }

    @Test func ignoresAnAnswerFromBeforeTheCommand() throws {
        let (host, channel) = host { _ in [(5, .completed(LESetRandomAddress.opcode, .commandDisallowed))] }
        channel.announce(.completed(LESetRandomAddress.opcode, .success))
        #expect(failure(host, LESetRandomAddress(address("C0:00:00:00:00:01")))?.status == .commandDisallowed)
        #expect(host.queue.foreignAnswers == 1)
    }

    @Test func ignoresTheAnswerToTheKernelsCommand() throws {
        // The kernel's command is in the channel, but its answer arrives only after ours was sent.
        let (host, channel) = host { _ in [(5, .completed(LESetRandomAddress.opcode, .commandDisallowed))] }
        channel.announce(LESetRandomAddress(address("C0:00:00:00:00:02")).packet)
        channel.announce(.completed(LESetRandomAddress.opcode, .success), after: 2)
        #expect(failure(host, LESetRandomAddress(address("C0:00:00:00:00:01")))?.status == .commandDisallowed)
        #expect(channel.now == at(5))
    }

    @Test func aLateAnswerIsNotTakenForTheNextOnes() throws {
        let (host, channel) = host { _ in [] }
        var refusals = [(2500, HCIStatus.invalidParameters), (5, .success)]
        channel.answers = { _ in
            let (delay, status) = refusals.removeFirst()
            return [(delay, HCIEvent.completed(LESetAdvertisingEnable.opcode, status).packet)]
        }
        #expect(failure(host, LESetAdvertisingEnable(true)) != nil)
        try host.execute(LESetAdvertisingEnable(true))
        #expect(host.queue.lateAnswers == 1)
        #expect(channel.now == at(2505))
    }

    @Test func missingCreditsDelayACommandAndThenFailIt() throws {
        let (host, channel) = host { _ in [(0, .completed(HCIReset.opcode, .success, credits: 0))] }
        try host.execute(HCIReset())
        channel.announce(
            .commandComplete(CommandComplete(credits: 1, opcode: .noOperation, returnOctets: [])), after: 700)
        try host.execute(HCIReset())
        #expect(channel.now == at(700))
        #expect(
            failure(host, HCIReset())?.description
                == "Reset (0x0C03) could not be sent: the controller accepted no command for 2 s")
        #expect(channel.sent.count == 2)
    }

    @Test func eventsAreKeptInTheirOrder() throws {
        let (host, channel) = host { _ in
            [(1, .hardwareError(code: 1)), (2, .completed(HCIReset.opcode, .success)), (3, .hardwareError(code: 2))]
        }
        try host.execute(HCIReset())
        channel.announce(.completed(ReadBDADDR.opcode, .success), after: 0)
        channel.announce(HCIPacket(.acl, hex("40 00 00 00")), after: 0)
        #expect(try host.nextEvent(until: at(100)) == .hardwareError(code: 1))
        #expect(try host.nextEvent(until: at(100)) == .hardwareError(code: 2))
        #expect(try host.nextEvent(until: at(100)) == nil)
        #expect(channel.now == at(100))
    }

    @Test func findsAnEventBehindOthersAtTheDeadline() throws {
        let (host, channel) = host { _ in [] }
        channel.announce(.completed(ReadBDADDR.opcode, .success))
        channel.announce(HCIPacket(.acl, hex("40 00 00 00")))
        channel.announce(.hardwareError(code: 3))
        #expect(try host.nextEvent(until: at(0)) == .hardwareError(code: 3))
    }

    @Test func malformedEventIsKeptUnchanged() throws {
        let (host, channel) = host { _ in [] }
        channel.announce(HCIPacket(.event, hex("3E 02 02 01")))
        channel.announce(HCIPacket(.event, []))
        #expect(try host.nextEvent(until: at(1)) == .unknown(code: 0x3E, parameters: hex("02 01")))
        #expect(try host.nextEvent(until: at(1)) == .unknown(code: 0, parameters: []))
        #expect(host.malformedEvents == 2)
    }

    @Test func aFloodOfEventsDropsTheOldest() throws {
        let flood = 20_000
        let (host, _) = host { _ in
            (0..<flood).map { (0, HCIEvent.unknown(code: 0x60, parameters: [UInt8($0 % 256), UInt8($0 / 256)])) }
                + [(1, .completed(HCIReset.opcode, .success))]
        }
        try host.execute(HCIReset())
        #expect(host.droppedEvents == flood - HCIHost.backlogLimit)
        let oldest = flood - HCIHost.backlogLimit
        #expect(
            try host.nextEvent(until: at(1))
                == .unknown(code: 0x60, parameters: [UInt8(oldest % 256), UInt8(oldest / 256)]))
    }

    @Test func errorsOfTheChannelAreThrown() {
        let (host, channel) = host { _ in [] }
        channel.sendError = .gone("unplugged")
        #expect(failure(host, HCIReset()) == .channel(.gone("unplugged")))
        channel.sendError = nil
        channel.receiveError = .interrupted
        #expect(failure(host, HCIReset())?.description == "interrupted by a signal")
        #expect(throws: HCICommandError.channel(.interrupted)) { try host.nextEvent(until: at(1)) }
    }

    @Test func afterAnInterruptionTheNextCommandGetsItsOwnAnswer() throws {
        let (host, channel) = host { _ in [(10, .completed(LESetAdvertisingEnable.opcode, .success))] }
        channel.receiveError = .interrupted
        #expect(failure(host, LESetAdvertisingEnable(true)) != nil)
        channel.receiveError = nil
        try host.execute(LESetAdvertisingEnable(false))
        #expect(channel.sent.count == 2)
        #expect(channel.now == at(20))
    }

    /// If an observer reads the reports as they arrive, they are not read twice.
    @Test func reportsMayBeLeftToTheObserver() throws {
        let (host, channel) = host { _ in [] }
        var seen: [HCIPacket] = []
        host.observer = { packet, _, _ in seen.append(packet) }
        host.leavesReportsToObserver = true
        let report = HCIPacket(.event, hex("3E 0C 02 01 03 01 06 05 04 03 02 C1 00 C4"))
        // LE Advertising Set Terminated is not a report.
        let terminated = HCIPacket(.event, hex("3E 06 12 00 01 00 00 05"))
        channel.announce(report)
        channel.announce(terminated)
        #expect(try host.nextEvent(until: at(1)) == .unknown(code: 0x3E, parameters: []))
        let second = try #require(try host.nextEvent(until: at(1)))
        #expect(second == (try HCIEvent(octets: terminated.octets.span)))
        #expect(seen == [report, terminated] && host.malformedEvents == 0)
        host.leavesReportsToObserver = false
        channel.announce(report)
        guard case .advertisingReports(let reports)? = try host.nextEvent(until: at(2)) else {
            Issue.record("no report")
            return
        }
        #expect(reports.count == 1)
    }

    @Test func theObserverSeesBothDirections() throws {
        let (host, channel) = host { _ in [(7, .completed(HCIReset.opcode, .success))] }
        var seen: [(HCIPacket, Bool, HCIInstant)] = []
        host.observer = { seen.append(($0, $1, $2)) }
        try host.execute(HCIReset())
        #expect(seen.map(\.0) == [HCIReset().packet, HCIEvent.completed(HCIReset.opcode, .success).packet])
        #expect(seen.map(\.1) == [false, true])
        #expect(seen.map(\.2) == [at(0), at(7)])
        #expect(channel.sent.count == 1)
    }
}
