public import LinuxHost

/// A connection to an MQTT 3.1.1 broker, which is restored whenever it is lost.
///
/// One thread owns the connection. It waits for ``descriptor`` and ``nextWakeUp``, and then calls ``poll(at:)``. That
/// call returns all events that the threads of the library Paho have received. Only ``close(waitingMilliseconds:)``
/// blocks.
///
/// Messages that were not acknowledged when the connection was lost are returned as abandoned. The owner publishes them
/// again.
public final class BrokerConnection {
    private enum State {
        /// Not connected. The next attempt is made at this time, in nanoseconds.
        case waiting(until: UInt64)
        case connecting
        case connected(since: UInt64)
        case closed
    }

    public let options: BrokerOptions
    private let inbox: BrokerInbox
    private let client: PahoClient
    private var state = State.waiting(until: 0)
    private var backoff = BrokerBackoff()
    private var generator = SystemRandomNumberGenerator()
    /// The tickets of the messages that are not acknowledged, by Paho's message number.
    private var inFlight: [Int32: BrokerTicket] = [:]
    /// The number of QoS 0 messages that Paho has not sent yet.
    private var unsentCount = 0
    private var lastTicket: UInt64 = 0
    /// The topic filters of the subscriptions that the broker has not answered, by Paho's message number.
    private var unansweredSubscriptions: [Int32: String] = [:]
    /// The topic filters of the subscriptions that the broker has refused.
    private var refusedFilters: Set<String> = []
    /// The time of the next attempt to subscribe to ``refusedFilters``, in nanoseconds.
    private var nextSubscription: UInt64 = 0
    /// The pause before the connection tries a refused subscription again, in nanoseconds.
    private static let subscriptionPause: UInt64 = 10_000_000_000

    /// Creates a connection, and checks that the files of the options can be read. The first ``poll(at:)`` connects.
    ///
    /// - Throws: `missing` or `file` if a file cannot be read, or other users can read the key.
    public init(_ options: BrokerOptions) throws(BrokerError) {
        self.options = options
        for file in [options.authorityFile, options.certificateFile].compactMap(\.self) {
            do throws(SystemError) { _ = try Files.read(file) } catch { throw BrokerError(error, reading: file) }
        }
        if let file = options.keyFile {
            let secret: Files.Secret
            do throws(SystemError) { secret = try Files.readSecret(file) } catch {
                throw BrokerError(error, reading: file)
            }
            if let weakness = secret.weakness { throw .file(weakness.text("key", at: file)) }
        }
        inbox = try BrokerInbox(
            receivedMessageLimit: options.receivedMessageLimit, inboxLimit: options.inboxLimit,
            inboxBytes: options.inboxBytes)
        client = try PahoClient(options, inbox)
    }

    /// Becomes readable when ``poll(at:)`` must be called.
    public var descriptor: Descriptor { inbox.wakeUp }

    /// The time at which ``poll(at:)`` must be called even if ``descriptor`` is not readable, in nanoseconds of
    /// `LinuxHost/MonotonicClock`; `nil` if there is no such time.
    public var nextWakeUp: UInt64? {
        switch state {
        case .waiting(let until): until
        case .connected where !refusedFilters.isEmpty && unansweredSubscriptions.isEmpty: nextSubscription
        case .connecting, .connected, .closed: nil
        }
    }

    public var isConnected: Bool {
        if case .connected = state { true } else { false }
    }

    /// True if ``publish(_:)`` accepts a message now.
    public var hasRoom: Bool { isConnected && inFlight.count + unsentCount < options.windowLimit }

    /// The number of QoS 1 messages that are not acknowledged and of QoS 0 messages that are not sent.
    public var pendingCount: Int { inFlight.count + unsentCount }

    /// Publishes a message.
    ///
    /// - Returns: The ticket of the message. The event with the result of a QoS 1 message contains this ticket. `nil`
    ///   if the message was not accepted: no broker is connected, too many messages are not acknowledged, or the topic
    ///   is invalid.
    public func publish(_ message: Publication) -> BrokerTicket? {
        guard hasRoom, !message.topic.isEmpty, !message.topic.utf8.contains(0),
            let token = client.send(message)
        else { return nil }
        lastTicket += 1
        let ticket = BrokerTicket(number: lastTicket)
        if message.isAssured { inFlight[token] = ticket } else { unsentCount += 1 }
        return ticket
    }

    /// Connects or subscribes if it is time, and returns the events since the last call.
    ///
    /// - Parameter now: The present time, in nanoseconds of `LinuxHost/MonotonicClock`.
    public func poll(at now: UInt64) -> [BrokerEvent] {
        var events: [BrokerEvent] = []
        let (notices, dropped) = inbox.take()
        for notice in notices { handle(notice, at: now, &events) }
        if dropped > 0 { events.append(.dropped(dropped)) }
        if case .waiting(let until) = state, until <= now {
            _ = inbox.takeTLSErrors()
            state = .connecting
            if !client.connect() { end(with: .unreachable(options.name, reason: nil), at: now, &events) }
        }
        if isConnected, !refusedFilters.isEmpty, unansweredSubscriptions.isEmpty, nextSubscription <= now {
            subscribe(options.subscriptions.filter(refusedFilters.contains), at: now, &events)
        }
        return events
    }

    private func subscribe(_ filters: [String], at now: UInt64, _ events: inout [BrokerEvent]) {
        for filter in filters {
            if let token = client.subscribe(filter) {
                unansweredSubscriptions[token] = filter
            } else {
                refuse(filter, at: now, &events)
            }
        }
    }

    private func refuse(_ filter: String, at now: UInt64, _ events: inout [BrokerEvent]) {
        refusedFilters.insert(filter)
        nextSubscription = now + Self.subscriptionPause
        events.append(.refused(.subscription(options.name, filter: filter)))
    }

