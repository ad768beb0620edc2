import Advertiser
import BeaconFrames
import BluetoothTypes
import EddystoneSecurity
import HCI
import KernelSimulation
import Testing

/// The messages of a session to the kernel, and its reactions to the kernel's events.
@Suite struct ManagedSessionTests {
    private func session(
        _ channel: KernelChannel, _ sources: PayloadSource..., memory: BeaconMemory? = nil, seed: UInt64 = 3
    ) throws -> ManagedSession {
        let host = channel.host
        let adapter = try ManagedAdapter(host, index: 0)
        let layout = try InstanceLayout(sources.map(\.advertisement), on: adapter.capabilities)
        channel.forget()
        let clock = memory.map { EIDClock(saved: $0.eidCounter, at: host.now) }
        return ManagedSession(
            host: host, layout: layout, sources: sources, clock: clock, memory: memory,
            randomness: SplitMix64(seed: seed))
    }

    private func instant(_ seconds: Int) -> HCIInstant {
        HCIInstant(nanoseconds: 0).advanced(byMicroseconds: seconds * 1_000_000)
    }

    @Test(arguments: [true, false])
    func sendsParametersThenDataThenRemoval(_ knowsExtendedForm: Bool) throws {
        var kernel = FakeKernel()
        kernel.knowsExtendedForm = knowsExtendedForm
        let channel = KernelChannel(kernel)
        let session = try session(channel, PayloadSource(try Sample.iBeacon()))
        try session.start()
        #expect(channel.kernel.instances[5]?.data == Sample.iBeaconOctets)
        #expect(channel.kernel.instances[5]?.interval?.rawValue == (knowsExtendedForm ? 0xA0 : nil))
        try session.run(until: instant(60))
        try session.stop()
        #expect(channel.steps == (knowsExtendedForm ? ["54:5", "55:5", "3f:5"] : ["3e:5", "3f:5"]))
        #expect(channel.kernel.instances.isEmpty)
        #expect(session.secondsOnAir == 60)
    }

    @Test func otherProgramsInstancesAreLeftAlone() throws {
        var kernel = FakeKernel()
        kernel.instances = [1: .init(data: [2, 1, 6]), 2: .init(data: [2, 1, 4])]
        let channel = KernelChannel(kernel)
        let session = try session(channel, PayloadSource(try Sample.iBeacon()))
        try session.start()
        try session.stop()
        #expect(channel.kernel.instances == kernel.instances)
    }

    @Test func restoresThePowerAndLowEnergySettings() throws {
        var kernel = FakeKernel()
        kernel.settings = []
        let channel = KernelChannel(kernel)
        let adapter = try ManagedAdapter(channel.host, index: 0)
        #expect(channel.kernel.settings == [.powered, .lowEnergy])
        #expect(adapter.capabilities.current == [.powered, .lowEnergy])
        #expect(channel.steps == ["04", "0d:1", "05:1", "02", "3d"])
        adapter.restore()
        #expect(channel.kernel.settings == [])
        channel.forget()
        adapter.restore()
        #expect(channel.steps == [])

        channel.kernel.settings = [.powered, .lowEnergy]
        try ManagedAdapter(channel.host, index: 0).restore()
        #expect(channel.kernel.settings == [.powered, .lowEnergy])
    }

    @Test func restoresTheSettingsIfOpeningFails() throws {
        var kernel = FakeKernel()
        kernel.settings = []
        kernel.refusals = [ReadAdvertisingFeatures.opcode: .rejected]
        let channel = KernelChannel(kernel)
        #expect(throws: SessionError.self) { try ManagedAdapter(channel.host, index: 0) }
        #expect(channel.kernel.settings == [])
    }

    @Test func anAdapterWithoutLowEnergyIsRefused() throws {
        var kernel = FakeKernel()
        kernel.supported.remove(.lowEnergy)
        let error = failure { _ = try ManagedAdapter(KernelChannel(kernel).host, index: 0) }
        #expect(error?.description == "hci0:mgmt: this adapter has no Bluetooth Low Energy, which beacons need")
    }

    @Test(arguments: [
        (SetPowered.opcode, ManagementStatus.rfkilled, "Set Powered on hci0: RFKilled (0x12); `rfkill unblock"),
        (SetPowered.opcode, .permissionDenied, "Permission Denied (0x14); run as root"),
        (AddExtendedAdvertisingParameters.opcode, .busy, "Add Extended Advertising Parameters on hci0: Busy (0x0A)"),
        (AddExtendedAdvertisingData.opcode, .invalidParameters, "Data on hci0: Invalid Parameters (0x0D)"),
    ])
    func reportsARefusalAndLeavesNoInstance(_ opcode: UInt16, _ status: ManagementStatus, _ text: String) throws {
        var kernel = FakeKernel()
        kernel.settings = [.lowEnergy]
        kernel.refusals = [opcode: status]
        let channel = KernelChannel(kernel)
        let error = failure {
            let session = try session(channel, PayloadSource(try Sample.iBeacon()))
            try session.start()
        }
        #expect(error?.description.contains(text) == true, "\(String(describing: error))")
        #expect(channel.kernel.instances.isEmpty)
    }

