internal import LinuxHost

/// Why there is no broker, as one sentence with what to do.
public enum BrokerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nobody answers there.
    case unreachable(String, reason: String?)
    /// It answers, and wants none of us.
    case refused(String, Refusal)
    /// TLS failed: its certificate, or ours. Nothing was sent.
    case insecure(String, reason: String?)
    /// It was there, and is gone.
    case lost(String)
    /// A file that it needs is not there.
    case missing(String)
    /// A file that it needs cannot be used.
    case file(String)

    /// Return codes of CONNACK (MQTT 3.1.1, table 3.1).
    public enum Refusal: Int32, Hashable, Sendable {
        case protocolVersion = 1
        case clientName = 2
        case unavailable = 3
        case password = 4
        case notAuthorized = 5
    }

    /// Whether waiting alone changes nothing: somebody has to correct a file.
    public var needsSomebody: Bool {
        switch self {
        case .unreachable, .lost, .refused(_, .unavailable): false
        case .refused, .insecure, .missing, .file: true
        }
    }

    public var description: String {
        switch self {
        case .unreachable(let broker, let reason):
            "\(broker): no broker answers there"
                // The library does not tell a certificate for another host from a host that is not there.
                + (broker.hasPrefix("mqtts:") ? ", or its certificate is for another host" : "")
                + (reason.map { " (\($0))" } ?? "") + "; it is tried again"
        case .refused(let broker, .protocolVersion): "\(broker): the broker does not speak MQTT 3.1.1"
        case .refused(let broker, .clientName): "\(broker): the broker refuses this receiver's name as that of a client"
        case .refused(let broker, .unavailable): "\(broker): the broker is not ready; it is tried again"
        case .refused(let broker, .password):
            "\(broker): the broker refuses the user name or the password; correct the file of \"userFile\""
        case .refused(let broker, .notAuthorized):
            "\(broker): the broker does not let us in: correct the user name or the password in the file of \"userFile\", or "
                + "name one"
        case .insecure(let broker, let reason):
            "\(broker): TLS failed" + (reason.map { " (\($0))" } ?? "")
                + ", so nothing was sent; the broker's certificate must be for this host, and its authority known here or "
                + "in \"caFile\""
        case .lost(let broker): "\(broker): the connection to the broker is lost; it is tried again"
        case .missing(let sentence), .file(let sentence): sentence
        }
    }

    /// A file that could not be read.
    ///
    /// - Parameter advice: What belongs there, behind a semicolon; empty for nothing.
    init(_ error: SystemError, reading path: String, advice: String = "") {
        let sentence = "\(error.about(path))" + (advice.isEmpty ? "" : "; \(advice)")
        self = error.errno == SystemError.noEntry ? .missing(sentence) : .file(sentence)
    }
}
