internal import BeaconFrames
internal import BluetoothTypes
package import Configuration
internal import LinuxHost

/// The JSON Schema (draft 2020-12) of a beacon profile.
///
/// A JSON Schema cannot express some rules: that the structures fit into the PDU, that the compressed URL is short
/// enough, and that the calibration covers the radio power. `BeaconProfile.decode` checks these.
public enum BeaconSchema {
    /// The text of `profiles/schema/beacon.schema.json`, which `pharos profile schema` prints.
    public static var text: String { json.pretty }

    package static var json: JSONValue { ProfileFormat.section.schemaDocument(title: "Pharos beacon profile") }

    /// The schema of the key `adapter`, for other files that have the same key.
    package static var adapter: JSONValue { ProfileFormat.adapter.schema }
}

/// The declaration of a beacon profile: its keys, their types and defaults.
enum ProfileFormat {
    static let name = Key(
        "name", .name, "Name of this beacon, also of its files and units, such as \"lobby-north\".", isRequired: true)
    static let adapter = Key(
        "adapter", .adapter,
        """
        The Bluetooth adapter: hci0, hci0:user, hci0:mgmt, tcp:HOST:PORT, unix:PATH, serial:PATH@RATE or virtual. \
        Default: the first adapter.
        """)
    static let address = Key(
        "address", .profileAddress,
        """
        Device address: the controller's own address (public), an address derived from the machine and the profile \
        name (random-static), or a static random address, whose first byte is C0...FF.
        """, default: .randomStatic)
    static let radioPower = Key(
        "radioPowerDbm", .radioPower,
        """
        Transmit power to request from the controller, which may use a different power and reports it. By default no \
        power is requested.
        """)
    static let channels = Key("channels", .channels, "Advertising channels.", default: .all)
    static let pdu = Key(
        "pdu", .pdu,
        """
        What other devices may do: only listen (nonconnectable), also request the scan response (scannable), or also \
        connect (connectable). Default: scannable with a scan response, otherwise nonconnectable.
        """)
    static let calibration = Key(
        "calibration", .calibration,
        """
        Signal strength at 1 m in dBm for each radio power in dBm. Between two radio powers the signal strength is \
        interpolated. "default" is the signal strength for controllers that do not report their radio power. \
        "receiver" names the device that measured.
        """)
    static let eidEpoch = Key(
        "eidEpoch", .time,
        """
        Time at which the beacon's counter of seconds, from which ephemeral ids are computed, was 65280. Written as in \
        RFC 3339, such as 2026-03-01T12:00:00Z.
        """)
    static let advertisements = Key(
        "advertisements", .list("advertisements", 1...Int.max, of: AdvertisementFormat.type),
        "The advertisements, each with its own interval.", isRequired: true)
    static let scanResponse = Key(
        "scanResponse", .section(ScanResponseKeys.section),
        "Data that scanners can request, at most 31 bytes. Not allowed together with an EID.")

    static let section = Section(
        "The advertisements that one Linux machine sends as a Bluetooth beacon.",
        [
            FileHeader.schema, FileHeader.version, name, adapter, address, radioPower, channels, pdu, calibration,
            eidEpoch, advertisements, scanResponse,
        ],
        hint: { key in
            if let hint = commonHint(key) { return hint }
            let isOfAdvertisement = FrameKind.allCases.contains { AdvertisementFormat.keys(of: $0).contains(key) }
            return key != "type" && isOfAdvertisement ? "it belongs in one of the advertisements" : nil
        })

    /// All keys of a profile, in the order in which they are printed.
    static let keys = section.keys.map(\.name)

    /// Returns advice about a key that other programs use, or `nil` for other keys.
    static func commonHint(_ key: String) -> String? {
        switch key.lowercased().filter({ $0 != "-" && $0 != "_" }) {
        case "txpower", "txpowerdbm", "power", "powerdbm":
            "\"radioPowerDbm\" is the transmit power, \"measuredPowerDbm\" is the number in the packet"
        case "rssi", "rssi1m", "rssiat1m": "the key for the signal strength at 1 m is \"measuredPower1mDbm\""
        default: nil
        }
    }
}

