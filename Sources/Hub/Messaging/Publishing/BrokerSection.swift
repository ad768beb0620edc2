public import Configuration

/// The `mqtt` of a listener file: where the broker is, and what is told there beside our own topics.
public struct BrokerSection: Hashable, Sendable {
    public var address: BrokerAddress
    /// Files as they stand there: beside the listener file, where they do not begin with `/`.
    public var userFile: String?
    public var authorityFile: String?
    public var certificateFile: String?
    public var keyFile: String?
    /// Whether it is told of each beacon where it is; a collector of the site tells it better.
    public var publishesBeacons: Bool
    public var publishesESPresense: Bool
    public var publishesTheengs: Bool
    public var publishesRaddec: Bool
    /// `nil` where Home Assistant is told nothing.
    public var homeAssistant: HomeAssistant.Settings?

    /// Reads the object of a listener file.
    ///
    /// - Returns: the section, `nil` where there is none or it has an error, and every problem in the order of the file.
    public static func decode(_ node: JSONNode?) -> (section: BrokerSection?, problems: [FileProblem]) {
        guard let node else { return (nil, []) }
        var reader = BrokerSectionReader()
        let section = reader.section(node)
        let problems = reader.decoder.problems
        return (problems.contains(where: \.isError) ? nil : section, problems)
    }

    static let keys = [
        "url", "userFile", "caFile", "certificateFile", "keyFile", "beacons", "espresense", "theengs", "raddec",
        "homeAssistant",
    ]
    static let homeAssistantKeys = ["before"]
}

