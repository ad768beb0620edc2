import BluetoothTypes

/// What the packets of a capture are: how they were carried where they were captured.
///
/// The numbers are those of tcpdump's registry of link-layer header types.
enum CaptureLink: Hashable, Sendable {
    /// btsnoop 1001: HCI packets without type octet; the record's flags say what they are.
    case unencapsulated
    /// btsnoop 1002, LINKTYPE_BLUETOOTH_HCI_H4 (187): HCI packets as H4 sends them.
    case h4
    /// LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR (201): the same behind four octets that end in the direction.
    case h4WithDirection
    /// btsnoop 2001: a monitor's packets; opcode and adapter stand in the record's flags.
    case linuxMonitorFlags
    /// LINKTYPE_BLUETOOTH_LINUX_MONITOR (254): the same behind adapter and opcode, two octets each.
    case linuxMonitor
    /// LINKTYPE_BLUETOOTH_LE_LL (251): the LE link layer's packets, from the access address to the checksum.
    case lowEnergy
    /// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR (256): the same behind ten octets of what the receiver knows.
    case lowEnergyWithReception

    init?(pcapNumber: UInt32) {
        switch pcapNumber {
        case 187: self = .h4
        case 201: self = .h4WithDirection
        case 251: self = .lowEnergy
        case 254: self = .linuxMonitor
        case 256: self = .lowEnergyWithReception
        default: return nil
        }
    }

    /// What one frame holds.
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
            return Contents(.air(reception), frame.octets.dropFirst(LowEnergyReception.length))
        }
    }

    /// What a frame holds, and where.
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
        guard let first = range.first, let kind = HCIPacket.Kind(rawValue: octets[first]) else {
            return Contents(.other, range, isFromController: isFromController)
        }
        // Where the capture does not tell, these two kinds do.
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
