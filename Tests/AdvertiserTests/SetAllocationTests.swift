import Advertiser
import BeaconFrames
import BluetoothTypes
import EddystoneSecurity
import HCI
import Testing
import VirtualController

/// The assignment of advertisements to sets, and the advertisements that cannot share a set.
@Suite struct SetAllocationTests {
    private func allocation(
        _ model: VirtualControllerModel, _ advertisements: [Advertisement], sets: Int? = nil, isExclusive: Bool = true
    ) throws -> SetAllocation {
        try SetAllocation(
            advertisements.map { PayloadSource($0) }, on: try Bench(model).capabilities(), isExclusive: isExclusive,
            setLimit: sets)
    }

    private func refusal(
        _ model: VirtualControllerModel, _ advertisements: [Advertisement], sets: Int? = nil
    ) -> String? {
        failure { _ = try allocation(model, advertisements, sets: sets) }?.description
    }

    private func frames(_ milliseconds: [Double]) throws -> [Advertisement] {
        try Sample.iBeacons(milliseconds).map { source in
            var advertisement = source.advertisement
            advertisement.channels = .all
            return advertisement
        }
    }

    private static let key = Advertisement.RotatingKey(identityKeyFile: "a.key", rotationExponent: 10)

    private func ephemeral(_ key: Advertisement.RotatingKey = key) throws -> Advertisement {
        var advertisement = try Sample.ephemeral(exponent: 10)
        advertisement.content = .eddystoneEID(key)
        return advertisement
    }

    private func encrypted(_ key: Advertisement.RotatingKey = key) -> Advertisement {
        var advertisement = Sample.telemetry(intervalUnits: 1600)
        advertisement.content = .eddystoneTLM(.init(battery: .unknown, temperature: .unknown), encryption: key)
        return advertisement
    }

