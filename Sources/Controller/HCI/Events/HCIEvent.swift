public import BluetoothTypes

/// An event from a controller (Core Specification 5.4, Vol 4 Part E 7.7).
public enum HCIEvent: Hashable, Sendable {
    case commandComplete(CommandComplete)
    case commandStatus(CommandStatus)
    /// Hardware Error. The meaning of the code depends on the controller's manufacturer.
    case hardwareError(code: UInt8)
    case advertisingReports([AdvertisingReport])
    case extendedAdvertisingReports([AdvertisingReport])
    case advertisingSetTerminated(AdvertisingSetTerminated)
    /// Any other event. The parameters of an LE Meta event start with the subevent code.
    case unknown(code: UInt8, parameters: [UInt8])

    /// Reads the bytes of an event packet, without the H4 type byte.
    public init(octets: Span<UInt8>) throws(HCIEventError) {
        let header = try HCIEventHeader(octets, in: 0..<octets.count)
        let range = header.parameters
        switch header.code {
        case HCIEventCode.commandComplete:
            self = .commandComplete(try CommandComplete(octets, range))
        case HCIEventCode.commandStatus:
            self = .commandStatus(try CommandStatus(octets, range))
        case HCIEventCode.hardwareError:
            guard range.count >= 1 else {
                throw HCIEventError(.truncated(field: .hardwareError, needed: 1, left: 0), at: range.lowerBound)
            }
            guard range.count == 1 else {
                throw HCIEventError(.trailing(range.count - 1), at: range.lowerBound + 1)
            }
            self = .hardwareError(code: octets[range.lowerBound])
        case HCIEventCode.leMeta:
            self = try Self.leMeta(octets, range)
        default:
            self = .unknown(code: header.code, parameters: octets.array(range))
        }
    }

    private static func leMeta(_ octets: Span<UInt8>, _ range: Range<Int>) throws(HCIEventError) -> HCIEvent {
        guard range.count >= 1 else {
            throw HCIEventError(.truncated(field: .subevent, needed: 1, left: 0), at: range.lowerBound)
        }
        switch octets[range.lowerBound] {
        case LESubevent.advertisingReport:
            return .advertisingReports(try AdvertisingReport.all(octets, range))
        case LESubevent.extendedAdvertisingReport:
            return .extendedAdvertisingReports(try AdvertisingReport.all(octets, range))
        case LESubevent.advertisingSetTerminated:
            return .advertisingSetTerminated(try AdvertisingSetTerminated(octets, range.dropFirst()))
        default:
            return .unknown(code: HCIEventCode.leMeta, parameters: octets.array(range))
        }
    }

    /// The event as a packet. If there are more advertising reports than fit into one event, the packet contains only
    /// the first ones.
    public var packet: HCIPacket {
        switch self {
        case .commandComplete(let event): .event(HCIEventCode.commandComplete, event.parameters)
        case .commandStatus(let event): .event(HCIEventCode.commandStatus, event.parameters)
        case .hardwareError(let code): .event(HCIEventCode.hardwareError, [code])
        case .advertisingReports(let reports):
            .event(
                HCIEventCode.leMeta,
                AdvertisingReport.parameters(LESubevent.advertisingReport, reports.map(\.legacyOctets)))
        case .extendedAdvertisingReports(let reports):
            .event(
                HCIEventCode.leMeta,
                AdvertisingReport.parameters(LESubevent.extendedAdvertisingReport, reports.map(\.extendedOctets)))
        case .advertisingSetTerminated(let event): .event(HCIEventCode.leMeta, event.parameters)
        case .unknown(let code, let parameters): .event(code, parameters)
        }
    }
}

extension HCIEvent {
    /// Returns a Command Complete for `command`, with the status success and the return parameters.
    public static func completed<C: HCICommand>(
        _ command: C.Type, _ returned: C.ReturnParameters, credits: UInt8 = 1
    ) -> HCIEvent {
        .commandComplete(
            CommandComplete(
                credits: credits, opcode: C.opcode, returnOctets: [HCIStatus.success.rawValue] + returned.octets))
    }

