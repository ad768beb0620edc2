internal import BeaconService
public import HCITransports
internal import LinuxHost
public import Listener
public import Sightings
internal import Synchronization

/// A Bluetooth proxy for Home Assistant: forwards received advertisements to its clients. The clients have a thread of
/// their own, so that no client can delay the reception.
///
/// The advertisements that are received within 50 ms are sent in one message. If a client does not read its messages,
/// only this client loses advertisements, and the number of lost advertisements is logged.
public final class ProxyServer: SightingConsumer, Sendable {
    /// The state that the receiving thread and the thread for clients share.
    private struct Shared {
        var batch = RawAdvertisementBatch()
        /// The full batches that wait for the thread for clients.
        var fullBatches: [RawAdvertisementBatch] = []
        var scanner = ProxyScannerState.starting
        var isOver = false
        /// True if the scan requests scan responses now.
        var isActive: Bool
        /// True if the scan should request scan responses.
        var wantsActive: Bool
        /// The number of advertisements that were dropped because the thread for clients was too slow.
        var lost = 0
    }

    /// The largest number of simultaneous clients that have sent a message. Home Assistant is one client.
    static let clientLimit = 16
    /// The largest number of connections whose client has not sent a message yet. If the proxy has a key, only
    /// encrypted messages count. If this number is reached, a new connection ends the oldest of these connections.
    static let newConnectionLimit = 32
    /// The largest number of advertisement bytes that wait for one client: about 30 s of reception at a busy place.
    static let backlogLimit = 1 << 20
    /// The largest number of batches that wait for the thread for clients.
    private static let batchLimit = 256
    /// The longest time that an advertisement waits for further advertisements to share its message, in milliseconds.
    private static let batchMilliseconds = 50
    /// The pause after an attempt to accept a connection has failed, in nanoseconds.
    private static let acceptPause: UInt64 = 1_000_000_000

    /// The address at which clients connect, such as `tcp:127.0.0.1:6053`.
    public let address: String

    private let shared: Mutex<Shared>
    /// True while the thread for clients runs.
    private let running = Monitor(false)
    private let socket: Descriptor
    private let identity: ProxyIdentity
    private let key: ProxyKey?
    private let isActive: Bool
    private let log: @Sendable (String) -> Void

    /// Creates a server, and opens its socket. Clients can connect at once, and are served after ``run(_:)`` is called.
    ///
    /// - Parameters:
    ///   - key: The key that clients must have; `nil` for plain text.
    ///   - isActive: True if the scan requests scan responses.
    ///   - log: Receives sentences for the log. It is called from two threads.
    public init(
        _ listen: ListenAddress, _ identity: ProxyIdentity, key: ProxyKey?, isActive: Bool,
        log: @escaping @Sendable (String) -> Void
    ) throws(ListenerServiceError) {
        (socket, address) = try Self.open(listen)
        self.identity = identity
        self.key = key
        self.isActive = isActive
        shared = Mutex(Shared(isActive: isActive, wantsActive: isActive))
        self.log = log
    }

    private static func open(_ listen: ListenAddress) throws(ListenerServiceError) -> (Descriptor, address: String) {
        do throws(SystemError) {
            switch listen {
            case .unix(let path): return (try StreamSocket.listen(path: path), "unix:\(path)")
            case .tcp(let host, let port):
                let (socket, bound) = try StreamSocket.listen(host: host, port: port)
                return (socket, "tcp:\(host.contains(":") ? "[\(host)]" : host):\(bound)")
            case .kernel: throw SystemError("listen", "vhci", errno: SystemError.noEntry)
            }
        } catch {
            throw .refused(
                error.errno == SystemError.accessDenied ? .notPermitted : .unavailable, "--listen: \(error.text)")
        }
    }

    /// Forwards the advertisements of a source to the clients until the source ends. If the clients want another scan
    /// mode (active or passive) than the present mode, ends the source and continues with a new source.
    ///
    /// - Parameter source: Makes a source. `isActive` is true if the source should request scan responses. `isNext` is
    ///   false for the first source.
    public func run(
        _ source: (_ isActive: Bool, _ isNext: Bool) throws(ListenerServiceError) -> SightingSource
    ) throws(ListenerServiceError) {
        // The first source is made before any client connects. Otherwise clients could use up the file descriptors.
        var currentSource = try source(takeMode(), false)
        try start()
        while true {
            try currentSource.run(self)
            if shared.withLock({ $0.isOver }) { return }
            currentSource = try source(takeMode(), true)
        }
    }

    /// Applies the scan mode that clients want. Returns true if it is active.
    private func takeMode() -> Bool {
        shared.withLock { shared in
            shared.isActive = shared.wantsActive
            return shared.isActive
        }
    }

