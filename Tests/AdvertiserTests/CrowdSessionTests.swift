import Advertiser
import BeaconFrames
import BluetoothTypes
import HCI
import Testing
import VirtualController

/// Many beacons on one controller: the packets on the air, the commands, and the errors.
@Suite struct CrowdSessionTests {
    private static func crowd(_ count: Int) throws -> [CrowdIdentity] {
        try (1...count).map { number in
            var advertisement = try Sample.iBeacon()
            advertisement.content = .iBeacon(uuid: Sample.uuid, major: 7, minor: UInt16(number), flags: .beacon)
            let address = FixedOctets<6>([0xC1, 0, 0, 1, UInt8(number >> 8), UInt8(number & 255)]) ?? FixedOctets()
            return CrowdIdentity(name: "\(number)", advertisement: advertisement, address: DeviceAddress(address))
        }
    }

    private func session(
        _ bench: Bench, _ count: Int, dwell: Int? = nil, isExclusive: Bool = true
    ) throws -> CrowdSession {
        let capabilities = try bench.capabilities(isExclusive: isExclusive)
        bench.forget()
        return try CrowdSession(
            host: bench.host, identities: try Self.crowd(count),
            timing: try CrowdTiming(interval: nil, dwellMicroseconds: dwell, on: capabilities), on: capabilities,
            isExclusive: isExclusive)
    }

    private func run(_ bench: Bench, _ session: CrowdSession, seconds: Double) throws {
        let end = bench.host.now.advanced(byMicroseconds: Int(seconds * 1_000_000))
        while bench.host.now < end {
            try session.wake()
            #expect(session.rotation.check() == [])
            bench.channel.air.advance(
                to: min(end, max(session.nextWakeUp ?? end, bench.host.now.advanced(byMicroseconds: 100))))
            try session.receive()
        }
    }

    /// Each identity is sent with its own address and data, as often as the session states.
    @Test(arguments: VirtualControllerModel.tested)
    func sendsAllIdentitiesAtTheStatedRate(_ model: VirtualControllerModel) throws {
        let bench = Bench(model)
        let session = try session(bench, 300)
        // More than two rounds.
        let round = session.timing.dwellMicroseconds * 300 / session.rotation.sets
        try run(bench, session, seconds: 1 + 2.2 * Double(round) / 1_000_000)
        let expected = Dictionary(
            uniqueKeysWithValues: try session.identities.map { ($0.address, try $0.payload(nil).octets) })
        let events = bench.pdus.filter { $0.channel == 37 }
        var times: [DeviceAddress: [HCIInstant]] = [:]
        #expect(events.allSatisfy { $0.data == expected[$0.address] && $0.addressType == .random })
        for event in events {
            times[event.address, default: []].append(event.start)
        }
        #expect(times.count == 300)
        let rotation = session.rotation
        let range = try #require(rotation.airtimes.map(session.timing.events))
        #expect(range == 1...2)
        let turn = try #require(rotation.turnMicroseconds)
        let measured = try #require(rotation.roundMicroseconds)
        // The virtual controller answers at once.
        #expect(turn >= session.timing.dwellMicroseconds && turn < session.timing.dwellMicroseconds + 5000)
        #expect(abs(measured - turn * 300 / rotation.sets) <= turn)
        for identity in session.identities.indices {
            let received = try #require(times[session.identities[identity].address])
            let turns = rotation.tallies[identity].turns
            #expect((turns * range.lowerBound...turns * range.upperBound).contains(received.count))
            // The time between two events is at most the longest gap plus the dwell time.
            let gaps = zip(received.dropFirst(), received).map { $0.microseconds(since: $1) }
            let longest = rotation.tallies[identity].longestGap + session.timing.dwellMicroseconds
            #expect(gaps.allSatisfy { $0 <= longest })
        }
        try session.stop(by: .distantFuture)
        #expect(!bench.isAdvertising)
    }

