public import BluetoothTypes

/// A command of the Core Specification, Vol 4 Part E 7, or of a vendor.
///
/// The initialisers with named parameters accept only values that the specification allows. ``init(parameters:)``
/// accepts any values that fit the layout, so that commands of other hosts can be shown in captures and refused by
/// virtual controllers.
public protocol HCICommand: HCIRecord {
    /// The return parameters, which follow the status byte in this command's Command Complete event.
    associatedtype ReturnParameters: HCIReturnParameters = HCINoReturnParameters

    static var opcode: HCIOpcode { get }
    /// The specification's name without its prefix: `LE Set Advertising Parameters`.
    static var name: String { get }
}

extension HCICommand {
    /// The parameter bytes; at most 255.
    public var parameters: [UInt8] { encoded }

    /// The names of the parameters and their values in words, for display.
    public var fields: [HCIField] { described }

    /// The whole command as a packet.
    public var packet: HCIPacket { HCIPacket.command(Self.opcode, parameters) }

    /// Reads the parameter bytes; `nil` if their number or layout does not fit this command, or if there are more than
    /// the 255 that a command packet can have. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count <= 255 else { return nil }
        self.init(decoding: octets, allowsTrailingOctets: false)
    }
}

/// A command without parameters.
public protocol HCIParameterlessCommand: HCICommand {
    init()
}

extension HCIParameterlessCommand {
    public init(placeholder: HCIPlaceholder) { self.init() }
    public mutating func layout(_ fields: inout HCIFieldCoder) {}
}

/// The return parameters of a command, after its status byte.
public protocol HCIReturnParameters: HCIRecord {}

extension HCIReturnParameters {
    /// The bytes after the status byte.
    public var octets: [UInt8] { encoded }

    /// Reads the bytes from `offset` on; `nil` if too few bytes are left. Surplus bytes are ignored, because later
    /// versions of the specification append fields.
    public init?(octets: Span<UInt8>, at offset: Int) {
        self.init(decoding: octets, at: offset, allowsTrailingOctets: true)
    }
}

/// The return parameters of commands that return only their status.
public struct HCINoReturnParameters: HCIReturnParameters {
    /// No parameters.
    public init() {}
    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {}
}

/// One parameter of a command with its value, in words.
public struct HCIField: Hashable, Sendable, CustomStringConvertible {
    /// The specification's name: `Advertising_Interval_Min`.
    public let name: String
    /// The value in words or digits, such as `0x00A0 (100 ms)`.
    public let value: String

    /// A parameter by its name in the specification, with its value in words or digits.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    init(_ name: String, octets: [UInt8]) {
        self.init(name, octets.isEmpty ? "none" : Hexadecimal.text(octets))
    }

    public var description: String { "\(name): \(value)" }
}

/// The reason why a command cannot be created: the specification forbids its values.
public enum HCIParameterError: Error, Hashable, Sendable, CustomStringConvertible {
    case outOfRange(ValueOutOfRange)
    /// A value that is inside its range but is not allowed, for example together with the other parameters.
    case notAllowed(field: String, value: String, reason: String)

    public var description: String {
        switch self {
        case .outOfRange(let error): error.description
        case .notAllowed(let field, let value, let reason): "\(field): \(value) is not allowed: \(reason)"
        }
    }
}