    /// Starts the thread for clients.
    func start() throws(ListenerServiceError) {
        running.change { $0 = true }
        do throws(SystemError) {
            try BackgroundThread.start {
                self.serve()
                self.running.change { $0 = false }
            }
        } catch {
            throw .refused(.system, "\(error)")
        }
    }

    // MARK: Calls from the source

    /// True if the source must end because the clients want another scan mode.
    public var isSatisfied: Bool { shared.withLock { $0.isActive != $0.wantsActive } }

    public func advance(to now: HeardInstant) {}

    public func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        // Clients cannot use an advertisement without an address.
        guard let sender = report.sighting.sender else { return }
        let data = range.map { octets[$0] }
        shared.withLock { shared in
            guard shared.fullBatches.count < Self.batchLimit else {
                shared.lost += 1
                return
            }
            shared.batch.add(sender.address, isRandom: sender.isRandom, level: report.sighting.rssi, data: data)
            if shared.batch.isFull {
                shared.fullBatches.append(shared.batch)
                shared.batch = RawAdvertisementBatch()
            }
        }
    }

    public func change(_ state: ListeningState, at now: HeardInstant) {
        let scanner: ProxyScannerState =
            switch state {
            case .starting: .starting
            case .listening, .foreign: .running
            case .paused, .off: .stopped
            case .deaf, .recovering: .failed
            }
        shared.withLock { $0.scanner = scanner }
    }

    public func say(_ sentence: String, isWarning: Bool) { log(sentence) }

    /// Ends the thread for clients, and waits at most 1 s until the thread has disconnected the clients. If the source
    /// has ended only to change the scan mode, does nothing.
    public func finish(at now: HeardInstant) {
        let isOver = shared.withLock { shared in
            shared.isOver = shared.isActive == shared.wantsActive
            return shared.isOver
        }
        guard isOver else { return }
        _ = running.wait(milliseconds: 1000) { $0 ? nil : true }
    }

    // MARK: The thread

    private func serve() {
        var clients: [ProxyClient] = []
        var nextAccept: UInt64 = 0
        while true {
            let isOpen =
                clients.count(where: \.hasSentMessage) < Self.clientLimit && MonotonicClock.nanoseconds() >= nextAccept
            let serverInterests = isOpen ? [Poller.Interest(socket, .read)] : []
            let clientInterests = clients.map { Poller.Interest($0.socket, $0.isWaiting ? .readAndWrite : .read) }
            let ready =
                (try? Poller.wait(serverInterests + clientInterests, milliseconds: Self.batchMilliseconds)) ?? []
            let (batches, scanner, isOver, isActive) = take()
            for (client, isReady) in zip(clients, ready.dropFirst(serverInterests.count)) where isReady {
                client.read()
            }
            if isOpen, ready.first == true, !accept(&clients, scanner, isActive: isActive) {
                nextAccept = MonotonicClock.nanoseconds() + Self.acceptPause
            }
            let messages = batches.map { (message: $0.message, count: $0.count) }
            for client in clients {
                client.change(scanner, isActive: isActive)
                for (message, count) in messages { client.send(message, advertisements: count) }
                client.flush(isLast: isOver)
            }
            for client in clients where client.isOver {
                log("a client has disconnected\(client.departure); connected clients: \(clients.count { !$0.isOver })")
            }
            clients.removeAll(where: \.isOver)
            if isOver { return }
            request(clients.compactMap(\.wantsActive))
        }
    }

    /// Accepts the next connection.
    ///
    /// - Returns: False if no connection can be accepted now, for example because the process has too many open files.
    private func accept(
        _ clients: inout [ProxyClient], _ scanner: ProxyScannerState, isActive: Bool
    ) -> Bool {
        do throws(SystemError) {
            let connection = try StreamSocket.accept(socket)
            if clients.count(where: { !$0.hasSentMessage }) >= Self.newConnectionLimit {
                clients.first { !$0.hasSentMessage }?.end("too many connections have sent no message")
            }
            let session = ProxySession(
                identity, isConfiguredActive: self.isActive, isActive: isActive, scanner: scanner)
            clients.append(ProxyClient(connection, APIChannel(identity, key: key), session))
            log("a client has connected; connected clients: \(clients.count { !$0.isOver })")
            return true
        } catch {
            // The client may have disconnected before its connection was accepted.
            if error.errno == SystemError.wouldBlock { return true }
            clients.first { !$0.hasSentMessage }?.end("no more clients can connect")
            log("no more clients can connect: \(error.text)")
            return false
        }
    }

    /// Requests the scan mode that clients want: active if at least one client has asked for active, passive if clients
    /// have asked only for passive, and the configured mode if no client has asked.
    private func request(_ modes: [Bool]) {
        let wantsActive = modes.contains(true) || modes.isEmpty && isActive
        let hasChanged = shared.withLock { shared in
            defer { shared.wantsActive = wantsActive }
            return shared.wantsActive != wantsActive
        }
        if hasChanged { log("the scan is now \(wantsActive ? "active" : "passive"), as the clients requested") }
    }

    private func take() -> ([RawAdvertisementBatch], ProxyScannerState, isOver: Bool, isActive: Bool) {
        shared.withLock { shared in
            var batches = shared.fullBatches
            if shared.batch.count > 0 { batches.append(shared.batch) }
            shared.fullBatches = []
            shared.batch = RawAdvertisementBatch()
            if shared.lost > 0 { log("\(shared.lost) advertisements came too fast and were dropped for all clients") }
            shared.lost = 0
            return (batches, shared.scanner, shared.isOver, shared.isActive)
        }
    }
}

