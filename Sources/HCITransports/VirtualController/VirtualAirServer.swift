public import LinuxHost
internal import Synchronization

/// A virtual air in real time, on a thread of its own, for programs that want controllers inside themselves.
///
/// Each ``connect()`` is a new controller on the same air; closing the descriptor takes it off again.
public final class VirtualAirServer: Sendable {
    private let mailbox: Mailbox

    /// - Throws: when the system gives no socket or no thread.
    public init(_ configuration: VirtualAirConfiguration) throws(SystemError) {
        let mailbox = try Mailbox()
        self.mailbox = mailbox
        try BackgroundThread.start {
            let server = VirtualControllerServer(configuration)
            server.mailbox = mailbox
            // Nobody is there to be told; the clients see their streams end.
            try? server.run()
        }
    }

    deinit { mailbox.close() }

    /// A nonblocking stream to a new controller that speaks H4.
    public func connect() throws(SystemError) -> Descriptor {
        let (ours, theirs) = try StreamSocket.pair()
        try mailbox.put(theirs)
        return ours
    }

    /// Hands streams over to the server's thread, and wakes it up for that.
    final class Mailbox: Sendable {
        private struct Contents {
            var streams: [Descriptor] = []
            var isClosed = false
        }

        private let contents = Mutex(Contents())
        private let bell: Descriptor
        /// Readable when there is something in the box, or it was closed.
        let wakeUp: Descriptor

        init() throws(SystemError) {
            (bell, wakeUp) = try StreamSocket.pair()
        }

        func put(_ stream: Descriptor) throws(SystemError) {
            contents.withLock { $0.streams.append(stream) }
            do throws(SystemError) {
                _ = try bell.write([0])
            } catch {
                // A bell that has no room for one more ring is ringing.
                guard error.errno == SystemError.wouldBlock else { throw error }
            }
        }

        func close() {
            contents.withLock { $0.isClosed = true }
            _ = try? bell.write([0])
        }

        /// What was put in since the last time; `nil` once it is closed.
        func empty() -> [Descriptor]? {
            _ = try? wakeUp.read(upTo: 64)
            return contents.withLock { contents in
                defer { contents.streams = [] }
                return contents.isClosed ? nil : contents.streams
            }
        }
    }
}
