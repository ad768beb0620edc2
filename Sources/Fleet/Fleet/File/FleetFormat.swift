internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity

/// The declaration of a fleet file: its keys, their types and defaults. The decoder, the JSON Schema and the manual
/// page are based on it.
enum FleetFormat {
    static let name = Key("name", fleetName, "Name of the fleet, such as \"museum\".", isRequired: true)
    static let listeners = Key(
        "listeners", listenerList,
        "Kinds of receivers that listen to the beacons. `pharos fleet check` warns about their limits.")
    static let keys = Key(
        "keys", .text, "Directory of the identity keys, relative to this file. Each key is a file of mode 0600.")
    static let template = Key(
        "template", TemplateFormat.type,
        "The profile of each beacon is made from this template. Strings may contain ${variables}.",
        isRequired: true)
    static let tags = Key(
        "tags", NoteTemplate.tags,
        """
        Tags of the beacons, for the zones of listener files. Strings may contain ${variables}. If a beacon has no \
        value for a variable, it does not get the tags that contain the variable.
        """)
    static let attachments = Key(
        "attachments", NoteTemplate.attachments,
        """
        Attachments: your own texts about each beacon, each under a key of your choice. The texts of zones and hooks \
        can contain attachments. Strings may contain ${variables}. If a beacon has no value for a variable, it does \
        not get the attachments that contain the variable.
        """)
    static let defaults = Key("defaults", .section(DefaultsKeys.section), "Values for all beacons.")
    static let identities = Key(
        "identities", .section(IdentityKeys.section),
        "Rules by which identities are allocated. The lock file keeps the allocated identities.")
    static let groups = Key(
        "groups", .list("groups", 1...Int.max, of: .section(GroupKeys.site).defined(as: "site")), "The sites.")
    static let beacons = Key("beacons", beaconsOrTable, "The beacons: a list, or a table.")

    static let section = Section(
        "A fleet: one template for the profiles of many machines, the values that differ, and the identities.",
        [
            FileHeader.schema, FileHeader.version, name, listeners, keys, template, tags, attachments, defaults,
            identities, groups, beacons,
        ],
        rules: [
            .oneOrMore(
                of: ["beacons", "groups"], otherwise: "there are no beacons: give \"beacons\", here or in \"groups\"")
        ]
    ) { key in
        switch key {
        case "advertisements", "calibration", "scanResponse", "adapter": "it belongs in \"template\""
        case "variables", "controller", "intervalMs", "intervalSpread": "it belongs in \"defaults\""
        case "csv": "to take the beacons from a table, write \"beacons\": { \"csv\": \"beacons.csv\" }"
        default: nil
        }
    }

    // MARK: Types of several keys

    /// The type of a name of a fleet or a group.
    static let fleetName = nameType { NameRule.fault($0) }
    static let beaconName = nameType { NameRule.beaconFault($0) }

    private static func nameType(_ fault: @escaping @Sendable (String) -> String?) -> ValueType<String> {
        ValueType<String>(
            schema: [
                "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": .integer(NameRule.limit),
            ]
        ) { decoder, node in
            guard let name = decoder.text(node) else { return nil }
            guard let fault = fault(name) else { return name }
            decoder.error(fault, at: node)
            return nil
        }
        .defined(as: "name", "Letters, digits, \".\", \"_\" and \"-\", starting with a letter or a digit.")
    }

    /// The type of a title, which is a name for display.
    static let titleType = ValueType<String>(
        schema: ["type": "string", "minLength": 1, "maxLength": .integer(NameRule.titleLimit)]
    ) { decoder, node in
        guard let text = decoder.text(node) else { return nil }
        guard let fault = NameRule.titleFault(text) else { return text }
        decoder.error(fault, at: node)
        return nil
    }

