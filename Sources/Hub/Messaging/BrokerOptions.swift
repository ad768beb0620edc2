internal import BluetoothTypes
internal import LinuxHost

/// The address of a broker, the credentials, and the limits of a connection.
public struct BrokerOptions: Sendable {
    /// The host name or IP address of the broker. An IPv6 address is written without brackets.
    public var host: String
    public var port: UInt16
    /// True if the connection uses TLS. If TLS fails, nothing is sent.
    public var isSecure: Bool
    /// The PEM file with the trusted certificate authorities; `nil` for those of the system.
    public var authorityFile: String?
    /// The PEM file of the client's certificate.
    public var certificateFile: String?
    /// The PEM file of the key of the client's certificate.
    public var keyFile: String?
    public var user: BrokerUser?
    /// The client name. If two clients have the same name, the broker disconnects the client that connected first.
    public var clientName: String
    /// The message that the broker publishes if the connection is lost.
    public var will: Publication?
    /// The topic filters to which the client subscribes at every connection. A refusal is reported.
    public var subscriptions: [String] = []
    /// Further topic filters to which the client subscribes. A refusal is ignored.
    public var optionalSubscriptions: [String] = []
    public var keepAliveSeconds: Int32 = 30
    /// The largest size of a received message, in bytes. Larger messages are dropped.
    public var receivedMessageLimit = 256 << 10
    /// The largest number of received messages that wait to be read. Further messages are dropped.
    public var inboxLimit = 1000
    /// The largest total size of received messages that wait to be read, in bytes. Further messages are dropped.
    public var inboxBytes = 32 << 20
    /// The largest number of published messages that are not acknowledged.
    public var windowLimit = 256

    /// Creates options.
    public init(host: String, port: UInt16, isSecure: Bool, clientName: String) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
        self.clientName = clientName
    }

    /// Creates the options for the broker of an `mqtt` section.
    ///
    /// - Parameters:
    ///   - client: The first part of the client name. The second part is a hash that distinguishes machines and
    ///     instances.
    ///   - instance: A text that distinguishes two clients on one machine, such as a path.
    ///   - directory: The directory of the file that contains the section, with a slash at the end. Relative paths of
    ///     the section start there.
    /// - Throws: `missing` or `file` if the file with the user name and the password cannot be used.
    public init(
        _ section: BrokerSection, client: String, instance: String = "", in directory: String
    ) throws(BrokerError) {
        func fullPath(_ name: String?) -> String? { name.map { $0.hasPrefix("/") ? $0 : directory + $0 } }
        // Machines whose disks were copied have the same machine id, so the host name is used too.
        let host = Files.firstLine("/proc/sys/kernel/hostname") ?? Files.firstLine("/etc/hostname") ?? ""
        let machine = StableHash.of("\(Privileges.machineID ?? "") \(host) \(client) \(instance)")
        let digits = String(machine & 0xFFFF_FFFF | 0x1_0000_0000, radix: 16).dropFirst()
        let address = section.address
        self.init(
            host: address.host, port: address.port, isSecure: address.isSecure, clientName: "\(client)-\(digits)")
        authorityFile = fullPath(section.authorityFile)
        certificateFile = fullPath(section.certificateFile)
        keyFile = fullPath(section.keyFile)
        if let file = fullPath(section.userFile) { user = try BrokerUser(file: file) }
        if section.homeAssistant != nil { subscriptions = [HomeAssistant.statusTopic] }
    }

    /// The URL of the broker, for messages.
    public var name: String {
        "mqtt\(isSecure ? "s" : "")://\(host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host):\(port)"
    }
}

/// A user name and a password.
public struct BrokerUser: Hashable, Sendable {
    public var name: String
    public var password: [UInt8]

    /// The largest size of the file, in bytes. A password has at most 65,535 bytes.
    private static let sizeLimit = 1 << 17

    /// Creates a user.
    public init(name: String, password: [UInt8]) {
        self.name = name
        self.password = password
    }

    /// Reads a file of two lines: the user name and the password. Other users must not be able to read the file.
    ///
    /// - Throws: `missing` if there is no such file, `file` if it cannot be used.
    public init(file path: String) throws(BrokerError) {
        let secret: Files.Secret
        do throws(SystemError) {
            secret = try Files.readSecret(path, limit: Self.sizeLimit)
        } catch {
            throw BrokerError(
                error, reading: path, advice: "the file of \"userFile\" must have two lines: a user name and a password"
            )
        }
        if let weakness = secret.weakness { throw .file(weakness.text("password", at: path)) }
        let lines = secret.octets.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
        // If the password is empty, the second line must still end with a line feed.
        let hasTwoLines = lines.count == 2 && !lines[1].isEmpty || lines.count == 3 && lines[2].isEmpty
        guard hasTwoLines, !lines[0].isEmpty, let name = String(validating: lines[0], as: UTF8.self),
            !name.utf8.contains(0)
        else {
            throw .file("\(path): this file must have two lines: a user name and a password")
        }
        self.init(name: name, password: Array(lines[1]))
    }
}
