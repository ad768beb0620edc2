import Advertiser
import BluetoothTypes
import HCI
import Listener
import Testing
import VirtualController

@Suite struct ScanRecoveryTests {
    private func pacing() -> SupervisorPacing {
        var pacing = SupervisorPacing()
        pacing.hasArrivalEvents = false
        return pacing
    }

    @Test func listensUntilItIsStopped() throws {
        let ear = ScanBench()
        try ear.startBeacon()
        let runner = ear.runner("virtual", pacing())
        #expect(ear.state(runner) == .starting)
        ear.run(runner, seconds: 60)
        #expect(ear.state(runner) == .listening)
        #expect(ear.reports.count > 500)
        #expect(ear.logged == ["listening on virtual"])
        #expect(ear.notices.contains(.ready))
        ear.isStopWanted = true
        ear.run(runner, seconds: 1)
        #expect(runner.ended == true)
        #expect(ear.state(runner) == .off)
        #expect(!ear.controller.isScanning)
    }

    @Test func receivesAgainWithinTwoSecondsAfterAnAdapterLoss() throws {
        let ear = ScanBench()
        try ear.startBeacon()
        let runner = ear.runner("hci0", pacing())
        ear.run(runner, seconds: 15)
        let before = ear.now
        ear.openFaults = [AdapterFault(.adapterMissing, "hci0: there is no such adapter")]
        ear.air.detach(ear.controller)
        ear.run(runner, seconds: 0.15)
        #expect(ear.state(runner) == .recovering)
        ear.run(runner, seconds: 10)
        #expect(ear.state(runner) == .listening)
        let first = try #require(ear.reports.first { $0 > before })
        #expect(first.microseconds(since: before) <= 2_000_000)
        #expect(ear.opened == 2)
        #expect(ear.logged.last == "listening again on hci0")
    }

    /// On a shared controller, the scan of the last session is still on when the adapter is opened again.
    @Test(arguments: [false, true]) func reopensADeafAdapterUntilItReceives(isExclusive: Bool) throws {
        let ear = ScanBench(isExclusive: isExclusive)
        try ear.startBeacon()
        let runner = ear.runner("hci0", pacing())
        ear.run(runner, seconds: 10)
        try ear.stopBeacon()
        ear.run(runner, seconds: 40)
        #expect(ear.opened >= 2)
        #expect(ear.state(runner) == .deaf)
        // Restarts become rare, because each one disturbs other programs.
        ear.run(runner, seconds: 3600)
        #expect(ear.opened < 12)
        try ear.startBeacon()
        ear.run(runner, seconds: 2)
        #expect(ear.state(runner) == .listening)
    }

    @Test func endsAfterAPermanentFault() {
        let ear = ScanBench()
        ear.openFaults = [AdapterFault(.system, "hci0: CAP_NET_RAW is needed", isPermanent: true)]
        let runner = ear.runner("hci0", pacing())
        ear.run(runner, seconds: 1)
        #expect(runner.ended == false)
    }

    @Test func recoversFromAResetWithoutReopening() throws {
        let ear = ScanBench(.core4, isExclusive: false)
        try ear.startBeacon()
        let runner = ear.runner("hci0", pacing())
        ear.run(runner, seconds: 5)
        let reset = ear.now
        ear.foreign(HCIReset().packet)
        ear.run(runner, seconds: 0.1)
        #expect(ear.state(runner) == .recovering)
        #expect(ear.logged.last == "hci0: the controller was reset and is being set up again")
        ear.run(runner, seconds: 2)
        #expect(ear.state(runner) == .listening)
        #expect(ear.heard(since: reset) > 10 && ear.opened == 1)
        #expect(ear.logged.last == "listening again on hci0")
    }

    /// The controller does not answer the first command after the reset. The next session opens the event masks.
    @Test func recoversFromAResetIfTheControllerDoesNotAnswer() throws {
        let ear = ScanBench(.core4, isExclusive: false)
        try ear.startBeacon()
        let runner = ear.runner("hci0", pacing())
        ear.run(runner, seconds: 5)
        ear.foreign(HCIReset().packet)
        var isFirst = true
        ear.controller.commandHook = { _ in
            defer { isFirst = false }
            return isFirst ? .drop : .pass
        }
        let reset = ear.now
        ear.run(runner, seconds: 5)
        #expect(ear.state(runner) == .listening)
        #expect(ear.heard(since: reset) > 10 && ear.opened == 2)
    }

    /// The watchdog, which runs every 15 s, may run during a pause.
    @Test func aPauseIsNotAFault() throws {
        let ear = ScanBench(.core4, isExclusive: false)
        try ear.startBeacon()
        let runner = ear.runner("hci0", pacing())
        ear.run(runner, seconds: 14.8)
        ear.foreign(LESetRandomAddress(DeviceAddress.staticRandom(from: FixedOctets(repeating: 0x77))).packet)
        ear.run(runner, seconds: 0.1)
        #expect(ear.state(runner) == .paused)
        ear.run(runner, seconds: 2)
        #expect(ear.state(runner) == .listening)
        #expect(ear.opened == 1)
    }

    @Test func recoversFromAHardwareError() throws {
        let ear = ScanBench()
        try ear.startBeacon()
        let runner = ear.runner("hci0", pacing())
        ear.run(runner, seconds: 5)
        ear.controller.inject(HCIEvent.hardwareError(code: 3).packet)
        ear.run(runner, seconds: 3)
        #expect(ear.state(runner) == .listening)
        #expect(ear.opened == 2)
    }
}
