internal import BluetoothTypes
internal import Glibc

/// A radio that can be switched off by program (soft) or by a switch on the machine (hard).
public struct RFKillSwitch: Hashable, Sendable {
    /// The kernel's number of the switch; not that of the adapter.
    public let number: UInt32
    /// The adapter it belongs to, such as `hci0`; `nil` if the kernel does not tell.
    public let adapter: String?
    /// Switched off by a program.
    public let isSoftBlocked: Bool
    /// Switched off by a switch or a key of the machine.
    public let isHardBlocked: Bool

    /// A switch in the given state, as /sys or a message of /dev/rfkill tells it.
    public init(number: UInt32, adapter: String?, isSoftBlocked: Bool, isHardBlocked: Bool) {
        self.number = number
        self.adapter = adapter
        self.isSoftBlocked = isSoftBlocked
        self.isHardBlocked = isHardBlocked
    }

    /// Whether the radio is off, by whichever of the two.
    public var isBlocked: Bool { isSoftBlocked || isHardBlocked }

    /// What is to be done about it; `nil` when the radio is on.
    public var remedy: String? {
        if isHardBlocked { return "the machine's radio switch or key turns it on" }
        return isSoftBlocked ? "`rfkill unblock \(number)` (or `rfkill unblock bluetooth`) turns it on" : nil
    }
}

/// One message of /dev/rfkill: struct rfkill_event of linux/rfkill.h, eight bytes.
public struct RFKillEvent: Hashable, Sendable {
    /// What has happened to the switch: enum rfkill_operation of linux/rfkill.h.
    public enum Operation: UInt8, Hashable, Sendable {
        /// Also told of each switch that is there when the device is opened.
        case add = 0
        case remove = 1
        case change = 2
        case changeAll = 3
    }

    /// The kernel's number of the switch.
    public let number: UInt32
    public let isBluetooth: Bool
    public let operation: Operation
    public let isSoftBlocked: Bool
    public let isHardBlocked: Bool

    /// Reads `octets`; `nil` when fewer than eight are there, or the operation is unknown. Later kernels append more.
    public init?(octets: [UInt8]) {
        guard octets.count >= 8, let operation = Operation(rawValue: octets[5]) else { return nil }
        // In the machine's order; both our architectures are little-endian.
        number = octets.span.uint32LittleEndian(at: 0)
        isBluetooth = octets[4] == 2
        self.operation = operation
        isSoftBlocked = octets[6] != 0
        isHardBlocked = octets[7] != 0
    }
}

/// Follows which Bluetooth adapters are switched off.
public final class RFKill {
    /// To wait for together with other things; ready to read when a switch changed.
    public let descriptor: Descriptor

    /// - Throws: where the device is missing or not ours to read, as in a unit with PrivateDevices=yes: there
    ///   `switches()` still knows the state.
    public init() throws(SystemError) {
        descriptor = try Descriptor.open("/dev/rfkill", .read)
        try descriptor.setNonblocking()
    }

    /// What has changed since the last call, of Bluetooth switches only; each one that there is at the first call.
    public func changes() -> [RFKillEvent] {
        var result: [RFKillEvent] = []
        while let octets = try? descriptor.read(upTo: 8), !octets.isEmpty {
            if let event = RFKillEvent(octets: octets), event.isBluetooth { result.append(event) }
        }
        return result
    }

    /// Every Bluetooth switch as /sys tells it, without the device.
    public static func switches(in folder: String = "/sys/class/rfkill") -> [RFKillSwitch] {
        Files.names(in: folder).compactMap { name in
            guard name.hasPrefix("rfkill"), let number = UInt32(name.dropFirst(6)),
                Files.firstLine("\(folder)/\(name)/type") == "bluetooth"
            else { return nil }
            let adapter = Files.firstLine("\(folder)/\(name)/name").flatMap { $0.hasPrefix("hci") ? $0 : nil }
            return RFKillSwitch(
                number: number, adapter: adapter, isSoftBlocked: Files.firstLine("\(folder)/\(name)/soft") == "1",
                isHardBlocked: Files.firstLine("\(folder)/\(name)/hard") == "1")
        }
    }

    /// The switch of `adapter`, such as `hci0`; `nil` when it has none.
    public static func `switch`(of adapter: String, in folder: String = "/sys/class/rfkill") -> RFKillSwitch? {
        switches(in: folder).first { $0.adapter == adapter }
    }
}
