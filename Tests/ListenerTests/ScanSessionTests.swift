import Advertiser
import BluetoothTypes
import HCI
import Testing
import VirtualController

@testable import Listener

@Suite struct ScanSessionTests {
    private static let enables = [LESetScanEnable.opcode, LESetExtendedScanEnable.opcode]

    @Test(arguments: VirtualControllerModel.all) func receivesRepeatedReportsFromEveryController(
        model: VirtualControllerModel
    ) throws {
        let ear = ScanBench(model)
        try ear.startBeacon()
        let session = try ear.newSession()
        try session.start()
        let start = ear.now
        try ear.run(session, seconds: 10)
        #expect(ear.heard(since: start) > 80)
        #expect(session.state == .listening)
        #expect(session.restarts == 0)
        try session.stop()
        #expect(!ear.controller.isScanning)
        let family = ear.commands.filter { [0x200B, 0x200C, 0x2041, 0x2042].contains($0.rawValue) }
        // Legacy and extended commands are not mixed.
        #expect(Set(family.map { $0.rawValue > 0x2040 }).count == 1)
    }

    @Test func theWatchdogRestartsAScanThatWasTurnedOff() throws {
        let ear = ScanBench()
        let session = try ear.newSession()
        try session.start()
        #expect(try session.verify())
        #expect(session.restarts == 0)
        // The scan is turned off without a visible answer.
        ear.controller.eventHook = { _ in .drop }
        ear.foreign(off(ear))
        ear.controller.eventHook = nil
        #expect(!ear.controller.isScanning)
        #expect(try session.verify())
        #expect(ear.controller.isScanning)
        #expect(session.restarts == 1)
    }

    private func off(_ ear: ScanBench) -> HCIPacket {
        ear.commands.contains(LESetExtendedScanEnable.opcode)
            ? (try? LESetExtendedScanEnable(false).packet) ?? LESetScanEnable(false).packet
            : LESetScanEnable(false).packet
    }

    private func on(_ ear: ScanBench) -> HCIPacket {
        ear.commands.contains(LESetExtendedScanEnable.opcode)
            ? (try? LESetExtendedScanEnable(true, filterDuplicates: .on).packet) ?? LESetScanEnable(true).packet
            : LESetScanEnable(true, filterDuplicates: true).packet
    }

    /// bluetoothd's discovery turns the scan off, turns it on with a duplicate filter, and later turns it off again.
    @Test(arguments: [VirtualControllerModel.core4, .zephyr]) func usesAForeignScanAndRestartsAfterIt(
        model: VirtualControllerModel
    ) throws {
        let ear = ScanBench(model, isExclusive: false)
        try ear.startBeacon()
        try ear.open()
        let session = try ear.newSession()
        try session.start()
        try ear.run(session, seconds: 2)
        let commandsBefore = ear.commands.count
        ear.foreign(off(ear))
        ear.foreign(on(ear))
        try ear.run(session, seconds: 10)
        #expect(session.state == .foreign)
        // The session only probed, and did not turn the foreign scan on or off.
        #expect(ear.commands.dropFirst(commandsBefore).allSatisfy { !Self.enables.contains($0) })
        ear.foreign(off(ear))
        let end = ear.now
        try ear.run(session, seconds: 2)
        #expect(session.state == .listening)
        #expect(session.restarts == 1)
        let first = try #require(ear.reports.first { $0 > end })
        #expect(first.microseconds(since: end) < 500_000)
        #expect(ear.states == [.listening, .foreign, .listening])
    }

    @Test func usesAForeignScanThatIsOnAtTheStart() throws {
        let ear = ScanBench(.core4, isExclusive: false)
        try ear.startBeacon()
        try ear.open()
        let session = try ear.newSession()
        ear.foreign(LESetScanEnable(true).packet)
        try session.start()
        #expect(session.state == .foreign)
        let start = ear.now
        try ear.run(session, seconds: 5)
        #expect(ear.heard(since: start) > 40)
        try session.stop()
        // The session does not turn off a foreign scan.
        #expect(ear.controller.isScanning)
    }

