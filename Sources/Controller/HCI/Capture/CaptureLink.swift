import BluetoothTypes

/// The link type of a capture: the format of its packets.
///
/// The numbers are assigned in tcpdump's registry of link-layer header types.
enum CaptureLink: Hashable, Sendable {
    /// btsnoop 1001: HCI packets without a type byte. The record's flags contain the type.
    case unencapsulated
    /// btsnoop 1002, LINKTYPE_BLUETOOTH_HCI_H4 (187): HCI packets in the form of the H4 transport, with the type byte
    /// first.
    case h4
    /// LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR (201): H4 packets. Four bytes with the direction precede each packet.
    case h4WithDirection
    /// btsnoop 2001: packets of the kernel's monitor. The record's flags contain the opcode and the adapter.
    case linuxMonitorFlags
    /// LINKTYPE_BLUETOOTH_LINUX_MONITOR (254): packets of the kernel's monitor. The adapter and the opcode (two bytes
    /// each) precede each packet.
    case linuxMonitor
    /// LINKTYPE_BLUETOOTH_LE_LL (251): the LE link layer's packets, from the access address to the checksum.
    case lowEnergy
    /// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR (256): packets of the LE link layer. A pseudo header of ten bytes about the
    /// reception precedes each packet.
    case lowEnergyWithReception
    /// LINKTYPE_NORDIC_BLE (272): packets of the LE link layer. The 17-byte header of an nRF Sniffer precedes each
    /// packet.
    case nordicSniffer

    init?(pcapNumber: UInt32) {
        switch pcapNumber {
        case 187: self = .h4
        case 201: self = .h4WithDirection
        case 251: self = .lowEnergy
        case 254: self = .linuxMonitor
        case 256: self = .lowEnergyWithReception
        case 272: self = .nordicSniffer
        default: return nil
        }
    }

    /// Returns the kind of the packet in a frame, and the offsets of its bytes.
    func contents(_ frame: CaptureFrame, in octets: Span<UInt8>) -> Contents {
        switch self {
        case .unencapsulated:
            let isFromController = frame.flags & 1 != 0
            let kind: HCIPacket.Kind = frame.flags & 2 == 0 ? .acl : isFromController ? .event : .command
            return Contents(.hci(kind), frame.octets, isFromController: isFromController)
        case .h4:
            return Self.h4(octets, frame.octets, frame.isFromController)
        case .h4WithDirection:
            guard frame.octets.count >= 4 else { return Contents(.other, frame.octets) }
            let direction = octets.uint32BigEndian(at: frame.octets.lowerBound)
            return Self.h4(octets, frame.octets.dropFirst(4), direction & 1 != 0)
        case .linuxMonitorFlags:
            return Self.monitor(
                UInt16(truncatingIfNeeded: frame.flags), frame.octets, UInt16(truncatingIfNeeded: frame.flags >> 16))
        case .linuxMonitor:
            guard frame.octets.count >= 4 else { return Contents(.other, frame.octets) }
            let start = frame.octets.lowerBound
            return Self.monitor(
                octets.uint16BigEndian(at: start + 2), frame.octets.dropFirst(4), octets.uint16BigEndian(at: start))
        case .lowEnergy:
            return Contents(.air(LowEnergyReception()), frame.octets)
        case .lowEnergyWithReception:
            guard let reception = LowEnergyReception(octets, frame.octets) else {
                return Contents(.other, frame.octets)
            }
            return Contents(.air(reception), frame.octets.dropFirst(LowEnergyReception.headerLength))
        case .nordicSniffer:
            guard let reception = LowEnergyReception(nordicSniffer: octets, frame.octets) else {
                return Contents(.other, frame.octets)
            }
            return Contents(.air(reception), frame.octets.dropFirst(LowEnergyReception.nordicSnifferHeaderLength))
        }
    }

    /// Returns the text for a link type that is not supported: its number and, for common link types, its name.
    static func title(of number: UInt32) -> String {
        names[number].map { "\(number) (\($0))" } ?? String(number)
    }

    private static let names: [UInt32: String] = [
        1: "Ethernet", 101: "raw IP", 105: "Wi-Fi", 113: "Linux cooked capture", 127: "Wi-Fi with radiotap",
        189: "USB of Linux", 192: "PPI", 195: "IEEE 802.15.4",
        220: "USB of Linux", 230: "IEEE 802.15.4", 249: "USBPcap", 255: "Bluetooth BR/EDR baseband",
        276: "Linux cooked capture", 283: "IEEE 802.15.4",
    ]

