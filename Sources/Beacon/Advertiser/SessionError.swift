internal import BluetoothTypes
public import HCI

/// Why an advertisement is not on the air.
public enum SessionError: Error, Sendable {
    /// This controller cannot do what is asked: found before anything was sent.
    case impossible(String)
    /// A command was refused, not answered, or could not be sent.
    case command(HCICommandError, remedy: String?)
    /// The kernel's management refused a command, did not answer, or could not be asked.
    case management(ManagementError)
    /// The payload cannot be made.
    case payload(String)
    /// Advertising has ended without our doing: by what, and in words.
    case ended(SupervisorCause, String)
    /// The controller reports that it has failed, with a code of its own (Core Specification 5.4, Vol 4 Part E 7.7.16).
    case hardwareError(UInt8)
}

extension SessionError {
    /// Whether a signal ended the wait: no fault of anybody's.
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

/// Runs `body`, and tells a hint beside a refusal: the status alone says nothing of who or what is in the way.
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
        // What is left are parameters that a command's own check refuses.
        throw .impossible("\(error)")
    }
}

extension SessionError {
    /// The controller will answer the next command no better.
    var isHopeless: Bool {
        guard case .command(let error, _) = self else { return false }
        switch error {
        case .refused, .malformedReturn, .channel(.interrupted): return false
        case .noAnswer, .notAccepted, .channel: return true
        }
    }
}