    /// Returns a Command Complete that contains only a status: for commands without return parameters, and for errors.
    public static func completed(_ opcode: HCIOpcode, _ status: HCIStatus, credits: UInt8 = 1) -> HCIEvent {
        .commandComplete(CommandComplete(credits: credits, opcode: opcode, returnOctets: [status.rawValue]))
    }
}

/// Event codes (Core Specification 5.4, Vol 4 Part E 7.7).
public enum HCIEventCode {
    public static let commandComplete: UInt8 = 0x0E
    public static let commandStatus: UInt8 = 0x0F
    public static let hardwareError: UInt8 = 0x10
    public static let leMeta: UInt8 = 0x3E
}

/// The first parameter byte of an LE Meta event (Core Specification 5.4, Vol 4 Part E 7.7.65).
public enum LESubevent {
    public static let advertisingReport: UInt8 = 0x02
    public static let extendedAdvertisingReport: UInt8 = 0x0D
    public static let advertisingSetTerminated: UInt8 = 0x12
}

/// The header of an event packet.
///
/// Core Specification 5.4, Vol 4 Part E 5.4.4.
public struct HCIEventHeader: Hashable, Sendable {
    /// The event code: see ``HCIEventCode``.
    public let code: UInt8
    /// Offsets of the parameters in the span.
    public let parameters: Range<Int>

    /// Reads the header of the event packet (without the H4 type byte) in `range` of `octets`. The packet must fill the
    /// whole range.
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
    /// An event packet. Parameters after the first 255 bytes are omitted.
    public static func event(_ code: UInt8, _ parameters: [UInt8]) -> HCIPacket {
        let parameters = parameters.prefix(255)
        var octets: [UInt8] = []
        octets.reserveCapacity(2 + parameters.count)
        octets += [code, UInt8(parameters.count)]
        octets += parameters
        return HCIPacket(.event, octets)
    }
}

/// An error in the bytes of an event. Its offset is the number of bytes from the start of the span to the field.
public typealias HCIEventError = PositionedError<HCIEventFault>

/// The reason why bytes are not a valid event.
public enum HCIEventFault: PositionedReason {
    /// The length byte does not match the number of bytes after the header.
    case lengthMismatch(claimed: Int, found: Int)
    /// The field needs more bytes than are left.
    case truncated(field: Field, needed: Int, left: Int)
    /// There are extra bytes after the last field. The value is their number.
    case trailing(Int)

    /// The part of an event that is truncated.
    public enum Field: String, Hashable, Sendable {
        case header = "event header"
        case commandComplete = "Command Complete"
        case commandStatus = "Command Status"
        case hardwareError = "Hardware Error"
        case subevent = "LE Meta subevent code"
        case reportCount = "number of reports"
        case report = "advertising report"
        case reportData = "advertising report's data"
        case setTerminated = "LE Advertising Set Terminated"
    }

    /// One sentence with the field, its offset, and the wrong numbers.
    public func sentence(at offset: Int) -> String {
        switch self {
        case .lengthMismatch(let claimed, let found):
            "the event at offset \(offset) claims \(claimed) bytes of parameters, but has \(found)"
        case .truncated(let field, let needed, let left):
            "the \(field.rawValue) at offset \(offset) needs \(needed) bytes, but only \(left) are left"
        case .trailing(let count):
            "\(count) extra bytes at offset \(offset), after the last field of the event"
        }
    }
}

/// Command Complete (Core Specification 5.4, Vol 4 Part E 7.7.14).
public struct CommandComplete: Hashable, Sendable {
    /// Num_HCI_Command_Packets: the number of commands that the controller accepts now.
    public let credits: UInt8
    /// The completed command; ``HCIOpcode/noOperation`` if the event only reports the credits.
    public let opcode: HCIOpcode
    /// The status byte and the return parameters. Some controllers omit the return parameters if the status is an
    /// error.
    public let returnOctets: [UInt8]

    /// An event with the status byte and the return parameters in `returnOctets`.
    ///
    /// - Parameter credits: The number of commands that the controller accepts now.
    public init(credits: UInt8 = 1, opcode: HCIOpcode, returnOctets: [UInt8]) {
        self.credits = credits
        self.opcode = opcode
        self.returnOctets = returnOctets
    }

