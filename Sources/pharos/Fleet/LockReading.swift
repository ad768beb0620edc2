internal import Configuration
internal import Fleet
internal import LinuxHost
internal import Synchronization

/// Reads a lock while the fleet beside it is being read: in a fleet of a million each takes its second.
final class LockReading: Sendable {
    typealias Result = (lock: FleetLock?, problems: [FileProblem])

    private let state = Mutex<Result?>(nil)
    /// Below so many octets a thread costs more than it saves.
    private static let worthwhileSize = 1 << 20

    init(_ octets: [UInt8], file: String) throws(SystemError) {
        guard octets.count >= Self.worthwhileSize else {
            state.withLock { $0 = FleetLock.decode(octets, file: file) }
            return
        }
        try BackgroundThread.start { [self] in
            let result = FleetLock.decode(octets, file: file)
            state.withLock { $0 = result }
        }
    }

    /// What was read, once it is.
    func result() throws(SystemError) -> Result {
        while true {
            if let result = state.withLock({ $0 }) { return result }
            _ = try Poller.wait([], milliseconds: 1)
        }
    }
}