/// Where a broker is: `mqtt://HOST[:PORT]`, or `mqtts://…` for TLS.
public struct BrokerAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address; that of version 6 without brackets.
    public let host: String
    public let port: UInt16
    public let isSecure: Bool

    /// What is wrong with a text, as half a sentence.
    struct Mistake: Error {
        let text: String
    }

    init(_ text: String) throws(Mistake) {
        let form = "mqtt://HOST[:PORT], or mqtts://HOST[:PORT] for TLS, is expected"
        if text.hasPrefix("mqtts://") {
            isSecure = true
        } else if text.hasPrefix("mqtt://") {
            isSecure = false
        } else {
            throw Mistake(text: form)
        }
        var rest = text.dropFirst(isSecure ? 8 : 7)
        if rest.last == "/" { rest.removeLast() }
        guard !rest.contains("@") else {
            throw Mistake(
                text: "a user and a password do not stand in the URL; put them into a file of mode 0600, \"userFile\"")
        }
        var portText: Substring?
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { throw Mistake(text: form) }
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            let tail = rest[rest.index(after: end)...]
            guard tail.isEmpty || tail.first == ":" else { throw Mistake(text: form) }
            portText = tail.isEmpty ? nil : tail.dropFirst()
            guard host.utf8.allSatisfy({ Self.isAddress($0) }) else { throw Mistake(text: form) }
        } else {
            let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else {
                throw Mistake(text: "an address of version 6 stands in brackets: mqtt://[::1]:1883")
            }
            host = String(parts[0])
            portText = parts.count == 2 ? parts[1] : nil
            guard host.utf8.allSatisfy({ Self.isName($0) }) else { throw Mistake(text: form) }
        }
        guard !host.isEmpty, host.utf8.count <= 253 else { throw Mistake(text: form) }
        guard let portText else {
            port = isSecure ? 8883 : 1883
            return
        }
        guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(portText), port > 0 else {
            throw Mistake(text: "the port is a number from 1 to 65535")
        }
        self.port = port
    }

    private static func isName(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// With the number of an interface behind a percent sign.
    private static func isAddress(_ octet: UInt8) -> Bool {
        isName(octet) || octet == UInt8(ascii: ":") || octet == UInt8(ascii: "%")
    }

    public var description: String {
        "mqtt\(isSecure ? "s" : "")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

private struct BrokerSectionReader {
    var decoder = ConfigurationDecoder()

    mutating func section(_ node: JSONNode) -> BrokerSection? {
        guard let object = decoder.object(node, keys: BrokerSection.keys, hint: hint) else { return nil }
        let address = address(decoder.required("url", in: object, "where the broker is, such as \"mqtts://broker\""))
        let user = path(object["userFile"])
        let authority = path(object["caFile"])
        let certificate = path(object["certificateFile"])
        let key = path(object["keyFile"])
        if let address, !address.isSecure {
            for name in ["caFile", "certificateFile", "keyFile"] {
                if let node = object[name] {
                    decoder.error("this is for TLS: the URL must begin with mqtts://", at: node)
                }
            }
        }
        if (object["certificateFile"] == nil) != (object["keyFile"] == nil) {
            decoder.error("a certificate needs its key, and a key its certificate: give both files", at: object)
        }
        let home = homeAssistant(object["homeAssistant"])
        let beacons = decoder.boolean(object["beacons"]) ?? true
        if home != nil, !beacons, let node = object["homeAssistant"] {
            decoder.error("Home Assistant is told of beacons by whoever tells where they are: the collector", at: node)
        }
        let espresense = decoder.boolean(object["espresense"]) ?? false
        let theengs = decoder.boolean(object["theengs"]) ?? false
        let raddec = decoder.boolean(object["raddec"]) ?? false
        guard let address else { return nil }
        if !address.isSecure, let userFile = object["userFile"], !Self.isHere(address.host) {
            decoder.warning("without TLS everybody on the way reads this password: use mqtts://", at: userFile)
        }
        return BrokerSection(
            address: address, userFile: user, authorityFile: authority, certificateFile: certificate, keyFile: key,
            publishesBeacons: beacons, publishesESPresense: espresense, publishesTheengs: theengs,
            publishesRaddec: raddec, homeAssistant: home)
    }

    private static func isHere(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }

    private func hint(_ key: String) -> String? {
        switch key {
        case "user", "username", "password":
            "a user and a password stand in a file of mode 0600, two lines, that \"userFile\" names"
        case "host", "port", "broker": "give \"url\", such as \"mqtts://broker:8883\""
        default: nil
        }
    }

    private mutating func address(_ node: JSONNode?) -> BrokerAddress? {
        guard let node, let text = decoder.text(node) else { return nil }
        do throws(BrokerAddress.Mistake) {
            return try BrokerAddress(text)
        } catch {
            decoder.error(error.text, at: node)
            return nil
        }
    }

    private mutating func path(_ node: JSONNode?) -> String? {
        guard let node, let path = decoder.text(node) else { return nil }
        guard !path.isEmpty, !path.utf8.contains(0) else {
            decoder.error("the name of a file is expected", at: node)
            return nil
        }
        return path
    }

    /// `true`, or an object that tells more.
    private mutating func homeAssistant(_ node: JSONNode?) -> HomeAssistant.Settings? {
        guard let node else { return nil }
        if case .boolean(let isWanted) = node.value { return isWanted ? HomeAssistant.Settings() : nil }
        guard node.members != nil else {
            decoder.wrongKind(node, expected: "true, false or an object such as {\"before\": \"2026.7\"}")
            return nil
        }
        guard let object = decoder.object(node, keys: BrokerSection.homeAssistantKeys) else { return nil }
        guard let before = object["before"], let text = decoder.text(before) else { return HomeAssistant.Settings() }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            parts[0].count == 4, let month = Int(parts[1]), (1...12).contains(month)
        else {
            decoder.error("a version of Home Assistant is expected, such as \"2026.7\"", at: before)
            return nil
        }
        return HomeAssistant.Settings(before: text)
    }
}

/// The schema of `mqtt` in a listener file, made from the same key lists.
public enum BrokerSchema {
    /// JSON Schema, draft 2020-12.
    public static var json: JSONValue {
        func file(_ description: String) -> JSONValue {
            ["description": .string(description), "type": "string", "pattern": "^[^\\u0000]+$"]
        }
        let values: [String: JSONValue] = [
            "url": [
                "description": "mqtt://HOST[:PORT], or mqtts://HOST[:PORT] for TLS; no user and no password.",
                "type": "string", "pattern": "^mqtts?://[^@]+$",
            ],
            "userFile": file("A file of mode 0600 with two lines: a user name and a password."),
            "caFile": file(
                "The authorities that the broker's certificate is checked by, in place of the system's; PEM."),
            "certificateFile": file("A certificate of this receiver, in PEM."),
            "keyFile": file("The key of that certificate, of mode 0600, in PEM."),
            "beacons": [
                "description":
                    "Whether it is told where each beacon is (true); false where a collector of the site tells it.",
                "type": "boolean",
            ],
            "espresense": ["description": "Whether ESPresense's topics are published too (false).", "type": "boolean"],
            "theengs": ["description": "Whether Theengs' topics are published too (false).", "type": "boolean"],
            "raddec": [
                "description": "Whether reelyActive's raddecs are published too, as raddec/RECEIVER (false).",
                "type": "boolean",
            ],
            "homeAssistant": [
                "description": "Whether Home Assistant's discovery is published too (false).",
                "anyOf": [
                    ["type": "boolean"],
                    [
                        "type": "object",
                        "properties": [
                            "before": [
                                "description":
                                    "The version before which that Home Assistant is, such as 2026.7: its trackers get a state.",
                                "type": "string", "pattern": "^[0-9]{4}\\.(0?[1-9]|1[0-2])$",
                            ]
                        ],
                        "additionalProperties": false,
                    ],
                ],
            ],
        ]
        return [
            "description": "A broker of MQTT 3.1.1 that is told everything.", "type": "object",
            "properties": .object(BrokerSection.keys.compactMap { key in values[key].map { .init(key, $0) } }),
            "required": ["url"], "additionalProperties": false,
        ]
    }
}