    private func handle(_ notice: BrokerInbox.Notice, at now: UInt64, _ events: inout [BrokerEvent]) {
        switch (notice, state) {
        case (_, .closed), (.disconnected, _): break
        case (.message(let message), _): events.append(.message(message))
        case (.connected, _):
            state = .connected(since: now)
            (unansweredSubscriptions, refusedFilters) = ([:], [])
            events.append(.connected)
            subscribe(options.subscriptions, at: now, &events)
            for filter in options.optionalSubscriptions { _ = client.subscribe(filter) }
            if options.subscriptions.isEmpty { events.append(.subscribed) }
        case (.subscribed(let token, let isGranted), .connected):
            guard let filter = unansweredSubscriptions.removeValue(forKey: token) else { break }
            guard isGranted else { return refuse(filter, at: now, &events) }
            refusedFilters.remove(filter)
            if unansweredSubscriptions.isEmpty, refusedFilters.isEmpty { events.append(.subscribed) }
        case (.refused(let code, let text), .connecting): end(with: error(code, text), at: now, &events)
        case (.lost, .connected): end(with: .lost(options.name), at: now, &events)
        // Results of an earlier connection are ignored, because its messages were already returned as abandoned.
        case (.delivered(let token), .connected): complete(token, &events) { .acknowledged($0) }
        case (.undelivered(let token), .connected): complete(token, &events) { .abandoned($0) }
        case (.refused, _), (.lost, _), (.delivered, _), (.undelivered, _), (.subscribed, _): break
        }
    }

    private func complete(
        _ token: Int32, _ events: inout [BrokerEvent], _ event: (BrokerTicket) -> BrokerEvent
    ) {
        if let ticket = inFlight.removeValue(forKey: token) {
            events.append(event(ticket))
        } else {
            unsentCount = max(0, unsentCount - 1)
        }
    }

    private func end(with error: BrokerError, at now: UInt64, _ events: inout [BrokerEvent]) {
        var lastedMilliseconds: Int?
        if case .connected(let since) = state {
            lastedMilliseconds = Int(clamping: (now - min(now, since)) / 1_000_000)
        }
        let pause = backoff.wait(after: lastedMilliseconds, using: &generator)
        state = .waiting(until: now + UInt64(pause) * 1_000_000)
        events += inFlight.values.sorted { $0.number < $1.number }.map { .abandoned($0) }
        inFlight.removeAll()
        unsentCount = 0
        events.append(.disconnected(error))
    }

    private func error(_ code: Int32, _ text: String?) -> BrokerError {
        if let refusal = BrokerError.Refusal(rawValue: code) { return .refused(options.name, refusal) }
        let tls = inbox.takeTLSErrors()
        guard !tls.isEmpty else { return .unreachable(options.name, reason: text) }
        return .insecure(options.name, reason: TLSErrorText.reason(tls))
    }

    /// Waits until all messages are acknowledged or the time is over, and then disconnects. The broker does not publish
    /// the will message.
    ///
    /// - Returns: The events until the connection was closed.
    public func close(waitingMilliseconds: Int) -> [BrokerEvent] {
        var events: [BrokerEvent] = []
        let deadline = MonotonicClock.nanoseconds() + UInt64(max(0, waitingMilliseconds)) * 1_000_000
        while isConnected, pendingCount > 0, MonotonicClock.nanoseconds() < deadline {
            _ = try? Poller.wait([.init(descriptor, .read)], until: deadline)
            events += poll(at: MonotonicClock.nanoseconds())
        }
        if isConnected, client.disconnect() {
            var isOver = false
            while !isOver, MonotonicClock.nanoseconds() < deadline {
                _ = try? Poller.wait([.init(descriptor, .read)], until: deadline)
                isOver = inbox.take().notices.contains { if case .disconnected = $0 { true } else { false } }
            }
        }
        state = .closed
        return events
    }
}

/// Shortens OpenSSL's error messages.
enum TLSErrorText {
    /// Returns the reason in the first line, such as `error:0A000086:SSL routines::certificate verify failed`.
    static func reason(_ lines: [String]) -> String? {
        guard let line = lines.first else { return nil }
        let parts = line.split(separator: ":", omittingEmptySubsequences: false)
        guard let start = parts.firstIndex(of: "error"), parts.count > start + 4 else { return nil }
        return String(parts[start + 4]).trimmed
    }
}

extension String {
    fileprivate var trimmed: String? {
        let text = String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        return text.isEmpty ? nil : text
    }
}

/// Computes the pause before the next attempt to connect. The pause doubles with each failure, and is partly random.
public struct BrokerBackoff: Hashable, Sendable {
    /// The shortest and the longest pause, in milliseconds.
    public static let range = 1000...60_000
    /// The duration from which a connection counts as good, in milliseconds. After a good connection, the pause is the
    /// shortest.
    public static let goodMilliseconds = 10_000

    private var nextPause = BrokerBackoff.range.lowerBound

    /// Creates a backoff that begins with the shortest pause.
    public init() {}

    /// Records a failure, or the end of a connection.
    ///
    /// - Parameter lasted: The duration of the connection, in milliseconds; `nil` if there was none.
    /// - Returns: The pause in milliseconds. It varies at random by up to a fifth, so that not all clients connect to a
    ///   restarted broker at the same time.
    public mutating func wait(
        after lasted: Int?, using generator: inout some RandomNumberGenerator
    ) -> Int {
        if let lasted, lasted >= Self.goodMilliseconds { nextPause = Self.range.lowerBound }
        let pause = nextPause
        nextPause = min(nextPause * 2, Self.range.upperBound)
        return pause + Int.random(in: -pause / 5...pause / 5, using: &generator)
    }
}