    @Test func aTurnNeedsFourCommands() throws {
        let bench = Bench(.core4)
        let session = try session(bench, 3)
        try run(bench, session, seconds: 0.2)
        bench.forget()
        try run(bench, session, seconds: 0.11)
        #expect(bench.steps == ["200a-", "2005", "2008", "200a+"])
        // The same with extended advertising.
        let other = Bench(.zephyr)
        let sets = try self.session(other, 40)
        try run(other, sets, seconds: 0.1)
        other.forget()
        try run(other, sets, seconds: 0.03)
        #expect(other.steps.prefix(4) == ["2039-", "2035", "2037", "2039+"])
        #expect(sets.rotation.sets > 1)
    }

    @Test func stopOnASharedControllerTurnsAdvertisingOffWithoutReset() throws {
        let bench = Bench(.raspberryPi)
        let session = try session(bench, 5, isExclusive: false)
        try run(bench, session, seconds: 1)
        bench.forget()
        try session.stop(by: .distantFuture)
        #expect(!bench.isAdvertising)
        // Disable, empty data, empty scan response, but no reset.
        #expect(bench.steps == ["200a-", "2008", "2009"])
        let elapsed = session.elapsedMicroseconds
        bench.channel.air.advance(to: bench.host.now.advanced(byMicroseconds: 1_000_000))
        #expect(session.elapsedMicroseconds == elapsed)
    }

    @Test func sendsNoIdentityWithTheWrongAddressDuringAScan() throws {
        let bench = Bench(.raspberryPi)
        let session = try session(bench, 3, isExclusive: false)
        try run(bench, session, seconds: 1)
        try bench.host.execute(LESetScanEnable(true))
        bench.forget()
        try run(bench, session, seconds: 2)
        #expect(session.isWaiting)
        let known = try session.identities.map { ($0.address, try $0.payload(nil).octets) }
        #expect(bench.pdus.allSatisfy { pdu in known.contains { $0.0 == pdu.address && $0.1 == pdu.data } })
        try bench.host.execute(LESetScanEnable(false))
        bench.forget()
        try run(bench, session, seconds: 1)
        #expect(!session.isWaiting && bench.events.count > 5)
    }

    @Test func aScanThatNeverEndsIsAnError() throws {
        let bench = Bench(.raspberryPi)
        let session = try session(bench, 3, isExclusive: false)
        try bench.host.execute(LESetScanEnable(true))
        let error = failure { try run(bench, session, seconds: 20) }
        #expect("\(try #require(error))".hasPrefix("the adapter scans all the time"))
    }

    @Test func aTurnThatAnotherProgramEndedIsCounted() throws {
        let bench = Bench(.raspberryPi)
        let session = try session(bench, 3, dwell: 200_000, isExclusive: false)
        try run(bench, session, seconds: 1.05)
        #expect(session.rotation.lostTurns == 0)
        try bench.host.execute(LESetAdvertisingEnable(false))
        try run(bench, session, seconds: 1)
        #expect(session.rotation.lostTurns == 1 && bench.isAdvertising)
    }

    @Test func theMeasuredPowerFollowsTheRadioPower() throws {
        let bench = Bench(.intel)
        var advertisement = try Sample.iBeacon()
        advertisement.measuredPower = .calibrated(
            PowerCalibration(
                points: [.init(radioPower: Sample.power(0), measuredPower: try MeasuredPowerAtOneMeter(dBm: -59))],
                fallback: nil))
        advertisement.radioPower = Sample.power(0)
        let capabilities = try bench.capabilities()
        let session = try CrowdSession(
            host: bench.host,
            identities: [CrowdIdentity(name: "a", advertisement: advertisement, address: Sample.address)],
            timing: try CrowdTiming(interval: nil, dwellMicroseconds: nil, on: capabilities), on: capabilities,
            isExclusive: true)
        try run(bench, session, seconds: 0.1)
        #expect(bench.pdus.first?.data == Sample.iBeaconOctets)
    }
}