/// The keys of the scan response.
enum ScanResponseKeys {
    static let localName = Key(
        "localName",
        ValueType<String>(schema: ["type": "string", "minLength": 1, "maxLength": 29]) { decoder, node in
            guard let name = decoder.nonemptyText(node) else { return nil }
            guard name.utf8.count > longestName else { return name }
            decoder.error("the name has \(name.utf8.count) bytes, at most \(longestName) fit", at: node)
            return nil
        },
        "Name that phones show, at most 29 bytes of UTF-8.")
    /// The longest local name in bytes: a legacy advertisement without the length byte and the type of the structure.
    private static let longestName = AdvertisingData.legacyLimit - 2
    static let structures = StructureFormat.structures
    static let section = Section(
        "A scan response.", [localName, structures],
        rules: [
            .oneOrMore(
                of: ["localName", "structures"],
                otherwise: "the scan response is empty: give it a \"localName\" or \"structures\"")
        ])
}

/// The declaration of an advertisement: the keys of each type of frame.
enum AdvertisementFormat {
    static let interval = Key(
        "intervalMs", .interval,
        """
        Advertising interval, rounded to the nearest multiple of 0.625 ms. The controller adds a random delay of up to \
        10 ms, 5 ms on average. Not every controller supports less than 100 ms or more than 10240 ms.
        """)
    static let pattern = Key(
        "pattern", ValueType.pattern,
        """
        A repeating list of intervals, instead of the constant intervalMs. Each interval is used for the time forS. \
        The advertisement needs an advertising set of its own.
        """)
    static let radioPower = Key(
        "radioPowerDbm", .radioPower, "Transmit power of this advertisement. Default: the power of the whole profile.")
    static let channels = Key(
        "channels", .channels, "Channels of this advertisement. Default: the channels of the whole profile.")
    static let pdu = Key(
        "pdu", .pdu,
        "What other devices may do: nonconnectable, scannable or connectable. Default: the value of the whole profile.")
    static let phy = Key(
        "phy", .phy,
        """
        PHY of extended advertising PDUs: 1M, 2M, coded, coded-s2 or coded-s8. These PDUs have up to 1650 bytes of data. \
        By default, legacy PDUs are sent, which every phone receives.
        """)
    static let address = Key(
        "address", .profileAddress, "Device address of this advertisement. Default: the address of the whole profile.")

    /// An advertisement. Its key `type` selects the section in the schema. This value type only passes the node on;
    /// `ProfileDecoder` reads it.
    static let type = ValueType<JSONNode>.choice(
        "advertisement", "Type of the frame.",
        of: FrameKind.allCases.map { (type: $0.rawValue, section: section(of: $0)) }
    ) { $1 }

    /// The names of the keys of `kind`, in the order in which they are printed.
    static func keys(of kind: FrameKind) -> [String] { section(of: kind).keys.map(\.name) }

    static func section(of kind: FrameKind) -> Section {
        sections[kind] ?? Section("", [])
    }

    /// The keys of all kinds of advertisements, for an advertisement whose type is not known.
    static let sectionOfAnyKind: Section = {
        var keys: [any DeclaredKey] = []
        for key in FrameKind.allCases.flatMap({ section(of: $0).keys })
        where !keys.contains(where: { $0.name == key.name }) {
            // No key is required here. The rule for the interval and the pattern is the only requirement that all kinds
            // share.
            keys.append(Key<String>(key.name, .text, key.meaning))
        }
        return Section("", keys, rules: [PatternKeys.intervalOrPattern])
    }()

    private static let sections: [FrameKind: Section] = Dictionary(
        uniqueKeysWithValues: FrameKind.allCases.map { ($0, declaration(of: $0)) })