    /// Returns the type of a host or a serial number. `noun` describes the value in messages.
    static func word(_ noun: String) -> ValueType<String> {
        ValueType<String>(
            schema: [
                "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._:-]*$", "maxLength": .integer(NameRule.limit),
            ]
        ) { decoder, node in
            guard let text = decoder.text(node) else { return nil }
            if NameRule.isWord(text) { return text }
            decoder.error(
                "\(ProblemText.quoted(text)) is not \(noun): use letters, digits, \".\", \"_\", \"-\" and \":\"",
                at: node)
            return nil
        }
    }

    static let controller = ValueType<ControllerKind>.word.defined(
        as: "controller", "The kind of Bluetooth controller of the machines.")

    /// The type of an object of variables. Its members are checked by ``FleetDecoder``, because the names that are
    /// allowed depend on the whole file.
    static let variables = ValueType<JSONNode>(
        schema: [
            "type": "object",
            "propertyNames": [
                "pattern": "^[A-Za-z_][A-Za-z0-9_]*$",
                "not": ["enum": .array(Variable.reserved.map { .string($0) })],
            ],
        ]
    ) { decoder, node in
        if case .object = node.value { return node }
        decoder.wrongKind(node, expected: "an object of variables and their values")
        return nil
    }.defined(
        as: "variables",
        """
        Values of ${variables}. If several places set a variable, the innermost applies: first the beacon, then its \
        room, floor and site, then "defaults".
        """)

    private static let listenerList = ValueType<[FleetListener]>.list(
        "listeners", 1...Int.max, of: .word, isUnique: true
    ).map { decoder, node, listeners in
        var words: Set<String> = []
        for element in node.elements ?? [] {
            guard let word = element.string, !words.insert(word).inserted else { continue }
            decoder.error("this listener is in the list twice", at: element)
        }
        return Set(listeners)
    }

    /// The type of `beacons`: a list of beacons, or an object that names a table. ``FleetDecoder`` reads both.
    static let beaconsOrTable: ValueType<JSONNode> = {
        let list = ValueType<[JSONNode]>.list(
            "beacons", 1...Int.max, of: .section(BeaconKeys.section).defined(as: "beacon"))
        let table = ValueType<JSONNode>.section(TableKeys.section).defined(as: "table")
        return ValueType(
            schema: ["anyOf": [.object(list.schema), .object(table.schema)]],
            definitions: list.definitions + table.definitions
        ) { $1 }
        .defined(as: "beacons", "The beacons: a list, or a table.")
    }()
}

/// The keys of `defaults`.
enum DefaultsKeys {
    static let controller = Key(
        "controller", FleetFormat.controller, "Kind of Bluetooth controller of the machines. It limits the intervals.")
    static let spread = Key(
        "intervalSpread", SpreadKeys.type,
        """
        Sets ${intervalMs}: each beacon gets its own interval between fromMs and toMs, computed only from its name. \
        `pharos plan interval` computes a range in which no interval is resonant with the scanners.
        """)
    static let variables = Key(
        "variables", FleetFormat.variables,
        """
        Values of ${variables}. If several places set a variable, the innermost applies: first the beacon, then its \
        room, floor and site, then "defaults". A string may contain other variables.
        """)
    static let section = Section("Values for all beacons.", [controller, spread, variables])
}

/// The keys of a spread of intervals.
enum SpreadKeys {
    private static let interval = ValueType<Int>.thousandths(
        AdvertisingInterval.extendedRange.lowerBound
            .microseconds...AdvertisingInterval.extendedRange.upperBound
            .microseconds, unit: "ms")
    static let from = Key("fromMs", interval, "Shortest interval.", isRequired: true)
    static let to = Key("toMs", interval, "Longest interval. It must be longer than \"fromMs\".", isRequired: true)
    static let section = Section("A range of intervals.", [from, to])

