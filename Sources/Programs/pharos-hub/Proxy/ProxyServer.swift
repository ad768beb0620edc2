internal import HubService
internal import LinuxHost
internal import Listener
internal import Sightings
internal import Synchronization

/// Serves the clients of a Bluetooth proxy on a thread of its own, so that none of them can hold up the listening.
///
/// What is heard waits for a twentieth of a second at most, to share a message with what else was heard. A client that
/// does not read loses advertisements, and they are counted; the others lose none.
final class ProxyServer: Sendable {
    /// What the two threads share.
    private struct Shared {
        var batch = RawAdvertisementBatch()
        var full: [RawAdvertisementBatch] = []
        var scanner = ProxyScannerState.starting
        var isOver = false
        /// What came faster than the thread could take it.
        var lost = 0
    }

    /// Clients at a time. Home Assistant is one.
    static let mostClients = 16
    /// Octets that wait for a client: half a minute of a busy place.
    static let mostOctets = 1 << 20
    /// Batches that wait for the thread.
    private static let mostBatches = 256
    private static let milliseconds = 50

    private let shared = Mutex(Shared())
    private let running = Monitor(false)
    private let listener: Descriptor
    private let identity: ProxyIdentity
    private let key: ProxyKey?
    private let isActive: Bool
    private let say: @Sendable (String) -> Void

    /// - Parameters:
    ///   - key: What clients must have; `nil` for plain text.
    ///   - say: Takes sentences for whoever watches.
    init(
        _ listener: Descriptor, _ identity: ProxyIdentity, key: ProxyKey?, isActive: Bool,
        say: @escaping @Sendable (String) -> Void
    ) {
        self.listener = listener
        self.identity = identity
        self.key = key
        self.isActive = isActive
        self.say = say
    }

    /// Starts the thread.
    func start() throws(SystemError) {
        running.change { $0 = true }
        try BackgroundThread.start {
            self.serve()
            self.running.change { $0 = false }
        }
    }

    /// Ends the thread once it has told the clients, within a moment.
    func stop() {
        shared.withLock { $0.isOver = true }
        _ = running.wait(milliseconds: 1000) { $0 ? nil : true }
    }

    /// Takes an advertisement for all clients. One without a sender's address says nothing to them.
    func hear(_ sighting: Sighting, _ data: [UInt8]) {
        guard let sender = sighting.sender else { return }
        shared.withLock { shared in
            guard shared.full.count < Self.mostBatches else {
                shared.lost += 1
                return
            }
            shared.batch.add(sender.address, isRandom: sender.isRandom, level: sighting.rssi, data: data)
            if shared.batch.isFull {
                shared.full.append(shared.batch)
                shared.batch = RawAdvertisementBatch()
            }
        }
    }

    /// Notes how listening is.
    func change(_ state: ScanKeeper.State) {
        let scanner: ProxyScannerState =
            switch state {
            case .starting: .starting
            case .listening, .foreign: .running
            case .paused, .off: .stopped
            case .deaf, .recovering: .failed
            }
        shared.withLock { $0.scanner = scanner }
    }

    // MARK: The thread

    private func serve() {
        var clients: [ProxyClient] = []
        while true {
            let open = clients.count < Self.mostClients ? [Poller.Interest(listener, .read)] : []
            let interests = clients.map { Poller.Interest($0.socket, $0.isWaiting ? .readAndWrite : .read) }
            let ready = (try? Poller.wait(open + interests, milliseconds: Self.milliseconds)) ?? []
            let (batches, scanner, isOver) = take()
            for (client, isReady) in zip(clients, ready.dropFirst(open.count)) where isReady { client.read() }
            if open.count == 1, ready.first == true, let socket = try? StreamSocket.accept(listener) {
                let session = ProxySession(identity, isActive: isActive, scanner: scanner)
                clients.append(ProxyClient(socket, APIChannel(identity, key: key), session))
                say("a client has come: \(clients.count) now")
            }
            let messages = batches.map { (message: $0.message, count: $0.count) }
            for client in clients {
                client.change(scanner)
                for each in messages { client.send(each.message, advertisements: each.count) }
                client.flush(isLast: isOver)
            }
            for client in clients where client.isOver {
                say("a client has gone\(client.farewell): \(clients.count { !$0.isOver }) left")
            }
            clients.removeAll(where: \.isOver)
            if isOver { return }
        }
    }

    private func take() -> ([RawAdvertisementBatch], ProxyScannerState, isOver: Bool) {
        shared.withLock { shared in
            var batches = shared.full
            if shared.batch.count > 0 { batches.append(shared.batch) }
            shared.full = []
            shared.batch = RawAdvertisementBatch()
            if shared.lost > 0 { say("\(shared.lost) advertisements came too fast for all clients") }
            shared.lost = 0
            return (batches, shared.scanner, shared.isOver)
        }
    }
}

/// One client: its socket, and what waits to be sent.
private final class ProxyClient {
    /// A client that says nothing for so long is not there any more: Home Assistant asks every 20 s whether we are.
    private static let patience: UInt64 = 150_000_000_000

    let socket: Descriptor
    private(set) var isOver = false
    private var session: ProxySession
    private var channel: APIChannel
    private var waiting: [UInt8] = []
    private var dropped = 0
    private var reason: String?
    private var lastHeard = MonotonicClock.nanoseconds()

    init(_ socket: Descriptor, _ channel: APIChannel, _ session: ProxySession) {
        self.socket = socket
        self.channel = channel
        self.session = session
    }

    var isWaiting: Bool { !waiting.isEmpty }

    /// Why it has gone, and what it has missed.
    var farewell: String {
        var text = reason.map { " (\($0))" } ?? ""
        if dropped > 0 { text += ", and has missed \(dropped) advertisements that it did not read" }
        return text
    }

    func read() {
        do throws(SystemError) {
            let octets = try socket.read(upTo: 4096)
            if octets.isEmpty { isOver = true }
            channel.push(octets)
            lastHeard = MonotonicClock.nanoseconds()
        } catch {
            if error.errno != SystemError.wouldBlock { isOver = true }
        }
        do throws(ChannelFault) {
            while let message = try channel.next() {
                waiting += channel.takeAnswers()
                for answer in session.answer(message) { waiting += channel.frame(answer) }
            }
            waiting += channel.takeAnswers()
        } catch {
            // The last words of a handshake that failed.
            _ = try? socket.write(channel.takeAnswers())
            reason = "\(error)"
            isOver = true
        }
    }

    func change(_ state: ProxyScannerState) {
        if let message = session.change(state) { waiting += channel.frame(message) }
    }

    func send(_ message: APIMessage, advertisements: Int) {
        guard session.wantsAdvertisements else { return }
        guard waiting.count + message.payload.count <= ProxyServer.mostOctets else {
            dropped += advertisements
            return
        }
        waiting += channel.frame(message)
    }

    /// Sends what the socket takes.
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
        if MonotonicClock.nanoseconds() - lastHeard > Self.patience {
            reason = "it said nothing for \(Self.patience / 1_000_000_000) s"
            isOver = true
        }
    }
}
