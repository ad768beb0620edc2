import BluetoothTypes

// Advertising instances, all programs' alike: BlueZ's doc/mgmt-api.txt.

/// Read Advertising Features.
public struct ReadAdvertisingFeatures: ManagementParameterlessCommand {
    public static let opcode: UInt16 = 0x003D
    public static let name = "Read Advertising Features"

    /// The command has no parameters.
    public init() {}

    /// What the kernel can advertise on this adapter, and what it advertises now.
    public struct ReturnParameters: HCIReturnParameters {
        public let supportedFlags: ManagementAdvertisingFlags
        /// In octets.
        public let maximumDataLength: UInt8
        /// In octets.
        public let maximumScanResponseLength: UInt8
        /// Instances are numbered from 1 to this.
        public let maximumInstances: UInt8
        /// The numbers in use. Linux 6.1 leaves out those above the number of instances.
        public let instances: [UInt8]

        /// What is answered with success; nothing is checked.
        public init(
            supportedFlags: ManagementAdvertisingFlags, maximumDataLength: UInt8, maximumScanResponseLength: UInt8,
            maximumInstances: UInt8, instances: [UInt8]
        ) {
            self.supportedFlags = supportedFlags
            self.maximumDataLength = maximumDataLength
            self.maximumScanResponseLength = maximumScanResponseLength
            self.maximumInstances = maximumInstances
            self.instances = instances
        }

        /// Reads from `offset` on the fixed octets and the lists that they count; `nil` when not all are there.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(8, at: offset), octets.holds(Int(octets[offset + 7]), at: offset + 8) else {
                return nil
            }
            supportedFlags = ManagementAdvertisingFlags(rawValue: octets.uint32LittleEndian(at: offset))
            maximumDataLength = octets[offset + 4]
            maximumScanResponseLength = octets[offset + 5]
            maximumInstances = octets[offset + 6]
            instances = octets.array(offset + 8..<offset + 8 + Int(octets[offset + 7]))
        }

        public var octets: [UInt8] {
            var result: [UInt8] = []
            result.append(littleEndian: supportedFlags.rawValue)
            result += [maximumDataLength, maximumScanResponseLength, maximumInstances]
            result.append(UInt8(truncatingIfNeeded: instances.count))
            return result + instances
        }
    }
}

/// Get Advertising Size Information: how much data there is room for beside what `flags` let the kernel add.
public struct GetAdvertisingSizeInformation: ManagementCommand {
    public static let opcode: UInt16 = 0x0040
    public static let name = "Get Advertising Size Information"

    /// The host's number of the advertising instance, from 1.
    public let instance: UInt8
    public let flags: ManagementAdvertisingFlags

    /// - Throws: ``HCIParameterError`` for an instance outside 1...254.
    public init(instance: UInt8, flags: ManagementAdvertisingFlags) throws(HCIParameterError) {
        try HCIParameterError.check(instance: instance)
        self.instance = instance
        self.flags = flags
    }

    /// Reads exactly 5 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 5 else { return nil }
        instance = octets[0]
        flags = ManagementAdvertisingFlags(rawValue: octets.uint32LittleEndian(at: 1))
    }

    public var parameters: [UInt8] {
        var octets = [instance]
        octets.append(littleEndian: flags.rawValue)
        return octets
    }

    public var fields: [HCIField] { [HCIField("Instance", instance), HCIField("Flags", flags)] }

    /// The room, in octets, that is left beside what the kernel adds for these flags.
    public struct ReturnParameters: HCIReturnParameters {
        /// The host's number of the advertising instance, from 1.
        public let instance: UInt8
        public let flags: ManagementAdvertisingFlags
        /// In octets.
        public let maximumDataLength: UInt8
        /// In octets.
        public let maximumScanResponseLength: UInt8

        /// What is answered with success; nothing is checked.
        public init(
            instance: UInt8, flags: ManagementAdvertisingFlags, maximumDataLength: UInt8,
            maximumScanResponseLength: UInt8
        ) {
            self.instance = instance
            self.flags = flags
            self.maximumDataLength = maximumDataLength
            self.maximumScanResponseLength = maximumScanResponseLength
        }

        /// Reads 7 octets from `offset` on, whatever follows; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(7, at: offset) else { return nil }
            instance = octets[offset]
            flags = ManagementAdvertisingFlags(rawValue: octets.uint32LittleEndian(at: offset + 1))
            maximumDataLength = octets[offset + 5]
            maximumScanResponseLength = octets[offset + 6]
        }

        public var octets: [UInt8] {
            var result = [instance]
            result.append(littleEndian: flags.rawValue)
            return result + [maximumDataLength, maximumScanResponseLength]
        }
    }
}

