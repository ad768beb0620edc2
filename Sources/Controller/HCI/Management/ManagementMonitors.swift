public import BluetoothTypes

// Advertisement monitors: BlueZ's doc/mgmt-api.txt.

/// Add Advertisement Patterns Monitor. While a monitor exists, the kernel scans passively and reports matching
/// advertisements.
///
/// Needs CAP_NET_ADMIN. The monitor exists until it is removed, even after the end of the program that added it.
public struct AddAdvertisementPatternsMonitor: ManagementCommand {
    public typealias ReturnParameters = ManagementMonitor
    public static let opcode: UInt16 = 0x0052
    public static let name = "Add Advertisement Patterns Monitor"

    /// A sequence of bytes at an offset in the data of an AD structure.
    public struct Pattern: Hashable, Sendable {
        public private(set) var type: ADType
        /// The offset of the first byte in the data of the AD structure, 0...30.
        public private(set) var offset: UInt8
        public private(set) var octets: [UInt8]

        /// - Throws: ``HCIParameterError`` if `octets` is empty, or if the bytes extend beyond the 31st byte of the
        ///   data.
        public init(_ type: ADType, at offset: UInt8, _ octets: [UInt8]) throws(HCIParameterError) {
            self.init(type, offset, octets)
            var fields = HCIFieldCoder(.check)
            layout(&fields)
            if let error = fields.error { throw error }
        }

        private init(_ type: ADType, _ offset: UInt8, _ octets: [UInt8]) {
            self.type = type
            self.offset = offset
            self.octets = octets
        }

        fileprivate static let placeholder = Pattern(ADType(rawValue: 0), 0, [])

        fileprivate mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.named("AD_Type", &type)
            fields.number("Offset", &offset, in: 0...30, unit: "bytes")
            let count = fields.count("Length", of: octets.count, in: 1...max(1, 31 - Int(offset)), unit: "bytes")
            fields.padded("Value", &octets, count: count, size: 31)
        }
    }

    /// The patterns. An advertisement is reported if it matches any of them.
    public private(set) var patterns: [Pattern] = []

    /// - Throws: ``HCIParameterError`` if there is no pattern, or if there are more than 16 patterns, which is the
    ///   limit of Linux.
    public init(_ patterns: [Pattern]) throws(HCIParameterError) {
        self.patterns = patterns
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        let count = fields.count("Pattern_Count", of: patterns.count, in: 1...16, isDescribed: true)
        fields.each(&patterns, count: count, placeholder: .placeholder) { $0.layout(&$1) }
    }
}

/// Remove Advertisement Monitor.
public struct RemoveAdvertisementMonitor: ManagementCommand {
    public typealias ReturnParameters = ManagementMonitor
    public static let opcode: UInt16 = 0x0053
    public static let name = "Remove Advertisement Monitor"

    /// The kernel's number of the monitor; 0 means all monitors of all programs.
    public private(set) var monitor: UInt16 = 0

    /// - Throws: ``HCIParameterError`` for 0, which would remove the monitors of other programs.
    public init(monitor: UInt16) throws(HCIParameterError) {
        self.monitor = monitor
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.number("Monitor_Handle", &monitor, in: 1...0xFFFF)
    }
}

/// The return parameters of commands for one advertisement monitor.
public struct ManagementMonitor: HCIReturnParameters {
    /// The kernel's number of the monitor, from 1.
    public private(set) var monitor: UInt16 = 0

    /// The number of the monitor.
    public init(_ monitor: UInt16) {
        self.monitor = monitor
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.number("Monitor_Handle", &monitor)
    }
}

/// The device that a Device Found or Advertisement Monitor Device Found event reports.
public struct ManagementDevice: Hashable, Sendable {
    public let address: DeviceAddress
    /// The type of the address: 0 BR/EDR, 1 LE public, 2 LE random.
    public let addressType: UInt8
    /// The signal strength in dBm; `nil` if it is not available.
    public let rssi: Int8?
    /// The flags of the device. Bit 2 is set if the device is not connectable.
    public let flags: UInt32
    /// The advertising data, followed by the data of the scan response.
    public let data: [UInt8]

    /// - Parameter rssi: The signal strength in dBm; `nil` if unknown, which is sent as 127.
    public init(address: DeviceAddress, addressType: UInt8, rssi: Int8?, flags: UInt32 = 0, data: [UInt8]) {
        self.address = address
        self.addressType = addressType
        self.rssi = rssi
        self.flags = flags
        self.data = data
    }

    /// `true` if the device was received over LE, not over BR/EDR.
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