    /// The range between the two ends. The ends are rounded inwards to intervals that controllers support (multiples of
    /// 0.625 ms).
    static let type = ValueType<JSONNode>.section(section).defined(as: "intervalSpread").map {
        decoder, node, object -> ClosedRange<AdvertisingInterval>? in
        let shortest = decoder.read(from, in: object)
        let longest = decoder.read(to, in: object)
        guard let shortest, let longest else { return nil }
        let unit = AdvertisingInterval(rawValue: 1).microseconds
        let (low, high) = ((shortest + unit - 1) / unit, longest / unit)
        guard low < high else {
            decoder.error(
                "there are no two intervals in this spread: \"toMs\" must be longer than \"fromMs\" by at least "
                    + "\(DecimalText.thousandths(unit)) ms, the step of intervals", at: object["toMs"] ?? object)
            return nil
        }
        return AdvertisingInterval(
            rawValue: UInt32(truncatingIfNeeded: low))...AdvertisingInterval(rawValue: UInt32(truncatingIfNeeded: high))
    }
}

/// The keys of `identities`.
enum IdentityKeys {
    private static let number = ValueType<Int>.integer(AllocationRules.numberRange)

    static let major = Key(
        "major", .section(majorSection), "Allocates ${major}: each part of the fleet has its own major number.")
    static let minor = Key(
        "minor", .section(minorSection), "Allocates ${minor}: the beacons of each part of the fleet are numbered.")
    static let namespace = Key(
        "namespace", .section(namespaceSection), "Computes ${namespace} from a domain name or from a UUID.")
    static let instance = Key(
        "instance", .section(instanceSection),
        "Allocates ${instance}: from a counter, or the last 12 digits of the serial number of the machine.")
    static let epoch = Key(
        "eidEpoch", time,
        """
        Time at which the counter for the ephemeral ids of a new beacon starts, written as in RFC 3339. Default: the \
        time at which the beacon is first generated.
        """)

    static let section = Section(
        "Rules by which identities are allocated.", [major, minor, namespace, instance, epoch])

    static let per = Key(
        "per", ValueType<AllocationRules.Level>.word, "Part of the fleet that has its own major number.",
        isRequired: true)
    static let firstMajor = Key("first", number, "First major number.", default: 1)
    private static let majorSection = Section("A rule for major numbers.", [per, firstMajor])

    static let within = Key(
        "within", ValueType<AllocationRules.Level>.word, "Part of the fleet within which the beacons are numbered.",
        isRequired: true)
    static let firstMinor = Key("first", number, "First minor number.", default: 1)
    private static let minorSection = Section("A rule for minor numbers.", [within, firstMinor])

    static let domain = Key("domain", domainType, "Domain name that you own.")
    static let uuid = Key("uuid", uuidType, "UUID that you have made.")
    private static let namespaceSection = Section(
        "A rule for the namespace.", [domain, uuid],
        rules: [
            Rule(schema: ["oneOf": [["required": ["domain"]], ["required": ["uuid"]]]]) { decoder, object in
                guard (object["domain"] == nil) == (object["uuid"] == nil) else { return }
                decoder.error("give either \"domain\", a domain name that you own, or \"uuid\"", at: object)
            }
        ])

    /// A source of Eddystone instances.
    enum InstanceSource: String, CaseIterable, Sendable {
        case counter
        case serial
    }

    static let from = Key(
        "from", ValueType<InstanceSource>.word,
        "Source of the instance: a counter, or the serial number of the machine.", isRequired: true)
    static let firstInstance = Key(
        "first", .integer(0...Int(AllocationRules.instanceLimit)), "First number of the counter.", default: 1)
    private static let instanceSection = Section(
        "A rule for instances.", [from, firstInstance],
        rules: [
            Rule(schema: [
                "if": ["properties": ["from": ["const": "serial"]], "required": ["from"]],
                "then": ["properties": ["first": false]],
            ]) { decoder, object in
                guard let node = object["first"], object["from"]?.string == InstanceSource.serial.rawValue else {
                    return
                }
                decoder.error("\"first\" is only for \"from\": \"counter\"; remove it", at: node)
            }
        ])

