public import BluetoothTypes

/// A command of the Core Specification, Vol 4 Part E 7, or of a vendor: its number, its layout and what it returns.
///
/// The initialisers with named parameters take only what the specification allows; ``init(parameters:)`` takes whatever
/// fits the layout, so that captures show, and controllers refuse, what somebody else sent.
public protocol HCICommand: Hashable, Sendable {
    /// What follows the status octet in this command's Command Complete event.
    associatedtype ReturnParameters: HCIReturnParameters

    static var opcode: HCIOpcode { get }
    /// The specification's name without its prefix: `LE Set Advertising Parameters`.
    static var name: String { get }

    /// The parameter octets; at most 255.
    var parameters: [UInt8] { get }
    /// Reads parameter octets; `nil` when their number or layout is not this command's. Values are not judged.
    init?(parameters octets: Span<UInt8>)
    /// The parameters by name, for people.
    var fields: [HCIField] { get }
}

extension HCICommand {
    /// The whole command as a packet.
    public var packet: HCIPacket {
        HCIPacket.command(Self.opcode, parameters)
    }
}

/// What a command returns after its status octet.
public protocol HCIReturnParameters: Hashable, Sendable {
    /// The octets after the status octet.
    var octets: [UInt8] { get }
    /// Reads them from `offset` on; `nil` when too few are there. More are tolerated: later versions of the
    /// specification append fields.
    init?(octets: Span<UInt8>, at offset: Int)
}

/// For commands that return their status and nothing else.
public struct HCINoReturnParameters: HCIReturnParameters {
    /// Nothing to hold.
    public init() {}
    /// Reads no octets, so it never fails.
    public init?(octets: Span<UInt8>, at offset: Int) {}
    public var octets: [UInt8] { [] }
}

/// A command without parameters.
public protocol HCIParameterlessCommand: HCICommand {
    init()
}

extension HCIParameterlessCommand {
    public var parameters: [UInt8] { [] }
    public var fields: [HCIField] { [] }

    /// Reads the parameters of a command that has none; `nil` when there are some.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.isEmpty else { return nil }
        self.init()
    }
}

/// One parameter of a command with its value, in words.
public struct HCIField: Hashable, Sendable, CustomStringConvertible {
    /// The specification's name: `Advertising_Interval_Min`.
    public let name: String
    /// Such as `0x00A0 (100 ms)`.
    public let value: String

    /// A parameter by its name in the specification, with its value in words or digits.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    init(_ name: String, _ value: some CustomStringConvertible) {
        self.init(name, value.description)
    }

    init(_ name: String, interval: AdvertisingInterval) {
        self.init(name, "\(Hexadecimal.number(interval.rawValue, width: 4)) (\(interval))")
    }

    init(_ name: String, scan: ScanInterval) {
        self.init(name, "\(Hexadecimal.number(scan.rawValue, width: 4)) (\(scan))")
    }

    init(_ name: String, channels: AdvertisingChannels) {
        let text = channels.numbers.isEmpty ? "none" : channels.description
        self.init(name, "\(text) (\(Hexadecimal.number(channels.rawValue, width: 2)))")
    }

    init(_ name: String, octets: [UInt8]) {
        self.init(name, octets.isEmpty ? "none" : Hexadecimal.text(octets))
    }

    init(_ name: String, handle: UInt8) {
        self.init(name, Hexadecimal.number(handle, width: 2))
    }

    /// An octet that switches something: 1 on, 0 off, anything else undefined.
    init(_ name: String, onOff octet: UInt8) {
        let words: [UInt8: String] = [0: "off", 1: "on"]
        self.init(name, "\(words[octet] ?? "undefined") (\(Hexadecimal.number(octet, width: 2)))")
    }

    public var description: String { "\(name): \(value)" }
}

/// Why a command cannot be made: what the specification forbids is refused here, before anything is sent.
public enum HCIParameterError: Error, Hashable, Sendable, CustomStringConvertible {
    case outOfRange(ValueOutOfRange)
    /// A value inside its range that the other parameters or the specification exclude.
    case notAllowed(field: String, value: String, reason: String)

    public var description: String {
        switch self {
        case .outOfRange(let error): error.description
        case .notAllowed(let field, let value, let reason): "\(field): \(value) is not allowed: \(reason)"
        }
    }

    /// Throws unless `value` lies in `range`.
    static func check(
        _ field: String, _ value: some BinaryInteger, in range: ClosedRange<Int>, unit: String = ""
    ) throws(HCIParameterError) {
        let number = Int(clamping: value)
        guard range.contains(number) else {
            throw .outOfRange(ValueOutOfRange(field, number, range: range, unit: unit))
        }
    }

    /// Throws unless minimum and maximum lie in `range` in this order; `names` is what `_Min` and `_Max` follow.
    static func check(
        _ minimum: AdvertisingInterval, _ maximum: AdvertisingInterval, names: String,
        in range: ClosedRange<AdvertisingInterval>
    ) throws(HCIParameterError) {
        let lowest = Int(range.lowerBound.rawValue)
        let highest = Int(range.upperBound.rawValue)
        try check(names + "_Max", maximum.rawValue, in: lowest...highest, unit: "(units of 0.625 ms)")
        try check(
            names + "_Min", minimum.rawValue, in: lowest...Int(maximum.rawValue), unit: "(units of 0.625 ms)")
    }
}
