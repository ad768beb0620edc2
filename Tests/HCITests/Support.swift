import BluetoothTypes
import HCI

/// A seeded generator, so that every failure can be repeated.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    mutating func octets(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}

/// The octets that a test writes as text.
func hex(_ text: String) -> [UInt8] {
    (try? Hexadecimal.octets(text)) ?? []
}

func address(_ text: String) -> DeviceAddress {
    DeviceAddress(text) ?? DeviceAddress(FixedOctets())
}

/// A moment, in milliseconds from the start.
func at(_ milliseconds: Int) -> HCIInstant {
    HCIInstant(nanoseconds: 0).advanced(byMicroseconds: milliseconds * 1000)
}

// The expectation macros cannot look into spans: these take arrays.

func command<C: HCICommand>(_ type: C.Type, _ parameters: [UInt8]) -> C? {
    C(parameters: parameters.span)
}

func returned<R: HCIReturnParameters>(_ type: R.Type, _ octets: [UInt8], at offset: Int = 0) -> R? {
    R(octets: octets.span, at: offset)
}

func event(_ octets: [UInt8]) throws(HCIEventError) -> HCIEvent {
    try HCIEvent(octets: octets.span)
}
