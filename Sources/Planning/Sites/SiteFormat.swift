internal import Airtime
internal import BluetoothTypes
internal import Configuration

/// The declaration of a site file: its keys, their types and defaults.
enum SiteFormat {
    static let position = ValueType<FloorPosition>.floorPosition
    static let interval = ValueType<Double>.real(20...10_240, unit: "ms")
    static let radioPower = ValueType<Double>.real(-127...20, unit: "dBm")
    /// The largest number of corners of an outline or a path. The check of an outline compares every side with every
    /// other side. This limit keeps the check fast.
    static let cornerLimit = 2000
    static let wallLimit = 250_000
    static let receiverLimit = 5000

    static func corners(_ what: String, _ count: ClosedRange<Int>) -> ValueType<[FloorPosition]> {
        .list(what, count, of: position, isWhole: true)
    }

    // MARK: The file

    static let name = Key("name", .name, "Name of this site, such as \"museum-ground-floor\".", isRequired: true)
    static let outline = Key(
        "outline", corners("corners", 3...cornerLimit).map { decoder, node, corners in decoder.outline(corners, node) },
        "Corners of the floor in order. The sides may not cross.")
    static let walls = Key(
        "walls", .list("walls", 1...wallLimit, of: .section(WallKeys.section).defined(as: "wall")),
        "Walls, each straight or with corners.")
    static let beacons = Key(
        "beacons", beaconsOrFleet, "The beacons with their positions, or a reference to the fleet that contains them.")
    static let mounts = Key(
        "mounts", corners("points", 1...20_000),
        "Positions where beacons can be mounted. Without this key, proposals may use any position.")
    static let paths = Key(
        "paths", .list("paths", 1...1000, of: .section(PathKeys.section).defined(as: "path")),
        "Paths that people walk.")
    static let rooms = Key(
        "rooms", .list("rooms", 1...1000, of: .section(SiteRoomKeys.section)),
        "The rooms, for `pharos locate`. If two rooms overlap, the first room is used there.")
    static let receivers = Key(
        "receivers", .list("receivers", 1...receiverLimit, of: .section(SiteReceiverKeys.section)),
        "The receivers. A collector takes their positions from here if its own file has none.")
    static let picture = Key(
        "picture", .section(PictureKeys.section), "A picture of the floor. Pages draw it behind the plan.")
    static let defaults = Key(
        "defaults", .section(BeaconKeys.defaults),
        "Values for beacons that do not set them, and for proposed beacons.")
    static let pathLoss = Key(
        "pathLoss", .section(PathLossKeys.section), "How the mean received power falls with the distance.")
    static let sensitivity = Key(
        "receiverSensitivityDbm", .real(-130...0, unit: "dBm"), "Weakest power that a receiver can decode.",
        default: -90)
    static let backgroundLoad = Key(
        "backgroundLoad", channelLoads,
        """
        Share of the time in which other devices use the channels: one number for all channels, or an object with a \
        number for each of the channels 37, 38 and 39.
        """, default: ChannelLoads.none)

    /// The type of a value that is one share for all channels, or an object with a share for each primary channel. Only
    /// "no load" is possible as the default.
    private static let channelLoads: ValueType<ChannelLoads> = {
        let share = ValueType<Double>.share(0...0.99)
        let channels = ChannelLoads.names.prefix(3)
        return ValueType(
            schema: [
                "anyOf": [
                    .object(share.schema),
                    [
                        "type": "object", "minProperties": 1, "additionalProperties": false,
                        "properties": .object(
                            channels.map { channel in
                                let meaning = "Share of the time in which other devices use this channel. Default: 0."
                                return .init(channel, .object([.init("description", .string(meaning))] + share.schema))
                            }),
                    ],
                ]
            ], json: { _ in 0 }
        ) { decoder, node in
            guard case .object = node.value else {
                return share.read(&decoder, node).flatMap { try? ChannelLoads($0) }
            }
            guard let object = decoder.object(node, keys: Array(channels)) else { return nil }
            guard object.members?.isEmpty == false else {
                decoder.error("give the load of a channel, such as { \"38\": 0.1 }", at: node)
                return nil
            }
            let loads = channels.map { channel in
                object[channel].map { share.read(&decoder, $0) } ?? 0
            }
            return try? ChannelLoads(primary: loads.compactMap(\.self), secondary: 0)
        }
    }()
    static let scanner = Key(
        "scanner", scannerType,
        "The receiver: the name of a known scanner, or its scan window and interval. Default: android-low-power.")
    static let scanners = Key(
        "scanners",
        .list("scanners", 1...ScannerMix.countLimit, of: .section(MixKeys.section).defined(as: "visitors")),
        "The receivers of the visitors with their weights. Use either this key or scanner.")
    static let target = Key(
        "target", .section(TargetKeys.section),
        "The target that every position must reach. Default: detection within 10 s with a probability of 0.9.")

