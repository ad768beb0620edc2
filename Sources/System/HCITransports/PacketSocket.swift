internal import CBlueZ
internal import Glibc
internal import HCI
internal import LinuxHost

/// A Bluetooth socket. Each read returns one packet and the time at which the kernel received it. The type can set the
/// size of the receive buffer, and counts lost packets.
struct PacketSocket {
    let descriptor: Descriptor
    /// The kernel's count of lost packets when this value was created.
    private let initialLost: Int64

    init(_ descriptor: Descriptor) {
        self.descriptor = descriptor
        initialLost = pharos_lost_packets(descriptor.number)
    }

    /// The buffer size for ten thousand advertising reports, in bytes. The kernel doubles this size (socket(7)), and
    /// counts 768 bytes for each report.
    static let listeningBufferSize: Int32 = 4 << 20

    /// Sets the size of the receive buffer in bytes. Without CAP_NET_ADMIN, the size is limited by the system's
    /// maximum.
    func setBufferSize(_ size: Int32) {
        var octets = size
        let length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_RCVBUFFORCE, &octets, length) < 0 else { return }
        _ = unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_RCVBUF, &octets, length)
    }

    /// Makes the kernel record the time of each packet.
    ///
    /// - Parameter isRaw: True for a raw channel. It needs another socket option than a user channel.
    func recordTimes(isRaw: Bool) {
        var one: Int32 = 1
        let (level, option) = isRaw ? (SOL_HCI, HCI_TIME_STAMP) : (SOL_SOCKET, SO_TIMESTAMP)
        _ = unsafe setsockopt(descriptor.number, level, option, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The number of packets that the kernel has dropped since this object was created, because they were not read in
    /// time; `nil` if it is unknown.
    var lost: Int? {
        let lost = pharos_lost_packets(descriptor.number)
        guard lost >= 0, initialLost >= 0 else { return nil }
        // The kernel's counter has 32 bits, and may wrap around.
        return Int(UInt32(truncatingIfNeeded: lost) &- UInt32(truncatingIfNeeded: initialLost))
    }

    /// The longest time that a packet can have waited in the buffer: 10 s in microseconds. If a packet seems to have
    /// waited longer, the wall clock was set after the packet arrived.
    private static let longestWait: Int64 = 10_000_000

    /// Returns the next packet, empty at the end of the stream, and its time.
    ///
    /// - Throws: EAGAIN if there is no packet.
    func receive() throws(SystemError) -> (octets: [UInt8], at: HCIInstant) {
        var time: Int64 = 0
        var failure: Int32?
        let octets = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            var result = 0
            repeat {
                result = unsafe pharos_receive(descriptor.number, buffer.baseAddress, 4096, &time)
            } while result < 0 && errno == EINTR
            if result < 0 { failure = errno }
            count = max(0, result)
        }
        if let failure { throw SystemError("recvmsg", errno: failure) }
        let now = MonotonicClock.nanoseconds()
        let age = time == 0 ? 0 : WallClock.microseconds() - time
        guard (0...Self.longestWait).contains(age) else { return (octets, HCIInstant(nanoseconds: now)) }
        return (octets, HCIInstant(nanoseconds: now - min(now, UInt64(age) * 1000)))
    }
}
