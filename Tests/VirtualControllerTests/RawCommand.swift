import BluetoothTypes
import HCI

/// A command with any octets, including those that the library refuses.
struct RawCommand: Sendable {
    var opcode: UInt16
    var parameters: [UInt8]

    init(_ opcode: UInt16, _ parameters: [UInt8] = []) {
        self.opcode = opcode
        self.parameters = parameters
    }

    var packet: HCIPacket {
        var octets: [UInt8] = []
        octets.append(littleEndian: opcode)
        octets.append(UInt8(truncatingIfNeeded: parameters.count))
        return HCIPacket(.command, octets + parameters)
    }

    static let reset = Self(0x0C03)
    static let allEvents = Self(0x0C01, [UInt8](repeating: 0xFF, count: 8))
    static let allLEEvents = Self(0x2001, [UInt8](repeating: 0xFF, count: 8))
    static let randomAddress = Self(0x2005, [1, 2, 3, 4, 5, 0xC6])
    static let enable = Self(0x200A, [1])
    static let disable = Self(0x200A, [0])

    static func parameters(
        _ minimum: UInt16 = 0xA0, _ maximum: UInt16 = 0xA0, type: UInt8 = 3, own: UInt8 = 0, peerType: UInt8 = 0,
        map: UInt8 = 7, filter: UInt8 = 0
    ) -> Self {
        var octets: [UInt8] = []
        octets.append(littleEndian: minimum)
        octets.append(littleEndian: maximum)
        return Self(0x2006, octets + [type, own, peerType, 0, 0, 0, 0, 0, 0, map, filter])
    }

    static func data(_ octets: [UInt8], length: UInt8? = nil) -> Self {
        let padded = octets + [UInt8](repeating: 0, count: max(0, 31 - octets.count))
        return Self(0x2008, [length ?? UInt8(octets.count)] + padded)
    }

    static func scanResponse(_ octets: [UInt8], length: UInt8? = nil) -> Self {
        Self(0x2009, data(octets, length: length).parameters)
    }

    static func set(
        _ handle: UInt8 = 1, properties: UInt16 = 0x10, _ minimum: UInt32 = 0xA0, _ maximum: UInt32 = 0xA0,
        map: UInt8 = 7, own: UInt8 = 0, filter: UInt8 = 0, power: UInt8 = 0x7F, primary: UInt8 = 1,
        secondary: UInt8 = 1, sid: UInt8 = 0, notify: UInt8 = 0
    ) -> Self {
        var octets = [handle]
        octets.append(littleEndian: properties)
        for interval in [minimum, maximum] {
            octets.append(littleEndian: UInt16(truncatingIfNeeded: interval))
            octets.append(UInt8(truncatingIfNeeded: interval >> 16))
        }
        octets += [map, own, 0, 0, 0, 0, 0, 0, 0, filter, power, primary, 0, secondary, sid, notify]
        return Self(0x2036, octets)
    }

    static func setData(_ handle: UInt8 = 1, _ octets: [UInt8], operation: UInt8 = 3) -> Self {
        Self(0x2037, [handle, operation, 1, UInt8(octets.count)] + octets)
    }

    static func setScanResponse(_ handle: UInt8 = 1, _ octets: [UInt8], operation: UInt8 = 3) -> Self {
        Self(0x2038, [handle, operation, 1, UInt8(octets.count)] + octets)
    }

    static func setAddress(_ handle: UInt8 = 1) -> Self { Self(0x2035, [handle, 6, 5, 4, 3, 2, 0xC1]) }

    static func setEnable(
        _ on: UInt8 = 1, _ handles: [UInt8] = [1], duration: UInt16 = 0, events: UInt8 = 0
    ) -> Self {
        var octets = [on, UInt8(handles.count)]
        for handle in handles {
            octets.append(handle)
            octets.append(littleEndian: duration)
            octets.append(events)
        }
        return Self(0x2039, octets)
    }

    static func scan(
        type: UInt8 = 0, _ interval: UInt16 = 0x10, _ window: UInt16 = 0x10, own: UInt8 = 0, policy: UInt8 = 0
    ) -> Self {
        var octets = [type]
        octets.append(littleEndian: interval)
        octets.append(littleEndian: window)
        return Self(0x200B, octets + [own, policy])
    }

    static func scanEnable(_ on: UInt8 = 1, filter: UInt8 = 0) -> Self { Self(0x200C, [on, filter]) }

    static func extendedScan(
        phys: UInt8 = 1, type: UInt8 = 0, _ interval: UInt16 = 0x10, _ window: UInt16 = 0x10, own: UInt8 = 0,
        policy: UInt8 = 0
    ) -> Self {
        var octets = [own, policy, phys]
        for _ in 0..<phys.nonzeroBitCount {
            octets.append(type)
            octets.append(littleEndian: interval)
            octets.append(littleEndian: window)
        }
        return Self(0x2041, octets)
    }

    static func extendedScanEnable(
        _ on: UInt8 = 1, filter: UInt8 = 0, duration: UInt16 = 0, period: UInt16 = 0
    ) -> Self {
        var octets = [on, filter]
        octets.append(littleEndian: duration)
        octets.append(littleEndian: period)
        return Self(0x2042, octets)
    }
}
