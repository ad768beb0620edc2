public import BluetoothTypes

// Advertisement monitors: BlueZ's doc/mgmt-api.txt.

/// Add Advertisement Patterns Monitor: the kernel scans passively while there is one, and tells of what matches. Needs
/// CAP_NET_ADMIN, and is there until it is removed, whoever made it.
public struct AddAdvertisementPatternsMonitor: ManagementCommand {
    /// The monitor that was made.
    public typealias ReturnParameters = ManagementMonitor
    public static let opcode: UInt16 = 0x0052
    public static let name = "Add Advertisement Patterns Monitor"

    /// Octets at a place of an AD structure's data.
    public struct Pattern: Hashable, Sendable {
        public let type: ADType
        /// Where in the structure's data the octets stand.
        public let offset: UInt8
        public let octets: [UInt8]

        /// - Throws: ``HCIParameterError`` for no octets, and where they end behind the 31st of the data.
        public init(_ type: ADType, at offset: UInt8, _ octets: [UInt8]) throws(HCIParameterError) {
            try HCIParameterError.check("Offset", offset, in: 0...30, unit: "octets")
            try HCIParameterError.check("Length", octets.count, in: 1...(31 - Int(offset)), unit: "octets")
            self.init(type: type, offset: offset, octets: octets)
        }

        private init(type: ADType, offset: UInt8, octets: [UInt8]) {
            self.type = type
            self.offset = offset
            self.octets = octets
        }

        static let length = 34

        fileprivate init?(_ octets: Span<UInt8>, at start: Int) {
            let count = Int(octets[start + 2])
            guard count <= 31, (count..<31).allSatisfy({ octets[start + 3 + $0] == 0 }) else { return nil }
            self.init(
                type: ADType(rawValue: octets[start]), offset: octets[start + 1],
                octets: octets.array(start + 3..<start + 3 + count))
        }

        fileprivate var wire: [UInt8] {
            [type.rawValue, offset, UInt8(octets.count)] + octets + [UInt8](repeating: 0, count: 31 - octets.count)
        }
    }

    /// An advertisement that has any of them matches.
    public let patterns: [Pattern]

    /// - Throws: ``HCIParameterError`` for none, and for more than the 16 that Linux takes.
    public init(_ patterns: [Pattern]) throws(HCIParameterError) {
        try HCIParameterError.check("Pattern_Count", patterns.count, in: 1...16)
        self.patterns = patterns
    }

    /// Reads as many patterns as are counted; `nil` for another number of octets, and for what stands behind a pattern's
    /// octets.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count > 0, octets.count == 1 + Int(octets[0]) * Pattern.length else { return nil }
        var patterns: [Pattern] = []
        for number in 0..<Int(octets[0]) {
            guard let pattern = Pattern(octets, at: 1 + number * Pattern.length) else { return nil }
            patterns.append(pattern)
        }
        self.patterns = patterns
    }

    public var parameters: [UInt8] { [UInt8(patterns.count)] + patterns.flatMap(\.wire) }

    public var fields: [HCIField] {
        patterns.isEmpty
            ? [HCIField("Pattern_Count", 0)]
            : patterns.map { HCIField("Pattern", "\($0.type) at \($0.offset): \(Hexadecimal.text($0.octets))") }
    }
}

/// Remove Advertisement Monitor.
public struct RemoveAdvertisementMonitor: ManagementCommand {
    /// The monitor that was removed.
    public typealias ReturnParameters = ManagementMonitor
    public static let opcode: UInt16 = 0x0053
    public static let name = "Remove Advertisement Monitor"

    /// The kernel's number of the monitor; 0 stands for all monitors of all programs.
    public let monitor: UInt16

    /// - Throws: ``HCIParameterError`` for 0, which would remove those of other programs.
    public init(monitor: UInt16) throws(HCIParameterError) {
        try HCIParameterError.check("Monitor_Handle", monitor, in: 1...Int(UInt16.max))
        self.monitor = monitor
    }

    /// Reads exactly 2 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 2 else { return nil }
        monitor = octets.uint16LittleEndian(at: 0)
    }

    public var parameters: [UInt8] { ManagementMonitor(monitor).octets }
    public var fields: [HCIField] { [HCIField("Monitor_Handle", monitor)] }
}

/// What commands about one advertisement monitor return.
public struct ManagementMonitor: HCIReturnParameters {
    /// The kernel's number of the monitor, from 1.
    public let monitor: UInt16

    /// The monitor that the command was about.
    public init(_ monitor: UInt16) {
        self.monitor = monitor
    }

    /// Reads 2 octets from `offset` on, whatever follows; `nil` when they are not there.
    public init?(octets: Span<UInt8>, at offset: Int) {
        guard octets.holds(2, at: offset) else { return nil }
        monitor = octets.uint16LittleEndian(at: offset)
    }

    public var octets: [UInt8] {
        var octets: [UInt8] = []
        octets.append(littleEndian: monitor)
        return octets
    }
}

/// A device that the kernel tells of: Device Found, and Advertisement Monitor Device Found.
public struct ManagementDevice: Hashable, Sendable {
    public let address: DeviceAddress
    /// 0 BR/EDR, 1 LE public, 2 LE random.
    public let addressType: UInt8
    /// In dBm; `nil` where it is not available.
    public let rssi: Int8?
    /// Bit 2 says that the device is not connectable.
    public let flags: UInt32
    /// Advertising data, with that of the scan response behind it.
    public let data: [UInt8]

    /// - Parameter rssi: 127 is sent for `nil`.
    public init(address: DeviceAddress, addressType: UInt8, rssi: Int8?, flags: UInt32 = 0, data: [UInt8]) {
        self.address = address
        self.addressType = addressType
        self.rssi = rssi
        self.flags = flags
        self.data = data
    }

    /// Whether the device was heard by LE.
    public var isLE: Bool { addressType == 1 || addressType == 2 }
    public var isConnectable: Bool { flags & 1 << 2 == 0 }

    init?(_ octets: Span<UInt8>, at offset: Int) {
        guard octets.holds(14, at: offset), let address = DeviceAddress(littleEndian: octets, at: offset),
            octets.count == offset + 14 + Int(octets.uint16LittleEndian(at: offset + 12))
        else { return nil }
        let rssi = Int8(bitPattern: octets[offset + 7])
        self.init(
            address: address, addressType: octets[offset + 6], rssi: rssi == 127 ? nil : rssi,
            flags: octets.uint32LittleEndian(at: offset + 8), data: octets.array(offset + 14..<octets.count))
    }

    var wire: [UInt8] {
        var octets = address.littleEndian + [addressType, UInt8(bitPattern: rssi ?? 127)]
        octets.append(littleEndian: flags)
        octets.append(littleEndian: UInt16(truncatingIfNeeded: data.count))
        return octets + data
    }
}
