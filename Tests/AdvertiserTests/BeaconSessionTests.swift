import Advertiser
import BeaconFrames
import BluetoothTypes
import EddystoneSecurity
import HCI
import Testing
import VirtualController

/// Rearming and reloading a session, and its counters.
@Suite struct BeaconSessionTests {
    private final class Sensors: TelemetrySource {
        var battery: UInt16? = 3100
        var asked: [String] = []

        func batteryMillivolts(_ sensor: String) -> UInt16? {
            asked.append(sensor)
            return battery
        }

        func temperature(_ sensor: String) -> FixedPointTemperature? { try? FixedPointTemperature(celsius: 21.5) }
    }

    private func reset(_ bench: Bench) throws {
        _ = try bench.host.execute(HCIReset())
        bench.forget()
    }

    @Test(arguments: VirtualControllerModel.tested)
    func countersContinueAfterARearm(_ model: VirtualControllerModel) throws {
        let bench = Bench(model)
        let session = try bench.session(Sample.lobby())
        try session.start()
        try bench.run(session, seconds: 60)
        let before = session.computedEvents
        let (address, perFrame) = (session.address, session.advertisements.map(\.events))
        try reset(bench)
        let silent = bench.host.now
        #expect(!bench.isAdvertising)
        session.silence(since: silent)
        #expect(!session.isOnAir && session.nextWakeUp == nil)
        bench.channel.air.advance(to: silent.advanced(byMicroseconds: 30_000_000))
        // No events are sent during the silence, but its time is counted.
        #expect(session.computedEvents == before && session.secondsOnAir == 90)
        try session.rearm()
        #expect(session.isOnAir && bench.isAdvertising && session.address == address)
        #expect(session.computedEvents >= before && session.computedEvents <= before + 4)
        for (earlier, later) in zip(perFrame, session.advertisements.map(\.events)) {
            #expect((earlier...earlier + 1).contains(later))
        }
        bench.forget()
        try bench.run(session, seconds: 60)
        #expect(abs(Int(session.computedEvents - before) - bench.events.count) <= 6)
        let telemetry = bench.pdus.compactMap { EddystoneTLM(AdvertisingData(octets: $0.data)) }
        let last = try #require(telemetry.last)
        #expect(telemetry.count >= 10 && last.uptimeDeciseconds >= 1400 && UInt64(last.advertisements) > before)
    }

