import Advertiser
import BeaconFrames
import BluetoothTypes
import HCI
import Testing
import VirtualController

/// The requested radio power, the granted power, and its description.
@Suite struct PowerControlTests {
    struct Wish: CustomTestStringConvertible, Sendable {
        let model: VirtualControllerModel
        let requested: Int?
        let grant: RadioPowerGrant
        let words: String

        var testDescription: String { "\(model.name), \(requested.map(String.init) ?? "nothing") asked" }
    }

    private static let noWay =
        "this controller has no extended advertising and no known vendor command; "
        + "use a controller with extended advertising, or a Zephyr board as --adapter serial:PATH"

    private static let wishes = [
        Wish(model: .intel, requested: -10, grant: .granted(Sample.power(-10)), words: "-10 dBm granted"),
        Wish(model: .intel, requested: 20, grant: .granted(Sample.power(7)), words: "7 dBm granted"),
        Wish(
            model: .intel, requested: nil, grant: .reported(Sample.power(7)),
            words: "7 dBm, the controller's own choice"),
        Wish(model: .zephyr, requested: -10, grant: .granted(Sample.power(-12)), words: "-12 dBm granted"),
        Wish(model: .legacyZephyr, requested: 3, grant: .granted(Sample.power(3)), words: "3 dBm granted"),
        Wish(model: .legacyZephyr, requested: -10, grant: .granted(Sample.power(-12)), words: "-12 dBm granted"),
        Wish(
            model: .legacyZephyr, requested: nil, grant: .reported(Sample.power(0)),
            words: "0 dBm, the controller's own choice"),
        Wish(model: .raspberryPi, requested: 4, grant: .granted(Sample.power(4)), words: "4 dBm granted"),
        Wish(
            model: .raspberryPi, requested: 5,
            grant: .unverified(requested: Sample.power(5), reported: Sample.power(4)),
            words: "5 dBm accepted, but 4 dBm read back: unverified"),
        Wish(
            model: .raspberryPi, requested: 20,
            grant: .notSettable(
                reason: "20 dBm was refused: Parameter Out Of Mandatory Range (0x30)", reported: Sample.power(12)),
            words: "12 dBm, cannot be set: 20 dBm was refused: Parameter Out Of Mandatory Range (0x30)"),
        Wish(
            model: .raspberryPi, requested: nil, grant: .reported(Sample.power(12)),
            words: "12 dBm, the controller's own choice"),
        Wish(
            model: .core4, requested: 4, grant: .notSettable(reason: noWay, reported: Sample.power(0)),
            words: "0 dBm, cannot be set: \(noWay)"),
        Wish(
            model: .core4, requested: nil, grant: .reported(Sample.power(0)),
            words: "0 dBm, the controller's own choice"),
    ]