    private static func declaration(of kind: FrameKind) -> Section {
        let type = Key("type", .constant(kind.rawValue), "The type of this advertisement.", isRequired: true)
        let power = MeasuredPowerKeys.of(kind)
        var (description, contentKeys, rules) = content(of: kind)
        if power != nil {
            rules.append(
                .notBoth(
                    "measuredPowerDbm", "measuredPower1mDbm",
                    otherwise: "\"measuredPowerDbm\" is there as well; remove one of the two"))
        }
        let measuredPower: [any DeclaredKey] = power.map { [$0.sentByte, $0.atOneMeter] } ?? []
        // An EID has no key for the address, because its address changes with the id.
        let address: [any DeclaredKey] = kind == .eddystoneEID ? [] : [address]
        return Section(
            description,
            [type] + contentKeys + measuredPower + [interval, pattern, radioPower, channels, pdu, phy] + address,
            rules: rules + [PatternKeys.intervalOrPattern], hint: { hint($0, in: kind) })
    }

    private static func content(
        of kind: FrameKind
    ) -> (description: String, keys: [any DeclaredKey], rules: [Rule]) {
        switch kind {
        case .iBeacon:
            let keys: [any DeclaredKey] = [IBeaconKeys.uuid, IBeaconKeys.major, IBeaconKeys.minor, IBeaconKeys.flags]
            return ("Apple's iBeacon: a UUID with two numbers.", keys, [])
        case .altBeacon:
            let keys: [any DeclaredKey] = [
                AltBeaconKeys.companyID, AltBeaconKeys.id, AltBeaconKeys.reserved, IBeaconKeys.flags,
            ]
            return ("AltBeacon: an open alternative to iBeacon, with any company identifier.", keys, [])
        case .eddystoneUID:
            let keys: [any DeclaredKey] = [EddystoneKeys.namespace, EddystoneKeys.instance]
            return ("Eddystone-UID: a namespace with an instance.", keys, [])
        case .eddystoneURL:
            let keys: [any DeclaredKey] = [EddystoneKeys.url]
            return ("Eddystone-URL: a web address of at most 17 bytes after compression.", keys, [])
        case .eddystoneTLM:
            return (
                "Eddystone-TLM: battery, temperature and counters of the beacon.", TelemetryKeys.all,
                TelemetryKeys.rules
            )
        case .eddystoneEID:
            let keys: [any DeclaredKey] = [EddystoneKeys.identityKeyFile, EddystoneKeys.rotationExponent]
            return ("Eddystone-EID: an id that changes. Only holders of the key know which beacon sends it.", keys, [])
        case .btHome:
            return (
                "BTHome v2: values of the machine that Home Assistant reads without configuration.", BTHomeKeys.all, []
            )
        case .raw:
            let keys: [any DeclaredKey] = [StructureFormat.requiredStructures]
            return ("AD structures exactly as written, at most 31 bytes; with \"phy\" at most 1650.", keys, [])
        }
    }

    private static func hint(_ key: String, in kind: FrameKind) -> String? {
        if let hint = ProfileFormat.commonHint(key) { return hint }
        if kind == .eddystoneEID, key == "address" { return "an EID has its own address, which changes with the id" }
        if key.hasPrefix("measuredPower") {
            switch kind {
            case .btHome: return "BTHome has no measured power"
            case .eddystoneTLM: return "telemetry has no measured power"
            case .raw: return "write it into the bytes of the raw structures"
            default: break
            }
        }
        if key == "eidEpoch" { return "it belongs to the profile itself, because all ephemeral ids use one counter" }
        if key == ScanResponseKeys.localName.name {
            return "a name belongs to the profile itself: \"scanResponse\": { \"localName\": … }"
        }
        if key == "extended" || key == "secondaryPhy" || key == "primaryPhy" {
            return "extended advertising is \"phy\": one of 1M, 2M, coded, coded-s2 and coded-s8"
        }
        let kindsWithKey = FrameKind.allCases.filter { keys(of: $0).contains(key) }
        if kindsWithKey.isEmpty {
            if ProfileFormat.keys.contains(key) { return "it belongs to the profile itself" }
            return kind == .btHome ? valueHint(key) : nil
        }
        return "it belongs to \(kindsWithKey.map(\.rawValue).joined(separator: ", ")), not to \(kind.rawValue)"
    }
}

