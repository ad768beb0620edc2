public import BluetoothTypes

/// The type of a message on the kernel's monitor channel (struct hci_mon_hdr in the kernel's
/// include/net/bluetooth/hci_mon.h). The captures of btmon contain the same numbers.
public struct MonitorOpcode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    /// Accepts any number, including numbers without a constant in this type.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    public static let newIndex = Self(rawValue: 0)
    public static let deleteIndex = Self(rawValue: 1)
    public static let openIndex = Self(rawValue: 8)
    public static let closeIndex = Self(rawValue: 9)
    public static let controlOpen = Self(rawValue: 14)
    public static let controlClose = Self(rawValue: 15)
    public static let controlCommand = Self(rawValue: 16)
    public static let controlEvent = Self(rawValue: 17)

    /// The kind of HCI packet that a message with this opcode contains, and its direction; `nil` for messages about
    /// adapters and programs.
    public var packet: (kind: HCIPacket.Kind, isFromController: Bool)? {
        switch rawValue {
        case 2: (.command, false)
        case 3: (.event, true)
        case 4: (.acl, false)
        case 5: (.acl, true)
        case 6: (.sco, false)
        case 7: (.sco, true)
        case 18: (.iso, false)
        case 19: (.iso, true)
        default: nil
        }
    }
}

/// One message of the monitor channel: a header of six bytes (opcode, index, length), then the content.
public struct MonitorPacket: Hashable, Sendable {
    /// The number N of the adapter hciN, or ``ManagementPacket/noController``.
    public let index: UInt16
    public let content: Content

    /// The content of a message.
    public enum Content: Hashable, Sendable {
        /// An adapter was added. When the channel is opened, this is reported for each existing adapter.
        case newIndex(address: DeviceAddress, name: String)
        case deleteIndex
        /// An adapter was powered up.
        case openIndex
        /// An adapter was powered down.
        case closeIndex
        /// A packet between the host and the controller. The host is the kernel, or a program with a raw socket.
        case hci(HCIPacket, isFromController: Bool)
        /// A program opened a Bluetooth socket. When the channel is opened, this is reported for each open socket.
        case socketOpened(cookie: UInt32, kind: SocketKind, program: String)
        case socketClosed(cookie: UInt32)
        /// A program has sent a management command. `cookie` identifies the program's socket.
        case managementCommand(cookie: UInt32, ManagementPacket)
        /// The kernel has sent a management event to a program. `cookie` identifies the program's socket.
        case managementEvent(cookie: UInt32, ManagementPacket)
        /// A message with an unknown opcode, or with content that does not fit its opcode.
        case other(opcode: MonitorOpcode, octets: [UInt8])
    }

    /// The purpose of a socket.
    public enum SocketKind: Hashable, Sendable {
        case raw
        case user
        case management
        case other(UInt16)
    }

    /// A message about the adapter `index`.
    public init(index: UInt16, _ content: Content) {
        self.index = index
        self.content = content
    }

    /// Reads one complete message; `nil` if its length field does not match the number of bytes.
    public init?(octets: Span<UInt8>) {
        guard octets.count >= 6, octets.count == 6 + Int(octets.uint16LittleEndian(at: 4)) else { return nil }
        let opcode = MonitorOpcode(rawValue: octets.uint16LittleEndian(at: 0))
        index = octets.uint16LittleEndian(at: 2)
        content =
            Self.decoded(opcode, index, octets, 6..<octets.count)
            ?? .other(opcode: opcode, octets: octets.array(6..<octets.count))
    }

