import Glibc
import HCI
import LinuxHost
import Testing

@testable import HCITransports

/// The number of lost packets, and the times of received packets, with UDP sockets, which every kernel has.
@Suite struct PacketSocketTests {
    private let reader: PacketSocket
    private let writer: Descriptor

    init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let first = Descriptor(owning: socket(AF_INET, type, 0))
        let second = Descriptor(owning: socket(AF_INET, type, 0))
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isReady = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(first.number, address, size) == 0 && getsockname(first.number, address, &size) == 0
                    && connect(second.number, address, size) == 0
            }
        }
        try #require(isReady)
        reader = PacketSocket(first)
        writer = second
    }

    private func receiveAll() -> Int {
        var count = 0
        while (try? reader.receive()) != nil { count += 1 }
        return count
    }

    @Test func receivedAndLostPacketsAddUp() throws {
        reader.setBufferSize(16_384)
        for _ in 0..<1000 { _ = try writer.write([UInt8](repeating: 0x04, count: 45)) }
        let heard = receiveAll()
        #expect(heard < 1000)
        #expect(reader.lost == 1000 - heard)
        // Losses from before the `PacketSocket` was created do not count.
        #expect(PacketSocket(reader.descriptor).lost == 0)
    }

    @Test func packetsReadLateHaveTheTimesOfTheirArrival() throws {
        reader.recordTimes(isRaw: false)
        // The kernel starts to record times after a short delay.
        usleep(200_000)
        _ = try writer.write([1])
        usleep(60_000)
        let (octets, at) = try reader.receive()
        let age = HCIInstant(nanoseconds: MonotonicClock.nanoseconds()).microseconds(since: at)
        #expect(octets == [1])
        #expect((59_000..<5_000_000).contains(age))
        #expect(throws: SystemError.self) { try reader.receive() }
    }
}
