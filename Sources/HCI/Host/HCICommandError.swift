import BluetoothTypes

/// Why a command has no result.
public enum HCICommandError: Error, Hashable, Sendable {
    /// The controller answered with an error.
    case refused(command: String, opcode: HCIOpcode, status: HCIStatus)
    /// The command was sent, and no answer came in time.
    case noAnswer(command: String, opcode: HCIOpcode, after: Duration)
    /// The command was not even sent: the controller allowed none (Num_HCI_Command_Packets 0) in time.
    case notAccepted(command: String, opcode: HCIOpcode, after: Duration)
    /// The answer is too short for what the command returns.
    case malformedReturn(command: String, opcode: HCIOpcode, octets: [UInt8])
    case channel(HCIChannelError)

    /// What the controller said, where it said something.
    public var status: HCIStatus? {
        guard case .refused(_, _, let status) = self else { return nil }
        return status
    }
}

extension HCICommandError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(let command, let opcode, let status):
            "\(command) (\(opcode)) was refused: \(status)"
        case .noAnswer(let command, let opcode, let time):
            "\(command) (\(opcode)) was not answered within \(time.secondsText) s"
        case .notAccepted(let command, let opcode, let time):
            "\(command) (\(opcode)) could not be sent: "
                + "the controller accepted no command for \(time.secondsText) s"
        case .malformedReturn(let command, let opcode, let octets):
            "\(command) (\(opcode)) was answered with too few octets: "
                + (octets.isEmpty ? "not even a status" : Hexadecimal.text(octets))
        case .channel(let error):
            error.description
        }
    }
}

extension HCIChannelError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .gone(let what): "the controller is gone: \(what)"
        case .system(let call, let errno, let text): "\(call) failed: \(text) (errno \(errno))"
        case .framing(let what): "what came is no HCI packet: \(what)"
        case .interrupted: "interrupted by a signal"
        }
    }
}

extension Duration {
    /// Seconds with up to three decimals, for messages.
    var secondsText: String {
        let milliseconds = components.attoseconds / 1_000_000_000_000_000
        return DecimalText.thousandths(Int(min(components.seconds, 1_000_000_000)) * 1000 + Int(milliseconds))
    }
}
