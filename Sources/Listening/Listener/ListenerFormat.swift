internal import BeaconFrames
internal import BluetoothTypes
package import Configuration
internal import Profiles
internal import Sightings

/// The keys of a listener file.
package enum ListenerKeys {
    enum Strangers: String, CaseIterable { case count, list }

    static let name = Key("name", .name, "Name of this receiver, such as \"hall\".", isRequired: true)
    static let adapter = Key(
        "adapter", adapterType,
        """
        The Bluetooth adapter: hci0, hci0:user, hci0:mgmt, tcp:HOST:PORT, unix:PATH, serial:PATH@RATE or virtual. \
        Default: the first adapter.
        """)
    static let scan = Key("scan", .section(ScanKeys.section), "How the adapter scans.")
    static let place = Key(
        "place", .section(PlaceKeys.section), "Where the receiver is. Use the names of the fleet's groups.")
    static let levelOffset = Key(
        "rssiOffsetDb", .integer(ListenerFile.levelOffsets, unit: "dB"),
        "Correction of this receiver, which is added to each received level.", default: 0)
    static let plausible = Key(
        "plausibleDbm",
        .list(
            "levels", 2...2,
            of: .integer(Int(LevelTally.range.lowerBound)...Int(LevelTally.range.upperBound), unit: "dBm")),
        """
        The lowest and the highest plausible level, such as [-110, 0]. Reports with other levels are ignored. \
        Default: all levels.
        """)
    static let known = Key(
        "known", .list("known beacons", 1...Int.max, of: KnownKeys.entry), "The known beacons.")
    static let keys = Key(
        "keys", .path(of: "a directory"),
        """
        Directory with the keys of ephemeral ids and addresses. Default: for a fleet, its keys directory; for other \
        keys, the directory of this file.
        """)
    static let addressKeys = Key(
        "irks", .list("keys", 1...Int.max, of: .section(AddressKeyKeys.section)),
        "Keys of phones and watches, which change their address.")
    static let strangers = Key(
        "strangers", ValueType<Strangers>.word,
        "Beacons that are not known. count: only count them. list: report each of them.", default: .count)

    /// The whole file.
    ///
    /// - Parameter service: The keys that only the service reads: `zones`, `mqtt`, `history` and `hooks`.
    package static func section(service: [any DeclaredKey]) -> Section {
        Section(
            "A receiver: its adapter, its place, its known beacons, and what it does with their sightings.",
            [
                FileHeader.schema, FileHeader.version, name, adapter, scan, place, levelOffset, plausible,
                known, keys, addressKeys, strangers,
            ] + service,
            rules: [hasBeacons])
    }

    private static let adapterType = ValueType<AdapterName>(schema: BeaconSchema.adapter) { $0.adapter($1) }

    /// The rule that the file contains a known beacon or a key, or lists strangers.
    private static let hasBeacons = Rule(
        schema: [
            "anyOf": [
                ["required": ["known"]], ["required": ["irks"]],
                ["properties": ["strangers": ["const": "list"]], "required": ["strangers"]],
            ]
        ]
    ) { decoder, root in
        let strangers = root["strangers"].map(\.string)
        let onlyCounts = strangers == nil || strangers == Strangers.count.rawValue
        if root["known"] == nil, root["irks"] == nil, onlyCounts {
            decoder.error("no beacon is known: give \"known\" or \"irks\", or \"strangers\": \"list\"", at: root)
        }
    }
}

/// The keys of `scan`.
enum ScanKeys {
    enum Mode: String, CaseIterable { case passive, active }

    static let mode = Key(
        "mode", ValueType<Mode>.word,
        "passive: only receive. active: also ask scannable beacons for their scan response.", default: .passive)
    static let interval = Key(
        "intervalMs", .thousandths(range, unit: "ms"), "Scan interval: time on each channel.",
        default: ScanSettings.standard.interval.microseconds)
    static let window = Key(
        "windowMs", .thousandths(range, unit: "ms"),
        "Scan window: listening time in each interval. Default: the whole interval.")
    static let coded = Key(
        "coded", .boolean, "Also receive advertisements on LE Coded. The radio then listens to LE 1M half of the time.",
        default: false)
    static let section = Section("How the adapter scans.", [mode, interval, window, coded])

    private static let range = {
        let range = ScanInterval.legacyRange
        return range.lowerBound.microseconds...range.upperBound.microseconds
    }()
}

/// The keys of the place of a receiver.
enum PlaceKeys {
    static let site = Key(
        "site", .label(), "Site, such as a building. MQTT topics contain it; without it, they contain \"home\".")
    static let floor = Key("floor", .label(), "Floor of the site.")
    static let room = Key("room", .label(), "Room of the floor.")
    static let position = Key(
        "position", ValueType<[Int]>.position(.thousandths(-extent...extent, unit: "m")),
        "Position on the floor plan: [metres east, metres north].")
    static let section = Section("Where the receiver is.", [site, floor, room, position])

