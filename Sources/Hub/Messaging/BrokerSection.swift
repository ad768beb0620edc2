internal import BluetoothTypes
public import Configuration

/// The section `mqtt` of a listener or collector file: the address of the broker, its credentials, and the optional
/// topics that are published in addition to Pharos' own topics.
public struct BrokerSection: Hashable, Sendable {
    public var address: BrokerAddress
    /// The path of the file with the user name and the password, as written in the file. Relative paths of this section
    /// start at the directory of the file.
    public var userFile: String?
    /// The path of the PEM file of certificate authorities, as written in the file.
    public var authorityFile: String?
    /// The path of the PEM file of the client's certificate, as written in the file.
    public var certificateFile: String?
    /// The path of the PEM file of the client's key, as written in the file.
    public var keyFile: String?
    /// True if the state of each beacon is published. Set this to false if the site has a collector, which computes the
    /// states from the sightings of all receivers and publishes them.
    public var publishesBeacons: Bool
    public var publishesESPresense: Bool
    public var publishesTheengs: Bool
    public var publishesRaddec: Bool
    /// The settings for Home Assistant; `nil` if nothing is published for it.
    public var homeAssistant: HomeAssistant.Settings?

    /// Reads the section.
    ///
    /// - Returns: The section, and all problems in the order of the file. The section is `nil` if it is missing or has
    ///   errors.
    public static func decode(_ node: JSONNode?) -> (section: BrokerSection?, problems: [FileProblem]) {
        guard let node else { return (nil, []) }
        var reader = BrokerSectionReader()
        let section = reader.section(node)
        let problems = reader.decoder.problems
        return (problems.contains(where: \.isError) ? nil : section, problems)
    }
}

