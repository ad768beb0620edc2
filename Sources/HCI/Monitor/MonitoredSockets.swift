/// Who has Bluetooth sockets open, followed from the monitor channel's notes.
public struct MonitoredSockets: Sendable {
    /// One open socket.
    public struct Socket: Hashable, Sendable {
        public let kind: MonitorPacket.SocketKind
        /// The name of the thread that opened it; at most 15 characters.
        public let program: String
        /// The adapter it is bound to, or ``ManagementPacket/noController``.
        public let index: UInt16
    }

    private var sockets: [UInt32: Socket] = [:]

    /// No socket is known yet; the kernel tells of the open ones when its channel is opened.
    public init() {}

    /// Takes a message: sockets that are opened or closed. All others are passed over.
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

    /// The socket with that cookie; `nil` when it is not known (any more).
    public subscript(cookie: UInt32) -> Socket? { sockets[cookie] }

    /// The programs that can send HCI commands of their own to hci`index`, sorted.
    public func programs(on index: UInt16) -> [String] {
        let names = sockets.values.filter { $0.index == index && ($0.kind == .raw || $0.kind == .user) }.map(\.program)
        return Set(names).sorted()
    }
}
