import BluetoothTypes

/// An event: what a controller says (Core Specification 5.4, Vol 4 Part E 7.7).
public enum HCIEvent: Hashable, Sendable {
    case commandComplete(CommandComplete)
    case commandStatus(CommandStatus)
    /// A number that only the controller's maker understands.
    case hardwareError(code: UInt8)
    case advertisingReports([AdvertisingReport])
    case extendedAdvertisingReports([AdvertisingReport])
    case advertisingSetTerminated(AdvertisingSetTerminated)
    /// Every other event as it came; of an LE Meta event the parameters start with the subevent code.
    case unknown(code: UInt8, parameters: [UInt8])

    /// Reads the octets of an event packet, without the H4 type octet.
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

    /// The event as a packet. Of advertising reports as many as fit into one event are taken, from the first one on.
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
    /// The answer to `command`: success with its return parameters.
    public static func completed<C: HCICommand>(
        _ command: C.Type, _ returned: C.ReturnParameters, credits: UInt8 = 1
    ) -> HCIEvent {
        .commandComplete(
            CommandComplete(
                credits: credits, opcode: C.opcode, returnOctets: [HCIStatus.success.rawValue] + returned.octets))
    }

    /// The answer to a command by Command Complete with its status alone: what commands without return parameters
    /// are answered with, and what a refusal may be.
    public static func completed(_ opcode: HCIOpcode, _ status: HCIStatus, credits: UInt8 = 1) -> HCIEvent {
        .commandComplete(CommandComplete(credits: credits, opcode: opcode, returnOctets: [status.rawValue]))
    }
}