/// Add Advertising: the form of Linux 4.1 and later, which can ask for neither interval nor power.
public struct AddAdvertising: ManagementCommand {
    /// The instance that the command was about.
    public typealias ReturnParameters = ManagementInstance
    public static let opcode: UInt16 = 0x003E
    public static let name = "Add Advertising"

    /// The host's number of the advertising instance, from 1.
    public let instance: UInt8
    public let flags: ManagementAdvertisingFlags
    /// Seconds on the air before the next instance's turn; 0 leaves it to the kernel.
    public let duration: UInt16
    /// Seconds until the kernel removes the instance; 0 for never.
    public let timeout: UInt16
    public let data: [UInt8]
    public let scanResponse: [UInt8]

    /// - Throws: ``HCIParameterError`` for an instance outside 1...254, or more than 255 octets of data or scan
    ///   response: what fits on the air is less, and the kernel's to judge.
    public init(
        instance: UInt8, flags: ManagementAdvertisingFlags = [], duration: UInt16 = 0, timeout: UInt16 = 0,
        data: [UInt8], scanResponse: [UInt8] = []
    ) throws(HCIParameterError) {
        try HCIParameterError.check(instance: instance)
        try HCIParameterError.check(data: data, scanResponse: scanResponse)
        self.instance = instance
        self.flags = flags
        self.duration = duration
        self.timeout = timeout
        self.data = data
        self.scanResponse = scanResponse
    }

    /// Reads exactly 1 octet; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count >= 11, octets.count == 11 + Int(octets[9]) + Int(octets[10]) else { return nil }
        instance = octets[0]
        flags = ManagementAdvertisingFlags(rawValue: octets.uint32LittleEndian(at: 1))
        duration = octets.uint16LittleEndian(at: 5)
        timeout = octets.uint16LittleEndian(at: 7)
        data = octets.array(11..<11 + Int(octets[9]))
        scanResponse = octets.array(11 + Int(octets[9])..<octets.count)
    }

    public var parameters: [UInt8] {
        var octets = [instance]
        octets.append(littleEndian: flags.rawValue)
        octets.append(littleEndian: duration)
        octets.append(littleEndian: timeout)
        octets += [UInt8(truncatingIfNeeded: data.count), UInt8(truncatingIfNeeded: scanResponse.count)]
        return octets + data + scanResponse
    }

    public var fields: [HCIField] {
        [
            HCIField("Instance", instance), HCIField("Flags", flags), HCIField("Duration", "\(duration) s"),
            HCIField("Timeout", "\(timeout) s"), HCIField("Adv_Data", octets: data),
            HCIField("Scan_Rsp", octets: scanResponse),
        ]
    }
}

/// Remove Advertising.
public struct RemoveAdvertising: ManagementCommand {
    /// The instance that the command was about.
    public typealias ReturnParameters = ManagementInstance
    public static let opcode: UInt16 = 0x003F
    public static let name = "Remove Advertising"

    /// 0 stands for all instances of all programs.
    public let instance: UInt8

    /// - Throws: ``HCIParameterError`` for 0, which would remove what other programs send, and for 255.
    public init(instance: UInt8) throws(HCIParameterError) {
        try HCIParameterError.check(instance: instance)
        self.instance = instance
    }

    /// Reads exactly 1 octet; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 1 else { return nil }
        instance = octets[0]
    }

    public var parameters: [UInt8] { [instance] }
    public var fields: [HCIField] { [HCIField("Instance", instance)] }
}

extension HCIParameterError {
    static func check(instance: UInt8) throws(HCIParameterError) {
        try check("Instance", instance, in: 1...254)
    }

    static func check(data: [UInt8], scanResponse: [UInt8]) throws(HCIParameterError) {
        try check("Adv_Data_Len", data.count, in: 0...255, unit: "octets")
        try check("Scan_Rsp_Len", scanResponse.count, in: 0...255, unit: "octets")
    }
}
