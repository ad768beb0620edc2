internal import Glibc

/// What the kernel lets this process do.
public enum Privileges {
    /// The capabilities that Bluetooth sockets ask for, with their bits (linux/capability.h).
    public enum Capability: Int, CaseIterable, Sendable, CustomStringConvertible {
        case netAdmin = 12
        case netRaw = 13

        public var description: String {
            switch self {
            case .netAdmin: "CAP_NET_ADMIN"
            case .netRaw: "CAP_NET_RAW"
            }
        }
    }

    /// Whether `capability` is in the effective set.
    public static func has(_ capability: Capability) -> Bool {
        guard let octets = try? Files.read("/proc/self/status", limit: 1 << 16) else { return false }
        for line in String(decoding: octets, as: UTF8.self).split(separator: "\n") where line.hasPrefix("CapEff:") {
            let digits = line.dropFirst(7).filter { $0.isHexDigit }
            return UInt64(digits, radix: 16).map { $0 >> UInt64(capability.rawValue) & 1 == 1 } ?? false
        }
        return false
    }

    /// The kernel's name of this installation: 32 hexadecimal digits of /etc/machine-id; `nil` where there is none.
    public static var machineID: String? {
        Files.firstLine("/etc/machine-id").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The process ids of running programs of that name.
    public static func processes(named name: String) -> [Int] {
        Files.names(in: "/proc").compactMap(Int.init).filter { Files.firstLine("/proc/\($0)/comm") == name }.sorted()
    }

    /// Octets from the kernel's generator.
    public static func randomOctets(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