    @Test func retriesTheParametersOnceAfterAPowerCycle() throws {
        var kernel = FakeKernel()
        kernel.stale = [5]
        let channel = KernelChannel(kernel)
        let session = try session(channel, PayloadSource(try Sample.iBeacon()))
        try session.start()
        #expect(channel.steps == ["54:5", "54:5", "55:5"])
        channel.kernel.refusals = [AddExtendedAdvertisingParameters.opcode: .failed]
        #expect(throws: SessionError.self) { try session.rearm() }
    }

    @Test func removesTheFirstInstanceIfTheSecondFails() throws {
        let channel = KernelChannel(FakeKernel())
        let broken = PayloadSource(try Sample.ephemeral(exponent: 4))
        let session = try session(channel, PayloadSource(try Sample.iBeacon()), broken)
        #expect(throws: SessionError.self) { try session.start() }
        #expect(channel.kernel.instances.isEmpty)
    }

    @Test func grantedPowerIsWhatTheKernelReports() throws {
        var advertisement = try Sample.iBeacon()
        advertisement.radioPower = Sample.power(4)
        var kernel = FakeKernel()
        kernel.selectedPower = Sample.power(3)
        let granted = try session(KernelChannel(kernel), PayloadSource(advertisement))
        try granted.start()
        #expect(granted.onAir.map(\.grant) == [.granted(Sample.power(3))])
        kernel.hasExtendedAdvertising = false
        let ignored = try session(KernelChannel(kernel), PayloadSource(advertisement))
        try ignored.start()
        #expect(ignored.onAir[0].grant.power == nil)
        #expect(ignored.onAir[0].grant.description.hasPrefix("cannot be set"))
    }

    @Test func telemetryIsReplacedInPlace() throws {
        let channel = KernelChannel(FakeKernel())
        let session = try session(channel, PayloadSource(Sample.telemetry(intervalUnits: 0xA0)))
        try session.start()
        try session.run(until: instant(3))
        #expect(channel.steps == ["54:5", "55:5", "55:5", "55:5", "55:5"])
        #expect(channel.kernel.instances[5]?.addresses == 1)
        // SEC_CNT counts tenths of a second.
        #expect(channel.kernel.instances[5]?.data.suffix(4) == [0, 0, 0, 30])
    }

