import BluetoothTypes
import HCI

extension SplitMix64 {
    mutating func octets(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}

/// Returns the octets of a hexadecimal text.
func hex(_ text: String) -> [UInt8] {
    (try? Hexadecimal.octets(text)) ?? []
}

func address(_ text: String) -> DeviceAddress {
    DeviceAddress(text) ?? DeviceAddress(FixedOctets())
}

/// Returns an instant, in milliseconds from the start.
func at(_ milliseconds: Int) -> HCIInstant {
    HCIInstant(nanoseconds: 0).advanced(byMicroseconds: milliseconds * 1000)
}

// The expectation macros do not accept spans, so these functions take arrays.

func command<C: HCICommand>(_ type: C.Type, _ parameters: [UInt8]) -> C? {
    C(parameters: parameters.span)
}

func returned<R: HCIReturnParameters>(_ type: R.Type, _ octets: [UInt8], at offset: Int = 0) -> R? {
    R(octets: octets.span, at: offset)
}

func event(_ octets: [UInt8]) throws(HCIEventError) -> HCIEvent {
    try HCIEvent(octets: octets.span)
}

func message(_ octets: [UInt8]) -> ManagementPacket? {
    ManagementPacket(octets: octets.span)
}

func managementCommand<C: ManagementCommand>(_ type: C.Type, _ parameters: [UInt8]) -> C? {
    C(parameters: parameters.span)
}

func monitored(_ octets: [UInt8]) -> MonitorPacket? {
    MonitorPacket(octets: octets.span)
}
