public import BeaconService
public import FleetStore

/// Why nothing can be heard, or the files that name beacons not be used.
public enum ListenerServiceError: Error, Sendable {
    /// An adapter, a profile, a recording, or the system.
    case service(BeaconServiceError)
    /// A fleet's files.
    case fleet(FleetStoreError)

    /// A refusal of one sentence: what, where, what next.
    public static func refused(_ kind: BeaconServiceError.Kind, _ message: String) -> Self {
        .service(.refused(kind, message))
    }

    /// Whatever the parts of this module throw, as this type.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as ListenerServiceError: error
            case let error as FleetStoreError: .fleet(error)
            default: .service(BeaconServiceError(error))
            }
    }
}

extension ListenerServiceError: CustomStringConvertible {
    /// One sentence a problem.
    public var messages: [String] {
        switch self {
        case .service(let error): error.messages
        case .fleet(let error): error.messages
        }
    }

    /// All sentences where there is room for one line only.
    public var description: String { messages.joined(separator: "; ") }
}
