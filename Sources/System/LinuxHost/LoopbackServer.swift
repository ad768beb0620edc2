internal import BluetoothTypes
internal import Glibc
internal import SystemPackage

/// Serves one page to the browser of this machine's user, over HTTP on the loopback address.
///
/// Other programs, other users of the machine and every page in the browser can reach this address, too. So each
/// request must have the secret token in its path. Its field Host must be a loopback name, which stops web pages whose
/// own host name resolves to this machine (DNS rebinding). Its field Origin, if present, must be this server.
public final class LoopbackServer {
    /// The address of the page with its token: `http://127.0.0.1:41234/4f…/`.
    public var address: String { "http://127.0.0.1:\(port)/\(token)/" }

    private let listener: Descriptor
    private let port: UInt16
    private let token: String
    private let bodyLimit: Int
    private var connections: [Connection] = []

    /// The largest number of open connections. It is more than one page needs, because browsers open some connections
    /// in advance and leave them unused.
    private static let connectionLimit = 32
    /// The time after which a connection without progress is closed: 20 s in nanoseconds.
    private static let idleLimit: UInt64 = 20_000_000_000
    /// The longest time to wait after the last reply until its answer is written: 1 s in nanoseconds.
    private static let shutdownTimeout: UInt64 = 1_000_000_000

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - port: The TCP port; 0 for a free port.
    ///   - bodyLimit: The largest size of a request's body in bytes.
    public init(port: UInt16 = 0, bodyLimit: Int) throws(SystemError) {
        (listener, self.port) = try StreamSocket.listen(host: "127.0.0.1", port: port)
        token = Hexadecimal.text(Privileges.randomOctets(16))
        self.bodyLimit = bodyLimit
    }

    /// The answer to a request, and whether the server ends after it.
    public enum Reply: Sendable {
        case answer(HTTPAnswer)
        /// The server ends after this answer.
        case last(HTTPAnswer)
    }

    /// Answers requests, one at a time, until a signal is received or `reply` returns ``Reply/last(_:)``.
    ///
    /// - Parameter reply: Returns the reply to a request that passed all checks. The path of this request does not
    ///   contain the token; it begins with a slash.
    public func run(until stop: SignalDescriptor, _ reply: (HTTPRequest) -> Reply) throws(SystemError) {
        var shutdownDeadline = UInt64.max
        while true {
            let now = MonotonicClock.nanoseconds()
            connections.removeAll { $0.isFinished || now >= $0.deadline }
            if now >= shutdownDeadline || shutdownDeadline < .max && connections.allSatisfy({ !$0.isWriting }) {
                return
            }
            let accepts = shutdownDeadline == .max && connections.count < Self.connectionLimit
            let interests =
                [.init(stop.descriptor, .read)] + connections.map(\.interest)
                + (accepts ? [Poller.Interest(listener, .read)] : [])
            let deadline = min(shutdownDeadline, connections.map(\.deadline).min() ?? .max)
            let ready = try Poller.wait(interests, until: deadline)
            if ready[0], stop.take() != nil { return }
            for (connection, isReady) in zip(connections, ready.dropFirst()) where isReady {
                guard let outcome = connection.proceed(idleLimit: Self.idleLimit) else { continue }
                switch outcome {
                case .failure(let fault): connection.send(HTTPAnswer(fault.status, fault.text))
                case .success(let request):
                    switch refusal(of: request).map({ Reply.answer($0) }) ?? reply(withoutToken(request)) {
                    case .answer(let answer): connection.send(answer)
                    case .last(let answer):
                        connection.send(answer)
                        shutdownDeadline = MonotonicClock.nanoseconds() + Self.shutdownTimeout
                    }
                }
            }
            if accepts, ready[ready.count - 1], let stream = try? StreamSocket.accept(listener) {
                connections.append(Connection(stream, bodyLimit: bodyLimit, idleLimit: Self.idleLimit))
            }
        }
    }

