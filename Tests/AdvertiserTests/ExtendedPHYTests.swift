import BeaconFrames
import BluetoothTypes
import HCI
import KernelSimulation
import Testing
import VirtualController

@testable import Advertiser

/// Extended advertisements: the commands, and the requests that are refused.
@Suite struct ExtendedPHYTests {
    private static func beacon(
        _ phy: ExtendedPHY, octets: Int = 300, units: UInt32 = 0x640, pdu: AdvertisingPDU = .nonconnectable
    ) -> Advertisement {
        let structures = stride(from: 0, to: octets, by: 200).flatMap { start in
            let count = min(200, octets - start)
            return [UInt8(count - 1), 0xFF] + [UInt8](repeating: UInt8(start / 200), count: count - 2)
        }
        return Advertisement(
            content: .raw(AdvertisingData(octets: structures)), interval: AdvertisingInterval(rawValue: units),
            measuredPower: .none, address: .staticRandom(Sample.address), pdu: pdu, phy: phy)
    }

    /// The PHYs and the coding options in the parameters; the options are `nil` for version 1 of the command.
    @Test(
        arguments: [
            (.le1M, 1, 1, nil), (.le2M, 1, 2, nil), (.coded, 3, 3, nil), (.codedS2, 3, 3, 3), (.codedS8, 3, 3, 4),
        ] as [(ExtendedPHY, UInt8, UInt8, UInt8?)])
    func parameters(_ phy: ExtendedPHY, _ primary: UInt8, _ secondary: UInt8, _ options: UInt8?) throws {
        let bench = Bench(.zephyr)
        let session = try bench.session(Self.beacon(phy))
        try session.start()
        let parameters = try #require(bench.parameters(options == nil ? 0x2036 : 0x207F))
        #expect(Array(parameters[1...2]) == [0, 0], "extended, non-connectable")
        #expect(parameters[20] == primary)
        #expect(parameters[22] == secondary)
        #expect(Array(parameters.dropFirst(25)) == (options.map { [$0, $0] } ?? []))
        #expect(try session.verify())
        let own = "20" + (options == nil ? "36" : "7f")
        #expect(bench.steps.filter { $0 == "2036" || $0 == "207f" } == [own, own])
    }

    @Test func longDataIsSentInFragmentsBeforeTheSetIsEnabled() throws {
        let bench = Bench(.intel)
        let advertisement = Self.beacon(.le1M, octets: 1650)
        let session = try bench.session(advertisement)
        try session.start()
        #expect(bench.steps == ["2039-", "2036", "2035"] + Array(repeating: "2037", count: 7) + ["2039+"])
        try bench.run(session, seconds: 3)
        #expect(Set(bench.events) == [try advertisement.payload().octets])
    }

    /// A reload with other long data disables the set for the fragments.
    @Test func reloadReplacesLongData() throws {
        let bench = Bench(.intel)
        let session = try bench.session(Self.beacon(.le1M, octets: 300))
        try session.start()
        bench.forget()
        let other = Self.beacon(.le1M, octets: 800)
        try session.replace(
            with: SetAllocation([PayloadSource(other)], on: bench.capabilities(isExclusive: false), isExclusive: true))
        #expect(bench.steps.suffix(6) == ["2039-", "2037", "2037", "2037", "2037", "2039+"])
        #expect(session.isOnAir)
        bench.forget()
        try bench.run(session, seconds: 3)
        #expect(Set(bench.events) == [try other.payload().octets])
    }

    @Test func refusals() throws {
        var no2M = VirtualControllerModel.intel
        no2M.features.remove(.le2MPHY)
        var noCoded = VirtualControllerModel.intel
        noCoded.features.remove(.leCodedPHY)
        var small = VirtualControllerModel.intel
        small.maximumDataLength = 251
        let cases: [(VirtualControllerModel, Advertisement, String)] = [
            (.raspberryPi, Self.beacon(.le1M), "Raspberry Pi"),
            (.core4, Self.beacon(.coded), "no extended advertising"),
            (no2M, Self.beacon(.le2M), "no LE 2M"), (noCoded, Self.beacon(.coded), "no LE Coded"),
            (.intel, Self.beacon(.codedS8), "write coded"), (small, Self.beacon(.le1M), "at most 251"),
            (.intel, Self.beacon(.le1M, units: 0x1F), "out of this controller's range"),
            (.intel, Self.beacon(.le1M, pdu: .scannable), "no data of its own"),
            (.intel, Self.beacon(.le1M, pdu: .connectable), "245"),
            (.intel, Self.beacon(.coded, units: 0x20), "longer than the interval"),
        ]
        for (model, advertisement, words) in cases {
            let error = failure { _ = try Bench(model).session(advertisement) }
            guard case .impossible(let reason)? = error else {
                Issue.record("\(words): \(String(describing: error))")
                continue
            }
            #expect(reason.contains(words), "\(reason)")
        }
    }

