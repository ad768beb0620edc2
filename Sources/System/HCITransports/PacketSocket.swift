internal import CBlueZ
internal import Glibc
internal import HCI
internal import LinuxHost

/// A Bluetooth socket whose every read is one packet: what it holds until it is read, what was lost, and when each packet
/// came.
struct PacketSocket {
    let descriptor: Descriptor
    /// What had been lost when it was opened, which nobody misses.
    private let lostBefore: Int64

    init(_ descriptor: Descriptor) {
        self.descriptor = descriptor
        lostBefore = pharos_lost_packets(descriptor.number)
    }

    /// Room for ten thousand advertising reports: each costs the kernel 768 bytes, which it counts twice.
    static let listeningRoom: Int32 = 4 << 20

    /// Asks for a receive buffer of so many bytes: beyond the system's limit with CAP_NET_ADMIN, up to it without.
    func makeRoom(octets: Int32) {
        var octets = octets
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_RCVBUFFORCE, &octets, size) < 0 else { return }
        _ = unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_RCVBUF, &octets, size)
    }

    /// Has the kernel note the time of each packet.
    ///
    /// - Parameter isRaw: Whether it is a raw channel of an hciN, which has an option of its own for that.
    func askForTimes(isRaw: Bool) {
        var one: Int32 = 1
        let (level, option) = isRaw ? (SOL_HCI, HCI_TIME_STAMP) : (SOL_SOCKET, SO_TIMESTAMP)
        _ = unsafe setsockopt(descriptor.number, level, option, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Packets that the kernel has thrown away since the opening, because nobody read them in time; `nil` if it does
    /// not tell.
    var lost: Int? {
        let lost = pharos_lost_packets(descriptor.number)
        guard lost >= 0, lostBefore >= 0 else { return nil }
        // The kernel counts in 32 bits.
        return Int(UInt32(truncatingIfNeeded: lost) &- UInt32(truncatingIfNeeded: lostBefore))
    }

    /// For how long a packet may have lain there, in microseconds: 10 s. More says that the clock was set meanwhile.
    private static let longestWait: Int64 = 10_000_000

    /// The next packet, empty at the end, and when it came.
    ///
    /// - Throws: EAGAIN if there is none.
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
