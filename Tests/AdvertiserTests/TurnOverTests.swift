import Advertiser
import BeaconFrames
import BluetoothTypes
import EddystoneSecurity
import HCI
import Testing
import VirtualController

/// Ephemeral ids change once in each window, at a random moment, together with their telemetry and address.
@Suite struct TurnOverTests {
    private static let key = IdentityKey(FixedOctets<16>(repeating: 0x5A))

    private func exponent(_ value: UInt8) throws -> RotationExponent {
        try #require(RotationExponent(rawValue: value))
    }

    private func octets(at time: UInt32, _ value: UInt8) throws -> [UInt8] {
        [2, 1, 6, 3, 3, 0xAA, 0xFE, 13, 0x16, 0xAA, 0xFE, 0x30, 0xEE]
            + (try Self.key.ephemeralID(at: time, exponent: exponent(value)).octets)
    }

    private func source(_ value: UInt8) throws -> PayloadSource {
        PayloadSource(try Sample.ephemeral(exponent: value), identityKey: Self.key)
    }

    /// The encrypted telemetry of the id, at an interval of 500 ms.
    private func telemetry(_ value: UInt8) throws -> PayloadSource {
        let id = try Sample.ephemeral(exponent: value)
        var advertisement = Sample.telemetry(intervalUnits: 800)
        advertisement.content = .eddystoneTLM(
            .init(battery: .fixed(3000), temperature: .unknown), encryption: id.content.rotatingKey)
        return PayloadSource(advertisement, identityKey: Self.key)
    }

    /// An id on the air: the time of its first packet in seconds after the start, and its addresses.
    private struct HeardID {
        let data: [UInt8]
        let first: Double
        var from: Set<DeviceAddress>
    }

    private func ids(_ bench: Bench, since start: HCIInstant) -> [HeardID] {
        var result: [HeardID] = []
        for pdu in bench.pdus where pdu.data[11] == 0x30 {
            if let index = result.firstIndex(where: { $0.data == pdu.data }) {
                result[index].from.insert(pdu.address)
            } else {
                let first = Double(pdu.start.microseconds(since: start)) / 1e6
                result.append(HeardID(data: pdu.data, first: first, from: [pdu.address]))
            }
        }
        return result
    }

    @Test(arguments: VirtualControllerModel.tested)
    func idAndAddressChangeTogetherInsideTheWindow(_ model: VirtualControllerModel) throws {
        let bench = Bench(model)
        // Six seconds before the window's end: 65296 is the next multiple of 16.
        let session = try bench.session(
            [try source(4)], clock: EIDClock(saved: 65290, at: bench.host.now))
        try session.start()
        let start = try #require(session.onAirSince)
        bench.forget()
        try bench.run(session, seconds: 5.9)
        #expect(bench.steps.isEmpty)
        try bench.run(session, seconds: 16.1 + 16)
        let turnover =
            session.setPlan.family == .legacy
            ? ["200a-", "2005", "2006", "2007", "2008", "200a+"] : ["2039-", "2036", "2035", "2037", "2039+"]
        #expect(bench.steps == turnover + turnover)
        let heard = ids(bench, since: start)
        #expect(heard.map(\.data) == [try octets(at: 65290, 4), try octets(at: 65296, 4), try octets(at: 65312, 4)])
        #expect((6..<22.2).contains(heard[1].first) && (22..<38.2).contains(heard[2].first))
        #expect(heard.allSatisfy { $0.from.count == 1 } && Set(heard.flatMap(\.from)).count == 3)
        #expect(session.address.isValidStaticRandom && heard[2].from == [session.address])
        #expect(!heard.contains { $0.from.contains(Sample.address) })
        // When the id changes, the gap is not longer than an interval with its random delay.
        let starts = bench.pdus.filter { $0.channel == 37 }.map(\.start)
        for (earlier, later) in zip(starts, starts.dropFirst()) {
            #expect(later.microseconds(since: earlier) <= 110_000)
        }
    }

    /// The moments are spread over the whole window, and differ from seed to seed.
    @Test func momentsOfChangeAreRandom() throws {
        var moments: [Double] = []
        for seed in UInt64(0)..<40 {
            let bench = Bench(.raspberryPi)
            let session = try bench.session([try source(3)], seed: seed)
            try session.start()
            let due = try #require(session.nextWakeUp)
            moments.append(Double(due.microseconds(since: bench.host.now)) / 1e6)
        }
        // 65280 begins a window of 8 s, so the next one is 8...16 s away.
        #expect(moments.allSatisfy { (8..<16).contains($0) })
        #expect(Set(moments).count == 40)
        #expect(moments.filter { $0 < 10 }.count >= 4 && moments.filter { $0 >= 14 }.count >= 4)
    }

