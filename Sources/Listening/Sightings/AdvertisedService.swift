internal import BluetoothTypes

/// A service that devices advertise, found in their data without allocating memory.
struct AdvertisedService: CustomStringConvertible, Sendable {
    /// The UUID, most significant byte first.
    private let uuid: FixedOctets<16>
    /// The UUID with 16 or 32 bits; `nil` if it has no short form.
    private let short: UInt32?

    init(_ uuid: FixedOctets<16>) {
        self.uuid = uuid
        let octets = uuid.octets
        let base = BluetoothUUID.uuid16(0).expanded.octets
        short = octets[4...] == base[4...] ? octets.span.uint32BigEndian(at: 0) : nil
    }

    /// `0xFFF6`, `0x0001FFF6`, or 8-4-4-4-12 digits.
    var description: String {
        guard let short else { return BluetoothUUID.uuid128(uuid).description }
        return (UInt16(exactly: short).map(BluetoothUUID.uuid16) ?? .uuid32(short)).description
    }

    /// Returns whether an AD structure of `octets` contains the service's UUID: in a list of services, or in service
    /// data (Core Specification Supplement, Part A 1.1 and 1.11).
    func isNamed(by element: ADElement, in octets: Span<UInt8>) -> Bool {
        let (width, isList): (Int, Bool)
        switch element.type {
        case .incomplete16BitUUIDs, .complete16BitUUIDs: (width, isList) = (2, true)
        case .incomplete32BitUUIDs, .complete32BitUUIDs: (width, isList) = (4, true)
        case .incomplete128BitUUIDs, .complete128BitUUIDs: (width, isList) = (16, true)
        case .serviceData16: (width, isList) = (2, false)
        case .serviceData32: (width, isList) = (4, false)
        case .serviceData128: (width, isList) = (16, false)
        default: return false
        }
        let data = element.data
        guard data.count >= width else { return false }
        let last = isList ? data.upperBound - width : data.lowerBound
        return stride(from: data.lowerBound, through: last, by: width).contains { place in
            switch width {
            case 2: short == UInt32(octets.uint16LittleEndian(at: place))
            case 4: short == octets.uint32LittleEndian(at: place)
            default: (0..<16).allSatisfy { octets[place + $0] == uuid[15 - $0] }
            }
        }
    }
}