    /// The kind of the packet in a frame, and the offsets of its bytes.
    struct Contents {
        let kind: CaptureElement.Kind
        let octets: Range<Int>
        let isFromController: Bool?
        let adapter: UInt16?

        init(
            _ kind: CaptureElement.Kind, _ octets: Range<Int>, isFromController: Bool? = nil, adapter: UInt16? = nil
        ) {
            self.kind = kind
            self.octets = octets
            self.isFromController = isFromController
            self.adapter = adapter
        }
    }

    private static func h4(_ octets: Span<UInt8>, _ range: Range<Int>, _ isFromController: Bool?) -> Contents {
        guard let typeOffset = range.first, let kind = HCIPacket.Kind(rawValue: octets[typeOffset]) else {
            return Contents(.other, range, isFromController: isFromController)
        }
        // If the capture does not contain the direction, the kind of the packet determines it.
        let direction = isFromController ?? (kind == .event ? true : kind == .command ? false : nil)
        return Contents(.hci(kind), range.dropFirst(), isFromController: direction)
    }

    private static func monitor(_ opcode: UInt16, _ range: Range<Int>, _ adapter: UInt16) -> Contents {
        guard let packet = MonitorOpcode(rawValue: opcode).packet else {
            return Contents(.other, range, adapter: adapter)
        }
        return Contents(.hci(packet.kind), range, isFromController: packet.isFromController, adapter: adapter)
    }
}

/// Values about the reception of a packet by a sniffer, from the pseudo header of LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR or
/// LINKTYPE_NORDIC_BLE.
public struct LowEnergyReception: Hashable, Sendable {
    /// The signal strength in dBm; `nil` if unknown.
    public var rssi: Int8?
    /// The physical layer that the packet was sent on.
    public var phy = AdvertisingPHY.le1M
    /// `true` if the sniffer has found that the checksum is wrong.
    public var isCorrupt = false

    /// The length of the pseudo header of LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR in bytes.
    static let headerLength = 10

    /// The length of an nRF Sniffer's header in bytes: 1 for the board's number, 6 about the packet and 10 about the
    /// packet's reception.
    static let nordicSnifferHeaderLength = 17

    /// A reception without known values.
    public init() {}

    /// Reads a pseudo header; `nil` if it is incomplete. The fields, with their sizes in bytes: RF channel (1), signal
    /// power (1), noise power (1), access address offences (1), reference access address (4), flags (2). In the flags,
    /// bit 1 is set if the signal power is valid, bit 10 if the checksum was checked, and bit 11 if the checksum is
    /// correct. Bits 14 and 15 are the physical layer.
    init?(_ octets: Span<UInt8>, _ range: Range<Int>) {
        guard range.count >= Self.headerLength else { return nil }
        let flags = octets.uint16LittleEndian(at: range.lowerBound + 8)
        if flags & 0x0002 != 0 { rssi = Int8(bitPattern: octets[range.lowerBound + 1]) }
        isCorrupt = flags & 0x0C00 == 0x0400
        phy = AdvertisingPHY(rawValue: UInt8(flags >> 14) + 1)
    }

    /// Reads the header of an nRF Sniffer; `nil` for packets that are not receptions, and for unknown versions. The
    /// fields, with their sizes in bytes: board (1), payload length (2; in version 1 header length and payload length,
    /// 1 each), version (1), packet counter (2), packet id (1), header length (1, always 10), flags (1), channel (1),
    /// level (1, in dBm without its minus sign), event counter (2), time (4). In the flags, bit 0 is set if the
    /// checksum is correct. Bits 4 to 6 are the physical layer.
    ///
    /// Nordic Semiconductor, nRF Sniffer for Bluetooth LE, SnifferAPI/Packet.py.
    init?(nordicSniffer octets: Span<UInt8>, _ range: Range<Int>) {
        let start = range.lowerBound
        guard range.count >= Self.nordicSnifferHeaderLength, (1...3).contains(octets[start + 3]),
            octets[start + 6] == 2 || octets[start + 6] == 6, octets[start + 7] == 10
        else { return nil }
        let flags = octets[start + 8]
        isCorrupt = flags & 1 == 0
        phy = AdvertisingPHY(rawValue: (flags >> 4 & 7) + 1)
        let level = octets[start + 10]
        if level <= 127 { rssi = -Int8(level) }
    }
}

extension AdvertisingReport {
    /// Access_Address of the advertising physical channels (Core Specification 5.4, Vol 6 Part B 2.1.2).
    private static let accessAddress: UInt32 = 0x8E89_BED6

