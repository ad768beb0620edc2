import BeaconFrames
import BluetoothTypes
import HCI
import LinuxHost

/// A btsnoop file such as a busy scanner writes: advertising reports of mixed frames, legacy and extended.
struct CaptureFile {
    let path: String
    let reports: Int
    /// The number of reports with a beacon frame.
    let frames: Int

    /// Writes `reports` reports to `path`. Equal numbers give equal files.
    init(writing reports: Int, to path: String) throws {
        let templates = try SampleFrame.all().flatMap { sample in
            try [false, true].map { try Template(sample, isExtended: $0) }
        }
        let file = try OutputFile(replacing: path)
        try file.append(BTSnoopWriter.header)
        var octets: [UInt8] = []
        octets.reserveCapacity(1 << 20)
        var random: UInt64 = 1
        var frames = 0
        for _ in 0..<reports {
            // Knuth's MMIX generator, whose upper bits are the better ones.
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let template = templates[Int((random >> 33) % UInt64(templates.count))]
            template.append(to: &octets, address: random)
            if template.isBeacon { frames += 1 }
            if octets.count > 1 << 20 - 256 {
                try file.append(octets)
                octets.removeAll(keepingCapacity: true)
            }
        }
        try file.append(octets)
        self.path = path
        self.reports = reports
        self.frames = frames
    }

    /// The record of one report. Copies differ only in the address.
    private struct Template {
        let isBeacon: Bool
        private let record: [UInt8]
        private let addressOffset: Int

        init(_ sample: SampleFrame, isExtended: Bool) throws {
            let placeholder: [UInt8] = [0xC6, 0x55, 0xAA, 0x55, 0xAA, 0x55]
            guard let octets = FixedOctets<6>(placeholder) else { throw BenchmarkError("no address") }
            let report = AdvertisingReport(
                type: isExtended ? .extended(0x10) : .legacy(3), addressType: .random,
                address: DeviceAddress(octets), rssi: -60, data: AdvertisingData(octets: sample.payload))
            let event: HCIEvent = isExtended ? .extendedAdvertisingReports([report]) : .advertisingReports([report])
            let record = BTSnoopWriter.record(event.packet, isFromController: true, unixMicroseconds: 1 << 50)
            let wire = [UInt8](placeholder.reversed())
            let starts = record.indices.dropLast(wire.count - 1)
            guard let offset = starts.first(where: { record[$0..<$0 + wire.count].elementsEqual(wire) }) else {
                throw BenchmarkError("the report of \(sample.name) does not hold its address")
            }
            self.record = record
            addressOffset = offset
            isBeacon = sample.frame != nil
        }

        func append(to octets: inout [UInt8], address: UInt64) {
            let start = octets.count + addressOffset
            octets += record
            for index in 0..<5 { octets[start + index] = UInt8(truncatingIfNeeded: address >> UInt64(8 * index)) }
        }
    }
}
