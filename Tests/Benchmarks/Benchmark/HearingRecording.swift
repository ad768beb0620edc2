import BeaconFrames
import BluetoothTypes
import HCI
import LinuxHost

/// A btsnoop file of iBeacons that send in turn, with as many reports per second as a collector of many receivers gets.
struct HearingRecording {
    let path: String
    let reports: Int

    /// One report, which is written many times with different beacons.
    private struct Template {
        private(set) var octets: [UInt8]
        private let time: Int
        private let address: Int
        private let payload: Int

        init() throws {
            let mark: [UInt8] = [0xC6, 0x55, 0xAA, 0x55, 0xAA, 0x55]
            let frame = IBeacon(
                uuid: .uuid128(HearingRecording.uuid), major: 0x1234, minor: 0x5678,
                measuredPower: try MeasuredPowerAtOneMeter(dBm: -59))
            guard let octets = FixedOctets<6>(mark) else { throw BenchmarkError("no address") }
            let report = AdvertisingReport(
                type: .legacy(3), addressType: .random, address: DeviceAddress(octets), rssi: -60,
                data: try frame.advertisingData())
            let record = BTSnoopWriter.record(
                HCIEvent.advertisingReports([report]).packet, isFromController: true, unixMicroseconds: 0)
            self.octets = record
            time = 16
            address = try Self.place(of: mark.reversed(), in: record)
            payload = try Self.place(of: HearingRecording.uuid.octets, in: record)
        }

        private static func place(of part: [UInt8], in octets: [UInt8]) throws -> Int {
            let starts = octets.indices.dropLast(part.count - 1)
            guard let place = starts.first(where: { octets[$0..<$0 + part.count].elementsEqual(part) }) else {
                throw BenchmarkError("the report does not hold what was put into it")
            }
            return place
        }

        /// - Parameters:
        ///   - sender: The address as a number.
        ///   - stranger: New octets for the identity; `nil` for a beacon of the fleet.
        mutating func fill(
            _ number: Int, _ unixMicroseconds: Int64, from sender: UInt64, level: Int8, stranger: UInt64?
        ) {
            let stamp = UInt64(bitPattern: unixMicroseconds + BTSnoopFormat.unixEpoch)
            for index in 0..<8 { octets[time + index] = UInt8(truncatingIfNeeded: stamp >> UInt64(56 - 8 * index)) }
            for index in 0..<6 { octets[address + index] = UInt8(truncatingIfNeeded: sender >> UInt64(8 * index)) }
            let uuid = HearingRecording.uuid
            for index in 0..<16 {
                octets[payload + index] =
                    stranger.map { UInt8(truncatingIfNeeded: $0 >> UInt64(index * 3)) } ?? uuid[index]
            }
            let (major, minor) = (number / 1000 + 1, number % 1000 + 1)
            for (index, part) in [major >> 8, major, minor >> 8, minor].enumerated() {
                octets[payload + 16 + index] = UInt8(truncatingIfNeeded: part)
            }
            octets[octets.count - 1] = UInt8(bitPattern: level)
        }
    }

    /// The UUID of ``SampleFleet``.
    static let uuid: FixedOctets<16> = {
        guard let uuid = try? FixedOctets<16>(hexadecimal: "fb0b57a2-8228-44cd-913a-94a122ba1206") else {
            fatalError("a constant that cannot be read")
        }
        return uuid
    }()

    /// Writes `reports` reports of `beacons` beacons, a thousand for each major number, with `perSecond` reports in
    /// each second.
    ///
    /// - Parameters:
    ///   - strangers: The number of additional reports, evenly among the others, each with a new address and a new
    ///     identity.
    ///   - areResolvable: True if the strangers' addresses are resolvable private addresses.
    ///   - sender: The address of all other reports, as a number; `nil` for a different address for each beacon.
    init(
        writing reports: Int, of beacons: Int, perSecond: Int, strangers: Int = 0, areResolvable: Bool = false,
        from sender: UInt64? = nil, to path: String
    ) throws {
        let file = try OutputFile(replacing: path)
        try file.append(BTSnoopWriter.header)
        var template = try Template()
        var octets: [UInt8] = []
        octets.reserveCapacity(1 << 20)
        var random: UInt64 = 1
        func next() -> UInt64 {
            // Knuth's MMIX generator, whose upper bits are the better ones.
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return random >> 20
        }
        let start: Int64 = 1_790_000_000_000_000
        var fresh = 0
        for report in 0..<reports {
            let microseconds = start + Int64(report * 1_000_000 / perSecond)
            template.fill(
                report % beacons, microseconds, from: sender ?? Self.staticAddress | UInt64(report % beacons),
                level: -60 - Int8(report / beacons % 9), stranger: nil)
            octets += template.octets
            while fresh < strangers * (report + 1) / reports {
                fresh += 1
                let stranger = next() | 1 << 39
                let address = stranger & 0x3FFF_FFFF_FFFF
                template.fill(
                    report % beacons, microseconds,
                    from: areResolvable ? address | 1 << 46 : address & 0xFF_FFFF_FFFF | Self.staticAddress,
                    level: -90, stranger: stranger)
                octets += template.octets
                if octets.count > 1 << 20 - 256 { try Self.flush(&octets, to: file) }
            }
            if octets.count > 1 << 20 - 256 { try Self.flush(&octets, to: file) }
        }
        try file.append(octets)
        self.path = path
        self.reports = reports + strangers
    }

    /// The first octet of the addresses that do not change.
    private static let staticAddress: UInt64 = 0xC6 << 40

    private static func flush(_ octets: inout [UInt8], to file: OutputFile) throws {
        try file.append(octets)
        octets.removeAll(keepingCapacity: true)
    }
}