extension AdvertisementFormat {
    /// Returns advice about a key that is the name of a BTHome object or similar to one; `nil` for other keys.
    private static func valueHint(_ key: String) -> String? {
        let names = Set(BTHomeKind.all.map(\.name)).sorted()
        guard let name = names.contains(key) ? key : NearestWord.find(key, among: names + keys(of: .btHome)),
            names.contains(name), !keys(of: .btHome).contains(name)
        else { return nil }
        return (name == key ? "" : "did you mean \"\(name)\"? ")
            + "A value of BTHome belongs in \"values\": { \"\(name)\": … }"
    }
}

/// The keys of a part of a pattern.
enum PatternKeys {
    static let interval = Key(
        "intervalMs", .interval,
        "Advertising interval of this part, rounded to the nearest multiple of 0.625 ms.", isRequired: true)
    static let duration = Key(
        "forS",
        .thousandths(
            AdvertisingPattern.durationRange.lowerBound / 1000...AdvertisingPattern.durationRange.upperBound / 1000,
            unit: "s"),
        "Time for which this interval is used, at least as long as the interval.", isRequired: true)
    static let section = Section(
        "A part of a pattern: an interval and its time.", [interval, duration],
        hint: { key in
            switch key.lowercased() {
            case "for", "forms", "seconds", "durations", "durationms", "s": "the time of a part is \"forS\", in seconds"
            case "share", "weight", "percent": "a part has a time in seconds, \"forS\", instead of a share"
            default: nil
            }
        })

    /// An advertisement has either a constant interval or a pattern.
    static let intervalOrPattern = Rule(
        schema: ["oneOf": [["required": ["intervalMs"]], ["required": ["pattern"]]]]
    ) { decoder, object in
        let interval = AdvertisementFormat.interval
        if let pattern = object[AdvertisementFormat.pattern.name] {
            guard object[interval.name] != nil else { return }
            decoder.error(
                "\"intervalMs\" is there already; a pattern has its own intervals: remove one of the two", at: pattern)
        } else if object[interval.name] == nil {
            decoder.reportMissing(interval, in: object)
        }
    }
}

/// The two keys for the measured power of a frame; a frame has at most one of them.
struct MeasuredPowerKeys: Sendable {
    /// The key for the value of the byte in the packet, `measuredPowerDbm`.
    let sentByte: Key<ProfileAdvertisement.MeasuredPower>
    /// The key for the signal strength at 1 m, `measuredPower1mDbm`.
    let atOneMeter: Key<ProfileAdvertisement.MeasuredPower>

    /// Returns the keys of a frame; `nil` for frames without a measured power.
    static func of(_ kind: FrameKind) -> MeasuredPowerKeys? {
        switch kind {
        case .iBeacon, .altBeacon: manufacturerFrames
        case .eddystoneUID, .eddystoneURL, .eddystoneEID: eddystoneFrames
        case .eddystoneTLM, .btHome, .raw: nil
        }
    }

    private static let manufacturerFrames = MeasuredPowerKeys(
        sentByte: Key("measuredPowerDbm", .sentAtOneMeter, meaning(distance: "1 m", typical(atOneMeter: true))),
        atOneMeter: Key(
            "measuredPower1mDbm", .atOneMeter(upTo: 0), "Signal strength that a receiver measures at 1 m."))

    private static let eddystoneFrames = MeasuredPowerKeys(
        sentByte: Key("measuredPowerDbm", .sentAtZeroMeters, meaning(distance: "0 m", typical(atOneMeter: false))),
        atOneMeter: Key(
            "measuredPower1mDbm",
            .atOneMeter(upTo: MeasuredPowerAtZeroMeters.range.upperBound - MeasuredPowerAtZeroMeters.stepToOneMeter),
            """
            Signal strength that a receiver measures at 1 m. The packet carries \
            \(MeasuredPowerAtZeroMeters.stepToOneMeter) dB more, the value for 0 m.
            """))