    /// With two listeners on one controller, the second one receives the reports of the first one's scan. It starts its
    /// own scan when that scan ends.
    @Test func sharesTheScanOfAnotherListener() throws {
        let ear = ScanBench(.core4, isExclusive: false)
        ear.isAmongListeners = true
        try ear.startBeacon()
        try ear.open()
        let session = try ear.newSession()
        ear.foreign(LESetScanEnable(true).packet)
        try session.start()
        try ear.run(session, seconds: 3)
        #expect(ear.states == [.listening])
        try session.stop()
        #expect(ear.controller.isScanning)
        try session.start()
        ear.foreign(LESetScanEnable(false).packet)
        try ear.run(session, seconds: 2)
        #expect(session.restarts == 1)
        try session.stop()
        #expect(!ear.controller.isScanning)
    }

    @Test func replacesALeftoverScanOnAnExclusiveController() throws {
        let ear = ScanBench(.core4)
        let session = try ear.newSession()
        ear.foreign(LESetScanEnable(true, filterDuplicates: true).packet)
        try session.start()
        #expect(session.state == .listening)
    }

    /// A killed run leaves its scan on. The next run replaces this scan once. A later scan belongs to another program.
    @Test func replacesALeftoverScanOfAKilledRun() throws {
        let ear = ScanBench(.core4, isExclusive: false)
        ear.hasLeftover = true
        try ear.startBeacon()
        try ear.open()
        let session = try ear.newSession()
        ear.foreign(LESetScanEnable(true, filterDuplicates: true).packet)
        try session.start()
        try ear.run(session, seconds: 2)
        #expect(session.state == .listening && ear.heard(since: HCIInstant(nanoseconds: 0)) > 10)
        try session.stop()
        #expect(!ear.controller.isScanning)
        // The next scan that is on belongs to another program.
        ear.foreign(LESetScanEnable(true).packet)
        try session.start()
        #expect(session.state == .foreign)
    }

    /// Another listener probes with scan parameters, which the controller refuses. That is not a foreign scan.
    @Test func ignoresARefusedCommandOfAnotherProgram() throws {
        let ear = ScanBench(.core4, isExclusive: false)
        try ear.open()
        let session = try ear.newSession()
        try session.start()
        ear.foreign(
            try LESetScanParameters(
                type: .active, interval: ScanInterval(rawValue: 18), window: ScanInterval(rawValue: 18)
            ).packet)
        try ear.run(session, seconds: 3)
        #expect(session.state == .listening)
    }

    /// A beacon on the same radio needs a new address, which a legacy controller refuses while it scans.
    @Test func pausesForTheAddressOfABeaconOnTheSameRadio() throws {
        let ear = ScanBench(.core4, isExclusive: false)
        try ear.startBeacon()
        try ear.open()
        let session = try ear.newSession()
        try session.start()
        let address = LESetRandomAddress(DeviceAddress.staticRandom(from: FixedOctets(repeating: 0x77))).packet
        ear.foreign(address)
        try ear.run(session, seconds: 0.05)
        #expect(!ear.controller.isScanning)
        ear.foreign(address)
        try ear.run(session, seconds: 2)
        #expect(ear.states == [.listening, .paused, .listening])
        #expect(ear.controller.isScanning)
        #expect(session.restarts == 0)
    }

    private static let masks = [SetEventMask.opcode, LESetEventMask.opcode]

    /// After `hciconfig hci0 reset` no program sets up the controller or opens the event masks.
    @Test(arguments: [VirtualControllerModel.core4, .zephyr], [false, true])
    func aControllerThatWasResetIsSetUpAgain(model: VirtualControllerModel, isExclusive: Bool) throws {
        let ear = ScanBench(model, isExclusive: isExclusive)
        try ear.startBeacon()
        try ear.open()
        let session = try ear.newSession()
        try session.start()
        try ear.run(session, seconds: 2)
        let reset = ear.now
        ear.foreign(HCIReset().packet)
        try ear.run(session, seconds: 0.05)
        #expect(session.state == .reset)
        // The watchdog changes nothing meanwhile.
        #expect(try session.verify() && session.restarts == 0)
        try ear.run(session, seconds: 2)
        #expect(ear.states == [.listening, .reset, .listening])
        #expect(session.restarts == 1 && session.foreignRestarts == (isExclusive ? 0 : 1))
        let first = try #require(ear.reports.first { $0 > reset })
        #expect(first.microseconds(since: reset) < 500_000)
        #expect(ear.heard(since: reset) > 10)
    }