    @Test func eachAdvertisementHasItsOwnSetIfThereAreEnough() throws {
        let found = try allocation(.intel, try frames([100, 200, 300]))
        #expect(found.sets.map(\.members) == [[0], [1], [2]])
        #expect(
            found.sets.map(\.parameters.family) == [.extended(handle: 0), .extended(handle: 1), .extended(handle: 2)])
        #expect(found.sets.map(\.parameters.interval.microseconds) == [100_000, 200_000, 300_000])
        #expect(found.set(of: 2) == 2 && found.set(of: 3) == nil)
        let beside = try allocation(.intel, try frames([100, 200]), isExclusive: false)
        #expect(beside.sets.map(\.parameters.family) == [.extended(handle: 0xEF), .extended(handle: 0xEE)])
    }

    @Test func legacyControllersHaveOneSetForAll() throws {
        for model in [VirtualControllerModel.raspberryPi, .core4, .legacyZephyr] {
            let found = try allocation(model, try frames([200, 350, 700, 5000]))
            #expect(found.sets.map(\.members) == [[0, 1, 2, 3]])
            #expect(found.sets[0].parameters.family == .legacy && found.sets[0].isShared)
            #expect(found.sets[0].parameters.interval.rawValue == 163)
        }
    }

    /// Six advertisements on four sets: each of the three fastest has its own set, the others share one.
    @Test func slowestAdvertisementsShareOneSet() throws {
        let found = try allocation(.zephyr, try frames([1000, 100, 2000, 150, 200, 3000]))
        #expect(found.sets.map(\.members) == [[0, 2, 5], [1], [3], [4]])
        #expect(found.sets[1].parameters.interval.microseconds == 100_000)
    }

    /// The advertisements of each radio power get at least one set.
    @Test func differentRadioPowersUseDifferentSets() throws {
        var advertisements = try frames([1000, 1000, 1000, 100])
        for index in [1, 2] { advertisements[index].radioPower = Sample.power(-8) }
        #expect(try allocation(.intel, advertisements, sets: 2).sets.map(\.members) == [[0, 3], [1, 2]])
        #expect(try allocation(.intel, advertisements, sets: 3).sets.map(\.members) == [[0], [1, 2], [3]])
    }

    @Test func ephemeralIDSharesASetOnlyWithItsTelemetry() throws {
        let advertisements = [try ephemeral(), encrypted(), try frames([500])[0]]
        #expect(try allocation(.zephyr, advertisements).sets.map(\.members) == [[0], [1], [2]])
        let two = try allocation(.zephyr, advertisements, sets: 2)
        #expect(two.sets.map(\.members) == [[0, 1], [2]])
        #expect(two.sets.map(\.rotatingKey) == [Self.key, nil])
        #expect(try allocation(.raspberryPi, Array(advertisements.prefix(2))).sets.map(\.members) == [[0, 1]])
    }

    private static let needs2 = ". This controller has one advertising set, and 2 would be needed: "
    private static let idRule = "an ephemeral id shares its address only with its own encrypted telemetry"

    @Test func refusesOtherFramesInTheSetOfAnEphemeralID() throws {
        let other = Advertisement.RotatingKey(identityKeyFile: "b.key", rotationExponent: 10)
        let table: [([Advertisement], String)] = [
            (
                [try frames([500])[0], try ephemeral()],
                "advertisement 1 (ibeacon) and advertisement 2 (eddystone-eid)"
            ),
            (
                [try ephemeral(), Sample.telemetry(intervalUnits: 1600)],
                "advertisement 1 (eddystone-eid) and advertisement 2 (eddystone-tlm)"
            ),
            (
                [try ephemeral(), try ephemeral(other)],
                "advertisement 1 (eddystone-eid) and advertisement 2 (eddystone-eid)"
            ),
            (
                [try ephemeral(), encrypted(), encrypted(other)],
                "advertisement 1 (eddystone-eid) and advertisement 3 (eddystone-tlm)"
            ),
        ]
        for (advertisements, names) in table {
            #expect(
                refusal(.raspberryPi, advertisements)
                    == "\(names) cannot share an advertising set: \(Self.idRule)\(Self.needs2)"
                    + "remove one of them, or use a controller with extended advertising")
            #expect(refusal(.intel, advertisements) == nil)
        }
    }

    @Test func namesTheDifferenceThatPreventsSharing() throws {
        func change(_ body: (inout Advertisement) -> Void) throws -> [Advertisement] {
            var advertisements = try frames([500, 500, 500])
            body(&advertisements[2])
            return advertisements
        }
        let table: [([Advertisement], String)] = [
            (try change { $0.radioPower = Sample.power(4) }, "radio power (not set, 4 dBm)"),
            (try change { $0.channels = .channel38 }, "channels (37,38,39 and 38)"),
            (try change { $0.address = .public }, "address (C0:11:22:33:44:55, the public address)"),
            (try change { $0.pdu = .scannable }, "PDU (nonconnectable, scannable)"),
        ]
        for (advertisements, difference) in table {
            #expect(
                refusal(.raspberryPi, advertisements)
                    == "advertisement 1 (ibeacon) and advertisement 3 (ibeacon) cannot share an advertising set: "
                    + "they differ in \(difference)\(Self.needs2)"
                    + "make these values equal, or remove one of them, or use a controller with extended advertising")
            #expect(refusal(.intel, advertisements) == nil)
            #expect(refusal(.intel, advertisements, sets: 1)?.hasSuffix("or use a controller with more sets") == true)
        }
        var answers = try change { $0.pdu = .scannable }
        for index in 0..<2 { answers[index].pdu = .scannable }
        answers[2].scanResponse = AdvertisingData(octets: [2, 9, 65])
        #expect(refusal(.raspberryPi, answers)?.contains("they differ in scan response. This") == true)
    }

    @Test func refusesEventRatesThatTheControllerCannotSend() throws {
        // Twice 1000 / 142.5 is needed, and the controller gives 1000 / 105.
        let frames = try frames([137.5, 137.5])
        #expect(
            refusal(.core4, frames)
                == "these frames need 14.0 events/s; this controller gives 9.5 at 100 ms: choose longer intervals or "
                + "fewer frames")
        #expect(refusal(.raspberryPi, frames) == nil)
        // With one decimal, both rates would look equal.
        #expect(
            refusal(.core4, try self.frames([309.375, 309.375, 309.375]))
                == "these frames need 9.543 events/s; this controller gives 9.524 at 100 ms: choose longer intervals "
                + "or fewer frames")
        #expect(refusal(.core4, try self.frames([310, 310, 310])) == nil)
        let slow = try self.frames([30_000, 30_000])
        #expect(
            refusal(.raspberryPi, slow)
                == "these frames need 0.067 events/s; this controller gives at least 0.098 at 10240 ms: choose a "
                + "shorter interval")
        #expect(refusal(.raspberryPi, try self.frames([100, 60_000])) == nil)
    }

    @Test func refusesTelemetryFromAnAddressOfNoOtherFrame() throws {
        var telemetry = Sample.telemetry(intervalUnits: 1600)
        telemetry.address = .public
        let frame = try frames([500])[0]
        for model in [VirtualControllerModel.raspberryPi, .intel] {
            #expect(
                refusal(model, [frame, telemetry])
                    == "advertisement 2 (eddystone-tlm) is sent from the public address, but no other frame is: receivers "
                    + "assign telemetry to the frame with the same address; use the address of advertisement 1 (ibeacon), "
                    + "C0:11:22:33:44:55")
        }
        #expect(refusal(.intel, [telemetry]) == nil)
        var other = frame
        other.address = .public
        #expect(refusal(.intel, [frame, other, telemetry]) == nil)
    }

    @Test func refusesAScanResponseWithAnEphemeralID() throws {
        var advertisement = try ephemeral()
        advertisement.pdu = .scannable
        advertisement.scanResponse = AdvertisingData(octets: [2, 9, 65])
        for model in [VirtualControllerModel.raspberryPi, .intel] {
            #expect(
                refusal(model, [advertisement])
                    == "advertisement 1 (eddystone-eid): a scan response stays the same, so it would identify the beacon "
                    + "despite its ephemeral id; remove the scan response")
        }
    }

    @Test func nothingToSendIsRefused() {
        #expect(refusal(.intel, []) == "there is no advertisement to send")
    }

    /// A random request is refused, or each advertisement has exactly one set that can send it.
    @Test func seededRequestsAreMetOrRefused() throws {
        var random = SplitMix64(seed: 21)
        let capabilities = try VirtualControllerModel.tested.map { try Bench($0).capabilities() }
        var met = 0
        for _ in 0..<3000 {
            let advertisements = try (0..<1 + random.next(upTo: 7)).map { _ in
                var advertisement = [try Sample.iBeacon(), try ephemeral(), encrypted()][random.next(upTo: 2)]
                advertisement.interval = AdvertisingInterval(rawValue: UInt32(random.next(upTo: 20_000)))
                if random.next(upTo: 3) == 0 { advertisement.radioPower = Sample.power(random.next(upTo: 1)) }
                if random.next(upTo: 5) == 0 { advertisement.channels = .channel38 }
                return advertisement
            }
            let controller = capabilities[random.next(upTo: UInt32(capabilities.count - 1))]
            let limit = 1 + random.next(upTo: 5)
            guard
                let found = try? SetAllocation(
                    advertisements.map { PayloadSource($0) }, on: controller, isExclusive: true, setLimit: limit)
            else { continue }
            met += 1
            #expect(found.sets.flatMap(\.members).sorted() == Array(advertisements.indices))
            #expect(found.sets.count <= min(limit, max(1, controller.advertisingSets)))
            for set in found.sets {
                let members = set.members.map { advertisements[$0] }
                #expect(
                    members.allSatisfy {
                        set.parameters.radioPower == $0.radioPower && set.parameters.channels == $0.channels
                    })
                #expect(controller.intervalRange(for: set.parameters.pdu).contains(set.parameters.interval))
                #expect(members.allSatisfy { set.parameters.interval <= $0.interval })
                let rotating = members.filter { $0.content.rotatingKey != nil && set.rotatingKey != nil }
                #expect(rotating.isEmpty || rotating.count == members.count)
            }
        }
        #expect(met > 500)
    }
}