    /// The status; `nil` if the event has no status byte.
    public var status: HCIStatus? { returnOctets.first.map(HCIStatus.init) }

    init(_ octets: Span<UInt8>, _ range: Range<Int>) throws(HCIEventError) {
        guard range.count >= 3 else {
            throw HCIEventError(
                .truncated(field: .commandComplete, needed: 3, left: range.count), at: range.lowerBound)
        }
        credits = octets[range.lowerBound]
        opcode = HCIOpcode(rawValue: octets.uint16LittleEndian(at: range.lowerBound + 1))
        returnOctets = octets.array(range.dropFirst(3))
    }

    var parameters: [UInt8] {
        var octets = [credits]
        octets.append(littleEndian: opcode.rawValue)
        return octets + returnOctets
    }
}

/// Command Status (Core Specification 5.4, Vol 4 Part E 7.7.15).
public struct CommandStatus: Hashable, Sendable {
    /// The status. Success means only that the controller has accepted the command and has started it.
    public let status: HCIStatus
    /// Num_HCI_Command_Packets: the number of commands that the controller accepts now.
    public let credits: UInt8
    public let opcode: HCIOpcode

    /// An event without return parameters.
    public init(status: HCIStatus, credits: UInt8 = 1, opcode: HCIOpcode) {
        self.status = status
        self.credits = credits
        self.opcode = opcode
    }

    init(_ octets: Span<UInt8>, _ range: Range<Int>) throws(HCIEventError) {
        guard range.count >= 4 else {
            throw HCIEventError(
                .truncated(field: .commandStatus, needed: 4, left: range.count), at: range.lowerBound)
        }
        guard range.count == 4 else {
            throw HCIEventError(.trailing(range.count - 4), at: range.lowerBound + 4)
        }
        status = HCIStatus(rawValue: octets[range.lowerBound])
        credits = octets[range.lowerBound + 1]
        opcode = HCIOpcode(rawValue: octets.uint16LittleEndian(at: range.lowerBound + 2))
    }

    var parameters: [UInt8] {
        var octets = [status.rawValue, credits]
        octets.append(littleEndian: opcode.rawValue)
        return octets
    }
}

/// LE Advertising Set Terminated (Core Specification 5.4, Vol 4 Part E 7.7.65.18).
public struct AdvertisingSetTerminated: Hashable, Sendable {
    /// The reason for the end: 0x00 (success) if a connection was made, 0x3C if the duration is over, 0x43 if the
    /// maximum number of events was sent.
    public let status: HCIStatus
    /// The host's number of the advertising set, 0x00...0xEF.
    public let handle: UInt8
    /// The handle of the connection; only valid if a connection was made.
    public let connectionHandle: UInt16
    /// Num_Completed_Extended_Advertising_Events: the number of advertising events that were sent.
    public let completedEvents: UInt8

    /// An event that reports the end of the set `handle`.
    public init(status: HCIStatus, handle: UInt8, connectionHandle: UInt16 = 0, completedEvents: UInt8) {
        self.status = status
        self.handle = handle
        self.connectionHandle = connectionHandle
        self.completedEvents = completedEvents
    }

    /// Reads the parameters after the subevent code.
    init(_ octets: Span<UInt8>, _ range: Range<Int>) throws(HCIEventError) {
        guard range.count >= 5 else {
            throw HCIEventError(
                .truncated(field: .setTerminated, needed: 5, left: range.count), at: range.lowerBound)
        }
        guard range.count == 5 else {
            throw HCIEventError(.trailing(range.count - 5), at: range.lowerBound + 5)
        }
        status = HCIStatus(rawValue: octets[range.lowerBound])
        handle = octets[range.lowerBound + 1]
        connectionHandle = octets.uint16LittleEndian(at: range.lowerBound + 2)
        completedEvents = octets[range.lowerBound + 4]
    }

    var parameters: [UInt8] {
        var octets = [LESubevent.advertisingSetTerminated, status.rawValue, handle]
        octets.append(littleEndian: connectionHandle)
        return octets + [completedEvents]
    }
}