    /// Returns the answer that refuses a request which does not come from the page; `nil` for an acceptable request.
    func refusal(of request: HTTPRequest) -> HTTPAnswer? {
        let hosts = ["127.0.0.1", "localhost"].flatMap { port == 80 ? [$0, "\($0):80"] : ["\($0):\(port)"] }
        guard let host = request[field: "host"], hosts.contains(host.lowercased()) else {
            return HTTPAnswer(403, "open \(address.dropLast(token.utf8.count + 1)) with the token that pharos printed")
        }
        if let origin = request[field: "origin"], !hosts.contains(where: { origin.lowercased() == "http://\($0)" }) {
            return HTTPAnswer(403, "only the page at this address may send requests to it")
        }
        guard Self.isEqual(request.target.prefix(token.utf8.count + 2), "/\(token)/") else {
            return HTTPAnswer(403, "the token is wrong: open the address that pharos printed")
        }
        return nil
    }

    /// Compares two texts in a time that does not depend on the position of the first difference.
    private static func isEqual(_ left: Substring, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func withoutToken(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.target = String(request.target.dropFirst(token.utf8.count + 1))
        return request
    }
}

extension LoopbackServer {
    /// A connection for one request and its answer.
    private final class Connection {
        private let stream: Descriptor
        private var reader: HTTPRequestReader
        private var output: [UInt8] = []
        private var writtenCount = 0
        private var phase = Phase.reading
        /// The time in nanoseconds at which the connection is closed.
        private(set) var deadline: UInt64

        private enum Phase {
            case reading
            case writing
            /// The answer is written. Bytes that still arrive are read and ignored, so that the browser reads the
            /// answer before the connection ends.
            case draining
            case finished
        }

        /// The largest number of bytes in one read or write.
        private static let pieceSize = 1 << 18
        /// The longest time in the phase `draining`: 5 s in nanoseconds.
        private static let drainLimit: UInt64 = 5_000_000_000

        init(_ stream: Descriptor, bodyLimit: Int, idleLimit: UInt64) {
            self.stream = stream
            reader = HTTPRequestReader(bodyLimit: bodyLimit)
            deadline = MonotonicClock.nanoseconds() + idleLimit
        }

        var isFinished: Bool { phase == .finished }
        var isWriting: Bool { phase == .writing }
        var interest: Poller.Interest { Poller.Interest(stream, phase == .writing ? .write : .read) }

        func send(_ answer: HTTPAnswer) {
            output = answer.octets
            phase = .writing
        }

        /// Reads or writes as many bytes as possible without waiting.
        ///
        /// - Returns: The request as soon as it is complete, or its fault; `nil` in all other cases.
        func proceed(idleLimit: UInt64) -> Result<HTTPRequest, HTTPFault>? {
            do throws(SystemError) {
                switch phase {
                case .writing:
                    let end = min(output.count, writtenCount + Self.pieceSize)
                    writtenCount += try stream.write(Array(output[writtenCount..<end]))
                    deadline = MonotonicClock.nanoseconds() + idleLimit
                    if writtenCount == output.count { endWriting() }
                case .reading, .draining:
                    let octets = try stream.read(upTo: Self.pieceSize)
                    if octets.isEmpty {
                        phase = .finished
                    } else if phase == .reading {
                        deadline = MonotonicClock.nanoseconds() + idleLimit
                        return request(octets)
                    }
                case .finished: break
                }
            } catch {
                if error.errno != .wouldBlock { phase = .finished }
            }
            return nil
        }

        private func request(_ octets: [UInt8]) -> Result<HTTPRequest, HTTPFault>? {
            do throws(HTTPFault) {
                return try reader.take(octets).map { .success($0) }
            } catch {
                return .failure(error)
            }
        }

        private func endWriting() {
            _ = shutdown(stream.number, Int32(SHUT_WR))
            output = []
            phase = .draining
            deadline = MonotonicClock.nanoseconds() + Self.drainLimit
        }
    }
}
