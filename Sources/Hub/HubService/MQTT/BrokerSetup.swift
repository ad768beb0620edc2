internal import LinuxHost
internal import Listener
internal import Messaging

/// The broker of a listener file, with the files that its section names.
struct BrokerSetup {
    /// As it stands in the file.
    let section: BrokerSection
    /// How the broker is connected to.
    let options: BrokerOptions

    /// - Parameter path: The listener file, beside which others lie.
    /// - Returns: `nil` where the file names no broker.
    /// - Throws: where the password or a key is missing, or others may read it.
    init?(_ file: HubFile, at path: String) throws(BrokerError) {
        guard let section = file.broker else { return nil }
        self.section = section
        let listener = file.listener
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        func place(_ name: String?) -> String? { name.map { $0.hasPrefix("/") ? $0 : directory + $0 } }
        // Two machines may give their listeners one name.
        let machine = StableHash.of("\(Privileges.machineID ?? "") \(listener.name)")
        let digits = String(machine & 0xFFFF_FFFF | 0x1_0000_0000, radix: 16).dropFirst()
        var options = BrokerOptions(
            host: section.address.host, port: section.address.port, isSecure: section.address.isSecure,
            clientName: "pharos-\(listener.name)-\(digits)")
        options.authorityFile = place(section.authorityFile)
        options.certificateFile = place(section.certificateFile)
        options.keyFile = place(section.keyFile)
        if let file = place(section.userFile) { options.user = try BrokerUser(file: file) }
        if section.homeAssistant != nil { options.subscriptions = [HomeAssistant.statusTopic] }
        self.options = options
    }
}

extension BrokerMessage {
    /// A publication as it is sent.
    init(_ publication: Publication) {
        self.init(
            publication.topic, publication.payload, isRetained: publication.isRetained,
            quality: publication.isAssured ? .atLeastOnce : .atMostOnce)
    }
}