    /// Decodes a message; `nil` for an unknown opcode, and for content that does not fit the opcode.
    private static func decoded(
        _ opcode: MonitorOpcode, _ index: UInt16, _ octets: Span<UInt8>, _ body: Range<Int>
    ) -> Content? {
        let start = body.lowerBound
        if let packet = opcode.packet {
            return .hci(HCIPacket(packet.kind, octets.array(body)), isFromController: packet.isFromController)
        }
        switch opcode {
        case .newIndex:
            // Type and bus precede the address.
            guard body.count == 16, let address = DeviceAddress(littleEndian: octets, at: start + 2) else {
                return nil
            }
            return .newIndex(address: address, name: text(octets, start + 8..<start + 16))
        case .deleteIndex: return body.isEmpty ? .deleteIndex : nil
        case .openIndex: return body.isEmpty ? .openIndex : nil
        case .closeIndex: return body.isEmpty ? .closeIndex : nil
        case .controlOpen: return socket(octets, body)
        case .controlClose:
            guard body.count == 4 else { return nil }
            return .socketClosed(cookie: octets.uint32LittleEndian(at: start))
        case .controlCommand, .controlEvent:
            guard body.count >= 6 else { return nil }
            let cookie = octets.uint32LittleEndian(at: start)
            let packet = ManagementPacket(
                code: octets.uint16LittleEndian(at: start + 4), index: index,
                parameters: octets.array(start + 6..<body.upperBound))
            return opcode == .controlCommand
                ? .managementCommand(cookie: cookie, packet) : .managementEvent(cookie: cookie, packet)
        default: return nil
        }
    }

    /// Reads a message about an opened socket: cookie (4 bytes), kind (2), version (3), flags (4), the length of the
    /// program's name (1), and the name.
    private static func socket(_ octets: Span<UInt8>, _ body: Range<Int>) -> Content? {
        let start = body.lowerBound
        guard body.count >= 14, body.count == 14 + Int(octets[start + 13]) else { return nil }
        let kind: SocketKind =
            switch octets.uint16LittleEndian(at: start + 4) {
            case 0: .raw
            case 1: .user
            case 2: .management
            case let number: .other(number)
            }
        return .socketOpened(
            cookie: octets.uint32LittleEndian(at: start), kind: kind,
            program: text(octets, start + 14..<body.upperBound))
    }

    /// Reads a name, which ends at a zero byte or at the end of its field. All bytes except printable ASCII are
    /// replaced by question marks, so that the name is safe in a log.
    private static func text(_ octets: Span<UInt8>, _ range: Range<Int>) -> String {
        let characters = octets.array(range).prefix { $0 != 0 }
        return String(decoding: characters.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}

/// The open Bluetooth sockets, according to the monitor channel.
public struct MonitoredSockets: Sendable {
    /// One open socket.
    public struct Socket: Hashable, Sendable {
        public let kind: MonitorPacket.SocketKind
        /// The name of the thread that opened the socket; at most 15 characters.
        public let program: String
        /// The adapter that the socket is bound to, or ``ManagementPacket/noController``.
        public let index: UInt16
    }

    private var sockets: [UInt32: Socket] = [:]

    /// An empty list. When the monitor channel is opened, the kernel reports all open sockets.
    public init() {}

    /// Updates the list from a message about an opened or closed socket. Other messages are ignored.
    public mutating func receive(_ packet: MonitorPacket) {
        switch packet.content {
        case .socketOpened(let cookie, let kind, let program):
            sockets[cookie] = Socket(kind: kind, program: program, index: packet.index)
        case .socketClosed(let cookie):
            sockets[cookie] = nil
        default:
            return
        }
    }

    /// The socket with this cookie; `nil` if it is unknown or closed.
    public subscript(cookie: UInt32) -> Socket? { sockets[cookie] }

    /// The programs with a management socket, such as bluetoothd, sorted by name. They can scan or advertise.
    public var managers: [String] { Set(sockets.values.filter { $0.kind == .management }.map(\.program)).sorted() }

    /// Returns the programs that can send HCI commands to hci`index`, sorted by name.
    public func programs(on index: UInt16) -> [String] {
        let names = sockets.values.filter { $0.index == index && ($0.kind == .raw || $0.kind == .user) }.map(\.program)
        return Set(names).sorted()
    }
}
