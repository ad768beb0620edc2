public import BluetoothTypes
internal import Glibc
internal import SystemPackage

/// The controller that an ``AdapterLock`` is for. It is the same for all names of one controller.
public struct LockedAdapter: Hashable, Sendable, CustomStringConvertible {
    /// Distinguishes the controller in the name of the lock's file.
    let key: String
    /// The controller in messages: its address, or the adapter as the user named it.
    public let description: String

    /// An adapter of the kernel, whose address distinguishes it.
    public init(_ address: DeviceAddress) {
        key = "\(address)"
        description = key
    }

    /// The controller at a serial line, which the number of its device distinguishes. A symbolic link to the device
    /// leads to the same number.
    ///
    /// - Parameter name: The adapter as the user named it.
    /// - Returns: `nil` if there is no device at `path`.
    public init?(serialLine path: String, named name: String) {
        guard let status = try? Stat(FilePath(path)), status.type == .characterSpecial else { return nil }
        key = "serial-\(String(status.specialDeviceID.rawValue, radix: 16))"
        description = name
    }

    /// The controller with `address` behind a socket. A server may create a controller for each connection, so the
    /// address belongs to the key; and two servers may have controllers of one address, so the socket does too.
    ///
    /// - Parameters:
    ///   - socket: The connected socket.
    ///   - path: The path of a unix socket, which may be a symbolic link; `nil` for TCP.
    ///   - address: All zero if the controller has none.
    ///   - name: The adapter as the user named it.
    public init(_ address: DeviceAddress, behind socket: Descriptor, at path: String?, named name: String) {
        let place =
            if let path { Self.place(ofSocketFile: path) } else { StreamSocket.peer(of: socket).map { "tcp-\($0)" } }
        key = (place ?? "socket") + "-\(address)"
        description = name
    }

    private static func place(ofSocketFile path: String) -> String? {
        guard let identity = try? Stat(FilePath(path)).identity else { return nil }
        return "unix-\(String(identity.device.rawValue, radix: 16))-\(String(identity.inode.rawValue, radix: 16))"
    }
}

extension StreamSocket {
    /// Returns the address and the port of the other end of a TCP connection, such as `7f000001-9001`: the address in
    /// hexadecimal, or `loopback` for every address of this machine's loopback; `nil` if it is not connected with TCP.
    static func peer(of socket: Descriptor) -> String? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getpeername(socket.number, $0, &length)
            }
        }
        guard result == 0 else { return nil }
        let octets = unsafe withUnsafeBytes(of: &storage) { unsafe Array($0.prefix(Int(length))) }
        // sockaddr_in: family, port, 4 bytes. sockaddr_in6: family, port, flow (4 bytes), 16 bytes.
        var address: [UInt8]
        switch Int32(storage.ss_family) {
        case AF_INET where octets.count >= 8: address = Array(octets[4..<8])
        case AF_INET6 where octets.count >= 24: address = Array(octets[8..<24])
        default: return nil
        }
        let mapped: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        if address.starts(with: mapped) { address.removeFirst(mapped.count) }
        let isLoopback =
            address.count == 4 ? address[0] == 127 : address.dropLast().allSatisfy { $0 == 0 } && address.last == 1
        let port = Int(octets[2]) << 8 | Int(octets[3])
        return (isLoopback ? "loopback" : Hexadecimal.text(address)) + "-\(port)"
    }
}
