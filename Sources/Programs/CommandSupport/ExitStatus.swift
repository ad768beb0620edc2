internal import Advertiser
internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
package import Configuration
internal import EddystoneSecurity
internal import FleetStore
internal import Glibc
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import Listener
internal import Planner
internal import Profiles

/// The exit statuses of Pharos, with the numbers of sysexits.h. Errors are mapped to exit statuses only here.
package enum ExitStatus: Int32 {
    case success = 0
    /// A check has found a problem.
    case failure = 1
    case usage = 64
    case dataFormat = 65
    case noInput = 66
    case unavailable = 69
    case software = 70
    case osError = 71
    case temporaryFailure = 75
    case protocolError = 76
    case notPermitted = 77
    case configuration = 78

    /// Returns the exit status and the sentences for errors that only one of the programs has; `nil` for all other
    /// errors.
    package typealias Classifier = (any Error) -> (ExitStatus, [String])?

    /// Prints an error on standard error, and ends the program.
    package static func end(with error: any Error) -> Never {
        let (status, messages) = statusAndMessages(error, { _ in nil }) ?? (.software, ["\(error)"])
        exit(status.print(messages))
    }

    /// Prints an error of a command on standard error, or the help or the version on standard output.
    ///
    /// - Returns: The exit status.
    static func report<Root: ParsableCommand>(
        _ error: any Error, of root: Root.Type, _ arguments: [String], programErrors: Classifier
    ) -> Int32 {
        if let (status, messages) = statusAndMessages(error, programErrors) { return status.print(messages) }
        // All other errors, the help and the version come from the argument parser.
        let message = root.fullMessage(for: error)
        let code = root.exitCode(for: error)
        if code.isSuccess {
            let isCompletionScript = arguments.contains { $0.hasPrefix("--generate-completion-script") }
            let text =
                isCompletionScript
                ? DefaultCommandCompletions(of: root).added(to: message)
                : HelpExamples(of: root).restored(in: message)
            Terminal.write(text + "\n")
            return 0
        }
        Terminal.writeError(ArgumentMessages.formatted(message, arguments: arguments, of: root))
        return code == .validationFailure ? ExitStatus.usage.rawValue : code.rawValue
    }

    private func print(_ messages: [String]) -> Int32 {
        for message in messages {
            // Escape control characters, because names and paths in a message come from files. The message itself may
            // have several lines.
            let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map {
                TerminalText.line(String($0))
            }
            Terminal.writeMessage(lines.joined(separator: "\n"))
        }
        return rawValue
    }

    /// Returns the sentences of an error that does not end the command.
    package static func messages(of error: any Error, programErrors: Classifier = { _ in nil }) -> [String] {
        statusAndMessages(error, programErrors)?.1 ?? ["\(error)"]
    }

    private static func statusAndMessages(_ error: any Error, _ programErrors: Classifier) -> (ExitStatus, [String])? {
        if let failure = error as? Failure { return (failure.status, failure.messages) }
        return programErrors(error) ?? classify(error)
    }

    private static func classify(_ error: any Error) -> (ExitStatus, [String])? {
        switch error {
        case let error as TransportError: (status(error), ["\(error)"])
        case let error as SessionError: (status(error), ["\(error)"])
        case let error as HCICommandError: (status(error), ["\(error)"])
        case let error as SystemError: (status(error), ["\(error)"])
        case let error as AdapterLockError: (status(error), ["\(error)"])
        case let error as InstanceLockError: (status(error), ["\(error)"])
        case let error as FileLockError: (status(error), ["\(error)"])
        case let error as BeaconServiceError: (status(error), error.messages)
        case let error as FleetStoreError: (status(error), error.messages)
        case .service(let error) as ListenerServiceError: (status(error), error.messages)
        case .fleet(let error) as ListenerServiceError: (status(error), error.messages)
        case let error as Mistake: (.usage, ["\(error)"])
        case let error as PlanError: (status(error), error.messages)
        default: nil
        }
    }

    private static func status(_ error: BeaconServiceError) -> ExitStatus {
        switch error {
        case .refused(.missing, _): .noInput
        case .refused(.malformed, _): .dataFormat
        case .refused(.invalid, _): .configuration
        case .refused(.request, _): .usage
        case .refused(.unavailable, _): .unavailable
        case .refused(.notPermitted, _): .notPermitted
        case .refused(.system, _): .osError
        case .transport(let error): status(error)
        case .advertising(let error): status(error)
        case .adapterLock(let error): status(error)
        case .instanceLock(let error): status(error)
        case .system(let error): status(error)
        }
    }

    private static func status(_ error: FleetStoreError) -> ExitStatus {
        switch error.kind {
        case .missing: .noInput
        case .malformed: .dataFormat
        case .invalid, .renumbering: .configuration
        case .request: .usage
        case .busy: .temporaryFailure
        case .notPermitted: .notPermitted
        case .unavailable: .unavailable
        case .failed: .software
        case .system: .osError
        }
    }

    private static func status(_ error: TransportError) -> ExitStatus {
        switch error.reason {
        case .missing, .down, .rfkilled, .busy, .unreachable: .unavailable
        case .noHCI: .usage
        case .notPermitted: .notPermitted
        case .system: .osError
        }
    }

    private static func status(_ error: SessionError) -> ExitStatus {
        switch error {
        case .impossible, .payload: .configuration
        case .command(let error, _): status(error)
        case .management(let error): status(error)
        case .ended, .hardwareError: .unavailable
        }
    }

    private static func status(_ error: HCICommandError) -> ExitStatus {
        switch error {
        case .refused: .protocolError
        case .noAnswer, .notAccepted: .temporaryFailure
        case .malformedReturn: .protocolError
        case .channel(let error): status(error)
        }
    }

    private static func status(_ error: ManagementError) -> ExitStatus {
        switch error {
        case .refused(_, _, .permissionDenied): .notPermitted
        case .refused(_, _, .invalidIndex), .refused(_, _, .notPowered), .refused(_, _, .rfkilled),
            .refused(_, _, .busy):
            .unavailable
        case .refused, .malformedReturn: .protocolError
        case .noAnswer: .temporaryFailure
        case .channel(let error): status(error)
        }
    }

    private static func status(_ error: HCIChannelError) -> ExitStatus {
        switch error {
        case .gone: .unavailable
        case .system: error.isNotPermitted ? .notPermitted : .osError
        case .framing: .protocolError
        case .interrupted: .success
        }
    }

    private static func status(_ error: PlanError) -> ExitStatus {
        switch error.kind {
        case .question: .usage
        case .configuration: .configuration
        case .data: .dataFormat
        case .unfinished: .temporaryFailure
        }
    }

    private static func status(_ error: AdapterLockError) -> ExitStatus {
        switch error {
        case .held: .unavailable
        case .system(let error): status(error)
        }
    }

    private static func status(_ error: InstanceLockError) -> ExitStatus {
        switch error {
        case .held: .unavailable
        case .system(let error): status(error)
        }
    }

    private static func status(_ error: FileLockError) -> ExitStatus {
        switch error {
        case .held: .temporaryFailure
        case .system(let error): status(error)
        }
    }

    private static func status(_ error: SystemError) -> ExitStatus {
        switch error.errno {
        case SystemError.noEntry: .noInput
        case SystemError.notPermitted, SystemError.accessDenied: .notPermitted
        default: .osError
        }
    }
}