    private static let domainType = ValueType<FixedOctets<10>>(
        schema: ["type": "string", "pattern": "^[A-Za-z0-9._-]+$"]
    ) { decoder, node in
        guard let domain = decoder.text(node) else { return nil }
        do throws(NamespaceError) {
            return try EddystoneUID.namespace(fromDomain: domain)
        } catch {
            decoder.error(error.description, at: node)
            return nil
        }
    }

    private static let uuidType = ValueType<[UInt8]>.octets(16).map { decoder, node, octets in
        do throws(NamespaceError) {
            return try FixedOctets<16>(octets).map { uuid throws(NamespaceError) in
                try EddystoneUID.namespace(fromUUID: uuid)
            }
        } catch {
            decoder.error(error.description, at: node)
            return nil
        }
    }

    private static let time = ValueType<RFC3339Time>(
        schema: [
            "type": "string",
            "pattern": """
            ^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$
            """,
        ]
    ) { decoder, node in
        guard let text = decoder.text(node) else { return nil }
        if let time = RFC3339Time(text) { return time }
        decoder.error(
            "\(ProblemText.quoted(text)) is not a time: write it as in \"2026-03-01T12:00:00Z\" (RFC 3339)", at: node)
        return nil
    }
}

/// The keys of a site, a floor or a room.
enum GroupKeys {
    static let name = Key("name", FleetFormat.fleetName, "Name of the group.", isRequired: true)
    static let was = Key(
        "was", FleetFormat.fleetName, "Former name of a group that was renamed. The group keeps its numbers.")
    static let beacons = Key("beacons", FleetFormat.beaconsOrTable, "The beacons of the group: a list, or a table.")

    static let floors = Key(
        "groups", .list("groups", 1...Int.max, of: .section(floor).defined(as: "floor")), "Floors of the site.")
    static let rooms = Key(
        "groups", .list("groups", 1...Int.max, of: .section(room).defined(as: "room")), "Rooms of the floor.")

    static let site = section("A site. The packets of all its beacons can collide with each other.", floors)
    private static let floor = section("A floor of a site.", rooms)
    private static let room = section("A room of a floor.", nil)

    private static func section(_ description: String, _ groups: Key<[JSONNode]>?) -> Section {
        let keys: [any DeclaredKey] = [name, was, DefaultsKeys.controller, DefaultsKeys.spread, DefaultsKeys.variables]
        return Section(description, keys + (groups.map { [$0] } ?? []) + [beacons]) { key in
            switch key {
            case "groups": "groups are sites, floors and rooms; a room contains no groups"
            case "rooms", "floors", "sites": "the key for the groups inside a group is \"groups\""
            case "intervalMs", "url", "radioPowerDbm": "values that differ between groups belong in \"variables\""
            default: nil
            }
        }
    }
}

/// The keys of a beacon in a list.
enum BeaconKeys {
    static let name = Key(
        "name", FleetFormat.beaconName, "Name of the beacon. Its profile is NAME.json.", isRequired: true)
    static let title = Key(
        "title", FleetFormat.titleType,
        """
        Name to display, with any characters. Labels and the manifest contain it. If a beacon has no title, ${title} \
        is its name.
        """)
    static let group = Key(
        "group", groupPath, "Group of the beacon: names with slashes between them, such as north/hall.")
    static let was = Key(
        "was", FleetFormat.fleetName, "Former name of a beacon that was renamed. The beacon keeps its identity.")
    static let host = Key(
        "host", FleetFormat.word("a host name or address"), "Host name or address of the machine, for ssh.")
    static let serial = Key(
        "serial", FleetFormat.word("a serial number"),
        "Serial number of the machine. If the machine is replaced, the beacon keeps its identity.")
    static let controller = Key(
        "controller", FleetFormat.controller, "Kind of Bluetooth controller of the machine. It limits the intervals.")
    static let position = Key(
        "position", positionType,
        "Position of the machine: metres east, north and up from the origin of the site, or latitude and "
            + "longitude in degrees.")
    static let variables = Key(
        "variables", FleetFormat.variables, "Values of ${variables} for this beacon.")