    /// The largest coordinate, in thousandths of a metre: 100 km.
    private static let extent = 100_000_000
}

/// The keys of the elements of `known`: a file with beacons, or one beacon.
enum KnownKeys {
    static let fleet = Key(
        "fleet", .path(), "Fleet file, directory written by `pharos fleet generate`, or its manifest.json.",
        isRequired: true)
    static let profile = Key("profile", .path(), "Beacon profile.", isRequired: true)
    static let inventory = Key(
        "inventory", .path(), "Inventory. The id of each item is the name of its beacon.", isRequired: true)

    static let name = Key("name", .name, "Name of the beacon.", isRequired: true)
    static let identities = [
        Key(
            "ibeacon", IdentityKeys.iBeacon,
            "An iBeacon. Without minor, or without major and minor: every iBeacon with the remaining values."),
        Key("altbeacon", IdentityKeys.altBeacon, "An AltBeacon."),
        Key(
            "uid", IdentityKeys.eddystoneUID,
            "An Eddystone-UID. Without instance: every Eddystone-UID of the namespace."),
        Key("url", IdentityKeys.eddystoneURL, "The URL of an Eddystone-URL."),
        Key("address", IdentityKeys.address, "Device address, for devices that do not change it."),
        Key(
            "localName", IdentityKeys.localName,
            """
            The name that the device sends, exactly as `pharos scan` shows it. Many devices send it only in scan responses, \
            which need "mode": "active" in "scan".
            """),
        Key(
            "service", IdentityKeys.service,
            "A service UUID of 16, 32 or 128 bits, such as \"0xFFF6\": every device that advertises it."),
    ]
    static let tags = Key(
        "tags", .list("tags", 1...Int.max, of: .label().defined(as: "label", "A text for people."), isUnique: true),
        "Words that group beacons: a zone with \"tag\" applies to all beacons that have the word.")
    static let attachments = Key(
        "attachments", attachmentTexts,
        "Your own keys, each with a text. Where the text of a zone contains ${key}, it shows the text of that key.")

    static let beacon = Section(
        "A beacon with one or more of the identities that it sends, or all devices that send the given values.",
        [name] + identities + [tags, attachments],
        rules: [hasIdentity])

    /// The rule that a beacon with a name has an identity.
    private static let hasIdentity = Rule(
        schema: ["anyOf": .array(identities.map { ["required": [.string($0.name)]] })]
    ) { decoder, object in
        guard object["name"] != nil, identities.allSatisfy({ object[$0.name] == nil }) else { return }
        decoder.error(
            "the beacon has no identity: give one or more of "
                + identities.map { "\"\($0.name)\"" }.joined(separator: ", "), at: object)
    }

    private static let files = [fleet, profile, inventory]
    private static func file(_ key: Key<String>) -> Section { Section("A file with beacons and their names.", [key]) }

    /// An element of `known`. The keys of the element are checked, but not their values.
    static let entry: ValueType<JSONNode> = {
        let oneBeacon = ValueType<JSONNode>.section(beacon).defined(as: "beacon")
        let choices = files.map { file($0).schema } + [.object(oneBeacon.schema)]
        return ValueType(schema: ["anyOf": .array(choices)], definitions: oneBeacon.definitions) { decoder, node in
            if let key = files.first(where: { node[$0.name] != nil }) { return decoder.open(file(key), node) }
            let names = files.map(\.name) + beacon.keys.map(\.name)
            guard let members = node.members, members.contains(where: { !names.contains($0.key) }) else {
                return decoder.open(beacon, node)
            }
            // A key that seems to be missing may be one of the misspelled keys, so missing keys are not reported.
            return decoder.object(node, keys: names).flatMap { $0["name"] == nil ? nil : $0 }
        }
    }()

    private static let attachmentTexts: ValueType<[BeaconAttachment]> = {
        let text = ValueType<String>.label(1000, isEmptyGood: true)
        return ValueType(
            schema: ["type": "object", "additionalProperties": .object(text.schema)]
        ) { decoder, node in
            guard let members = node.members else {
                decoder.wrongKind(node, expected: "an object with a text under each key")
                return nil
            }
            return members.compactMap { member in
                text.read(&decoder, member.value).map { BeaconAttachment(key: member.key, text: $0) }
            }
        }
    }()
}

/// The keys and values that identify a beacon.
enum IdentityKeys {
    private static let uuid = Key("uuid", .octets(16), "Proximity UUID, 16 bytes.", isRequired: true)
    private static let major = Key("major", .integer(0...65_535), "Major number. Default: any.")
    private static let minor = Key("minor", .integer(0...65_535), "Minor number. Default: any.")

