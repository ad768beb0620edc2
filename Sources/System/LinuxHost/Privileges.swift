internal import CLinux
internal import Glibc

/// What the kernel lets this process do.
public enum Privileges {
    /// The number of the user whom this process acts for.
    public static var user: UInt32 { geteuid() }

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

    /// The kernel's name of this installation: 32 hexadecimal digits of /etc/machine-id; `nil` if there is none.
    public static var machineID: String? {
        Files.firstLine("/etc/machine-id").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The process ids of running programs of that name.
    public static func processes(named name: String) -> [Int] {
        Files.names(in: "/proc").compactMap(Int.init).filter { Files.firstLine("/proc/\($0)/comm") == name }.sorted()
    }

    /// The programs that have the file at `path` open, as far as this user may see it.
    public static func processes(holding path: String) -> [(id: Int32, name: String)] {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return [] }
        let ids = Files.names(in: "/proc").compactMap { Int32($0) }.sorted()
        return ids.filter { id in
            Files.names(in: "/proc/\(id)/fd").contains { name in
                var other = stat()
                return unsafe stat("/proc/\(id)/fd/\(name)", &other) == 0 && other.st_dev == status.st_dev
                    && other.st_ino == status.st_ino
            }
        }.map { ($0, Files.firstLine("/proc/\($0)/comm") ?? "?") }
    }

    /// Bytes from the kernel's generator.
    public static func randomOctets(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}

extension Privileges {
    /// The capabilities, of those that matter here, which the calling thread may use now.
    public static var effective: Set<Capability> {
        var sets = pharos_capability_sets()
        guard unsafe pharos_capget(&sets) == 0 else { return [] }
        return Set(Capability.allCases.filter { sets.effective >> UInt64($0.rawValue) & 1 == 1 })
    }

    /// Gives up every capability but `needed`, for good: neither this thread nor a program that it starts gets them
    /// back, not even as root or from a file's mode. What is needed and not there stays missing.
    ///
    /// Rights belong to threads, and a thread hands them on to those that it starts. So call this on the first thread,
    /// before there is another.
    public static func keepOnly(_ needed: Set<Capability>) throws(SystemError) {
        _ = try retryingInterrupts("prctl") { pharos_no_new_privileges() }
        let mask = needed.reduce(UInt64(0)) { $0 | 1 << UInt64($1.rawValue) }
        var sets = pharos_capability_sets()
        _ = try retryingInterrupts("capget") { unsafe pharos_capget(&sets) }
        if sets.effective >> UInt64(setsCapabilities) & 1 == 1 { try bound(to: mask) }
        _ = try retryingInterrupts("prctl") { pharos_clear_ambient() }
        sets.permitted &= mask
        sets.effective &= sets.permitted
        sets.inheritable = 0
        _ = try retryingInterrupts("capset") { pharos_capset(sets) }
    }

    /// CAP_SETPCAP, without which the bounding set is as it is: a service manager has set it then.
    private static let setsCapabilities = 8

    private static func bound(to mask: UInt64) throws(SystemError) {
        // Reading the one after the last that this kernel knows is an error.
        for capability in 0..<Int32(64) {
            let isThere = pharos_is_bounded(capability)
            if isThere < 0 { return }
            guard isThere == 1, mask >> UInt64(capability) & 1 == 0 else { continue }
            _ = try retryingInterrupts("prctl") { pharos_drop_bounded(capability) }
        }
    }
}
