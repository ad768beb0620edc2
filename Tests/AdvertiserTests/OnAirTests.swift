import Advertiser
import BeaconFrames
import BluetoothTypes
import EddystoneSecurity
import HCI
import Testing
import VirtualController

/// A session on the air: its packets, counters and telemetry, and the events that end it.
@Suite struct OnAirTests {
    @Test(arguments: VirtualControllerModel.tested)
    func onlyThePayloadIsOnTheAir(_ model: VirtualControllerModel) throws {
        let bench = Bench(model)
        let session = try bench.session(Sample.iBeacon())
        try session.start()
        try bench.run(session, seconds: 3)
        try session.stop()
        let atStop = bench.pdus.count
        bench.channel.air.advance(to: bench.host.now.advanced(byMicroseconds: 1_000_000))
        #expect(bench.pdus.count == atStop)
        #expect(atStop >= 3 * 27)
        #expect(bench.pdus.allSatisfy { $0.data == Sample.iBeaconOctets && $0.name == "ADV_NONCONN_IND" })
        #expect(bench.pdus.allSatisfy { $0.address == Sample.address && $0.addressType == .random })
        #expect(Set(bench.pdus.map(\.channel)) == [37, 38, 39])
    }

    @Test(arguments: VirtualControllerModel.tested, [VirtualControllerModel.core4, .intel])
    func anotherControllerReceivesThePayload(_ model: VirtualControllerModel, _ ear: VirtualControllerModel) throws {
        let air = VirtualAir()
        let bench = Bench(model, on: air)
        let listener = HCIHost(channel: VirtualChannel(ear, on: air))
        try PassiveScan(try ControllerCapabilities.read(from: listener, isExclusive: true)).start(listener)
        let session = try bench.session(Sample.iBeacon())
        try session.start()
        try bench.run(session, seconds: 2)
        try session.stop()
        var heard: [AdvertisingReport] = []
        while let event = try listener.nextEvent(until: listener.now) {
            switch event {
            case .advertisingReports(let reports), .extendedAdvertisingReports(let reports): heard += reports
            default: Issue.record("\(event)")
            }
        }
        #expect((17...20).contains(heard.count))
        #expect(heard.allSatisfy { $0.data.octets == Sample.iBeaconOctets })
        #expect(heard.allSatisfy { $0.address == Sample.address && $0.addressType == .random })
    }

    @Test(arguments: [VirtualControllerModel.raspberryPi, .intel, .zephyr], [UInt32(0x20), 0xA0, 0x320, 0x640])
    func eventRateIsKeptForTenMinutes(_ model: VirtualControllerModel, _ units: UInt32) throws {
        let bench = Bench(model)
        let advertisement = try Sample.iBeacon(intervalUnits: units)
        let session = try bench.session(advertisement)
        try session.start()
        try bench.run(session, seconds: 600)
        let expected = 600_000 / (Double(advertisement.interval.microseconds) / 1000 + 5)
        let sent = bench.controller.advertisingEvents(handle: session.setPlan.family == .legacy ? nil : 0)
        #expect(abs(Double(sent) - expected) <= 0.02 * expected)
        #expect(abs(Double(session.computedEvents) - expected) <= 0.02 * expected)
        #expect(session.secondsOnAir == 600)
        #expect(bench.pdus.allSatisfy { $0.data == Sample.iBeaconOctets })
    }