/// The address of a broker: `mqtt://HOST[:PORT]`, or `mqtts://HOST[:PORT]` for TLS.
public struct BrokerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The host name or IP address. An IPv6 address is stored without brackets.
    public let host: String
    public let port: UInt16
    public let isSecure: Bool

    /// A mistake in the text of an address. Its text is a clause for a message.
    public struct Mistake: Error {
        public let text: String
    }

    /// Reads the address.
    ///
    /// - Throws: A mistake if the text has another form, or contains a user or a password.
    public init(_ text: String) throws(Mistake) {
        let expectedForm = "mqtt://HOST[:PORT], or mqtts://HOST[:PORT] for TLS, is expected"
        if text.hasPrefix("mqtts://") {
            isSecure = true
        } else if text.hasPrefix("mqtt://") {
            isSecure = false
        } else {
            throw Mistake(text: expectedForm)
        }
        var remainder = text.dropFirst(isSecure ? 8 : 7)
        if remainder.last == "/" { remainder.removeLast() }
        guard !remainder.contains("@") else {
            throw Mistake(
                text: "the URL must not contain a user or a password; put them into a file of mode 0600 and name it in "
                    + "\"userFile\"")
        }
        var portText: Substring?
        if remainder.first == "[" {
            guard let end = remainder.firstIndex(of: "]") else { throw Mistake(text: expectedForm) }
            host = String(remainder[remainder.index(after: remainder.startIndex)..<end])
            let tail = remainder[remainder.index(after: end)...]
            guard tail.isEmpty || tail.first == ":" else { throw Mistake(text: expectedForm) }
            portText = tail.isEmpty ? nil : tail.dropFirst()
            guard host.utf8.allSatisfy({ Self.isAddress($0) }) else { throw Mistake(text: expectedForm) }
        } else {
            let parts = remainder.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else {
                throw Mistake(text: "an IPv6 address must be in brackets: mqtt://[::1]:1883")
            }
            host = String(parts[0])
            portText = parts.count == 2 ? parts[1] : nil
            guard host.utf8.allSatisfy({ Self.isName($0) }) else { throw Mistake(text: expectedForm) }
        }
        guard !host.isEmpty, host.utf8.count <= 253 else { throw Mistake(text: expectedForm) }
        guard let portText else {
            port = isSecure ? 8883 : 1883
            return
        }
        guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(portText), port > 0 else {
            throw Mistake(text: "the port must be a number from 1 to 65535")
        }
        self.port = port
    }

    private static func isName(_ octet: UInt8) -> Bool {
        octet.isASCIILetterOrDigit || ".-_".utf8.contains(octet)
    }

    /// Returns true if a byte may occur in an IPv6 address, including the `%` and the interface name at its end.
    private static func isAddress(_ octet: UInt8) -> Bool {
        isName(octet) || octet == UInt8(ascii: ":") || octet == UInt8(ascii: "%")
    }

    public var description: String {
        "mqtt\(isSecure ? "s" : "")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

/// The keys of the section `mqtt`.
package enum BrokerKeys {
    static let url = Key(
        "url", address, "Broker: mqtt://HOST[:PORT], or mqtts://HOST[:PORT] for TLS, without user and password.",
        isRequired: true)
    static let userFile = Key(
        "userFile", .path(), "File of mode 0600 with two lines: the user name and the password.")
    static let authorityFile = Key(
        "caFile", .path(),
        "PEM file with the certificate authorities for the broker's certificate. Default: those of the system.")
    static let certificateFile = Key("certificateFile", .path(), "PEM file with the certificate of this client.")
    static let keyFile = Key(
        "keyFile", .path(), "PEM file of mode 0600 with the private key of this client's certificate.")
    static let beacons = Key(
        "beacons", .boolean,
        "Publish the state of each beacon. In a listener file, set this to false if a collector publishes the states.",
        default: true)
    static let espresense = Key("espresense", .boolean, "Publish ESPresense's topics too.", default: false)
    static let theengs = Key("theengs", .boolean, "Publish Theengs' topics too.", default: false)
    static let raddec = Key(
        "raddec", .boolean, "Also publish messages in reelyActive's format raddec, on the topic raddec/RECEIVER.",
        default: false)
    static let homeAssistant = Key(
        "homeAssistant", homeAssistantType,
        "Also publish discovery messages, with which Home Assistant adds all beacons and zones. If \"beacons\" is false: "
            + "only the zones. Default: false."
    )
    static let before = Key(
        "before", homeAssistantVersion,
        """
        A version such as 2026.7. Set it if your Home Assistant is older than that version. Older versions show trackers \
        without a state as unknown, so Pharos then gives them a state.
        """)

    static let section = Section(
        "The MQTT 3.1.1 broker that receives all events and states.",
        [
            url, userFile, authorityFile, certificateFile, keyFile, beacons, espresense, theengs, raddec,
            homeAssistant,
        ],
        hint: { key in
            switch key {
            case "user", "username", "password":
                "put the user and the password into a file of mode 0600, two lines, and name it in \"userFile\""
            case "host", "port", "broker": "give \"url\", such as \"mqtts://broker:8883\""
            default: nil
            }
        })
    static let homeAssistantSection = Section("Settings for Home Assistant.", [before])

    /// The key `mqtt` of a listener or collector file.
    package static let mqtt = Key(
        "mqtt", .section(section), "The MQTT 3.1.1 broker that receives all events and states.")

    private static let address = ValueType<String>(schema: ["type": "string", "pattern": "^mqtts?://[^@]+$"]) {
        $0.text($1)
    }.map { decoder, node, text -> BrokerAddress? in
        do throws(BrokerAddress.Mistake) {
            return try BrokerAddress(text)
        } catch {
            decoder.error(error.text, at: node)
            return nil
        }
    }

    /// `true`, `false`, or an object with settings.
    private static let homeAssistantType = ValueType<HomeAssistant.Settings>(
        schema: ["anyOf": [["type": "boolean"], homeAssistantSection.schema]]
    ) { decoder, node in
        if case .boolean(let isWanted) = node.value { return isWanted ? HomeAssistant.Settings() : nil }
        guard node.members != nil else {
            decoder.wrongKind(node, expected: "true, false or an object such as {\"before\": \"2026.7\"}")
            return nil
        }
        guard let object = decoder.open(homeAssistantSection, node) else { return nil }
        return HomeAssistant.Settings(before: decoder.read(before, in: object))
    }

    private static let homeAssistantVersion = ValueType<String>(
        schema: ["type": "string", "pattern": "^[0-9]{4}\\.(0?[1-9]|1[0-2])$"]
    ) { decoder, node in
        guard let text = decoder.text(node) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            parts[0].count == 4, let month = Int(parts[1]), (1...12).contains(month)
        else {
            decoder.error("a version of Home Assistant is expected, such as \"2026.7\"", at: node)
            return nil
        }
        return text
    }
}

private struct BrokerSectionReader {
    var decoder = ConfigurationDecoder()

    mutating func section(_ node: JSONNode) -> BrokerSection? {
        guard let object = decoder.open(BrokerKeys.section, node) else { return nil }
        let address = decoder.read(BrokerKeys.url, in: object)
        let user = decoder.read(BrokerKeys.userFile, in: object)
        let authority = decoder.read(BrokerKeys.authorityFile, in: object)
        let certificate = decoder.read(BrokerKeys.certificateFile, in: object)
        let key = decoder.read(BrokerKeys.keyFile, in: object)
        if let address, !address.isSecure {
            for name in ["caFile", "certificateFile", "keyFile"] {
                if let node = object[name] {
                    decoder.error("this key is for TLS: the URL must begin with mqtts://", at: node)
                }
            }
        }
        if (object["certificateFile"] == nil) != (object["keyFile"] == nil) {
            decoder.error("\"certificateFile\" and \"keyFile\" belong together: give both", at: object)
        }
        let home = decoder.read(BrokerKeys.homeAssistant, in: object)
        let beacons = decoder.read(BrokerKeys.beacons, in: object) ?? true
        let espresense = decoder.read(BrokerKeys.espresense, in: object) ?? false
        let theengs = decoder.read(BrokerKeys.theengs, in: object) ?? false
        let raddec = decoder.read(BrokerKeys.raddec, in: object) ?? false
        guard let address else { return nil }
        if !address.isSecure, let userFile = object["userFile"], !Self.isThisMachine(address.host) {
            decoder.warning("without TLS the password crosses the network unencrypted: use mqtts://", at: userFile)
        }
        return BrokerSection(
            address: address, userFile: user, authorityFile: authority, certificateFile: certificate, keyFile: key,
            publishesBeacons: beacons, publishesESPresense: espresense, publishesTheengs: theengs,
            publishesRaddec: raddec, homeAssistant: home)
    }

    private static func isThisMachine(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
}