    @Test(arguments: [VirtualControllerModel.raspberryPi, .zephyr], [1, 4])
    func telemetryChangesWithItsID(_ model: VirtualControllerModel, _ sets: Int) throws {
        let bench = Bench(model)
        let session = try bench.session([try source(4), try telemetry(4)], setLimit: sets)
        try session.start()
        try bench.run(session, seconds: 100)
        // All packets from one address belong to one window: the telemetry is decrypted with the time of the id.
        var windows: [DeviceAddress: Set<UInt32>] = [:]
        for pdu in bench.pdus {
            let data = AdvertisingData(octets: pdu.data)
            for time in stride(from: UInt32(65280), to: 65280 + 112, by: 16) {
                if case .eddystoneEncryptedTLM(let frame) = BeaconFrame(decoding: data),
                    (try? Self.key.open(frame, at: time, exponent: exponent(4))) != nil
                {
                    windows[pdu.address, default: []].insert(time)
                } else if pdu.data == (try octets(at: time, 4)) {
                    windows[pdu.address, default: []].insert(time)
                }
            }
        }
        #expect(windows.count >= 6 && windows.values.allSatisfy { $0.count == 1 })
        #expect(Set(windows.values.flatMap { $0 }).count == windows.count)
        for address in windows.keys {
            let kinds = Set(bench.pdus.filter { $0.address == address }.map { $0.data[11] })
            #expect(kinds == [0x30, 0x20])
        }
    }