    @Test func countersDoNotAdvanceAfterTheStop() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session(Sample.iBeacon())
        #expect(session.computedEvents == 0 && session.secondsOnAir == 0)
        try session.start()
        #expect(session.computedEvents == 1)
        try bench.run(session, seconds: 10)
        try session.stop()
        let events = session.computedEvents
        #expect((94...97).contains(events))
        bench.channel.air.advance(to: bench.host.now.advanced(byMicroseconds: 60_000_000))
        #expect(session.computedEvents == events && session.secondsOnAir == 10)
        try session.start()
        #expect(session.computedEvents == 1)
    }

    @Test(arguments: VirtualControllerModel.tested)
    func telemetryIsRenewedInPlace(_ model: VirtualControllerModel) throws {
        let bench = Bench(model)
        let session = try bench.session(Sample.telemetry(intervalUnits: 0x320))
        try session.start()
        bench.forget()
        try bench.run(session, seconds: 10)
        let isLegacy = session.setPlan.family == .legacy
        // The data once a second, and no other commands.
        #expect(bench.steps == [String](repeating: isLegacy ? "2008" : "2037", count: 10))
        let frames = bench.pdus.filter { $0.channel == 37 }.map { EddystoneTLM(AdvertisingData(octets: $0.data)) }
        let seconds = frames.map { $0?.uptimeDeciseconds ?? .max }
        #expect(seconds == seconds.sorted() && Set(seconds) == Set((0...10).map { UInt32($0 * 10) }).subtracting([100]))
        let counts = frames.map { $0?.advertisements ?? .max }
        #expect(counts == counts.sorted())
        // ADV_CNT is the number of events before the payload was built.
        for (index, count) in counts.enumerated() { #expect(abs(Int(count) - index) <= 3) }
        let starts = bench.pdus.filter { $0.channel == 37 }.map(\.start)
        for (earlier, later) in zip(starts, starts.dropFirst()) {
            #expect((500_000...510_000).contains(later.microseconds(since: earlier)))
        }
    }

    @Test func telemetryIsRenewedOncePerLongInterval() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session(Sample.telemetry(intervalUnits: 8000))
        try session.start()
        bench.forget()
        try bench.run(session, seconds: 21)
        #expect(bench.steps == ["2008", "2008", "2008", "2008"])
    }

    @Test func countersContinueFromTheirStartValuesAndWrapAround() throws {
        let bench = Bench(.raspberryPi)
        let advertisement = Sample.telemetry(intervalUnits: 0xA0)
        let session = try bench.session(
            advertisement, counters: TelemetryCounters(advertisements: .max, uptimeDeciseconds: .max - 9))
        try session.start()
        let first = try #require(EddystoneTLM(session.payload))
        #expect(first.uptimeDeciseconds == UInt32.max - 9 && first.advertisements == UInt32.max)
        try bench.run(session, seconds: 2)
        let later = try #require(EddystoneTLM(session.payload))
        #expect(later.uptimeDeciseconds == 10 && later.advertisements < 30)
    }

    @Test func telemetryIsRenewedWhileEventsKeepArriving() throws {
        let channel = VirtualChannel(.raspberryPi)
        var renewals = 0
        let host = HCIHost(channel: NoisyChannel(channel))
        host.observer = { packet, isFromController, _ in
            if !isFromController, Bench.opcode(packet) == 0x2008 { renewals += 1 }
        }
        let capabilities = try ControllerCapabilities.read(from: host, isExclusive: true)
        let advertisement = Sample.telemetry(intervalUnits: 0xA0)
        let session = try BeaconSession(host: host, advertisement, on: capabilities)
        try session.start()
        try session.run(until: host.now.advanced(byMicroseconds: 5_500_000))
        #expect(renewals == 6)
    }

    @Test func ephemeralIdNeedsItsKey() throws {
        let bench = Bench(.intel)
        let session = try bench.session(Sample.ephemeral(exponent: 4))
        let error = failure { try session.start() }
        #expect(error?.description == "this advertisement needs an identity key and a rotation exponent of 0...15")
        #expect(!bench.isAdvertising)
    }

    @Test(arguments: VirtualControllerModel.tested)
    func hardwareErrorEndsTheSession(_ model: VirtualControllerModel) throws {
        let bench = Bench(model)
        let session = try bench.session(Sample.iBeacon())
        try session.start()
        bench.controller.inject(HCIPacket(.event, [0x10, 1, 0x42]))
        let error = failure { try bench.run(session, seconds: 1) }
        #expect(error?.description == "the controller reports a hardware error (code 0x42)")
    }

    @Test func terminatedSetEndsTheSession() throws {
        let bench = Bench(.intel)
        let session = try bench.session(Sample.iBeacon())
        try session.start()
        // LE Advertising Set Terminated of another set is ignored.
        bench.controller.inject(HCIPacket(.event, [0x3E, 6, 0x12, 0x43, 5, 0, 0, 0]))
        try bench.run(session, seconds: 1)
        bench.controller.inject(HCIPacket(.event, [0x3E, 6, 0x12, 0x43, 0, 0, 0, 0]))
        let error = failure { try bench.run(session, seconds: 1) }
        #expect(error?.description == "the controller ended the advertising set: Limit Reached (0x43)")
    }

    @Test func extendedAdvertisingIsEnabledAgainAfterAConnection() throws {
        let bench = Bench(.intel)
        var advertisement = try Sample.iBeacon()
        advertisement.pdu = .connectable
        let session = try bench.session(advertisement)
        try session.start()
        bench.forget()
        bench.controller.inject(HCIPacket(.event, [0x3E, 6, 0x12, 0, 0, 1, 0, 0]))
        try bench.run(session, seconds: 1)
        #expect(bench.steps == ["2039+"])
    }

    @Test func signalEndsTheRun() throws {
        let interrupted = InterruptedChannel(VirtualChannel(.intel))
        let host = HCIHost(channel: interrupted)
        let capabilities = try ControllerCapabilities.read(from: host, isExclusive: true)
        let session = try BeaconSession(host: host, Sample.iBeacon(), on: capabilities)
        try session.start()
        interrupted.interruptions = 1
        let error = failure { try session.run(until: .distantFuture) }
        guard case .command(.channel(.interrupted), _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        try session.stop()
    }
}

extension EddystoneTLM {
    /// The telemetry in `data`; `nil` if there is none.
    init?(_ data: AdvertisingData) {
        guard case .eddystoneTLM(let frame) = BeaconFrame(decoding: data) else { return nil }
        self = frame
    }
}
