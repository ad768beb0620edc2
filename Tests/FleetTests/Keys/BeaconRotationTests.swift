import BluetoothTypes
import Configuration
import EddystoneSecurity
import Fleet
import Testing

@Suite struct BeaconRotationTests {
    static let epoch = RFC3339Time(secondsSince1970: 1_772_366_400)
    static let key = IdentityKey(.init(repeating: 0x5A))

    @Test(arguments: [0, 1, 4, 10, 15])
    func acceptsAnIDOneWindowEarlyOrLate(_ exponent: Int) throws {
        let rotation = try #require(try Self.rotation(exponent))
        let period = 1 << exponent
        // The start of a window two days after the epoch, at which the temporary key changes.
        let start = 4 * 65_536
        let id = try Self.key.ephemeralID(at: UInt32(start), exponent: RotationExponent(exponent))
        for (offset, isFound) in [
            (-period - 1, false), (-period, true), (-1, true), (0, true), (period - 1, true), (2 * period - 1, true),
            (2 * period, false),
        ] {
            let time = RFC3339Time(secondsSince1970: Self.epoch.secondsSince1970 - 65_280 + start + offset)
            let answer = try EphemeralIDQuestion(id, at: time).answer(rotation, key: Self.key)
            #expect((answer != nil) == isFound, "\(offset)")
            #expect(answer.map { Int($0.counter) } ?? start == start)
            #expect(answer.map { $0.to.secondsSince1970 - $0.from.secondsSince1970 } ?? period == period)
        }
    }

    @Test(arguments: [
        (0, 1023, true), (0, 1024, false), (100, 1123, true), (100, 1124, false), (100, -100, true), (100, -101, false),
    ])
    func allowsForDriftInSeconds(_ drift: Int, _ offset: Int, _ isFound: Bool) throws {
        let rotation = try #require(try Self.rotation(10))
        let id = try Self.key.ephemeralID(at: 1 << 20, exponent: RotationExponent(10))
        let time = RFC3339Time(secondsSince1970: Self.epoch.secondsSince1970 - 65_280 + 1 << 20 + offset)
        let answer = try EphemeralIDQuestion(id, at: time, driftSeconds: drift).answer(rotation, key: Self.key)
        #expect((answer != nil) == isFound)
    }

    @Test func counterIs65280AtTheEpoch() throws {
        let rotation = try #require(try Self.rotation(4))
        let id = try Self.key.ephemeralID(at: 65_280, exponent: RotationExponent(4))
        let answer = try EphemeralIDQuestion(id, at: Self.epoch, driftSeconds: 0).answer(rotation, key: Self.key)
        #expect(answer?.from == Self.epoch)
    }

    @Test func findsNothingWithAWrongKeyOrAnUnknownEpoch() throws {
        let id = try Self.key.ephemeralID(at: 65_280, exponent: RotationExponent(4))
        let question = EphemeralIDQuestion(id, at: Self.epoch)
        let rotation = try #require(try Self.rotation(4))
        #expect(try question.answer(rotation, key: IdentityKey(.init(repeating: 0x5B))) == nil)
        var beacon = SampleFleet.beacon("a", advertisements: [SampleFleet.ephemeral])
        beacon.eidEpoch = nil
        let unknown = try #require(try BeaconRotation(beacon))
        #expect(try question.answer(unknown, key: Self.key) == nil)
    }

    @Test(arguments: [Int.min, -62_167_219_200, 0, 253_402_300_799, Int.max], [nil, 0, 100, Int.max, Int.min])
    func survivesExtremeTimesAndDrifts(_ time: Int, _ drift: Int?) throws {
        // With the exponent 15, the search through the 136 years of the counter is short.
        let rotation = try #require(try Self.rotation(15))
        let question = EphemeralIDQuestion(
            .init(repeating: 1), at: RFC3339Time(secondsSince1970: time), driftSeconds: drift)
        #expect(try question.answer(rotation, key: Self.key) == nil)
    }

    @Test func refusesSeveralKeysAndSharedKeys() throws {
        #expect(try BeaconRotation(SampleFleet.beacon("plain")) == nil)
        var other = SampleFleet.ephemeral
        other.identityKeyFile = "keys/other"
        let twice = SampleFleet.beacon("twice", advertisements: [SampleFleet.ephemeral, SampleFleet.ephemeral])
        #expect(try BeaconRotation(twice)?.exponents.count == 1)
        let two = SampleFleet.beacon("two", advertisements: [SampleFleet.ephemeral, other])
        let error = try #require(throws: BeaconRotationError.self) { try BeaconRotation(two) }
        #expect(error.reason == .severalKeys(["keys/own", "keys/other"]))
        let shared = FleetManifest(
            fleet: "f", beacons: ["a", "b"].map { SampleFleet.beacon($0, advertisements: [SampleFleet.ephemeral]) })
        #expect(throws: BeaconRotationError.self) { try BeaconRotation.all(in: shared) }
    }

    @Test(arguments: ["", "/", "keys/..", "keys/.hidden", "a\0b"])
    func refusesInvalidKeyFileNames(_ file: String) throws {
        var advertisement = SampleFleet.ephemeral
        advertisement.identityKeyFile = file
        let beacon = SampleFleet.beacon("a", advertisements: [advertisement])
        let error = try #require(throws: BeaconRotationError.self) { try BeaconRotation(beacon) }
        #expect(error.reason == .noFile(file))
    }

    private static func rotation(_ exponent: Int) throws -> BeaconRotation? {
        var advertisement = SampleFleet.ephemeral
        advertisement.rotationExponent = exponent
        var beacon = SampleFleet.beacon("a", advertisements: [advertisement])
        beacon.eidEpoch = epoch
        return try BeaconRotation(beacon)
    }
}
