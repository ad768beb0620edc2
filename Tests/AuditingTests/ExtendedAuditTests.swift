import Auditing
import BeaconFrames
import BluetoothTypes
import Sightings
import Testing

/// Verdicts on the PHY of an advertisement.
@Suite struct ExtendedAuditTests {
    private static let sender = Sender(DeviceAddress(FixedOctets(repeating: 0xC1)), isRandom: true)
    private static let octets: [UInt8] = [3, 0xFF, 0xFF, 0xFF]

    private static func audit(_ expected: ExtendedPHY?, heard: [ExtendedPHY?]) throws -> AdvertisementAudit {
        let expected = ExpectedAdvertisement(
            type: "raw", content: .raw, octets: ExpectedOctets(octets), intervalMicroseconds: 100_000,
            address: .exactly(sender), phy: expected)
        var auditor = Auditor([ExpectedBeacon(name: "door", advertisements: [expected])], receivers: ["desk"])
        auditor.begin(0, at: HeardInstant(nanoseconds: 0))
        for number in 0..<200 {
            let at = HeardInstant(nanoseconds: UInt64(number) * 105_000_000)
            auditor.receive(
                Sighting(at: at, from: sender, rssi: -60, phy: heard[number % heard.count]), octets.span,
                octets.indices, by: 0)
        }
        auditor.end(0, at: HeardInstant(nanoseconds: 21_000_000_000))
        var model = SilenceModel()
        return try #require(auditor.report(&model).advertisements.first)
    }

    @Test(
        arguments: [
            (nil, nil), (.le1M, .le1M), (.le2M, .le2M), (.coded, .coded), (.coded, .codedS2), (.codedS8, .coded),
            (.codedS2, .codedS2), (.codedS2, .coded),
        ] as [(ExtendedPHY?, ExtendedPHY?)])
    func acceptsTheExpectedPHY(_ expected: ExtendedPHY?, _ heard: ExtendedPHY?) throws {
        #expect(try Self.audit(expected, heard: [heard]).verdicts == [.ok])
    }

    @Test(
        arguments: [
            (nil, .le1M), (.le1M, nil), (.coded, nil), (.le2M, .le1M), (.le1M, .coded), (.codedS8, .codedS2),
        ] as [(ExtendedPHY?, ExtendedPHY?)])
    func reportsAnotherPHY(_ expected: ExtendedPHY?, _ heard: ExtendedPHY?) throws {
        let audit = try Self.audit(expected, heard: [heard])
        #expect(audit.verdicts == [.wrongPHY], "\(audit.reasons)")
    }

    @Test func theReasonNamesBothPHYs() throws {
        let audit = try Self.audit(.coded, heard: [nil])
        #expect(audit.reasons == ["it is sent in legacy PDUs instead of extended PDUs on LE Coded"])
    }
}