    /// Creates the report that a controller would send for an advertisement that a sniffer received. The bytes in
    /// `range` are the packet of the link layer, from the access address to the checksum. Returns `nil` for packets
    /// without advertising data, and for packets with reception errors.
    ///
    /// Core Specification 5.4, Vol 6 Part B 2.1, 2.3.
    public init?(lowEnergyPacket octets: Span<UInt8>, in range: Range<Int>, _ reception: LowEnergyReception) {
        // On the coded PHY, a byte with the coding follows the access address.
        let header = range.lowerBound + (reception.phy == .leCoded ? 5 : 4)
        guard !reception.isCorrupt, octets.holds(range.count, at: range.lowerBound), range.upperBound - header >= 2,
            octets.uint32LittleEndian(at: range.lowerBound) == Self.accessAddress
        else { return nil }
        let payload = header + 2..<header + 2 + Int(octets[header + 1])
        guard payload.upperBound <= range.upperBound else { return nil }
        let sender: AddressType = octets[header] & 0x40 == 0 ? .publicDevice : .random
        switch octets[header] & 0x0F {
        case 0: self.init(legacy: 0, sender, octets, payload, reception)
        case 2: self.init(legacy: 3, sender, octets, payload, reception)
        case 4: self.init(legacy: 4, sender, octets, payload, reception)
        case 6: self.init(legacy: 2, sender, octets, payload, reception)
        case 7: self.init(extended: sender, octets, payload, reception)
        default: return nil
        }
    }

    /// Reads a legacy payload: AdvA (6 bytes) and AdvData.
    private init?(
        legacy type: UInt8, _ addressType: AddressType, _ octets: Span<UInt8>, _ payload: Range<Int>,
        _ reception: LowEnergyReception
    ) {
        guard payload.count <= 6 + AdvertisingData.legacyLimit,
            let address = DeviceAddress(littleEndian: octets, at: payload.lowerBound), payload.count >= 6
        else { return nil }
        self.init(
            type: .legacy(type), addressType: addressType, address: address, rssi: reception.rssi,
            data: AdvertisingData(octets: octets.array(payload.dropFirst(6))),
            primaryPHY: reception.phy)
    }

    /// Reads an extended payload: Extended Header Length (6 bits) and AdvMode (2 bits), flags, the fields whose flags
    /// are set, and AdvData (Core Specification 5.4, Vol 6 Part B 2.3.4).
    private init?(
        extended addressType: AddressType, _ octets: Span<UInt8>, _ payload: Range<Int>,
        _ reception: LowEnergyReception
    ) {
        guard let start = payload.first else { return nil }
        let fields = start + 1..<start + 1 + Int(octets[start] & 0x3F)
        // A PDU without data is not reported. It only states where and when another packet with the data is sent.
        guard fields.upperBound < payload.upperBound else { return nil }
        let flags = fields.isEmpty ? 0 : octets[fields.lowerBound]
        var offset = fields.lowerBound + 1
        /// The offset of a field of `length` bytes; `nil` if its flag is not set.
        func field(_ flag: UInt8, _ length: Int) -> Int? {
            guard flags & flag != 0 else { return nil }
            defer { offset += length }
            return offset
        }
        let addressOffset = field(0x01, 6)
        let targetOffset = field(0x02, 6)
        _ = field(0x04, 1)
        let identifierOffset = field(0x08, 2)
        let pointerOffset = field(0x10, 3)
        _ = field(0x20, 18)
        let powerOffset = field(0x40, 1)
        guard fields.isEmpty || offset <= fields.upperBound else { return nil }
        var bits = UInt16(octets[start] >> 6) & 0x03
        if targetOffset != nil { bits |= 0x04 }
        // If there is a pointer, a further packet contains more of the data.
        if pointerOffset != nil { bits |= 0x20 }
        let address = addressOffset.flatMap { DeviceAddress(littleEndian: octets, at: $0) }
        self.init(
            type: .extended(bits), addressType: addressOffset == nil ? .anonymous : addressType,
            address: address ?? DeviceAddress(FixedOctets()),
            rssi: reception.rssi, data: AdvertisingData(octets: octets.array(fields.upperBound..<payload.upperBound)),
            primaryPHY: reception.phy == .le2M ? .le1M : reception.phy, secondaryPHY: reception.phy,
            setIdentifier: identifierOffset.map { octets[$0 + 1] >> 4 },
            power: powerOffset.map { RadioPower(octet: octets[$0]) })
    }
}
