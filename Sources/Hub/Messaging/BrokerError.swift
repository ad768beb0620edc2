internal import LinuxHost

/// An error of a connection to a broker. Its description is one sentence with the problem and the remedy.
public enum BrokerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No broker answers.
    case unreachable(String, reason: String?)
    /// The broker refuses the connection.
    case refused(String, Refusal)
    /// The broker refuses a subscription to a topic filter.
    case subscription(String, filter: String)
    /// TLS failed, for example because of the certificate of the broker or of this client. Nothing was sent.
    case insecure(String, reason: String?)
    /// The connection was lost.
    case lost(String)
    /// A file of the configuration does not exist.
    case missing(String)
    /// A file of the configuration cannot be used.
    case file(String)

    /// Return codes of CONNACK (MQTT 3.1.1, table 3.1).
    public enum Refusal: Int32, Hashable, Sendable {
        case protocolVersion = 1
        case clientName = 2
        case unavailable = 3
        case password = 4
        case notAuthorized = 5
    }

    /// True if the user must correct a file or the broker's settings, so that retrying does not help.
    public var needsCorrection: Bool {
        switch self {
        case .unreachable, .lost, .refused(_, .unavailable): false
        case .refused, .subscription, .insecure, .missing, .file: true
        }
    }

    public var description: String {
        switch self {
        case .unreachable(let broker, let reason):
            "\(broker): no broker answers there"
                // The library does not distinguish an unknown name from a host that does not answer.
                + (Self.hasHostName(broker) ? ", or the name of the host cannot be resolved" : "")
                // The library does not distinguish a certificate for another host from a host that does not answer.
                + (broker.hasPrefix("mqtts:") ? ", or its certificate is for another host" : "")
                + (reason.map { " (\($0))" } ?? "") + "; retrying"
        case .refused(let broker, .protocolVersion): "\(broker): the broker does not support MQTT 3.1.1"
        case .refused(let broker, .clientName):
            "\(broker): the broker refuses the client name; give the receiver another name"
        case .refused(let broker, .unavailable): "\(broker): the broker is not ready; retrying"
        case .refused(let broker, .password):
            "\(broker): the broker refuses the user name or the password; correct the file of \"userFile\""
        case .refused(let broker, .notAuthorized):
            "\(broker): this user is not authorized; correct the user name or the password in the file of "
                + "\"userFile\", or set \"userFile\""
        case .subscription(let broker, let filter):
            "\(broker): the broker refuses the subscription to \(filter), so nothing is received from there; permit this "
                + "user to read it in the broker's access rules; retrying"
        case .insecure(let broker, let reason):
            "\(broker): TLS failed" + (reason.map { " (\($0))" } ?? "")
                + ", so nothing was sent: the broker's certificate must be for this host, and its authority must be in the "
                + "system's list or in \"caFile\""
        case .lost(let broker): "\(broker): the connection to the broker is lost; retrying"
        case .missing(let sentence), .file(let sentence): sentence
        }
    }

    /// Returns true if the address of a broker contains the name of a host, and not an IP address.
    private static func hasHostName(_ broker: String) -> Bool {
        let host = broker.drop { $0 != "/" }.drop { $0 == "/" }
        return host.first != "[" && host.contains { $0.isLetter }
    }

    /// Creates the error for a file that cannot be read.
    ///
    /// - Parameter advice: What the file must contain; empty for no advice.
    init(_ error: SystemError, reading path: String, advice: String = "") {
        let sentence = "\(error.about(path))" + (advice.isEmpty ? "" : "; \(advice)")
        self = error.errno == SystemError.noEntry ? .missing(sentence) : .file(sentence)
    }
}