    @Test func saltsAreNotUsedTwice() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session([try source(10), try telemetry(10)])
        try session.start()
        try bench.run(session, seconds: 60)
        let frames = bench.pdus.compactMap { pdu -> EddystoneEncryptedTLM? in
            guard case .eddystoneEncryptedTLM(let frame) = BeaconFrame(decoding: AdvertisingData(octets: pdu.data))
            else { return nil }
            return frame
        }
        #expect(Set(frames).count >= 40 && Set(frames.map(\.salt)).count == Set(frames).count)
    }

    /// Thousands of frames in one window, in two sessions. Random salts would repeat about seventy times.
    @Test func saltsOfAWholeWindowAreNotUsedTwice() throws {
        var frames: Set<EddystoneEncryptedTLM> = []
        var memory: BeaconMemory?
        for run in UInt64(0)..<2 {
            let bench = Bench(.raspberryPi)
            let clock = EIDClock(saved: memory?.eidCounter ?? 65536, at: bench.host.now)
            // The counters continue, because otherwise the same telemetry might be sent twice.
            let counters = TelemetryCounters(advertisements: UInt32(run) * 100_000, uptimeDeciseconds: 0)
            let session = try bench.session(
                [try telemetry(15)], clock: clock, memory: memory, counters: counters, seed: run)
            try session.start()
            for _ in 0..<1500 {
                try bench.run(session, seconds: 1)
                if case .eddystoneEncryptedTLM(let frame) = BeaconFrame(decoding: session.payload) {
                    frames.insert(frame)
                }
            }
            memory = session.memory
        }
        #expect(frames.count >= 2900 && Set(frames.map(\.salt)).count == frames.count)
    }

    @Test func otherFramesKeepTheirAddress() throws {
        let bench = Bench(.intel)
        let session = try bench.session([try source(2)] + Sample.iBeacons([100]))
        try session.start()
        try bench.run(session, seconds: 60)
        let beacons = bench.pdus.filter { $0.data.count == 30 }
        #expect(Set(beacons.map(\.address)) == [Sample.address])
        let idAddresses = Set(bench.pdus.filter { $0.data.count != 30 }.map(\.address))
        #expect(idAddresses.count >= 12 && !idAddresses.contains(Sample.address))
        for (earlier, later) in zip(beacons, beacons.dropFirst()) where later.channel == 37 && earlier.channel == 37 {
            #expect(later.start.microseconds(since: earlier.start) <= 110_000)
        }
    }

    @Test func advancedClockMakesAnIDChangeDue() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session(
            [try source(10)], clock: EIDClock(epochUnixSeconds: 1_700_000_000, at: bench.host.now))
        try session.start()
        let first = session.payload
        try bench.run(session, seconds: 1)
        session.synchronize(unixMicroseconds: 1_700_009_000_000_000, isTrusted: true)
        // 9000 s are more than two windows of 1024 s, so the change is overdue.
        #expect(try #require(session.nextWakeUp) <= bench.host.now)
        try bench.run(session, seconds: 1)
        #expect(session.payload != first)
        #expect(session.payload.octets == (try octets(at: 65280 + 9000, 10)))
        session.synchronize(unixMicroseconds: 1_700_000_000_000_000, isTrusted: true)
        try bench.run(session, seconds: 1)
        #expect(session.payload.octets == (try octets(at: 65280 + 9000, 10)))
    }

    /// A clock that is ten years ahead is set back by a synchronised wall clock. The current id is on the air at once,
    /// from a new address, and then changes at its usual pace.
    @Test func clockThatIsSetBackChangesTheIDAtOnce() throws {
        let bench = Bench(.raspberryPi)
        let ahead: UInt32 = 65280 + 10 * 365 * 86_400
        let session = try bench.session(
            [try source(3)],
            clock: EIDClock(epochUnixSeconds: 1_700_000_000, saved: ahead, at: bench.host.now))
        try session.start()
        try bench.run(session, seconds: 20)
        let before = Set(bench.pdus.map(\.address))
        let heard = bench.pdus.count
        let now = 1_700_000_000_000_000 + 1000 * 1_000_000
        guard case .doubted(let days) = session.synchronize(unixMicroseconds: now, isTrusted: false) else {
            Issue.record("a wall clock that is not synchronised must be doubted")
            return
        }
        #expect(days / 86_400 == 10 * 365 - 1 || days / 86_400 == 10 * 365)
        #expect(session.clock.counter(at: bench.host.now) > ahead)
        guard case .setBack = session.synchronize(unixMicroseconds: now, isTrusted: true) else {
            Issue.record("a synchronised wall clock must set the counter back")
            return
        }
        #expect(session.clock.counter(at: bench.host.now) == 65280 + 1000)
        #expect(try #require(session.nextWakeUp) <= bench.host.now)
        try bench.run(session, seconds: 1)
        #expect(session.payload.octets == (try octets(at: 65280 + 1000, 3)))
        try bench.run(session, seconds: 40)
        let after = Set(bench.pdus.dropFirst(heard + 5).map(\.address))
        #expect(after.isDisjoint(with: before))
        // Each window has 2^3 s.
        #expect((4...7).contains(after.count))
    }

    /// A reload whose profile has a later epoch sets the clock back, which makes all ids due. If the controller then
    /// refuses the profile, the ids of the old profile are not due any more.
    @Test func aRestoredScheduleIsNotDue() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session(
            [try source(10)],
            clock: EIDClock(epochUnixSeconds: 1_700_000_000, saved: 65280 + 400 * 86_400, at: bench.host.now))
        try session.start()
        let due = try #require(session.nextWakeUp)
        let state = session.live.idState
        session.live.changeEpoch(to: 1_700_000_000 + 399 * 86_400)
        session.synchronize(unixMicroseconds: (1_700_000_000 + 400 * 86_400) * 1_000_000, isTrusted: true)
        #expect(try #require(session.nextWakeUp) <= bench.host.now)
        session.live.restoreIDState(state)
        #expect(session.nextWakeUp == due)
    }

    /// The id of a window is sent from one address only, even if the machine restarts during the window.
    @Test func idKeepsItsAddressAcrossRestarts() throws {
        var heard: [[UInt8]: Set<DeviceAddress>] = [:]
        var memory: BeaconMemory?
        var counters: [UInt32] = []
        for run in UInt64(0)..<30 {
            let bench = Bench(.raspberryPi)
            let session = try bench.session(
                [try source(3)], clock: EIDClock(saved: memory?.eidCounter ?? 65280, at: bench.host.now),
                memory: memory, seed: run)
            try session.start()
            try bench.run(session, seconds: 5)
            for pdu in bench.pdus { heard[pdu.data, default: []].insert(pdu.address) }
            memory = session.memory
            counters.append(memory?.eidCounter ?? 0)
        }
        #expect(counters == (1...30).map { 65280 + 5 * $0 })
        #expect(heard.values.allSatisfy { $0.count == 1 })
        #expect((17...20).contains(heard.count))
    }

    @Test(arguments: [UInt32(0), 65280 - 16, 65280 + 8, .max])
    func memoryOfAnotherWindowIsIgnored(_ window: UInt32) throws {
        let bench = Bench(.raspberryPi)
        let rotating = try #require(Sample.ephemeral(exponent: 3).content.rotatingKey)
        let old = try #require(DeviceAddress("C1:02:03:04:05:06"))
        let memory = BeaconMemory(
            eidCounter: 65280, ephemeralIDs: [.init(key: rotating, window: window, address: old)])
        let session = try bench.session([try source(3)], memory: memory)
        try session.start()
        #expect(session.address != old)
        #expect(session.payload.octets == (try octets(at: 65280, 3)))
    }
}