/// An error with its own exit status and sentences.
package struct Failure: Error {
    let status: ExitStatus
    /// The sentences, each of which is printed on a line after `pharos: `; empty if the command has already printed the
    /// cause.
    let messages: [String]

    package init(_ status: ExitStatus, _ messages: [String]) {
        self.status = status
        self.messages = messages
    }

    /// - Parameter message: The sentence; empty if the command has already printed the cause.
    package init(_ status: ExitStatus, _ message: String = "") {
        self.init(status, message.isEmpty ? [] : [message])
    }

    /// Creates a failure with the errors of a file that cannot be decoded, at most ``JSONDocument/problemLimit`` of
    /// them.
    ///
    /// - Parameter path: The file's path as the user named it.
    package init(_ problems: [FileProblem], of path: String) {
        let errors = problems.filter(\.isError)
        self.init(
            errors.refusal == .malformed ? .dataFormat : .configuration,
            FileProblem.lines(errors, file: Files.inputName(path)))
    }
}

extension FileProblem {
    /// Returns the first ``JSONDocument/problemLimit`` problems as text. If there are more, the last line says how many
    /// are left out.
    package static func lines(_ problems: [FileProblem], file: String) -> [String] {
        let lines = problems.prefix(JSONDocument.problemLimit).map { $0.text(file: file) }
        let omittedCount = problems.count - lines.count
        return omittedCount > 0 ? lines + ["\(file): \(NumberFormat.count(omittedCount, "more problem"))"] : lines
    }
}