    /// The id changes once in each window of 4 s, at a random moment.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func ephemeralIDChangesWithANewAddress(_ seed: UInt64) throws {
        let channel = KernelChannel(FakeKernel())
        let key = IdentityKey(FixedOctets(repeating: 7))
        let source = PayloadSource(try Sample.ephemeral(exponent: 2), identityKey: key)
        let session = try session(channel, source, seed: seed)
        try session.start()
        let first = channel.kernel.instances[5]?.data
        try session.run(until: HCIInstant(nanoseconds: 3_999_999_000))
        #expect(channel.steps == ["54:5", "55:5"])
        try session.run(until: HCIInstant(nanoseconds: 7_999_999_000))
        #expect(channel.steps == ["54:5", "55:5", "54:5", "55:5"])
        #expect(channel.kernel.instances[5]?.addresses == 2)
        #expect(channel.kernel.instances[5]?.data != first)
    }

    @Test func ephemeralIDsContinueAfterARestart() throws {
        let key = IdentityKey(FixedOctets(repeating: 7))
        let source = PayloadSource(try Sample.ephemeral(exponent: 10), identityKey: key)
        let channel = KernelChannel(FakeKernel())
        let first = try session(channel, source)
        try first.start()
        try first.run(until: instant(5000))
        let (memory, data) = (first.memory, channel.kernel.instances[5]?.data)
        #expect(memory.eidCounter == 70_280 && memory.ephemeralIDs.count == 1)
        try first.stop()
        let later = KernelChannel(FakeKernel())
        let second = try session(later, source, memory: memory, seed: 4)
        try second.start()
        #expect(later.kernel.instances[5]?.data == data)
        #expect(second.memory == memory)
    }

    static let ends: [(ManagementEvent.Content, SupervisorCause, String)] = [
        (.indexRemoved, .adapterGone, "unplugged, or a program took its user channel"),
        (.newSettings([.lowEnergy]), .poweredDown, "the adapter was powered down"),
        (.newSettings([.powered]), .foreignDisabled, "LE was turned off"),
        (.newSettings([.powered, .lowEnergy, .advertising]), .foreignDisabled, "the adapter's own advertising on"),
        (
            .advertisingRemoved(instance: 5), .foreignDisabled,
            "advertising instance 5 was removed, by another program or with"
        ),
        (.advertisingAdded(instance: 5), .foreignChanged, "another program took advertising instance 5"),
        (.controllerError(code: 0x42), .hardwareError, "hardware error (0x42)"),
    ]

    @Test(arguments: ends.indices)
    func reportsTheEventThatEndsTheSession(_ number: Int) throws {
        let (content, wanted, text) = Self.ends[number]
        let channel = KernelChannel(FakeKernel())
        let session = try session(channel, PayloadSource(try Sample.iBeacon()))
        try session.start()
        channel.script = [(2000, ManagementEvent(index: 0, content))]
        guard case .ended(let cause, let reason) = failure({ try session.run(until: instant(60)) }) else {
            Issue.record("the session did not end")
            return
        }
        #expect(cause == wanted)
        #expect(reason.hasPrefix("hci0:mgmt: "))
        #expect(reason.contains(text))
        #expect(channel.now == instant(2))
    }

    @Test func ignoresEventsOfOtherAdaptersAndInstances() throws {
        let channel = KernelChannel(FakeKernel())
        let session = try session(channel, PayloadSource(try Sample.iBeacon()))
        try session.start()
        channel.script = [
            (1000, ManagementEvent(index: 1, .indexRemoved)), (1000, ManagementEvent(index: 0, .indexAdded)),
            (1000, ManagementEvent(index: 0, .advertisingAdded(instance: 1))),
            (1000, ManagementEvent(index: 0, .advertisingRemoved(instance: 1))),
            (1000, ManagementEvent(index: 0, .newSettings([.powered, .lowEnergy, .connectable]))),
            (1000, ManagementEvent(index: 0, .controllerSuspend(state: 1))),
            (1000, ManagementEvent(index: 0, .unknown(code: 0x15, parameters: []))),
        ]
        try session.run(until: instant(10))
        #expect(channel.now == instant(10))
    }

    @Test func doesNotRemoveAnInstanceThatAnotherProgramTook() throws {
        let channel = KernelChannel(FakeKernel())
        let session = try session(channel, PayloadSource(try Sample.iBeacon()))
        try session.start()
        channel.script = [(2000, ManagementEvent(index: 0, .advertisingAdded(instance: 5)))]
        #expect(throws: SessionError.self) { try session.run(until: instant(60)) }
        try session.stop()
        #expect(channel.kernel.instances[5] != nil)
    }

    /// The kernel does not send data that it believes to be on the controller.
    @Test func rearmSendsOtherDataBeforeTheSameData() throws {
        let channel = KernelChannel(FakeKernel())
        let session = try session(channel, PayloadSource(try Sample.iBeacon()))
        try session.start()
        try session.rearm()
        #expect(channel.steps == ["54:5", "55:5", "04", "54:5", "55:5", "55:5"])
        #expect(channel.kernel.instances[5]?.data == Sample.iBeaconOctets)

        // The same after a silence.
        channel.forget()
        session.silence(since: channel.now)
        try session.rearm()
        #expect(channel.steps == ["04", "3f:5", "04", "02", "3d", "54:5", "55:5", "55:5"])
        #expect(channel.kernel.instances[5]?.data == Sample.iBeaconOctets)
    }

    /// If the controller has sets, the same data is sent again, which enables an instance that is off.
    @Test(arguments: [true, false])
    func verificationDisturbsNothing(_ hasSets: Bool) throws {
        var kernel = FakeKernel()
        kernel.hasExtendedAdvertising = hasSets
        let channel = KernelChannel(kernel)
        let session = try session(channel, PayloadSource(try Sample.iBeacon()))
        try session.start()
        channel.forget()
        let before = channel.kernel.instances
        #expect(try session.verify())
        #expect(channel.steps == (hasSets ? ["04", "55:5"] : ["04"]))
        #expect(channel.kernel.instances == before)
        channel.kernel.instances = [:]
        #expect(try session.verify() == !hasSets)
        channel.kernel.settings = [.lowEnergy]
        #expect(try !session.verify())
        channel.kernel.settings = [.powered, .lowEnergy, .advertising]
        #expect(try !session.verify())
        channel.kernel.refusals = [ReadControllerInformation.opcode: .invalidIndex]
        #expect(throws: SessionError.self) { try session.verify() }
    }

    /// The time of a silence is counted.
    @Test func countsNoEventsDuringASilence() throws {
        let channel = KernelChannel(FakeKernel())
        let session = try session(channel, PayloadSource(try Sample.iBeacon()))
        try session.start()
        try session.run(until: instant(60))
        let before = session.counters
        session.silence(since: instant(60))
        #expect(!session.isOnAir && session.nextWakeUp == nil)
        _ = try channel.receive(until: instant(100))
        #expect(session.counters.advertisements == before.advertisements)
        #expect(session.counters.uptimeDeciseconds == 1000)
        try session.rearm()
        #expect(session.isOnAir && session.counters.advertisements <= before.advertisements + 1)
        try session.run(until: instant(160))
        #expect(session.counters.uptimeDeciseconds == 1600)
        let twice = 2 * before.advertisements
        #expect((twice - 2...twice + 2).contains(session.counters.advertisements))
    }

    @Test(arguments: 0...2)
    func stopRemovesTheInstanceDespiteSignals(_ interruptions: Int) throws {
        let channel = KernelChannel(FakeKernel())
        let session = try session(channel, PayloadSource(try Sample.iBeacon()))
        try session.start()
        channel.interruptions = interruptions
        try session.stop()
        #expect(channel.kernel.instances.isEmpty)
    }
}
