internal import BluetoothTypes

/// LE Set Extended Advertising Enable (Core Specification 5.4, Vol 4 Part E 7.8.56).
public struct LESetExtendedAdvertisingEnable: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x2039)
    public static let name = "LE Set Extended Advertising Enable"

    /// A set, and when it ends by itself.
    public struct Entry: Hashable, Sendable {
        /// The host's number of the advertising set, 0x00...0xEF.
        public let handle: UInt8
        /// Units of 10 ms; 0 goes on until disabled.
        public let duration: UInt16
        /// Max_Extended_Advertising_Events; 0 has no maximum.
        public let maximumEvents: UInt8

        /// A set by its handle. `duration` is in units of 10 ms, 0 for without end; `maximumEvents` 0 for without
        /// limit.
        public init(handle: UInt8, duration: UInt16 = 0, maximumEvents: UInt8 = 0) {
            self.handle = handle
            self.duration = duration
            self.maximumEvents = maximumEvents
        }
    }

    /// 1 on, 0 off; what else a host may send is invalid.
    public let enable: UInt8
    /// The sets; none together with off means all.
    public let sets: [Entry]

    /// Turns everything off.
    public static let disableAll = Self(enable: 0, entries: [])

    /// - Throws: ``HCIParameterError`` for enabling nothing, more than 63 sets, handles over 0xEF or given twice.
    public init(_ enable: Bool, _ sets: [Entry]) throws(HCIParameterError) {
        try HCIParameterError.check("Num_Sets", sets.count, in: (enable ? 1 : 0)...0x3F)
        var seen: Set<UInt8> = []
        for set in sets {
            try HCIParameterError.check("Advertising_Handle", set.handle, in: AdvertisingHandle.range)
            guard seen.insert(set.handle).inserted else {
                throw .notAllowed(
                    field: "Advertising_Handle", value: Hexadecimal.number(set.handle, width: 2),
                    reason: "the same set is named twice")
            }
        }
        self.init(enable: enable ? 1 : 0, entries: sets)
    }

    private init(enable: UInt8, entries: [Entry]) {
        self.enable = enable
        sets = entries
    }

    /// Reads 2 octets, then 4 for each set; `nil` for another number.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count >= 2, octets.count <= 255, octets.count == 2 + 4 * Int(octets[1]) else { return nil }
        enable = octets[0]
        var sets: [Entry] = []
        for offset in stride(from: 2, to: octets.count, by: 4) {
            sets.append(
                Entry(
                    handle: octets[offset], duration: octets.uint16LittleEndian(at: offset + 1),
                    maximumEvents: octets[offset + 3]))
        }
        self.sets = sets
    }

    public var parameters: [UInt8] {
        var octets = [enable, UInt8(truncatingIfNeeded: sets.count)]
        for set in sets {
            octets.append(set.handle)
            octets.append(littleEndian: set.duration)
            octets.append(set.maximumEvents)
        }
        return octets
    }

    public var fields: [HCIField] {
        var fields = [HCIField("Enable", onOff: enable), HCIField("Num_Sets", sets.count)]
        for set in sets {
            let duration = set.duration == 0 ? "until disabled" : "\(Int(set.duration) * 10) ms"
            fields.append(HCIField("Advertising_Handle", handle: set.handle))
            fields.append(HCIField("Duration", duration))
            fields.append(
                HCIField(
                    "Max_Extended_Advertising_Events",
                    set.maximumEvents == 0 ? "no maximum" : String(set.maximumEvents)))
        }
        return fields
    }
}

// How many advertising sets there are and how they go: Core Specification 5.4, Vol 4 Part E 7.8.57...7.8.60.

/// LE Read Maximum Advertising Data Length (7.8.57).
public struct LEReadMaximumAdvertisingDataLength: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x203A)
    public static let name = "LE Read Maximum Advertising Data Length"

    /// The command has no parameters.
    public init() {}

    /// Max_Advertising_Data_Length, 31...1650.
    public struct ReturnParameters: HCIReturnParameters {
        /// Octets, 31...1650.
        public let maximumLength: UInt16

        /// What is answered with success; nothing is checked.
        public init(maximumLength: UInt16) {
            self.maximumLength = maximumLength
        }

        /// Reads 2 octets from `offset` on, whatever follows; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(2, at: offset) else { return nil }
            maximumLength = octets.uint16LittleEndian(at: offset)
        }

        public var octets: [UInt8] {
            var octets: [UInt8] = []
            octets.append(littleEndian: maximumLength)
            return octets
        }
    }
}

/// LE Read Number of Supported Advertising Sets (7.8.58). May change while sets are used for other things.
public struct LEReadNumberOfSupportedAdvertisingSets: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x203B)
    public static let name = "LE Read Number of Supported Advertising Sets"

    /// The command has no parameters.
    public init() {}

    /// Num_Supported_Advertising_Sets, 1...240.
    public struct ReturnParameters: HCIReturnParameters {
        /// How many sets there can be at the same time, from 1.
        public let count: UInt8

        /// What is answered with success; nothing is checked.
        public init(count: UInt8) {
            self.count = count
        }

        /// Reads from `offset` on the fixed octets and the lists that they count; `nil` when not all are there.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(1, at: offset) else { return nil }
            count = octets[offset]
        }

        public var octets: [UInt8] { [count] }
    }
}

/// LE Remove Advertising Set (7.8.59). Refused while it is enabled (0x0C) and when there is no such set (0x42).
public struct LERemoveAdvertisingSet: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x203C)
    public static let name = "LE Remove Advertising Set"

    /// The host's number of the advertising set, 0x00...0xEF.
    public let handle: UInt8

    /// - Throws: ``HCIParameterError`` for a handle over 0xEF.
    public init(handle: UInt8) throws(HCIParameterError) {
        try HCIParameterError.check("Advertising_Handle", handle, in: AdvertisingHandle.range)
        self.handle = handle
    }

    /// Reads exactly 1 octet; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 1 else { return nil }
        handle = octets[0]
    }

    public var parameters: [UInt8] { [handle] }
    public var fields: [HCIField] { [HCIField("Advertising_Handle", handle: handle)] }
}

