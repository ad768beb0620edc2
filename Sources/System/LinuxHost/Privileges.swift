internal import CLinux
internal import Glibc
internal import SystemPackage

/// The user and the capabilities of this process.
public enum Privileges {
    /// The effective user id.
    public static var user: UInt32 { geteuid() }

    /// The capabilities that Bluetooth sockets need. The raw value is the number of the bit (linux/capability.h).
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

    /// Returns true if `capability` is in the effective set of the calling thread.
    public static func has(_ capability: Capability) -> Bool { effective.contains(capability) }

    /// The id of this installation: 32 hexadecimal digits of /etc/machine-id; `nil` if there is none.
    public static var machineID: String? {
        Files.firstLine("/etc/machine-id").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the ids of the running processes whose program has this name.
    public static func processes(named name: String) -> [Int] {
        Files.names(in: "/proc").compactMap(Int.init).filter { Files.firstLine("/proc/\($0)/comm") == name }.sorted()
    }

    /// Returns the processes that have the file at `path` open, with their names. Only processes that this user may
    /// inspect are found.
    public static func processes(holding path: String) -> [(id: Int32, name: String)] {
        guard let file = try? Stat(FilePath(path)) else { return [] }
        let ids = Files.names(in: "/proc").compactMap { Int32($0) }.sorted()
        return ids.filter { id in
            Files.names(in: "/proc/\(id)/fd").contains { name in
                (try? Stat(FilePath("/proc/\(id)/fd/\(name)")))?.identity == file.identity
            }
        }.map { ($0, Files.firstLine("/proc/\($0)/comm") ?? "?") }
    }

    /// Returns random bytes from the kernel.
    public static func randomOctets(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}

extension Privileges {
    /// The capabilities of ``Capability`` in the effective set of the calling thread.
    public static var effective: Set<Capability> {
        var sets = pharos_capability_sets()
        guard unsafe pharos_capget(&sets) == 0 else { return [] }
        return Set(Capability.allCases.filter { sets.effective >> UInt64($0.rawValue) & 1 == 1 })
    }

    /// Gives up every capability except `needed` permanently: neither this thread nor a program that it starts can get
    /// another capability again, not even as root or through a set-user-id bit or the capabilities of a file.
    ///
    /// Capabilities belong to threads, and a thread inherits them from the thread that starts it. Therefore call this
    /// on the first thread, before it starts other threads.
    public static func keepOnly(_ needed: Set<Capability>) throws(SystemError) {
        try retryingInterrupts("prctl") { pharos_no_new_privileges() }
        let mask = needed.reduce(UInt64(0)) { $0 | 1 << UInt64($1.rawValue) }
        var sets = pharos_capability_sets()
        try retryingInterrupts("capget") { unsafe pharos_capget(&sets) }
        if sets.effective >> UInt64(setsCapabilities) & 1 == 1 { try reduceBoundingSet(to: mask) }
        try retryingInterrupts("prctl") { pharos_clear_ambient() }
        sets.permitted &= mask
        sets.effective &= sets.permitted
        sets.inheritable = 0
        try retryingInterrupts("capset") { pharos_capset(sets) }
    }

    /// The bit of CAP_SETPCAP, which a process needs to change the bounding set. Services run without it, because
    /// systemd sets their bounding set.
    private static let setsCapabilities = 8

    private static func reduceBoundingSet(to mask: UInt64) throws(SystemError) {
        // An error means that the kernel has no capability with this number or a higher number.
        for capability in 0..<Int32(64) {
            let isInSet = pharos_is_bounded(capability)
            if isInSet < 0 { return }
            guard isInSet == 1, mask >> UInt64(capability) & 1 == 0 else { continue }
            try retryingInterrupts("prctl") { pharos_drop_bounded(capability) }
        }
    }
}
