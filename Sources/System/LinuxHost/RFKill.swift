internal import BluetoothTypes
internal import Glibc

/// An rfkill switch of the kernel. It turns a radio off if a program asks for it (soft block), or if a physical switch
/// or key of the machine is off (hard block).
public struct RFKillSwitch: Hashable, Sendable {
    /// The number of the switch. It differs from the number of the adapter.
    public let number: UInt32
    /// The Bluetooth adapter of the switch, such as `hci0`; `nil` if it is unknown.
    public let adapter: String?
    /// True if a program has turned the radio off.
    public let isSoftBlocked: Bool
    /// True if a switch or a key of the machine has turned the radio off.
    public let isHardBlocked: Bool

    /// Creates a switch with a state from /sys or /dev/rfkill.
    public init(number: UInt32, adapter: String?, isSoftBlocked: Bool, isHardBlocked: Bool) {
        self.number = number
        self.adapter = adapter
        self.isSoftBlocked = isSoftBlocked
        self.isHardBlocked = isHardBlocked
    }

    /// True if the radio is off.
    public var isBlocked: Bool { isSoftBlocked || isHardBlocked }

    /// Text that says how to turn the radio on; `nil` if it is on.
    public var remedy: String? {
        if isHardBlocked { return "the machine's radio switch or key turns it on" }
        return isSoftBlocked ? "`rfkill unblock \(number)` (or `rfkill unblock bluetooth`) turns it on" : nil
    }
}

/// A message from /dev/rfkill: the struct rfkill_event of linux/rfkill.h, eight bytes.
public struct RFKillEvent: Hashable, Sendable {
    /// The change of the switch: enum rfkill_operation of linux/rfkill.h.
    public enum Operation: UInt8, Hashable, Sendable {
        /// A new switch. The device also sends this for every existing switch when it is opened.
        case add = 0
        case remove = 1
        case change = 2
        case changeAll = 3
    }

    /// The number of the switch.
    public let number: UInt32
    public let isBluetooth: Bool
    public let operation: Operation
    public let isSoftBlocked: Bool
    public let isHardBlocked: Bool

    /// Decodes a message; `nil` if it has fewer than eight bytes or an unknown operation. Newer kernels append more
    /// bytes.
    public init?(octets: [UInt8]) {
        guard octets.count >= 8, let operation = Operation(rawValue: octets[5]) else { return nil }
        // Both supported architectures are little-endian.
        number = octets.span.uint32LittleEndian(at: 0)
        isBluetooth = octets[4] == 2
        self.operation = operation
        isSoftBlocked = octets[6] != 0
        isHardBlocked = octets[7] != 0
    }
}

/// Observes the rfkill switches of Bluetooth adapters.
public final class RFKill {
    /// The descriptor to poll for reading. It is readable when a switch has changed.
    public let descriptor: Descriptor

    /// Opens /dev/rfkill.
    ///
    /// - Throws: ENOENT if the device is missing, as in a unit with PrivateDevices=yes; EACCES if this user may not
    ///   read it. In both cases ``switches(in:)`` still returns the states.
    public init() throws(SystemError) {
        descriptor = try Descriptor.open("/dev/rfkill", .read)
        try descriptor.setNonblocking()
    }

    /// Returns the changes of Bluetooth switches since the last call. The first call returns every existing switch.
    public func changes() -> [RFKillEvent] {
        var result: [RFKillEvent] = []
        while let octets = try? descriptor.read(upTo: 8), !octets.isEmpty {
            if let event = RFKillEvent(octets: octets), event.isBluetooth { result.append(event) }
        }
        return result
    }

    /// Returns every Bluetooth switch with its state from /sys.
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

    /// Returns the switch of `adapter`, such as `hci0`; `nil` if it has none.
    public static func `switch`(of adapter: String, in folder: String = "/sys/class/rfkill") -> RFKillSwitch? {
        switches(in: folder).first { $0.adapter == adapter }
    }
}
