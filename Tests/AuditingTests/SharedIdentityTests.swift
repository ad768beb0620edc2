import Auditing
import BeaconFrames
import BluetoothTypes
import Sightings
import Testing

/// Beacons that send the same URL, each with or without a separate UID.
@Suite struct SharedIdentityTests {
    private static let namespace = FixedOctets<10>(repeating: 0x8B)
    private static let power = MeasuredPowerAtZeroMeters(octet: 0xE7)

    private static func octets(_ structures: [ADStructure]) -> [UInt8] {
        ([.flags(.beacon)] + structures).flatMap { [UInt8($0.data.count + 1), $0.type.rawValue] + $0.data }
    }

    private static func instance(_ number: UInt8) -> FixedOctets<6> { FixedOctets(repeating: number) }

    private static func uid(_ number: UInt8) -> [UInt8] {
        octets(EddystoneUID(namespace: namespace, instance: instance(number), measuredPower: power).adStructures)
    }

    private static func sender(_ number: UInt8) -> Sender {
        Sender(DeviceAddress(FixedOctets(repeating: 0xC0 + number)), isRandom: true)
    }

    private static func url() throws -> [UInt8] {
        octets(try EddystoneURL(url: CompressedURL("https://example.org/"), measuredPower: power).adStructures)
    }

    /// - Parameter sent: The numbers of the devices that send. Number 9 is not an audited beacon.
    private static func report(hasUID: Bool, sent: [UInt8]) throws -> AuditReport {
        let url = try url()
        let identity = try #require(BeaconFrame(decoding: AdvertisingData(octets: url)).flatMap(BeaconIdentity.init))
        let shared = ExpectedAdvertisement(
            type: "eddystone-url", content: .frame(identity), octets: ExpectedOctets(url),
            intervalMicroseconds: 500_000, address: .anyStatic)
        let beacons = (UInt8(0)..<3).map { number in
            let own = ExpectedAdvertisement(
                type: "eddystone-uid",
                content: .frame(.eddystoneUID(namespace: namespace, instance: instance(number))),
                octets: ExpectedOctets(uid(number)), intervalMicroseconds: 500_000, address: .anyStatic)
            return ExpectedBeacon(name: "b\(number)", advertisements: hasUID ? [own, shared] : [shared])
        }
        var auditor = Auditor(beacons, receivers: ["desk"])
        auditor.begin(0, at: HeardInstant(nanoseconds: 0))
        for event in UInt64(0)..<40 {
            for number in sent {
                for (place, octets) in [url, uid(number)].enumerated() where place == 0 || hasUID && number < 9 {
                    let time = event * 505_000_000 + UInt64(number) * 20_000_000 + UInt64(place) * 250_000_000
                    auditor.receive(
                        Sighting(at: HeardInstant(nanoseconds: time), from: sender(number), rssi: -60), octets.span,
                        octets.indices, by: 0)
                }
            }
        }
        auditor.end(0, at: HeardInstant(nanoseconds: 20_300_000_000))
        var model = SilenceModel()
        return auditor.report(&model)
    }

    private static func verdicts(_ report: AuditReport) -> [Set<AuditVerdict>] {
        report.advertisements.map { Set($0.verdicts) }
    }

    @Test(arguments: [true, false]) func acceptsAllBeaconsThatSendTheSameURL(_ hasUID: Bool) throws {
        let report = try Self.report(hasUID: hasUID, sent: [0, 1, 2])
        #expect(Self.verdicts(report) == Array(repeating: [.ok], count: hasUID ? 6 : 3))
    }

    @Test(arguments: [true, false]) func reportsTheSilentBeacon(_ hasUID: Bool) throws {
        let report = try Self.report(hasUID: hasUID, sent: [0, 1])
        let silent: [Set<AuditVerdict>] = hasUID ? [[.silent], [.silent]] : [[.silent]]
        #expect(Self.verdicts(report).suffix(silent.count) == silent[...])
        #expect(Self.verdicts(report).dropLast(silent.count).allSatisfy { $0 == [.ok] })
    }

    @Test func reportsAFurtherDeviceAsAClone() throws {
        let report = try Self.report(hasUID: true, sent: [0, 1, 2, 9])
        #expect(Self.verdicts(report).filter { $0 != [.ok] } == [[.cloned]])
    }
}
