internal import Advertiser
internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import EddystoneSecurity
internal import FleetStore
internal import Glibc
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import ListenerService
internal import Planner
internal import Profiles

/// Every way in which Pharos ends, as sysexits.h numbers them. The one place that maps errors to numbers.
enum ExitStatus: Int32 {
    case success = 0
    /// A check found something.
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

    /// Says what went wrong and ends the program.
    static func end(with error: any Error) -> Never {
        if let failure = error as? Failure {
            for message in failure.messages { Terminal.writeError("pharos: \(message)\n") }
            exit(failure.status.rawValue)
        }
        if let (status, messages) = classify(error) {
            for message in messages { Terminal.writeError("pharos: \(message)\n") }
            exit(status.rawValue)
        }
        // What is left is the argument parser's own: help and version on standard output, mistakes on standard error.
        let message = Pharos.fullMessage(for: error)
        let code = Pharos.exitCode(for: error)
        if code.isSuccess {
            Terminal.write(message + "\n")
            exit(0)
        }
        Terminal.writeError(
            ArgumentMessages.spoken(message, arguments: Array(CommandLine.arguments.dropFirst())))
        exit(code == .validationFailure ? ExitStatus.usage.rawValue : code.rawValue)
    }

    private static func classify(_ error: any Error) -> (ExitStatus, [String])? {
        switch error {
        case let error as TransportError: (status(error), ["\(error)"])
        case let error as AdvertisingError: (status(error), ["\(error)"])
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
        case .invalid: .configuration
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

    private static func status(_ error: AdvertisingError) -> ExitStatus {
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
        case .system(_, SystemError.notPermitted, _): .notPermitted
        case .system: .osError
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

/// An error with its sentences and its number, thrown where the general mapping would say too little.
struct Failure: Error {
    let status: ExitStatus
    /// Each stands behind `pharos: ` on a line of its own; none where everything has been said already.
    let messages: [String]

    init(_ status: ExitStatus, _ messages: [String]) {
        self.status = status
        self.messages = messages
    }

    /// - Parameter message: Empty where everything has been said already.
    init(_ status: ExitStatus, _ message: String = "") {
        self.init(status, message.isEmpty ? [] : [message])
    }
}

/// The argument parser's messages in the shape of ours: `pharos: `, then one sentence, then how to get help.
enum ArgumentMessages {
    /// - Parameters:
    ///   - message: The parser's: a sentence, what the option is for, the usage, and where help is.
    ///   - arguments: What the program was started with, without its name.
    static func spoken(_ message: String, arguments: [String]) -> String {
        if let problem = UnknownCommand.problem(in: arguments) { return "pharos: \(problem)\n" }
        let lines = message.split(separator: "\n").map(String.init)
        guard var sentence = lines.first else { return message }
        sentence = sentence.hasPrefix("Error: ") ? String(sentence.dropFirst(7)) : sentence
        let usage = lines.first { $0.hasPrefix("Usage: ") }
        if sentence.hasPrefix("Missing expected argument '"), let usage {
            let missing = required(usage).filter { option in
                !arguments.contains { $0 == option.name || $0.hasPrefix(option.name + "=") }
            }
            if missing.count > 1 {
                let names = missing.map(\.text)
                sentence =
                    "Missing expected arguments " + names.dropLast().map { "'\($0)'" }.joined(separator: ", ")
                    + " and '\(names[names.count - 1])'"
            }
        }
        let help = lines.last { $0.hasPrefix("  See '") }
        return (["pharos: " + sentence] + (help.map { [$0] } ?? [])).joined(separator: "\n") + "\n"
    }

    /// The options that a usage line shows outside of brackets.
    private static func required(_ usage: String) -> [(name: String, text: String)] {
        var depth = 0
        let outside = usage.filter { character in
            if character == "[" { depth += 1 }
            defer { if character == "]" { depth -= 1 } }
            return depth == 0
        }
        let words = outside.split(separator: " ").map(String.init)
        return words.indices.filter { words[$0].hasPrefix("--") }.map { index in
            let value = index + 1 < words.count && words[index + 1].hasPrefix("<") ? " " + words[index + 1] : ""
            return (words[index], words[index] + value)
        }
    }
}