    @Test func startResetsTheCounters() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session(Sample.lobby())
        try session.start()
        try bench.run(session, seconds: 60)
        try session.stop()
        #expect(!session.isOnAir && session.secondsOnAir == 60)
        try session.start()
        #expect(session.computedEvents == 1 && session.secondsOnAir == 0)
    }

    @Test func rearmContinuesOnAnotherController() throws {
        let air = VirtualAir()
        let old = Bench(.raspberryPi, on: air)
        let session = try old.session(Sample.lobby())
        try session.start()
        try old.run(session, seconds: 10)
        let before = session.computedEvents
        air.detach(old.controller)
        #expect(failure { try old.run(session, seconds: 10) } != nil)
        let new = Bench(.intel, on: air)
        let allocation = try SetAllocation(session.allocation.sources, on: try new.capabilities(), isExclusive: true)
        try session.rearm(on: new.host, allocation: allocation)
        #expect(session.advertisements.allSatisfy { $0.sharers == 1 } && session.computedEvents >= before + 4)
        try new.run(session, seconds: 10)
        #expect(new.isAdvertising && new.eventCounts(session).allSatisfy { $0 > 0 })
    }

    private func scans(_ bench: Bench, _ isEnabled: Bool) throws {
        try bench.host.execute(LESetScanEnable(isEnabled))
    }

    @Test func usesTheControllersPreviousAddressDuringAScan() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session(Sample.iBeacon(), isExclusive: false)
        let foreign = try #require(DeviceAddress("C0:00:00:00:00:02"))
        try bench.host.execute(LESetRandomAddress(foreign))
        try scans(bench, true)
        try session.start()
        #expect(bench.isAdvertising)
        #expect(session.advertisements[0].address == nil && session.advertisements[0].isAddressRefused)
        #expect(session.summary.contains("from another address until the controller accepts the requested address"))
        try bench.run(session, seconds: 1)
        #expect(bench.pdus.last?.address == foreign)
        #expect(try session.verify())
        #expect(session.isOnAir && bench.isAdvertising)
        #expect(session.advertisements[0].isAddressRefused)
        try scans(bench, false)
        #expect(try session.verify())
        #expect(session.isOnAir && bench.isAdvertising)
        bench.forget()
        try bench.run(session, seconds: 1)
        #expect(bench.pdus.last?.address == session.advertisements[0].address)
        #expect(!session.advertisements[0].isAddressRefused)
    }

    @Test func advertisesDuringAScanWithoutARandomAddress() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session(Sample.iBeacon(), isExclusive: false)
        try scans(bench, true)
        try session.start()
        try bench.run(session, seconds: 1)
        #expect(bench.isAdvertising && bench.pdus.count > 5)
    }

    @Test func refusesAnEphemeralIDDuringAScan() throws {
        let bench = Bench(.raspberryPi)
        let source = PayloadSource(try Sample.ephemeral(exponent: 3), identityKey: IdentityKey(FixedOctets()))
        let session = try bench.session([source], isExclusive: false)
        try scans(bench, true)
        let error = try #require(failure { try session.start() }?.description)
        #expect(error.contains("LE Set Random Address") && error.contains("scanning"))
        #expect(!bench.isAdvertising)
        try scans(bench, false)
        try session.start()
        #expect(bench.isAdvertising)
    }

    @Test func verificationRestoresAChangedAddress() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session(Sample.iBeacon(), isExclusive: false)
        try session.start()
        try session.noteForeignAddress()
        #expect(session.isOnAir && session.advertisements[0].isAddressRefused)
        #expect(try session.verify())
        #expect(session.isOnAir && !session.advertisements[0].isAddressRefused)
    }

    /// No program scans: another program has changed the address, and Pharos does not know for how long.
    @Test func theSummaryOfAChangedAddressNamesNoScan() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session(Sample.iBeacon(), isExclusive: false)
        try session.start()
        try session.noteForeignAddress()
        #expect(session.summary.contains("from another address until the controller accepts the requested address"))
        #expect(!session.summary.contains("scan"))
        #expect(try session.verify())
        #expect(!session.summary.contains("another address"))
    }

    /// Verification does not disturb advertising, and fails if one set is disabled.
    @Test(arguments: VirtualControllerModel.tested)
    func verificationDetectsADisabledSet(_ model: VirtualControllerModel) throws {
        let bench = Bench(model)
        let session = try bench.session(Sample.lobby())
        try session.start()
        try bench.run(session, seconds: 5)
        bench.forget()
        for _ in 0..<3 {
            #expect(try session.verify())
            try bench.run(session, seconds: 1)
        }
        #expect(session.isOnAir && bench.events.count >= 25)
        if model.hasExtendedAdvertising {
            _ = try bench.host.execute(LESetExtendedAdvertisingEnable(false, [.init(handle: 2)]))
        } else {
            _ = try bench.host.execute(LESetAdvertisingEnable(false))
        }
        #expect(try !session.verify())
        try session.rearm()
        #expect(try session.verify() && session.isOnAir)
    }

    /// Advertisements that are equal in both profiles stay on the air.
    @Test func reloadOfTheSameProfileDisablesNothing() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session(Sample.lobby())
        try session.start()
        try bench.run(session, seconds: 10)
        let (events, address) = (session.computedEvents, session.address)
        bench.forget()
        try session.replace(with: SetAllocation(Sample.lobby(), on: session.allocation.capabilities, isExclusive: true))
        #expect(!bench.steps.contains { $0.hasPrefix("200a") })
        #expect(session.isOnAir && session.address == address)
        #expect((events...events + 4).contains(session.computedEvents))
    }

    @Test func failedRearmTurnsAdvertisingOff() throws {
        let bench = Bench(.zephyr)
        let session = try bench.session(Sample.lobby())
        try session.start()
        bench.controller.commandHook = { Bench.opcode($0) == 0x2037 ? .fail(.hardwareFailure) : .pass }
        #expect(failure { try session.rearm() } != nil)
        #expect(!bench.isAdvertising && !session.isOnAir && session.nextWakeUp == nil)
        bench.controller.commandHook = nil
        try session.rearm()
        #expect(session.isOnAir && bench.isAdvertising)
    }

    /// If another program holds sets, the controller provides fewer sets than it reports.
    @Test func sharesSetsIfTheControllerHasFewerThanItReports() throws {
        for held in 0...4 {
            let bench = Bench(.zephyr)
            let session = try bench.session(Sample.lobby(), isExclusive: false)
            for handle in 0..<held {
                let parameters = try LESetExtendedAdvertisingParameters(
                    handle: UInt8(handle), properties: .legacyNonconnectable,
                    intervalMinimum: AdvertisingInterval(rawValue: 160),
                    intervalMaximum: AdvertisingInterval(rawValue: 160), channels: .all, ownAddressType: .random,
                    power: .noPreference)
                _ = try bench.host.execute(parameters)
            }
            let error = failure { try session.start() }
            guard held < 4 else {
                #expect(error?.description.contains("Memory Capacity Exceeded (0x07)") == true)
                continue
            }
            #expect(error == nil && session.allocation.sets.count == 4 - held)
            bench.forget()
            try bench.run(session, seconds: 60)
            let counts = bench.eventCounts(session)
            for (count, owed) in zip(counts, [292.7, 169.0, 85.1, 12]) {
                #expect(abs(Double(count) - owed) <= 5, "\(held): \(counts)")
            }
            try session.stop()
            #expect(!bench.isAdvertising)
        }
    }

    @Test func readsSensorsByNameAtMostOnceASecond() throws {
        let sensors = Sensors()
        let bench = Bench(.raspberryPi)
        let session = try bench.session(Sample.lobby(), telemetry: sensors)
        try session.start()
        try bench.run(session, seconds: 60)
        #expect(Set(sensors.asked) == ["auto"] && (10...15).contains(sensors.asked.count))
        let frame = try #require(EddystoneTLM(session.advertisements[3].payload))
        #expect(frame.batteryMillivolts == 3100 && frame.temperature?.description == "21.5 °C")
        sensors.battery = nil
        try bench.run(session, seconds: 10)
        #expect(EddystoneTLM(session.advertisements[3].payload)?.batteryMillivolts == nil)
        let fast = Bench(.intel)
        var telemetry = try Sample.lobby()[3].advertisement
        telemetry.interval = AdvertisingInterval(rawValue: 160)
        let often = try fast.session([PayloadSource(telemetry)] + Sample.iBeacons([100]), telemetry: sensors)
        sensors.asked = []
        try often.start()
        try fast.run(often, seconds: 60)
        #expect((59...62).contains(sensors.asked.count))
    }

    @Test(arguments: VirtualControllerModel.tested)
    func reloadWithOtherDataIsDoneInPlace(_ model: VirtualControllerModel) throws {
        let bench = Bench(model)
        let session = try bench.session(Sample.lobby())
        try session.start()
        try bench.run(session, seconds: 10)
        let events = session.computedEvents
        var sources = try Sample.lobby()
        var other = sources[0].advertisement
        other.content = .iBeacon(uuid: Sample.uuid, major: 7, minor: 8, flags: .beacon)
        sources[0] = PayloadSource(other)
        let allocation = try SetAllocation(sources, on: session.allocation.capabilities, isExclusive: true)
        bench.forget()
        try session.replace(with: allocation)
        #expect(Set(bench.steps).subtracting(["2008", "2037"]).isEmpty && !bench.steps.isEmpty)
        #expect(session.computedEvents >= events - 4 && session.computedEvents <= events)
        try bench.run(session, seconds: 10)
        #expect(bench.eventCounts(session).allSatisfy { $0 > 0 })
        #expect(!bench.events.contains { $0.count == 30 && $0[26] != 7 })
        // The unchanged advertisement keeps its count. The new one is counted from the reload on.
        let counts = session.advertisements.map(\.events)
        #expect((44...52).contains(counts[0]) && (54...60).contains(counts[1]))
    }

    /// To change its parameters, a set is disabled, but only as long as the commands take.
    @Test(arguments: VirtualControllerModel.tested)
    func reloadWithOtherIntervalsLeavesNoGap(_ model: VirtualControllerModel) throws {
        let bench = Bench(model)
        bench.controller.latencyMicroseconds = 2000
        let session = try bench.session(Sample.iBeacons([200, 350]))
        try session.start()
        try bench.run(session, seconds: 10)
        let allocation = try SetAllocation(
            Sample.iBeacons([300, 350, 800]), on: session.allocation.capabilities, isExclusive: true)
        try session.replace(with: allocation)
        try bench.run(session, seconds: 10)
        #expect(session.isOnAir && session.advertisements.count == 3)
        let minors = bench.pdus.map { ($0.start, $0.data[28]) }
        #expect(Set(minors.map(\.1)) == [0, 1, 2])
        for (earlier, later) in zip(minors, minors.dropFirst()) {
            #expect(later.0.microseconds(since: earlier.0) <= 360_000)
        }
    }

    @Test(arguments: VirtualControllerModel.tested)
    func reloadRemovesTheMissingAdvertisements(_ model: VirtualControllerModel) throws {
        let bench = Bench(model)
        let session = try bench.session(Sample.iBeacons([200, 350, 700]))
        try session.start()
        try bench.run(session, seconds: 10)
        let all = session.computedEvents
        let allocation = try SetAllocation(
            Sample.iBeacons([200]), on: session.allocation.capabilities, isExclusive: true)
        try session.replace(with: allocation)
        #expect(session.computedEvents >= all && session.computedEvents <= all + 1)
        bench.forget()
        try bench.run(session, seconds: 10)
        #expect(Set(bench.events.map { $0[28] }) == [0] && session.nextWakeUp == nil)
        #expect(!bench.controller.isAdvertising(handle: 1) && !bench.controller.isAdvertising(handle: 2))
    }

    /// In each run, another command of the reload fails. If the reload fails, the old advertisements are restored.
    @Test(arguments: VirtualControllerModel.tested)
    func failedReloadRestoresTheOldAdvertisements(_ model: VirtualControllerModel) throws {
        for place in 0..<30 {
            let bench = Bench(model)
            let session = try bench.session(Sample.iBeacons([200, 350]))
            try session.start()
            try bench.run(session, seconds: 5)
            let events = session.computedEvents
            let allocation = try SetAllocation(
                Sample.iBeacons([300, 360, 800]), on: session.allocation.capabilities, isExclusive: true)
            var passed = 0
            bench.controller.commandHook = { _ in
                passed += 1
                return passed == place + 1 ? .fail(.hardwareFailure) : .pass
            }
            let error = failure { try session.replace(with: allocation) }
            bench.controller.commandHook = nil
            #expect(session.isOnAir && bench.isAdvertising, "\(place)")
            #expect(session.advertisements.count == (error == nil ? 3 : 2), "\(place)")
            bench.forget()
            try bench.run(session, seconds: 5)
            #expect(Set(bench.events.map { $0[28] }) == (error == nil ? [0, 1, 2] : [0, 1]), "\(place)")
            #expect(session.computedEvents > events)
        }
    }

    @Test func connectionEnablesOnlyItsOwnSetAgain() throws {
        let bench = Bench(.intel)
        var sources = try Sample.iBeacons([100, 100])
        var connectable = sources[1].advertisement
        connectable.pdu = .connectable
        sources[1] = PayloadSource(connectable)
        let session = try bench.session(sources)
        try session.start()
        bench.forget()
        bench.controller.inject(HCIPacket(.event, [0x3E, 6, 0x12, 0, 1, 1, 0, 0]))
        try bench.run(session, seconds: 1)
        #expect(bench.steps == ["2039+"] && bench.parameters(0x2039) == [1, 1, 1, 0, 0, 0])
    }

    @Test func eachSetHasItsOwnPowerAndMeasuredPower() throws {
        let bench = Bench(.zephyr)
        let calibration = PowerCalibration(
            points: try [(-12, -75), (0, -59), (4, -55)].map { radio, measured in
                .init(radioPower: Sample.power(radio), measuredPower: try MeasuredPowerAtOneMeter(dBm: measured))
            }, fallback: nil)
        let sources = try zip(Sample.iBeacons([100, 200]), [-10, 4]).map { source, power in
            var advertisement = source.advertisement
            advertisement.radioPower = Sample.power(power)
            advertisement.measuredPower = .calibrated(calibration)
            return PayloadSource(advertisement)
        }
        let session = try bench.session(sources)
        try session.start()
        try bench.run(session, seconds: 1)
        let grants = session.advertisements.map(\.grant)
        #expect(grants == [.granted(Sample.power(-12)), .granted(Sample.power(4))])
        for pdu in bench.pdus {
            let isFirst = pdu.data[28] == 0
            #expect(pdu.power == Sample.power(isFirst ? -12 : 4))
            #expect(pdu.data.last == UInt8(bitPattern: isFirst ? -75 : -55))
        }
    }

    /// A payload that cannot be built must be an error of the start, and not of a later turn.
    @Test func startFailsIfOneAdvertisementHasNoMeasuredPower() throws {
        let bench = Bench(.raspberryPi)
        var sources = try Sample.iBeacons([100, 5000])
        var unmeasured = sources[1].advertisement
        unmeasured.measuredPower = .none
        sources[1] = PayloadSource(unmeasured)
        let session = try bench.session(sources)
        #expect(failure { try session.start() }?.description.hasPrefix("no measured power is given") == true)
        #expect(!bench.isAdvertising && bench.pdus.isEmpty)
    }

    /// iBeacon and Eddystone frames in one set, with a local name in the scan response.
    @Test(arguments: VirtualControllerModel.tested)
    func scanResponseContainsTheNameWithEveryFrame(_ model: VirtualControllerModel) throws {
        let air = VirtualAir()
        let bench = Bench(model, on: air)
        let listener = HCIHost(channel: VirtualChannel(.core4, on: air))
        _ = try ControllerCapabilities.read(from: listener, isExclusive: true)
        _ = try listener.execute(
            LESetScanParameters(type: .active, interval: ScanInterval(rawValue: 16), window: ScanInterval(rawValue: 16))
        )
        _ = try listener.execute(LESetScanEnable(true))
        let name = try AdvertisingData([.completeLocalName("Lobby N")])
        let sources = try Sample.lobby().map { source in
            var advertisement = source.advertisement
            advertisement.pdu = .scannable
            advertisement.scanResponse = name
            return PayloadSource(advertisement)
        }
        let session = try bench.session(sources)
        try session.start()
        try bench.run(session, seconds: 20)
        var kinds: Set<String> = []
        var answers = 0
        while let event = try listener.nextEvent(until: listener.now) {
            guard case .advertisingReports(let reports) = event else { continue }
            for report in reports {
                #expect(report.address == Sample.address)
                let data = report.data
                if data == name {
                    answers += 1
                } else if let frame = BeaconFrame(decoding: data) {
                    kinds.insert(String("\(frame)".prefix { $0 != "(" }))
                }
            }
        }
        #expect(kinds == ["iBeacon", "eddystoneUID", "eddystoneURL", "eddystoneTLM"])
        // All packets are on channel 37, which the listener scans for a third of the time.
        #expect(answers > 40)
    }
}