    @Test(arguments: wishes)
    func grantIsThePowerThatTheControllerReports(_ wish: Wish) throws {
        let bench = Bench(wish.model)
        var advertisement = try Sample.iBeacon()
        advertisement.radioPower = wish.requested.map(Sample.power)
        let session = try bench.session(advertisement)
        #expect(session.grant == .unknown)
        try session.start()
        #expect(session.grant == wish.grant)
        #expect(session.grant.description == wish.words)
        try bench.run(session, seconds: 0.5)
        // If the grant states a power, it must be the power on the air.
        let sent = try #require(bench.pdus.first?.power)
        if let told = session.grant.power { #expect(sent == told) }
    }

    @Test func broadcomPowerThatCannotBeReadBackIsUnverified() throws {
        let bench = Bench(.raspberryPi)
        var advertisement = try Sample.iBeacon()
        advertisement.radioPower = Sample.power(4)
        let session = try bench.session(advertisement)
        bench.controller.commandHook = { Bench.opcode($0) == 0x2007 ? .fail(.unknownCommand) : .pass }
        try session.start()
        #expect(session.grant == .unverified(requested: Sample.power(4), reported: nil))
        #expect(session.grant.description == "4 dBm accepted, cannot be read back: unverified")
        #expect(session.grant.power == nil)
    }

    @Test(arguments: [(VirtualControllerModel.raspberryPi, UInt16(0xFC26)), (.legacyZephyr, 0xFC0E)])
    func unansweredVendorCommandDoesNotStopTheBeacon(
        _ model: VirtualControllerModel, _ opcode: UInt16
    ) throws {
        let bench = Bench(model)
        var advertisement = try Sample.iBeacon()
        advertisement.radioPower = Sample.power(4)
        let session = try bench.session(advertisement)
        bench.controller.commandHook = { Bench.opcode($0) == opcode ? .drop : .pass }
        try session.start()
        #expect(bench.isAdvertising)
        guard case .notSettable("the controller did not answer the vendor command", _) = session.grant else {
            Issue.record("\(session.grant)")
            return
        }
    }

    @Test func powerIsUnknownIfTheControllerDoesNotReportIt() throws {
        let bench = Bench(.core4)
        let session = try bench.session(Sample.iBeacon())
        bench.controller.commandHook = { Bench.opcode($0) == 0x2007 ? .fail(.unknownCommand) : .pass }
        try session.start()
        #expect(session.grant == .unknown)
        #expect(session.grant.description == "unknown: the controller does not report it")
    }

    @Test func sendsVendorCommandsOnlyToControllersOfTheVendor() throws {
        var stranger = VirtualControllerModel.raspberryPi
        stranger.company = .realtek
        let bench = Bench(stranger)
        var advertisement = try Sample.iBeacon()
        advertisement.radioPower = Sample.power(4)
        let capabilities = try bench.capabilities()
        #expect(capabilities.powerControl == .none)
        try bench.session(advertisement).start()
        #expect(!bench.commands.contains { Bench.opcode($0) >= 0xFC00 })
    }

    @Test func powerControlFollowsManufacturerAndFeature() throws {
        let expected: [(VirtualControllerModel, PowerControl, String)] = [
            (.raspberryPi, .broadcom, "vendor command (Broadcom), unverified"), (.core4, .none, "none"),
            (.legacyZephyr, .zephyr, "vendor command (Zephyr)"),
            (.zephyr, .extendedAdvertising, "extended advertising"),
            (.intel, .extendedAdvertising, "extended advertising"),
        ]
        for (model, control, words) in expected {
            let found = try Bench(model).capabilities().powerControl
            #expect(found == control)
            #expect(found.description == words)
        }
    }

    private func calibrated(_ points: [(Int, Int)], fallback: Int?) throws -> Advertisement {
        var advertisement = try Sample.iBeacon()
        advertisement.measuredPower = .calibrated(
            PowerCalibration(
                points: try points.map { radio, measured in
                    .init(radioPower: Sample.power(radio), measuredPower: try MeasuredPowerAtOneMeter(dBm: measured))
                },
                fallback: try fallback.map { try MeasuredPowerAtOneMeter(dBm: $0) }))
        return advertisement
    }

    @Test(arguments: [
        (VirtualControllerModel.intel, 2, -57), (.intel, 4, -55), (.zephyr, 1, -59), (.raspberryPi, 2, -59),
        (.raspberryPi, 4, -55), (.legacyZephyr, 1, -59), (.core4, 4, -59),
    ])
    func measuredPowerIsLookedUpWithTheGrantedPower(
        _ model: VirtualControllerModel, _ requested: Int, _ measured: Int
    ) throws {
        let bench = Bench(model)
        var advertisement = try calibrated([(0, -59), (4, -55)], fallback: -70)
        advertisement.radioPower = Sample.power(requested)
        let session = try bench.session(advertisement)
        try session.start()
        #expect(session.payload.octets.last == UInt8(bitPattern: Int8(measured)))
    }

    @Test func usesTheFallbackIfThePowerIsUnknown() throws {
        let bench = Bench(.core4)
        let session = try bench.session(calibrated([(0, -59)], fallback: -70))
        bench.controller.commandHook = { Bench.opcode($0) == 0x2007 ? .fail(.unknownCommand) : .pass }
        try session.start()
        #expect(session.payload.octets.last == UInt8(bitPattern: -70))
    }

    @Test func powerOutsideTheCalibrationStopsTheStart() throws {
        let bench = Bench(.intel)
        let session = try bench.session(calibrated([(0, -59), (4, -55)], fallback: -70))
        let error = failure { try session.start() }
        #expect(
            error?.description
                == "the radio power of 7 dBm is outside the calibrated range 0 dBm...4 dBm: measure the signal "
                + "strength at 1 m with this power, and add it to the calibration")
        #expect(bench.steps == ["2039-", "2036", "2035", "2039-", "0c03"])
        #expect(!bench.isAdvertising && bench.pdus.isEmpty)
        #expect(session.onAirSince == nil)
    }
}