    private static func meaning(distance: String, _ typical: String) -> String {
        """
        Byte in the packet from which receivers estimate the distance: the signal strength at \(distance), in dBm. \
        "typical" sends the usual value, \(typical), without a measurement.
        """
    }

    /// The measured power that `typical` sends: `-59 dBm at 1 m`, or for Eddystone `-18 dBm at 0 m`.
    static func typical(atOneMeter: Bool) -> String {
        let power = BeaconProfile.typicalMeasuredPower
        return atOneMeter ? "\(power)" : "\(Int(power.dBm) + MeasuredPowerAtZeroMeters.stepToOneMeter) dBm at 0 m"
    }
}

/// The keys of an iBeacon.
enum IBeaconKeys {
    static let uuid = Key(
        "uuid", ValueType<[UInt8]>.octets(16).map { _, _, bytes in FixedOctets<16>(bytes) },
        "Proximity UUID, 16 bytes, usually equal for all beacons of one owner.", isRequired: true)
    static let major = Key<UInt16>("major", .number, "Major number: a group of beacons.", isRequired: true)
    static let minor = Key<UInt16>("minor", .number, "Minor number: one beacon of the group.", isRequired: true)
    static let flags = Key<ADFlags?>(
        "flags", .flags, "Value of the Flags structure in the advertising data; null to send no Flags structure.",
        default: ADFlags.beacon)
}

/// The keys of an AltBeacon, without its flags.
enum AltBeaconKeys {
    static let companyID = Key(
        "companyId", ValueType<UInt16>.companyID,
        "Company identifier that the Bluetooth SIG assigned, such as \"0x0118\".",
        isRequired: true)
    static let id = Key(
        "id", ValueType<[UInt8]>.octets(20).map { _, _, bytes in FixedOctets<20>(bytes) },
        "Beacon id, 20 bytes; the first 16 bytes identify the owner.", isRequired: true)
    static let reserved = Key<UInt8>("reserved", .number, "Byte that the manufacturer may use.", default: 0)
}

/// The keys of Eddystone-UID, -URL and -EID, and of encrypted telemetry.
enum EddystoneKeys {
    static let namespace = Key(
        "namespace", ValueType<[UInt8]>.octets(10).map { _, _, bytes in FixedOctets<10>(bytes) },
        "Namespace, 10 bytes, equal for all beacons of one owner.", isRequired: true)
    static let instance = Key(
        "instance", ValueType<[UInt8]>.octets(6).map { _, _, bytes in FixedOctets<6>(bytes) },
        "Instance, 6 bytes, different for each beacon.", isRequired: true)
    static let url = Key(
        "url", ValueType<CompressedURL>.eddystoneURL,
        """
        Web address that starts with http:// or https://, at most 17 bytes of visible ASCII after compression.
        """, isRequired: true)
    static let identityKeyFile = Key("identityKeyFile", keyFile, keyFileMeaning, isRequired: true)
    static let rotationExponent = Key("rotationExponent", exponent, exponentMeaning, isRequired: true)

    // The same keys for telemetry, where they are optional because telemetry can be unencrypted.
    static let optionalIdentityKeyFile = Key("identityKeyFile", keyFile, keyFileMeaning)
    static let optionalRotationExponent = Key("rotationExponent", exponent, exponentMeaning)

    private static let keyFile = ValueType<String>.keyFile.defined(as: "keyFile")
    private static let exponent = ValueType<Int>.integer(0...15).defined(as: "rotationExponent")
    private static let keyFileMeaning = """
        Path of a file of mode 0600 that contains the identity key as 32 hexadecimal digits. Do not write the key \
        itself here.
        """
    private static let exponentMeaning = "K: the id changes every 2^K seconds."
}

