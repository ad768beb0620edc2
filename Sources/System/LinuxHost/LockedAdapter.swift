public import BluetoothTypes
internal import Glibc
internal import SystemPackage

/// The controller that an ``AdapterLock`` locks. If the user names one controller in different ways, the values are
/// equal.
public struct LockedAdapter: Hashable, Sendable, CustomStringConvertible {
    /// The part of the lock file's name that distinguishes the controller.
    let key: String
    /// The name of the controller in messages: its address, or the adapter as the user named it.
    public let description: String

    /// Creates the value for an adapter of the kernel, which is identified by its address.
    public init(_ address: DeviceAddress) {
        key = "\(address)"
        description = key
    }

    /// Creates the value for the controller at a serial line. The number of the serial device identifies it, so a
    /// symbolic link to the device gives an equal value.
    ///
    /// - Parameter name: The adapter as the user named it.
    /// - Returns: `nil` if there is no device at `path`.
    public init?(serialLine path: String, named name: String) {
        guard let status = try? Stat(FilePath(path)), status.type == .characterSpecial else { return nil }
        key = "serial-\(String(status.specialDeviceID.rawValue, radix: 16))"
        description = name
    }

    /// Creates the value for the controller with `address` behind a socket. The address and the socket together
    /// identify it: a server may create a controller for each connection, and two servers may have controllers with the
    /// same address.
    ///
    /// - Parameters:
    ///   - socket: The connected socket.
    ///   - path: The path of a unix socket, which may be a symbolic link; `nil` for TCP.
    ///   - address: The address of the controller; all zero if it has none.
    ///   - name: The adapter as the user named it.
    public init(_ address: DeviceAddress, behind socket: Descriptor, at path: String?, named name: String) {
        let socketKey =
            if let path { Self.key(ofSocketFile: path) } else { StreamSocket.peer(of: socket).map { "tcp-\($0)" } }
        key = (socketKey ?? "socket") + "-\(address)"
        description = name
    }

    private static func key(ofSocketFile path: String) -> String? {
        guard let identity = try? Stat(FilePath(path)).identity else { return nil }
        return "unix-\(String(identity.device.rawValue, radix: 16))-\(String(identity.inode.rawValue, radix: 16))"
    }
}

extension StreamSocket {
    /// Returns the address and the port of the other end of a TCP connection, such as `c0a80105-9001`: the address in
    /// hexadecimal, or `loopback` for every loopback address of this machine; `nil` if the socket is not a TCP
    /// connection.
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
        let mappedPrefix: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        if address.starts(with: mappedPrefix) { address.removeFirst(mappedPrefix.count) }
        let isLoopback =
            address.count == 4 ? address[0] == 127 : address.dropLast().allSatisfy { $0 == 0 } && address.last == 1
        let port = Int(octets[2]) << 8 | Int(octets[3])
        return (isLoopback ? "loopback" : Hexadecimal.text(address)) + "-\(port)"
    }
}
