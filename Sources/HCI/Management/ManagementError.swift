import BluetoothTypes

/// Why a management command has no result.
public enum ManagementError: Error, Hashable, Sendable {
    /// The kernel answered with an error.
    case refused(command: String, index: UInt16, status: ManagementStatus)
    case noAnswer(command: String, index: UInt16, after: Duration)
    /// The answer is too short for what the command returns.
    case malformedReturn(command: String, index: UInt16, octets: [UInt8])
    case channel(HCIChannelError)

    /// What the kernel said, where it said something.
    public var status: ManagementStatus? {
        guard case .refused(_, _, let status) = self else { return nil }
        return status
    }
}

extension ManagementError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(let command, let index, let status):
            "the kernel refused \(command)\(Self.place(index)): \(status)\(Self.remedy(status))"
        case .noAnswer(let command, let index, let time):
            "the kernel did not answer \(command)\(Self.place(index)) within \(time.secondsText) s"
        case .malformedReturn(let command, let index, let octets):
            "the kernel's answer to \(command)\(Self.place(index)) is too short: "
                + (octets.isEmpty ? "empty" : Hexadecimal.text(octets))
        case .channel(let error):
            error.description
        }
    }

    private static func place(_ index: UInt16) -> String {
        index == ManagementPacket.noController ? "" : " on hci\(index)"
    }

    /// What a person can do about it.
    private static func remedy(_ status: ManagementStatus) -> String {
        switch status {
        case .permissionDenied: "; run as root, or give the program CAP_NET_ADMIN"
        case .rfkilled: "; `rfkill unblock bluetooth` frees the radio"
        case .invalidIndex: "; no such adapter, or a program holds its user channel"
        default: ""
        }
    }
}
