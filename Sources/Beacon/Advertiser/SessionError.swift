internal import BluetoothTypes
public import HCI

/// The reason why an advertisement is not on the air.
public enum SessionError: Error, Sendable {
    /// This controller cannot send the advertisements. The error was found before any of them was sent.
    case impossible(String)
    /// A command was refused, was not answered, or could not be sent. `remedy` tells the user what to do; `nil` if it
    /// is not known.
    case command(HCICommandError, remedy: String?)
    /// The kernel's management refused a command, did not answer, or could not be reached.
    case management(ManagementError)
    /// The payload cannot be built.
    case payload(String)
    /// A fault or another program has ended advertising. The values are the cause and a sentence for the user.
    case ended(SupervisorCause, String)
    /// The controller reported a Hardware Error with its code (Core Specification 5.4, Vol 4 Part E 7.7.16).
    case hardwareError(UInt8)
}

extension SessionError {
    /// `true` if a signal ended the wait.
    public var isInterruption: Bool {
        switch self {
        case .command(let error, _): error == .channel(.interrupted)
        case .management(let error): error == .channel(.interrupted)
        case .impossible, .payload, .ended, .hardwareError: false
        }
    }
}

extension SessionError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .impossible(let reason), .payload(let reason), .ended(_, let reason): reason
        case .hardwareError(let code):
            "the controller reports a hardware error (code \(Hexadecimal.number(code, width: 2)))"
        case .management(let error): error.description
        case .command(let error, nil): error.description
        case .command(let error, let remedy?): "\(error); \(remedy)"
        }
    }
}

/// Runs `body` and converts its errors to ``SessionError``.
///
/// - Parameter hints: The likely cause of a refusal, for each status.
func advertising<Result>(
    hints: [HCIStatus: String]? = nil, _ body: () throws -> Result
) throws(SessionError) -> Result {
    do {
        return try body()
    } catch let error as SessionError {
        throw error
    } catch let error as HCICommandError {
        throw .command(error, remedy: error.status.flatMap { hints?[$0] })
    } catch let error as ManagementError {
        throw .management(error)
    } catch {
        // This error comes from the command's own check of its parameters, so the command was not sent.
        throw .impossible("\(error)")
    }
}

extension SessionError {
    /// The status with which the controller has refused a command; `nil` for other errors.
    var status: HCIStatus? {
        guard case .command(let error, _) = self else { return nil }
        return error.status
    }

    /// `true` if the next command would fail too, because the controller does not answer or its connection is broken.
    var isHopeless: Bool {
        guard case .command(let error, _) = self else { return false }
        switch error {
        case .refused, .malformedReturn, .channel(.interrupted): return false
        case .noAnswer, .notAccepted, .channel: return true
        }
    }
}