    static let iBeacon = ValueType<JSONNode>.section(
        Section(
            "An iBeacon, or all iBeacons with a UUID, or all with a UUID and a major number.", [uuid, major, minor],
            rules: [.with("minor", needs: "major", otherwise: "a minor number needs \"major\"")])
    ).map { decoder, _, object in
        let uuid = decoder.read(uuid, in: object).flatMap { FixedOctets<16>($0) }
        let major = decoder.read(major, in: object).map { UInt16(truncatingIfNeeded: $0) }
        let minor = decoder.read(minor, in: object).map { UInt16(truncatingIfNeeded: $0) }
        // A number that is wrong has been reported.
        guard let uuid, major != nil || object["major"] == nil, minor != nil || object["minor"] == nil else {
            return nil as RegionPattern?
        }
        guard let major, let minor else { return .iBeacon(uuid: uuid, major: major, minor: nil) }
        return .identity(.iBeacon(uuid: uuid, major: major, minor: minor))
    }

    private static let company = Key(
        "companyId", .code(0...65_535, digits: 4), "Company identifier, as a number or as in \"0x0118\".",
        isRequired: true)
    private static let beaconID = Key("id", .octets(20), "Beacon id, 20 bytes.", isRequired: true)

    static let altBeacon = ValueType<JSONNode>.section(Section("An AltBeacon.", [company, beaconID]))
        .map { decoder, _, object in
            let company = decoder.read(company, in: object)
            let id = decoder.read(beaconID, in: object).flatMap { FixedOctets<20>($0) }
            guard let company, let id else { return nil as RegionPattern? }
            return .identity(.altBeacon(companyID: UInt16(truncatingIfNeeded: company), id: id))
        }

    private static let namespace = Key("namespace", .octets(10), "Namespace, 10 bytes.", isRequired: true)
    private static let instance = Key("instance", .octets(6), "Instance, 6 bytes. Default: any.")

    static let eddystoneUID = ValueType<JSONNode>.section(
        Section("An Eddystone-UID, or all Eddystone-UIDs of a namespace.", [namespace, instance])
    ).map { decoder, _, object in
        let namespace = decoder.read(namespace, in: object).flatMap { FixedOctets<10>($0) }
        let instance = decoder.read(instance, in: object).flatMap { FixedOctets<6>($0) }
        guard let namespace, instance != nil || object["instance"] == nil else { return nil as RegionPattern? }
        guard let instance else { return .eddystoneUID(namespace: namespace, instance: nil) }
        return .identity(.eddystoneUID(namespace: namespace, instance: instance))
    }

    static let eddystoneURL = ValueType<String>.text.map { decoder, node, text in
        do throws(URLEncodingError) {
            return RegionPattern.identity(.eddystoneURL(try CompressedURL(text)))
        } catch {
            decoder.error(ProblemText.shortened(error.description, to: 400), at: node)
            return nil
        }
    }

    static let address = ValueType<RegionPattern>(
        schema: ["type": "string", "pattern": "^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$"]
    ) { decoder, node in
        guard let text = decoder.text(node) else { return nil }
        let hasColons = text.utf8.enumerated().allSatisfy { ($0 % 3 == 2) == ($1 == UInt8(ascii: ":")) }
        guard text.utf8.count == 17, hasColons, let address = DeviceAddress(text) else {
            decoder.error("\(ProblemText.quoted(text)) is not an address such as \"C0:01:02:03:04:05\"", at: node)
            return nil
        }
        return .identity(.address(address))
    }

    static let localName = ValueType<String>.label(BeaconTrack.nameLimit).map { _, _, text in
        RegionPattern.localName(text)
    }

    static let service = ValueType<RegionPattern>(
        schema: [
            "type": "string",
            "pattern":
                "^((0[xX])?([0-9A-Fa-f]{4}|[0-9A-Fa-f]{8})|[0-9A-Fa-f]{8}(-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12})$",
        ]
    ) { decoder, node in
        guard let text = decoder.text(node) else { return nil }
        guard let uuid = BluetoothUUID(text) else {
            decoder.error(
                "\(ProblemText.quoted(text)) is not a service UUID such as \"0xFFF6\" or "
                    + "\"0000fff6-0000-1000-8000-00805f9b34fb\"", at: node)
            return nil
        }
        return .service(uuid.expanded)
    }
}

/// The keys of the elements of `irks`.
enum AddressKeyKeys {
    static let name = Key("name", .name, "Name of the device or of the person who carries it.", isRequired: true)
    static let file = Key(
        "file", .keyFile,
        """
        File of mode 0600 with the identity resolving key as 32 hexadecimal digits or in Base64, in either byte order; \
        `pharos irk` shows the keys of paired phones. Do not put the key itself here.
        """, isRequired: true)
    static let section = Section("A device that changes its address.", [name, file])
}