/// One client of the proxy: its socket, its session, and the bytes that wait to be sent.
private final class ProxyClient {
    /// The time after which a silent client is disconnected, in nanoseconds. Home Assistant sends a ping every 20 s.
    private static let silenceLimit: UInt64 = 150_000_000_000
    /// The time within which a new client must send a message, in nanoseconds.
    private static let handshakeLimit: UInt64 = 10_000_000_000
    /// The number of bytes that may wait for a client in addition to ``ProxyServer/backlogLimit``. A client for which
    /// more bytes wait is disconnected.
    private static let answerLimit = 1 << 16

    let socket: Descriptor
    private(set) var isOver = false
    private var session: ProxySession
    private var channel: APIChannel
    /// The bytes that wait to be sent.
    private var waiting: [UInt8] = []
    /// The number of advertisements that the client has lost.
    private var dropped = 0
    private var reason: String?
    /// The time of the last byte from the client, in nanoseconds.
    private var lastReceived = MonotonicClock.nanoseconds()
    /// The time of the connection, in nanoseconds.
    private let connectedAt = MonotonicClock.nanoseconds()
    /// True if the client has sent a message. If the proxy has a key, such a client has the key too.
    private(set) var hasSentMessage = false

    init(_ socket: Descriptor, _ channel: APIChannel, _ session: ProxySession) {
        self.socket = socket
        self.channel = channel
        self.session = session
    }

    var isWaiting: Bool { !waiting.isEmpty }

    /// The end of a sentence for the log: the reason for the disconnection, and the number of lost advertisements.
    var departure: String {
        var text = reason.map { " (\($0))" } ?? ""
        if dropped > 0 { text += "; \(dropped) advertisements were dropped because it did not read them" }
        return text
    }

    /// Marks the client as disconnected, with a reason for the log.
    func end(_ reason: String) {
        self.reason = self.reason ?? reason
        isOver = true
    }

    func read() {
        do throws(SystemError) {
            let octets = try socket.read(upTo: 4096)
            if octets.isEmpty { isOver = true }
            channel.push(octets)
            lastReceived = MonotonicClock.nanoseconds()
        } catch {
            if error.errno != SystemError.wouldBlock { isOver = true }
        }
        do throws(ChannelFault) {
            while let message = try channel.next() {
                hasSentMessage = true
                guard waiting.count <= ProxyServer.backlogLimit + Self.answerLimit else {
                    return end("it does not read the answers to its messages")
                }
                waiting += channel.takeAnswers()
                for answer in session.answer(message) { waiting += channel.frame(answer) }
            }
            waiting += channel.takeAnswers()
        } catch {
            // Sends the answer to a failed handshake.
            _ = try? socket.write(channel.takeAnswers())
            end("\(error)")
        }
    }

    var wantsActive: Bool? { session.wantsActive }

    func change(_ state: ProxyScannerState, isActive: Bool) {
        if let message = session.change(state, isActive: isActive) { waiting += channel.frame(message) }
    }

    func send(_ message: APIMessage, advertisements: Int) {
        guard session.wantsAdvertisements else { return }
        guard waiting.count + message.payload.count <= ProxyServer.backlogLimit else {
            dropped += advertisements
            return
        }
        waiting += channel.frame(message)
    }

    /// Sends as many bytes as the socket accepts.
    func flush(isLast: Bool) {
        if isLast { waiting += channel.frame(APIMessage(.disconnectRequest)) }
        if !waiting.isEmpty, !isOver {
            do throws(SystemError) {
                waiting.removeFirst(try socket.write(waiting))
            } catch {
                if error.errno != SystemError.wouldBlock { isOver = true }
            }
        }
        if session.isOver && waiting.isEmpty { isOver = true }
        let now = MonotonicClock.nanoseconds()
        if now - lastReceived > Self.silenceLimit {
            end("it sent nothing for \(Self.silenceLimit / 1_000_000_000) s")
        }
        if !hasSentMessage, now - connectedAt > Self.handshakeLimit {
            end("it sent no message within \(Self.handshakeLimit / 1_000_000_000) s")
        }
    }
}
