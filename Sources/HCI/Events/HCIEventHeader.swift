import BluetoothTypes

/// An event's number (Core Specification 5.4, Vol 4 Part E 7.7).
public enum HCIEventCode {
    public static let commandComplete: UInt8 = 0x0E
    public static let commandStatus: UInt8 = 0x0F
    public static let hardwareError: UInt8 = 0x10
    public static let leMeta: UInt8 = 0x3E
}

/// The first parameter octet of an LE Meta event (Core Specification 5.4, Vol 4 Part E 7.7.65).
public enum LESubevent {
    public static let advertisingReport: UInt8 = 0x02
    public static let extendedAdvertisingReport: UInt8 = 0x0D
    public static let advertisingSetTerminated: UInt8 = 0x12
}

/// The head of an event packet: which event, and where its parameters lie.
///
/// Core Specification 5.4, Vol 4 Part E 5.4.4.
public struct HCIEventHeader: Hashable, Sendable {
    public let code: UInt8
    /// Offsets of the parameters in the span that was read.
    public let parameters: Range<Int>

    /// Reads the event packet (without the H4 type octet) that fills `range` of `octets`.
    public init(_ octets: Span<UInt8>, in range: Range<Int>) throws(HCIEventError) {
        let range = range.clamped(to: 0..<octets.count)
        guard range.count >= 2 else {
            throw HCIEventError(.truncated(field: .header, needed: 2, left: range.count), at: range.lowerBound)
        }
        let claimed = Int(octets[range.lowerBound + 1])
        guard claimed == range.count - 2 else {
            throw HCIEventError(
                .lengthMismatch(claimed: claimed, found: range.count - 2), at: range.lowerBound)
        }
        code = octets[range.lowerBound]
        parameters = range.lowerBound + 2..<range.upperBound
    }
}

extension HCIPacket {
    /// An event packet; what is over 255 octets of parameters cannot be counted and is left off.
    public static func event(_ code: UInt8, _ parameters: [UInt8]) -> HCIPacket {
        let parameters = parameters.prefix(255)
        var octets: [UInt8] = []
        octets.reserveCapacity(2 + parameters.count)
        octets += [code, UInt8(parameters.count)]
        octets += parameters
        return HCIPacket(.event, octets)
    }
}
