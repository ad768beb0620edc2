import BluetoothTypes

/// Command Complete (Core Specification 5.4, Vol 4 Part E 7.7.14).
public struct CommandComplete: Hashable, Sendable {
    /// Num_HCI_Command_Packets: how many commands the controller takes from now on.
    public let credits: UInt8
    /// The command that is answered; ``HCIOpcode/noOperation`` when only the credits are meant.
    public let opcode: HCIOpcode
    /// The status octet and the return parameters. Some controllers leave the latter out when the status is an error.
    public let returnOctets: [UInt8]

    /// An answer with `returnOctets`, status first; `credits` is how many more commands the controller takes.
    public init(credits: UInt8 = 1, opcode: HCIOpcode, returnOctets: [UInt8]) {
        self.credits = credits
        self.opcode = opcode
        self.returnOctets = returnOctets
    }

    /// `nil` when not even the status octet is there.
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
    /// Success here only means that the command has been taken.
    public let status: HCIStatus
    /// Num_HCI_Command_Packets: how many commands the controller takes from now on.
    public let credits: UInt8
    public let opcode: HCIOpcode

    /// An answer without return parameters; success means that the command was begun.
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
    /// Success: a connection was made. 0x3C: the duration is over. 0x43: all events have been sent.
    public let status: HCIStatus
    /// The host's number of the advertising set, 0x00...0xEF.
    public let handle: UInt8
    /// Only meaningful when a connection was made.
    public let connectionHandle: UInt16
    /// Num_Completed_Extended_Advertising_Events.
    public let completedEvents: UInt8

    /// The end of the set `handle`: by its duration (0x3C), its number of events (0x43) or a connection (0x00).
    public init(status: HCIStatus, handle: UInt8, connectionHandle: UInt16 = 0, completedEvents: UInt8) {
        self.status = status
        self.handle = handle
        self.connectionHandle = connectionHandle
        self.completedEvents = completedEvents
    }

    /// Reads what follows the subevent code.
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