/// The keys of Eddystone-TLM.
enum TelemetryKeys {
    static let temperature = Key<String?>(
        "temperature", .sensor(.temperature, ownValue: ownValue),
        "Sensor of the temperature, auto for the sensor of the machine, or null for an unknown value.",
        default: "auto")
    static let battery = Key<String?>(
        "battery", .sensor(.voltage, ownValue: ownValue),
        "Sensor of the battery voltage, auto for the sensor of the machine, or null for an unknown value.",
        default: "auto")
    /// Returns the advice for a user who wrote a number in the place of a sensor.
    private static func ownValue(_ number: String) -> String {
        "to send \(number), write it into a file and name the file: \"file:PATH\""
    }
    static let encrypted = Key(
        "encrypted", .boolean, "Encrypt the telemetry, so that only holders of the key can read it.", default: false)
    static let all: [any DeclaredKey] = [
        temperature, battery, encrypted, EddystoneKeys.optionalIdentityKeyFile,
        EddystoneKeys.optionalRotationExponent,
    ]

    /// Encrypted telemetry needs an identity key file and a rotation exponent; unencrypted telemetry must not have
    /// them.
    static let rules = [
        Rule(
            schema: [
                "if": ["properties": ["encrypted": ["const": true]], "required": ["encrypted"]],
                "then": ["required": ["identityKeyFile", "rotationExponent"]],
                "else": ["properties": ["identityKeyFile": false, "rotationExponent": false]],
            ]
        ) { decoder, object in
            let isEncrypted = object["encrypted"]?.isTrue == true
            for key in ["identityKeyFile", "rotationExponent"] {
                if isEncrypted, object[key] == nil {
                    decoder.error("the key \"\(key)\" is missing: encrypted telemetry needs it", at: object)
                } else if !isEncrypted, let node = object[key] {
                    decoder.error(
                        "only encrypted telemetry has this key: add \"encrypted\": true or remove the key", at: node)
                }
            }
        }
    ]
}

/// The keys of BTHome.
enum BTHomeKeys {
    static let temperature = Key<String?>(
        "temperature", .sensor(.temperature) { ownValue("temperature", $0) },
        "Sensor of the temperature, auto for the sensor of the machine, or null for no value.",
        default: "auto")
    static let battery = Key<String?>(
        "battery", .sensor(.charge) { ownValue("battery", $0) },
        "Sensor of the battery's charge, auto for the sensor of the machine, or null for no value.",
        default: "auto")
    static let voltage = Key<String?>(
        "voltage", .sensor(.voltage) { ownValue("voltage", $0) },
        "Sensor of the battery voltage, auto for the sensor of the machine, or null for no value.",
        default: "auto")
    /// Returns the advice for a user who wrote a number in the place of a sensor.
    private static func ownValue(_ key: String, _ number: String) -> String {
        "to send \(number), write \"values\": { \"\(key)\": \(number) }"
    }
    static let advertisements = Key(
        "advertisements", .boolean, "Send the number of advertising events.", default: true)
    static let uptime = Key(
        "uptime", .boolean, "Send the number of seconds since the beacon started.", default: false)
    static let values = Key(
        "values", ValueType<BTHomeValues>.btHomeValues,
        """
        Your own values, each under the name of a BTHome object, such as "co2": "file:/run/co2", "humidity": "auto", \
        "door": true. A value is a number, true or false, an event such as press, a text, or the name of a sensor: auto, \
        iio:NAME, w1:ID, file:PATH or command:NAME. A "temperature", "battery", "voltage" or "count" here replaces the \
        default of the key temperature, battery, voltage or advertisements.
        """)
    static let encryptionKeyFile = Key(
        "encryptionKeyFile", ValueType<String>.keyFile.defined(as: "keyFile"),
        """
        Path of a file of mode 0600 that contains the encryption key as 32 hexadecimal digits. Home Assistant asks for \
        this key. Do not write the key itself here.
        """)
    static let all: [any DeclaredKey] = [
        temperature, battery, voltage, advertisements, uptime, values, encryptionKeyFile,
    ]
}