    static let section = Section(
        "A floor with walls and beacons, for the planner. Lengths are in metres, x to the east, y to the north.",
        [
            FileHeader.schema, FileHeader.version, name, picture, outline, walls, beacons, mounts, paths, rooms,
            receivers, defaults, pathLoss, sensitivity, backgroundLoad, scanner, scanners, target,
        ],
        rules: [
            .oneOrMore(
                of: ["outline", "walls", "beacons"],
                otherwise: "there is no floor: give \"outline\", \"walls\" or \"beacons\""),
            .notBoth("scanner", "scanners", otherwise: "give \"scanner\" or \"scanners\", not both"),
        ])

    // MARK: Values with two forms

    /// The type of `beacons`: a list of beacons, or an object that names a fleet.
    private static var beaconsOrFleet: ValueType<JSONNode> {
        let list = ValueType<[JSONNode]>.list("beacons", 1...Site.beaconLimit, of: BeaconKeys.type)
        let fleet = ValueType<JSONNode>.section(FleetKeys.section).defined(as: "fleet")
        return ValueType(
            schema: ["anyOf": [.object(list.schema), .object(fleet.schema)]],
            definitions: BeaconKeys.type.definitions + fleet.definitions
        ) { $1 }
    }

    static var scannerType: ValueType<ScannerPreset> {
        let names = ScannerPreset.all.map(\.name)
        return ValueType(
            schema: ["anyOf": [["enum": .array(names.map { .string($0) })], ScannerKeys.section.schema]]
        ) { $0.scanner($1) }
    }
}

/// The keys of a wall.
enum WallKeys {
    static let from = Key("from", SiteFormat.position, "Start of the wall, such as [0, 4.5].")
    static let to = Key("to", SiteFormat.position, "End of the wall, such as [12, 4.5].")
    static let points = Key(
        "points", SiteFormat.corners("points", 2...SiteFormat.wallLimit), "Points of a wall with corners, in order.")
    static let attenuation = Key(
        "attenuationDb", .real(0...100, unit: "dB"),
        "Loss of one crossing, such as 3 for plaster, 6 for brick or 12 for concrete.", isRequired: true)

    static let section = Section(
        "A wall, straight or with corners.", [from, to, points, attenuation],
        rules: [
            Rule(schema: ["oneOf": [["required": ["from", "to"]], ["required": ["points"]]]]) { decoder, wall in
                let ends = [wall["from"], wall["to"]].compactMap { $0 }
                if wall["points"] == nil, ends.count < 2 {
                    decoder.error("give both ends of the wall, \"from\" and \"to\", or its \"points\"", at: wall)
                } else if wall["points"] != nil, !ends.isEmpty {
                    decoder.error("give \"points\", or \"from\" and \"to\", not both", at: wall)
                }
            }
        ])
}

/// The keys of a beacon, and of the defaults of beacons.
enum BeaconKeys {
    static let name = Key("name", .text, "Name of the beacon. Default: beacon-1 for the first beacon, and so on.")
    static let position = Key("position", SiteFormat.position, "Position of the beacon.", isRequired: true)
    static let interval = Key(
        "intervalMs", SiteFormat.interval, "Advertising interval. Default: the value in the section defaults.")
    static let payload = Key(
        "payloadOctets", .integer(PacketTiming.payloadRange, unit: "bytes"),
        "Bytes of advertising data. Default: the value in the section defaults.")
    static let radioPower = Key(
        "radioPowerDbm", SiteFormat.radioPower,
        "Power that the antenna radiates. Default: the value in the section defaults.")
    static let type = ValueType<JSONNode>.section(
        Section("A beacon.", [name, position, interval, payload, radioPower])
    ).defined(as: "beacon")

    static let defaultInterval = Key("intervalMs", SiteFormat.interval, "Advertising interval.", default: 500)
    static let defaultPayload = Key(
        "payloadOctets", .integer(PacketTiming.payloadRange, unit: "bytes"), "Bytes of advertising data.", default: 31)
    static let defaultRadioPower = Key(
        "radioPowerDbm", SiteFormat.radioPower, "Power that the antenna radiates.", default: 0)
    static let defaults = Section("Values of beacons.", [defaultInterval, defaultPayload, defaultRadioPower])
}