    @Test func legacyAndExtendedAdvertisementsShareNoSet() throws {
        var model = VirtualControllerModel.intel
        model.advertisingSets = 1
        let sources = [PayloadSource(try Sample.iBeacon()), PayloadSource(Self.beacon(.le2M))]
        let error = failure { _ = try Bench(model).session(sources) }
        #expect(error?.description.contains("they differ in PHY (legacy, 2M)") == true)
        let session = try Bench(.intel).session(sources)
        try session.start()
        #expect(session.allocation.sets.count == 2)
    }

    // MARK: Through the kernel's advertising manager

    private static func kernel(
        _ channels: ManagementAdvertisingFlags = [.secondaryChannel1M, .secondaryChannel2M, .secondaryChannelCoded]
    ) -> FakeKernel {
        var kernel = FakeKernel()
        kernel.secondaryChannels = channels
        kernel.extendedDataLimit = 251
        return kernel
    }

    private static func session(_ channel: KernelChannel, _ advertisement: Advertisement) throws -> ManagedSession {
        let adapter = try ManagedAdapter(channel.host, index: 0)
        let layout = try InstanceLayout([advertisement], on: adapter.capabilities)
        channel.forget()
        return ManagedSession(
            host: channel.host, layout: layout, sources: [PayloadSource(advertisement)], clock: nil, memory: nil,
            randomness: SplitMix64(seed: 1))
    }

    /// The secondary channel also decides the primary channel.
    @Test(
        arguments: [
            (.le1M, .secondaryChannel1M), (.le2M, .secondaryChannel2M), (.coded, .secondaryChannelCoded),
        ] as [(ExtendedPHY, ManagementAdvertisingFlags)], [true, false])
    func kernelGetsTheSecondaryChannelAndAllData(
        _ wanted: (phy: ExtendedPHY, flag: ManagementAdvertisingFlags), _ knowsExtendedForm: Bool
    ) throws {
        var kernel = Self.kernel()
        kernel.knowsExtendedForm = knowsExtendedForm
        let channel = KernelChannel(kernel)
        let advertisement = Self.beacon(wanted.phy, octets: 240)
        let session = try Self.session(channel, advertisement)
        try session.start()
        let instance = try #require(channel.kernel.instances[5])
        let channels: ManagementAdvertisingFlags = [.secondaryChannel1M, .secondaryChannel2M, .secondaryChannelCoded]
        #expect(instance.flags.intersection(channels) == wanted.flag)
        #expect(instance.data == (try advertisement.payload().octets) && instance.data.count == 240)
        try session.stop()
        #expect(channel.steps == (knowsExtendedForm ? ["54:5", "55:5", "3f:5"] : ["3e:5", "3f:5"]))
        #expect(channel.kernel.instances.isEmpty)
    }

    @Test func legacyPDUsHaveNoSecondaryChannel() throws {
        let channel = KernelChannel(Self.kernel())
        let session = try Self.session(channel, try Sample.iBeacon())
        try session.start()
        let channels: ManagementAdvertisingFlags = [.secondaryChannel1M, .secondaryChannel2M, .secondaryChannelCoded]
        #expect(channel.kernel.instances[5]?.flags.isDisjoint(with: channels) == true)
    }

    private struct Refusal: CustomTestStringConvertible, Sendable {
        var phy = ExtendedPHY.le1M
        var octets = 240
        var pdu = AdvertisingPDU.nonconnectable
        var units: UInt32 = 0x640
        var change: @Sendable (inout FakeKernel) -> Void = { _ in }
        let words: [String]

        var testDescription: String { words[0] }
    }

    @Test(arguments: [
        Refusal(
            change: { $0.hasExtendedAdvertising = false },
            words: ["no extended advertising", "(\"phy\": \"1M\")", "leave the PHY out"]),
        Refusal(phy: .codedS2, words: ["does not select S=2 or S=8", "write coded", "--adapter hci0"]),
        Refusal(phy: .codedS8, words: ["does not select S=2 or S=8", "write coded", "--adapter hci0"]),
        Refusal(phy: .le2M, change: { $0.secondaryChannels = [.secondaryChannel1M] }, words: ["no LE 1M and LE 2M"]),
        Refusal(phy: .coded, change: { $0.secondaryChannels = [.secondaryChannel1M] }, words: ["has no LE Coded"]),
        Refusal(octets: 252, words: ["252 bytes of data do not fit: the limit is 251"]),
        Refusal(pdu: .scannable, words: ["no data of its own"]),
        Refusal(octets: 246, pdu: .connectable, words: ["245"]),
    ])
    private func refusesWhatTheKernelCannotSend(_ refusal: Refusal) throws {
        var kernel = Self.kernel()
        refusal.change(&kernel)
        let channel = KernelChannel(kernel)
        let advertisement = Self.beacon(refusal.phy, octets: refusal.octets, units: refusal.units, pdu: refusal.pdu)
        let error = failure { try Self.session(channel, advertisement).start() }
        let text = try #require(error?.description)
        for word in refusal.words { #expect(text.contains(word)) }
        #expect(channel.kernel.instances.isEmpty)
        #expect(!channel.steps.contains("55:5"))
    }
}
