import BeaconFrames
import BluetoothTypes
import HCI
import Listener
import Sightings
import Testing

@Suite final class ReportReaderTests {
    /// The data of the last report.
    private var heard: [UInt8] = []

    private static let beacon = IBeacon(
        uuid: .uuid128(FixedOctets(repeating: 0xAB)), major: 1, minor: 2,
        measuredPower: MeasuredPowerAtOneMeter(octet: 0xC5))
    private static let address = DeviceAddress(FixedOctets(repeating: 0xC1))

    private func report(
        _ data: [UInt8], type: AdvertisingReportType = .legacy(3), addressType: AddressType = .random,
        rssi: Int8? = -60, set: UInt8? = nil
    ) -> AdvertisingReport {
        AdvertisingReport(
            type: type, addressType: addressType, address: Self.address, rssi: rssi,
            data: AdvertisingData(octets: data), setIdentifier: set)
    }

    private func take(_ reader: inout ReportReader, _ processor: inout SightingProcessor, _ event: HCIEvent) -> [Int?] {
        take(&reader, &processor, event.packet.octets)
    }

    private func take(_ reader: inout ReportReader, _ processor: inout SightingProcessor, _ octets: [UInt8]) -> [Int?] {
        var places: [Int?] = []
        reader.take(event: octets.span, in: octets.indices, at: HeardInstant(nanoseconds: 0)) { report, data, range in
            places.append(processor.receive(report.sighting, data, range))
            heard = range.map { data[$0] }
        }
        return places
    }

    @Test func everyReportOfAnEventIsRead() throws {
        var reader = ReportReader()
        var processor = SightingProcessor(table: SightingTable())
        let data = try Self.beacon.advertisingData().octets
        let reports = [report(data), report([2, 1, 6], rssi: nil), report(data, rssi: -70)]
        #expect(take(&reader, &processor, .advertisingReports(reports)) == [0, 0, 0])
        #expect(reader.counts.reports == 3)
        #expect(processor.table.tracks[0].round.mean == -65)
    }

    @Test func piecesArePutTogether() throws {
        var reader = ReportReader()
        var processor = SightingProcessor(table: SightingTable())
        let data = try Self.beacon.advertisingData().octets
        let pieces = [
            report(Array(data.prefix(5)), type: .extended(0x20), set: 1),
            report([2, 1, 6], type: .extended(0), addressType: .anonymous, set: 2),
            report(Array(data.dropFirst(5)), type: .extended(0), set: 1),
        ]
        #expect(take(&reader, &processor, .extendedAdvertisingReports([pieces[0]])).isEmpty)
        #expect(take(&reader, &processor, .extendedAdvertisingReports([pieces[1]])) == [nil])
        #expect(heard == [2, 1, 6])
        #expect(take(&reader, &processor, .extendedAdvertisingReports([pieces[2]])) == [0])
        #expect(heard == data)
        #expect(processor.table.tracks[0].identity?.kind == "ibeacon")
        #expect(processor.table.counts.anonymous == 1)
    }

    @Test func weakReportsAreLeftOutAndThoseWithoutALevelAreNot() {
        var reader = ReportReader(levels: -60...20)
        var processor = SightingProcessor(table: SightingTable())
        let reports = [-60, -61, nil].map { report([2, 1, 6], rssi: $0) }
        #expect(take(&reader, &processor, .advertisingReports(reports)).count == 2)
        #expect(reader.counts.leftOut == 1)
    }

    /// The correction is applied before weak reports are left out, and never gives an impossible level.
    @Test(arguments: [(-60, -57), (-66, -63), (18, 20), (127, nil), (21, 21)] as [(Int8, Int8?)])
    func anOffsetIsAddedToEachLevel(_ level: Int8, _ expected: Int8?) {
        var reader = ReportReader(levels: -63...20)
        reader.levelOffset = 3
        let octets = HCIEvent.advertisingReports([report([2, 1, 6], rssi: level == 127 ? nil : level)]).packet.octets
        var levels: [Int8?] = []
        reader.take(event: octets.span, in: octets.indices, at: HeardInstant(nanoseconds: 0)) { report, _, _ in
            levels.append(report.sighting.rssi)
        }
        #expect(levels == [expected])
        #expect(reader.corrected(-67) == -64 && reader.corrected(-127) == -124)
    }

    @Test func keepsReportsBeforeAFault() {
        var reader = ReportReader()
        var processor = SightingProcessor(table: SightingTable())
        var octets = HCIEvent.advertisingReports([report([2, 1, 6])]).packet.octets
        octets[3] = 2
        #expect(take(&reader, &processor, octets) == [0])
        #expect(reader.counts.reports == 1)
        #expect(reader.counts.malformedEvents == 1)
    }

    @Test func anyOctetsAreSurvived() {
        var random = SplitMix64(seed: 5)
        var reader = ReportReader()
        var processor = SightingProcessor(table: SightingTable(strangers: .kept(8)))
        for round in 0..<50_000 {
            var octets = (0..<random.next(upTo: 80)).map { _ in UInt8(random.next(upTo: 255)) }
            if octets.count > 4, octets.count < 256 {
                octets[0] = 0x3E
                octets[1] = UInt8(octets.count - 2)
                octets[2] = round % 2 == 0 ? 0x02 : 0x0D
                octets[3] = UInt8(random.next(upTo: 3))
            }
            let instant = HeardInstant(nanoseconds: UInt64(round) * 1_000_000)
            reader.take(event: octets.span, in: octets.indices, at: instant) { report, data, range in
                processor.receive(report.sighting, data, range)
            }
        }
        #expect(reader.counts.malformedEvents > 10_000)
        #expect(processor.table.tracks.count <= 8)
    }
}