    static let section = Section(
        "A beacon.", [name, title, group, was, host, serial, controller, position, variables]
    ) { key in
        switch key {
        case "site", "floor", "room": "the group is written as \"group\": \"site/floor/room\""
        case "major", "minor", "uuid", "url", "intervalMs", "instance":
            "values that differ between beacons belong in \"variables\""
        case "x", "y", "z": "a position is written as \"position\": [3.5, 12]"
        default: nil
        }
    }

    private static let groupPath = ValueType<String>(
        schema: [
            "type": "string",
            "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}(/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,2}$",
        ]
    ) { $0.text($1) }

    // MARK: Positions

    static let coordinate = number(Fleet.extent, "m")
    static let latitudeType = number(90, "degrees")
    static let longitudeType = number(180, "degrees")
    static let latitude = Key("latitude", latitudeType, "Degrees north.", isRequired: true)
    static let longitude = Key("longitude", longitudeType, "Degrees east.", isRequired: true)
    private static let globe = Section("A position on the globe (WGS 84).", [latitude, longitude])

    private static func number(_ limit: Int, _ unit: String) -> ValueType<JSONNumber> {
        ValueType<JSONNumber>(
            schema: ["type": "number", "minimum": .integer(-limit), "maximum": .integer(limit)],
            range: "\(-limit)...\(limit) \(unit)"
        ) { decoder, node in
            guard let number = decoder.number(node) else { return nil }
            if let value = Double(number.text), abs(value) <= Double(limit) { return number }
            decoder.outOfRange(ProblemText.shortened(number.text), -limit...limit, unit: unit, at: node)
            return nil
        }
    }

    private static let positionType = ValueType<FleetManifest.Position>(
        schema: [
            "anyOf": [
                [
                    "type": "array", "minItems": 2, "maxItems": 3,
                    "items": .object([.init("description", "Metres.")] + coordinate.schema),
                ],
                globe.schema,
            ]
        ]
    ) { decoder, node in
        switch node.value {
        case .array(let parts) where parts.count == 2 || parts.count == 3:
            let numbers = parts.compactMap { coordinate.read(&decoder, $0) }
            guard numbers.count == parts.count else { return nil }
            return .plan(x: numbers[0], y: numbers[1], z: numbers.count > 2 ? numbers[2] : nil)
        case .object:
            guard let object = decoder.open(globe, node) else { return nil }
            let north = decoder.read(latitude, in: object)
            let east = decoder.read(longitude, in: object)
            guard let north, let east else { return nil }
            return .geographic(latitude: north, longitude: east)
        default:
            decoder.wrongKind(
                node, expected: "a position such as [3.5, 12] in metres, or with \"latitude\" and \"longitude\",")
            return nil
        }
    }
}

/// The keys of a table of beacons.
enum TableKeys {
    static let csv = Key(
        "csv", fileName, "CSV file with a header row and one row for each beacon, relative to this file.",
        isRequired: true)
    static let columns = Key(
        "columns", columnNames,
        """
        For each value that Pharos reads from the table, the name of its column: name, site, floor, room or group, title, \
        host, serial, was, controller, x, y, z, latitude, longitude, and the variables. A value needs no entry if its column \
        has the same name.
        """)
    static let section = Section("A table of beacons.", [csv, columns])

    private static let fileName = ValueType<String>(schema: ["type": "string", "minLength": 1]) {
        $0.filePath($1, of: "a file")
    }

    /// The type of an object of column names. ``FleetDecoder`` checks its members.
    private static let columnNames = ValueType<JSONNode>(
        schema: ["type": "object", "additionalProperties": ["type": "string"]]
    ) { decoder, node in
        if case .object = node.value { return node }
        decoder.wrongKind(node, expected: "an object such as { \"name\": \"Asset\" }")
        return nil
    }
}