/// The keys of a reference to the fleet that contains the beacons of a site.
enum FleetKeys {
    static let fleet = Key(
        "fleet", text,
        """
        Path, relative to this file, of the fleet file, of the directory that `pharos fleet generate` wrote, or of its \
        manifest.json.
        """,
        isRequired: true)
    static let site = Key("site", text, "Site of the fleet. Not needed if the fleet has one site.")
    static let floor = Key("floor", text, "Floor of that site. Default: all floors.")
    static let section = Section(
        "A fleet. Its beacons have positions, intervals, payloads and radio power.", [fleet, site, floor])

    private static let text = ValueType<String>(schema: ["type": "string", "minLength": 1]) { decoder, node in
        guard let text = decoder.text(node) else { return nil }
        if text.isEmpty { decoder.error("the text is empty", at: node) }
        return text
    }
}

/// The keys of a room.
enum SiteRoomKeys {
    static let name = Key("name", .text, "Name of the room.", isRequired: true)
    static let outline = Key(
        "outline",
        SiteFormat.corners("corners", 3...1000).map { decoder, node, corners in decoder.outline(corners, node) },
        "Corners of the room in order, such as [[0, 0], [4, 0], [4, 3], [0, 3]]. The sides may not cross.",
        isRequired: true)
    static let section = Section("A room.", [name, outline])
}

/// The keys of a receiver.
enum SiteReceiverKeys {
    static let name = Key("name", .text, "Name of the receiver.", isRequired: true)
    static let position = Key("position", SiteFormat.position, "Position of the receiver.", isRequired: true)
    static let section = Section("A receiver.", [name, position])
}

/// The keys of the picture of a floor.
enum PictureKeys {
    static let file = Key(
        "file", .path(of: "a picture"), "PNG or JPEG file, relative to this file, such as \"plan.png\".",
        isRequired: true)
    static let width = Key(
        "widthM", .real(0.1...100_000, unit: "m"),
        "Width of the picture on the floor. The height follows from the shape of the picture.", isRequired: true)
    static let position = Key(
        "position", SiteFormat.position, "Position of the picture's lower left corner on the floor.",
        default: FloorPosition(x: 0, y: 0))
    static let section = Section("A picture of the floor.", [file, width, position])
}

/// The keys of a path along which people walk.
enum PathKeys {
    static let name = Key("name", .text, "Name of the path.", isRequired: true)
    static let points = Key(
        "points", SiteFormat.corners("points", 2...SiteFormat.cornerLimit), "Corners of the path.", isRequired: true)
    static let speed = Key("speedMps", .real(0.01...100, unit: "m/s"), "Walking speed.", default: 1.4)
    static let section = Section("A path.", [name, points, speed])
}

/// The keys of the path loss. The defaults were measured with Bluetooth indoors (Strzoda, 2022).
enum PathLossKeys {
    enum Model: String, CaseIterable { case logDistance = "log-distance", heydon, thesis, itu }

    static let model = Key(
        "model", ValueType<Model>.word,
        "Formula: log-distance, itu (ITU-R P.1238), heydon or thesis.", isRequired: true)
    static let loss = Key(
        "lossAt1mDb", .real(0...120, unit: "dB"), "Loss at 1 m; for log-distance.", default: 65)
    static let exponent = Key(
        "exponent", .real(1...8), "Exponent of the distance; for log-distance.", default: 2.03)
    static let coefficient = Key(
        "coefficient", .real(10...80), "Distance power loss coefficient N; for itu.", default: 30)
    static let floorLoss = Key(
        "floorLossDb", .real(0...100, unit: "dB"), "Loss of the floors between beacon and receiver; for itu.",
        default: 0)
    static let shadowing = Key(
        "shadowingDb", .real(0...20, unit: "dB"), "Standard deviation of the loss among links of equal length.",
        default: 4)
    static let section = Section(
        "A path loss.", [model, loss, exponent, coefficient, floorLoss, shadowing])
}

/// The keys of the target.
enum TargetKeys {
    static let seconds = Key(
        "detectWithinS", .real(0.01...3600, unit: "s"), "Time in which a beacon must be detected.", isRequired: true)
    static let probability = Key(
        "probability", .share(0.01...0.9999), "Probability of detection within detectWithinS.", isRequired: true)
    static let beacons = Key(
        "beacons", .integer(SiteCoverage.Target.beaconRange),
        "Number of beacons that a receiver at each position must detect, each with this time and probability. Positioning needs 4 or more.",
        default: 1)
    static let section = Section("A target.", [seconds, probability, beacons])
}
