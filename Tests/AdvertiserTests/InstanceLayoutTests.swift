import Advertiser
import BeaconFrames
import BluetoothTypes
import HCI
import KernelSimulation
import Testing

/// The layout of advertisements in kernel instances, and the warnings about settings that the kernel ignores.
@Suite struct InstanceLayoutTests {
    private func layout(_ kernel: FakeKernel, _ advertisements: Advertisement...) throws -> InstanceLayout {
        let adapter = try ManagedAdapter(KernelChannel(kernel).host, index: 0)
        return try InstanceLayout(advertisements, on: adapter.capabilities)
    }

    private func reasons(_ kernel: FakeKernel, _ advertisements: Advertisement...) throws -> [ManagedWarning.Reason] {
        let adapter = try ManagedAdapter(KernelChannel(kernel).host, index: 0)
        return try InstanceLayout(advertisements, on: adapter.capabilities).warnings.map(\.reason)
    }

    private var legacy: FakeKernel {
        var kernel = FakeKernel()
        kernel.hasExtendedAdvertising = false
        return kernel
    }

    @Test func intervalAndPowerAreKeptWithExtendedAdvertising() throws {
        var advertisement = try Sample.iBeacon(intervalUnits: 0x320)
        advertisement.radioPower = Sample.power(-8)
        let layout = try layout(FakeKernel(), advertisement)
        #expect(layout.form == .extended)
        #expect(layout.instances.map(\.number) == [5])
        #expect(layout.instances[0].interval == advertisement.interval...advertisement.interval)
        #expect(layout.warnings.map(\.reason) == [.addressChosenByKernel(eachChange: false)])
        let command = try #require(try layout.parameters(layout.instances[0]))
        #expect(
            Hexadecimal.text(command.packet(0).octets)
                == Hexadecimal.text(
                    [0x54, 0, 0, 0, 18, 0, 5, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0x20, 3, 0, 0, 0x20, 3, 0, 0, 0xF8]))
    }

    @Test func warnsOfIgnoredIntervalAndPowerOnALegacyController() throws {
        var advertisement = try Sample.iBeacon(intervalUnits: 0x320)
        advertisement.radioPower = Sample.power(-8)
        let layout = try layout(legacy, advertisement)
        #expect(
            layout.warnings.map(\.description) == [
                "hci0:mgmt: the interval is not 500 ms: on this legacy controller the kernel always uses "
                    + "100...150 ms; --adapter hci0 or hci0:user uses the requested interval",
                "hci0:mgmt: the radio power of -8 dBm is ignored: the kernel cannot set it on a controller "
                    + "without extended advertising; --adapter hci0 or hci0:user tries the controller's own command",
                "hci0:mgmt: the kernel chooses a new random address at each change of the data and at each turn; "
                    + "--adapter hci0 or hci0:user keeps one address",
            ])
        #expect(layout.instances[0].interval.lowerBound.microseconds == 100_000)
        #expect(layout.instances[0].interval.upperBound.microseconds == 150_000)
        // The power would be ignored, so it is not requested.
        #expect(try layout.parameters(layout.instances[0])?.power == .noPreference)
    }

    @Test func aDiscoverableAdapterKeepsTheInterval() throws {
        var kernel = legacy
        kernel.settings.insert(.discoverable)
        #expect(try reasons(kernel, Sample.iBeacon(intervalUnits: 0x320)) == [.addressChosenByKernel(eachChange: true)])
    }

    @Test func aConnectableAdapterMakesEverythingConnectable() throws {
        var kernel = legacy
        kernel.settings.insert(.connectable)
        #expect(try reasons(kernel, Sample.iBeacon(intervalUnits: 0x320)) == [.sentConnectable])
        var advertisement = try Sample.iBeacon(intervalUnits: 0x320)
        advertisement.pdu = .connectable
        #expect(try reasons(kernel, advertisement) == [.addressOfAdapter])
        advertisement.address = .public
        #expect(try reasons(kernel, advertisement) == [])
    }

    @Test func warnsOfIgnoredIntervalAndPowerOnAnOldKernel() throws {
        var kernel = FakeKernel()
        kernel.knowsExtendedForm = false
        var advertisement = try Sample.iBeacon(intervalUnits: 0x320)
        advertisement.radioPower = Sample.power(4)
        let layout = try layout(kernel, advertisement)
        #expect(layout.form == .plain)
        #expect(try layout.parameters(layout.instances[0]) == nil)
        #expect(
            layout.warnings.map(\.reason) == [
                .intervalDefault(requested: advertisement.interval),
                .powerIgnored(requested: Sample.power(4), oldKernel: true), .addressChosenByKernel(eachChange: false),
            ])
        let packet = try layout.data(layout.instances[0], AdvertisingData(octets: [2, 1, 6]))
        #expect(packet.octets == [0x3E, 0, 0, 0, 14, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 2, 1, 6])
    }

    @Test func warnsOfIgnoredChannelsAndAddedFlags() throws {
        var advertisement = try Sample.iBeacon()
        advertisement.channels = [.channel37]
        #expect(try reasons(FakeKernel(), advertisement).contains(.channelsIgnored))
        var lowEnergyOnly = FakeKernel()
        lowEnergyOnly.settings.remove(.bredr)
        #expect(try !reasons(lowEnergyOnly, Sample.iBeacon()).contains(.flagsAdded))
        advertisement.content = .iBeacon(uuid: Sample.uuid, major: 1, minor: 2, flags: nil)
        #expect(try reasons(lowEnergyOnly, advertisement).contains(.flagsAdded))
        #expect(try !reasons(FakeKernel(), advertisement).contains(.flagsAdded))
    }

    @Test func ephemeralIDHasNoAddressWarning() throws {
        #expect(try reasons(FakeKernel(), Sample.ephemeral(exponent: 4)) == [])
    }

    @Test func usesTheHighestFreeInstancesInTurnsOnALegacyController() throws {
        var kernel = legacy
        kernel.instances = [1: .init()]
        let layout = try layout(kernel, Sample.iBeacon(), Sample.telemetry(intervalUnits: 0xA0))
        #expect(layout.instances.map(\.number) == [5, 4])
        #expect(layout.takesTurns)
        // The silence: 1 s for the other new instance, and 2 s for the existing instance.
        #expect(layout.warnings.last?.reason == .turns(instances: 3, silence: 3))
        #expect(layout.warnings.last?.advertisement == nil)
        #expect(layout.warnings.first?.advertisement == 1)
        #expect(try layout.parameters(layout.instances[0])?.duration == 1)
        #expect(try layout.parameters(layout.instances[0])?.flags.contains(.useDuration) == true)
    }

    @Test func instancesTakeNoTurnsWithExtendedAdvertising() throws {
        let layout = try layout(FakeKernel(), Sample.iBeacon(), Sample.telemetry(intervalUnits: 0xA0))
        #expect(!layout.takesTurns)
        #expect(try layout.parameters(layout.instances[1])?.duration == 0)
    }

    private func refusal(_ kernel: FakeKernel, _ advertisements: [Advertisement]) throws -> String? {
        let adapter = try ManagedAdapter(KernelChannel(kernel).host, index: 0)
        return failure { _ = try InstanceLayout(advertisements, on: adapter.capabilities) }?.description
    }

    @Test func refusesMoreAdvertisementsThanFreeInstances() throws {
        var kernel = FakeKernel()
        kernel.maximumInstances = 3
        kernel.instances = [1: .init(), 2: .init()]
        #expect(
            try refusal(kernel, [Sample.iBeacon(), Sample.iBeacon()])
                == "hci0:mgmt: 2 advertisements need 2 of the kernel's advertising instances, and 2 of its 3 are in use; "
                + "send fewer, or use --adapter hci0")
        kernel.maximumInstances = 0
        kernel.instances = [:]
        #expect(try refusal(kernel, [Sample.iBeacon()])?.contains("one advertisement needs one") == true)
    }

    @Test func refusesAnAdapterWithItsOwnAdvertisingOn() throws {
        var kernel = FakeKernel()
        kernel.settings.insert(.advertising)
        #expect(try refusal(kernel, [Sample.iBeacon()])?.contains("btmgmt --index 0 advertising off") == true)
    }

    @Test func refusesIntervalsOutsideTheControllersRange() throws {
        #expect(try refusal(legacy, [Sample.iBeacon(intervalUnits: 0x4001)])?.contains("20 ms...10240 ms") == true)
        #expect(try refusal(FakeKernel(), [Sample.iBeacon(intervalUnits: 0x4001)]) == nil)
        #expect(try refusal(FakeKernel(), [Sample.iBeacon(intervalUnits: 0x1F)]) != nil)
    }

    @Test func refusesDataThatTheKernelWouldRefuse() throws {
        var kernel = FakeKernel()
        kernel.settings.remove(.bredr)
        var advertisement = try Sample.iBeacon()
        advertisement.content = .raw(AdvertisingData(octets: [3, 0xFF, 0xFF]))
        let layout = try layout(kernel, advertisement)
        func refusal(_ octets: [UInt8]) -> String? {
            failure { _ = try layout.data(layout.instances[0], AdvertisingData(octets: octets)) }?.description
        }
        #expect(refusal([UInt8](repeating: 0, count: 28)) == nil)
        #expect(refusal([UInt8](repeating: 0, count: 29))?.contains("next to the Flags structure") == true)
        #expect(refusal([3, 0xFF, 0xFF])?.contains("complete AD structures") == true)
    }
}
