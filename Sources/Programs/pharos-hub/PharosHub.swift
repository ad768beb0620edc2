internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import Inventory
internal import Messaging
internal import Rehearsal
internal import Store

/// The root command of the program pharos-hub, which has the receiving services. The program `pharos` starts it for
/// these commands, so messages use the name `pharos`.
@main
struct PharosHub: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pharos",
        abstract: "Receive beacons: zones, rooms, places, inventories and history; and test receivers.",
        version: CommandProgram.version,
        subcommands: [
            CollectGroup.self, Crowd.self, FindOnMap.self, History.self, InventoryCommand.self, ListenGroup.self,
            Locate.self, MapCommand.self, Proxy.self, Rehearse.self, WhereCommand.self, ZonesGroup.self,
        ])

    static func main() {
        // `map record` waits for the user, and prints its own progress.
        let isRecording = CommandLine.arguments.dropFirst().starts(with: ["map", "record"])
        CommandProgram.main(
            PharosHub.self, slowCommands: isRecording ? [] : ["map", "rehearse"], programErrors: classify)
    }

    /// Returns the exit status and the messages of errors that only this program has; `nil` for all other errors.
    static func classify(_ error: any Error) -> (ExitStatus, [String])? {
        switch error {
        case let error as InventoryError: (ExitStatus(error), error.messages)
        case let error as RehearsalError: (ExitStatus(error), error.messages)
        case let error as BrokerError: (ExitStatus(error), ["\(error)"])
        case let error as StoreError: (ExitStatus(error), ["\(error)"])
        case let error as PostgreSQLError: (ExitStatus(error), ["\(error)"])
        default: nil
        }
    }
}

extension ExitStatus {
    fileprivate init(_ error: BrokerError) {
        if case .missing = error {
            self = .noInput
        } else {
            self = error.needsCorrection ? .configuration : .unavailable
        }
    }

    fileprivate init(_ error: RehearsalError) {
        self =
            switch error.kind {
            case .missing: .noInput
            case .malformed: .dataFormat
            case .invalid: .configuration
            case .request: .usage
            case .system: .osError
            }
    }

    fileprivate init(_ error: StoreError) {
        self =
            switch error.kind {
            case .missing: .noInput
            case .notPermitted: .notPermitted
            case .corrupt, .foreign: .dataFormat
            case .busy: .unavailable
            case .full, .system: .osError
            }
    }

    fileprivate init(_ error: PostgreSQLError) {
        self =
            switch error.kind {
            case .missing, .empty: .noInput
            case .unreachable, .failed: .unavailable
            case .refused, .invalid: .configuration
            case .foreign, .data: .dataFormat
            }
    }

    fileprivate init(_ error: InventoryError) {
        self =
            switch error.kind {
            case .missing: .noInput
            case .malformed: .dataFormat
            case .invalid: .configuration
            case .request: .usage
            case .busy: .temporaryFailure
            case .unavailable: .unavailable
            case .failed: .software
            case .notPermitted: .notPermitted
            case .system: .osError
            }
    }
}