/// LE Clear Advertising Sets (7.8.60). Refused (0x0C) while any is enabled.
public struct LEClearAdvertisingSets: HCIParameterlessCommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x203D)
    public static let name = "LE Clear Advertising Sets"

    /// The command has no parameters.
    public init() {}
}

// What advertising sets send: Core Specification 5.4, Vol 4 Part E 7.8.54, 7.8.55.

/// The parameters of the two extended data commands: a set, and its data or a fragment of it.
public struct ExtendedDataParameters: Hashable, Sendable {
    /// The host's number of the advertising set, 0x00...0xEF.
    public let handle: UInt8
    public let operation: AdvertisingDataOperation
    /// Fragment_Preference: 0 the controller may fragment, 1 it should not.
    public let fragmentPreference: UInt8
    public let data: [UInt8]

    /// What fits into one command.
    static let maximumLength = 251

    init(
        handle: UInt8, operation: AdvertisingDataOperation, mayFragment: Bool, data: [UInt8], field: String
    ) throws(HCIParameterError) {
        try HCIParameterError.check("Advertising_Handle", handle, in: AdvertisingHandle.range)
        // A fragment must not be empty, and "unchanged" carries nothing (7.8.54).
        let lengths =
            switch operation {
            case .complete: 0...Self.maximumLength
            case .unchanged: 0...0
            default: 1...Self.maximumLength
            }
        try HCIParameterError.check(field, data.count, in: lengths, unit: "octets")
        self.handle = handle
        self.operation = operation
        fragmentPreference = mayFragment ? 0 : 1
        self.data = data
    }

    init?(_ octets: Span<UInt8>) {
        guard octets.count >= 4, octets.count == 4 + Int(octets[3]), octets.count <= 255 else { return nil }
        handle = octets[0]
        operation = AdvertisingDataOperation(rawValue: octets[1])
        fragmentPreference = octets[2]
        data = octets.array(4..<octets.count)
    }

    var octets: [UInt8] {
        [handle, operation.rawValue, fragmentPreference, UInt8(truncatingIfNeeded: data.count)] + data
    }

    func fields(data name: String) -> [HCIField] {
        let fragment = fragmentPreference == 0 ? "may fragment" : "should not fragment"
        return [
            HCIField("Advertising_Handle", handle: handle),
            HCIField("Operation", operation),
            HCIField("Fragment_Preference", "\(fragment) (\(Hexadecimal.number(fragmentPreference, width: 2)))"),
            HCIField(name + "_Length", data.count),
            HCIField(name, octets: data),
        ]
    }
}

/// What the two extended data commands have in common: a set, and its data or a fragment of it.
public protocol ExtendedDataCommand: HCICommand where ReturnParameters == HCINoReturnParameters {
    /// The set, the operation and the data, as they are sent.
    var content: ExtendedDataParameters { get }
    /// The specification's name of the data.
    static var dataName: String { get }
    /// The last of the operations 0x00... that the command knows.
    static var lastOperation: UInt8 { get }

    init(_ content: ExtendedDataParameters)
}

extension ExtendedDataCommand {
    /// - Throws: ``HCIParameterError`` for a handle over 0xEF, more than 251 octets, an empty fragment, or an operation that
    ///   the command does not know.
    public init(
        handle: UInt8, operation: AdvertisingDataOperation = .complete, mayFragment: Bool = false, data: [UInt8]
    ) throws(HCIParameterError) {
        try HCIParameterError.check("Operation", operation.rawValue, in: 0...Int(Self.lastOperation))
        self.init(
            try ExtendedDataParameters(
                handle: handle, operation: operation, mayFragment: mayFragment, data: data,
                field: "\(Self.dataName)_Length"))
    }

    /// Reads handle, operation, fragment preference, length and data; `nil` where the length is not that of the data.
    public init?(parameters octets: Span<UInt8>) {
        guard let content = ExtendedDataParameters(octets) else { return nil }
        self.init(content)
    }

    public var handle: UInt8 { content.handle }
    public var operation: AdvertisingDataOperation { content.operation }
    public var data: [UInt8] { content.data }
    public var parameters: [UInt8] { content.octets }
    public var fields: [HCIField] { content.fields(data: Self.dataName) }
}

/// LE Set Extended Advertising Data (7.8.54). While the set is enabled only whole data may be set (0x0C otherwise).
public struct LESetExtendedAdvertisingData: ExtendedDataCommand {
    public static let opcode = HCIOpcode(rawValue: 0x2037)
    public static let name = "LE Set Extended Advertising Data"
    public static let dataName = "Advertising_Data"
    public static let lastOperation: UInt8 = 4

    public let content: ExtendedDataParameters

    /// A command with parameters that were read or made before.
    public init(_ content: ExtendedDataParameters) {
        self.content = content
    }
}

/// LE Set Extended Scan Response Data (7.8.55), which does not know the operation "unchanged".
public struct LESetExtendedScanResponseData: ExtendedDataCommand {
    public static let opcode = HCIOpcode(rawValue: 0x2038)
    public static let name = "LE Set Extended Scan Response Data"
    public static let dataName = "Scan_Response_Data"
    public static let lastOperation: UInt8 = 3

    public let content: ExtendedDataParameters

    /// A command with parameters that were read or made before.
    public init(_ content: ExtendedDataParameters) {
        self.content = content
    }
}
