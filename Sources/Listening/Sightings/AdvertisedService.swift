internal import BluetoothTypes

/// A service that devices advertise, found in their data without allocating memory.
struct AdvertisedService: CustomStringConvertible, Sendable {
    /// The UUID, most significant byte first.
    private let uuid: FixedOctets<16>
    /// The UUID in its short form of 16 or 32 bits; `nil` if it has none.
    private let shortUUID: UInt32?

    init(_ uuid: FixedOctets<16>) {
        self.uuid = uuid
        let octets = uuid.octets
        let base = BluetoothUUID.uuid16(0).expanded.octets
        shortUUID = octets[4...] == base[4...] ? octets.span.uint32BigEndian(at: 0) : nil
    }

    /// `0xFFF6`, `0x0001FFF6`, or 8-4-4-4-12 digits.
    var description: String {
        guard let shortUUID else { return BluetoothUUID.uuid128(uuid).description }
        return (UInt16(exactly: shortUUID).map(BluetoothUUID.uuid16) ?? .uuid32(shortUUID)).description
    }

    /// Returns whether an AD structure of `octets` contains the service's UUID, in a list of services or as the start
    /// of service data (Core Specification Supplement, Part A 1.1 and 1.11).
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
        let lastOffset = isList ? data.upperBound - width : data.lowerBound
        return stride(from: data.lowerBound, through: lastOffset, by: width).contains { offset in
            switch width {
            case 2: shortUUID == UInt32(octets.uint16LittleEndian(at: offset))
            case 4: shortUUID == octets.uint32LittleEndian(at: offset)
            default: (0..<16).allSatisfy { octets[offset + $0] == uuid[15 - $0] }
            }
        }
    }
}
