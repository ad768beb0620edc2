internal import LinuxHost

/// Where a broker is, who we are, and what it may cost us.
public struct BrokerOptions: Sendable {
    /// A host name, or an address; that of version 6 without brackets.
    public var host: String
    public var port: UInt16
    /// Whether TLS is spoken. Where it fails nothing is said at all.
    public var isSecure: Bool
    /// Files in PEM: the authorities in place of the system's, a certificate of our own, and its key.
    public var authorityFile: String?
    public var certificateFile: String?
    public var keyFile: String?
    public var user: BrokerUser?
    /// What we are called: of two clients with one name the broker keeps the second.
    public var clientName: String
    /// What the broker publishes for us when we are gone without a word.
    public var will: BrokerMessage?
    /// Topic filters, each asked for at every connection.
    public var subscriptions: [String] = []
    public var keepAliveSeconds: Int32 = 30
    /// What a message that comes may have, in octets; larger ones are dropped.
    public var messageLimit = 256 << 10
    /// How many messages that came may wait to be taken; more are dropped.
    public var queueLimit = 1000
    /// How many of ours may be on their way at a time.
    public var windowLimit = 256

    /// See the properties of the same names.
    public init(host: String, port: UInt16, isSecure: Bool, clientName: String) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
        self.clientName = clientName
    }

    /// The options that connect to the broker of an `mqtt` section.
    ///
    /// - Parameters:
    ///   - client: The first part of the client name; the second part tells machines with equal names apart.
    ///   - instance: What tells two clients of one machine apart, such as a path.
    ///   - directory: The directory of the file with the section, with its last slash. Relative paths start there.
    /// - Throws: `missing` or `file` when the file with the user name and the password cannot be used.
    public init(
        _ section: BrokerSection, client: String, instance: String = "", in directory: String
    ) throws(BrokerError) {
        func place(_ name: String?) -> String? { name.map { $0.hasPrefix("/") ? $0 : directory + $0 } }
        // Machines with copied disks have the same machine id.
        let host = Files.firstLine("/proc/sys/kernel/hostname") ?? Files.firstLine("/etc/hostname") ?? ""
        let machine = StableHash.of("\(Privileges.machineID ?? "") \(host) \(client) \(instance)")
        let digits = String(machine & 0xFFFF_FFFF | 0x1_0000_0000, radix: 16).dropFirst()
        let address = section.address
        self.init(
            host: address.host, port: address.port, isSecure: address.isSecure, clientName: "\(client)-\(digits)")
        authorityFile = place(section.authorityFile)
        certificateFile = place(section.certificateFile)
        keyFile = place(section.keyFile)
        if let file = place(section.userFile) { user = try BrokerUser(file: file) }
        if section.homeAssistant != nil { subscriptions = [HomeAssistant.statusTopic] }
    }

    /// The broker as it is called in sentences.
    public var name: String {
        "mqtt\(isSecure ? "s" : "")://\(host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host):\(port)"
    }
}

/// Who we are to a broker.
public struct BrokerUser: Hashable, Sendable {
    public var name: String
    public var password: [UInt8]

    /// What such a file may hold, in octets: a broker takes 65,535 of a password.
    private static let sizeLimit = 1 << 17

    /// See the properties of the same names.
    public init(name: String, password: [UInt8]) {
        self.name = name
        self.password = password
    }

    /// Reads a file of two lines, the user's name and the password, that nobody else may read.
    ///
    /// - Throws: `missing`, or `file`.
    public init(file path: String) throws(BrokerError) {
        let secret: Files.Secret
        do throws(SystemError) {
            secret = try Files.readSecret(path, limit: Self.sizeLimit)
        } catch {
            throw BrokerError(
                error, reading: path, advice: "the file of \"userFile\" has two lines: a user name and a password")
        }
        if let weakness = secret.weakness { throw .file(weakness.text("password", at: path)) }
        let lines = secret.octets.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
        // An empty password is one only where its line ends.
        let isWhole = lines.count == 2 && !lines[1].isEmpty || lines.count == 3 && lines[2].isEmpty
        guard isWhole, !lines[0].isEmpty, let name = String(validating: lines[0], as: UTF8.self),
            !name.utf8.contains(0)
        else {
            throw .file("\(path): two lines are expected here: a user name and a password")
        }
        self.init(name: name, password: Array(lines[1]))
    }
}
