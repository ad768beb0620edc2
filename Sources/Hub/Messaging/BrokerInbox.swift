internal import CPaho
internal import LinuxHost
internal import Synchronization

/// Stores notices from the threads of the library Paho until the thread that owns the connection reads them.
///
/// An inbox is never freed, because a callback of Paho may still run after its connection is closed.
final class BrokerInbox: Sendable {
    enum Notice: Sendable {
        case connected
        /// - Parameter code: If positive, the return code of the MQTT packet CONNACK, otherwise an error code of Paho.
        case refused(code: Int32, text: String?)
        case lost
        case disconnected
        case delivered(Int32)
        case undelivered(Int32)
        /// The broker has answered a subscription.
        case subscribed(Int32, isGranted: Bool)
        case message(Publication)
    }

    private struct State {
        var notices: [Notice] = []
        var messages = 0
        /// The total size of the messages' payloads, in bytes.
        var octets = 0
        var dropped = 0
        /// The first error messages of OpenSSL since the last call of ``takeTLSErrors()``.
        var tlsErrors: [String] = []
    }

    /// Becomes readable when a notice is added or a message is dropped.
    let wakeUp: Descriptor
    let receivedMessageLimit: Int
    let inboxLimit: Int
    let inboxBytes: Int
    private let state = Mutex(State())

    init(receivedMessageLimit: Int, inboxLimit: Int, inboxBytes: Int) throws(BrokerError) {
        let descriptor = eventfd(0, PHAROS_EVENTFD_FLAGS)
        guard descriptor >= 0 else { throw .file("eventfd: no more files can be opened") }
        wakeUp = Descriptor(owning: descriptor)
        self.receivedMessageLimit = receivedMessageLimit
        self.inboxLimit = inboxLimit
        self.inboxBytes = inboxBytes
    }

    func add(_ notice: Notice) {
        state.withLock { $0.notices.append(notice) }
        wake()
    }

    private func wake() { _ = try? wakeUp.write([1, 0, 0, 0, 0, 0, 0, 0]) }

    /// Adds the message that `make` returns. If its payload exceeds the free space, only counts it as dropped.
    func offer(octets: Int, _ make: () -> Publication?) {
        let hasRoom = state.withLock { state in
            guard octets <= receivedMessageLimit, state.messages < inboxLimit, state.octets + octets <= inboxBytes
            else {
                state.dropped += 1
                return false
            }
            state.messages += 1
            state.octets += octets
            return true
        }
        guard hasRoom else { return wake() }
        if let message = make() { return add(.message(message)) }
        state.withLock { state in
            state.messages -= 1
            state.octets -= octets
            state.dropped += 1
        }
        wake()
    }

    func addTLSError(_ text: String) {
        state.withLock { if $0.tlsErrors.count < 8 { $0.tlsErrors.append(text) } }
    }

    /// Returns the notices since the last call in their order, and the number of messages that were dropped since then.
    func take() -> (notices: [Notice], dropped: Int) {
        _ = try? wakeUp.read(upTo: 8)
        return state.withLock { state in
            defer {
                state.notices.removeAll()
                (state.messages, state.octets, state.dropped) = (0, 0, 0)
            }
            return (state.notices, state.dropped)
        }
    }

    func takeTLSErrors() -> [String] {
        state.withLock { state in
            defer { state.tlsErrors.removeAll() }
            return state.tlsErrors
        }
    }
}