    /// After a power cycle between two probes, the kernel has set up the controller with its own masks.
    @Test(arguments: [VirtualControllerModel.core4, .zephyr]) func keepsTheMasksThatTheKernelHasSet(
        model: VirtualControllerModel
    ) throws {
        let ear = ScanBench(model, isExclusive: false)
        try ear.startBeacon()
        try ear.open()
        let session = try ear.newSession()
        try session.start()
        try ear.run(session, seconds: 2)
        let before = ear.commands.count
        ear.foreign(HCIReset().packet)
        try ear.run(session, seconds: 0.05)
        ear.foreign(SetEventMask(.standardAndLE).packet)
        ear.foreign(LESetEventMask(LEEventMask.standard.union(.extendedAdvertisingReport)).packet)
        let ready = ear.now
        try ear.run(session, seconds: 2)
        #expect(session.state == .listening)
        #expect(ear.heard(since: ready) > 10)
        #expect(ear.commands.dropFirst(before).allSatisfy { !Self.masks.contains($0) })
        // After the next reset, no other program opens the masks.
        ear.foreign(HCIReset().packet)
        try ear.run(session, seconds: 2)
        #expect(session.state == .listening && session.restarts == 2)
        #expect(Self.masks.allSatisfy(ear.commands.dropFirst(before).contains))
    }

    /// A reset between the parameters and the start of the scan is detected.
    @Test func detectsAResetDuringTheStart() throws {
        let ear = ScanBench(.core4, isExclusive: false)
        try ear.startBeacon()
        try ear.open()
        let session = try ear.newSession()
        var isFirst = true
        ear.controller.commandHook = { [controller = ear.controller] packet in
            if packet.octets.starts(with: [0x0C, 0x20]), isFirst {
                isFirst = false
                controller.receive(HCIReset().packet)
            }
            return .pass
        }
        try session.start()
        try ear.run(session, seconds: 2)
        #expect(session.state == .listening && ear.reports.count > 10)
    }

    @Test func isDeafIfReportsStop() throws {
        let ear = ScanBench()
        try ear.startBeacon()
        let session = try ear.newSession()
        try session.start()
        try ear.run(session, seconds: 20)
        let last = ear.now
        ear.controller.eventHook = { $0.octets.first == 0x3E ? .drop : .pass }
        #expect(throws: SessionError.self) { try ear.run(session, seconds: 60) }
        #expect(session.state == .deaf)
        #expect((24_000_000...26_000_000).contains(ear.now.microseconds(since: last)))
        ear.controller.eventHook = nil
        try ear.run(session, seconds: 1)
        #expect(session.state == .listening)
    }

    @Test func isNotDeafIfNothingWasEverReceived() throws {
        let ear = ScanBench()
        let session = try ear.newSession()
        try session.start()
        try ear.run(session, seconds: 7200)
        #expect(session.state == .listening)
        #expect(session.restarts == 0)
    }

    @Test func probesLaterIfReportsAreRare() {
        var watch = DeafnessWatch()
        var now = HCIInstant(nanoseconds: 0)
        for _ in 0..<500 {
            now = now.advanced(byMicroseconds: 5_000_000)
            watch.receive(at: now)
        }
        #expect(watch.check(at: now.advanced(byMicroseconds: 140_000_000)) == .nothing)
        #expect(watch.check(at: now.advanced(byMicroseconds: 151_000_000)) == .probe)
        #expect(watch.check(at: now.advanced(byMicroseconds: 152_000_000)) == .nothing)
    }

    @Test func refusedScanParametersEndTheSessionForGood() throws {
        let ear = ScanBench(.core4)
        let session = try ear.newSession()
        ear.controller.commandHook = { $0.octets.starts(with: [0x0B, 0x20]) ? .fail(.invalidParameters) : .pass }
        #expect {
            try session.start()
        } throws: {
            if case .impossible? = $0 as? SessionError { true } else { false }
        }
    }

    private func units(_ number: UInt16) -> ScanInterval { ScanInterval(rawValue: number) }

    @Test func validatesAndDescribesScanSettings() throws {
        #expect(ScanSettings.standard.description == "passive, 60 ms of every 60 ms")
        #expect(
            try ScanSettings(isActive: true, interval: units(96), window: units(48)).description
                == "active, 30 ms of every 60 ms")
        #expect(throws: HCIParameterError.self) { try ScanSettings(interval: units(3), window: units(3)) }
        #expect(throws: HCIParameterError.self) { try ScanSettings(interval: units(0x4001), window: units(4)) }
        #expect(throws: HCIParameterError.self) { try ScanSettings(interval: units(10), window: units(11)) }
    }
}
