internal import Airtime
internal import BluetoothTypes
public import Configuration

extension Site {
    /// Reads a site file.
    ///
    /// - Returns: the site, `nil` if the file has an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8]) -> (site: Site?, problems: [FileProblem]) {
        let (site, problems) = ConfigurationDecoder.decode(octets) { $0.site($1) }
        return (site, problems)
    }

    /// The text of `profiles/schema/site.schema.json` (JSON Schema, draft 2020-12).
    public static var schema: String { SiteFormat.section.schemaFile(title: "Pharos site") }

    /// The largest distance of a position from the origin along one axis, in m.
    public static let extent = 100_000.0
    /// The largest number of beacons of a site.
    public static let beaconLimit = 250_000
}

extension ValueType<FloorPosition> {
    /// A position on a floor plan: `[3.5, 12]`, metres east and north.
    static var floorPosition: ValueType {
        ValueType<[Double]>.position(.real(-Site.extent...Site.extent, unit: "m")).map(json: \.json) { _, _, parts in
            FloorPosition(x: parts[0], y: parts[1])
        }
    }
}

extension FloorPosition {
    /// The position in a file, in m: `[3.5, 12]`.
    var json: JSONValue { .array([x, y].map { Int(exactly: $0).map { .integer($0) } ?? .decimal("\($0)") }) }
}

extension ConfigurationDecoder {
    /// Reads a site from the outermost object of a site file, or from the copy of a site inside a signal map.
    package mutating func site(_ node: JSONNode) -> Site? {
        guard expect(.site, node), let root = open(SiteFormat.section, node) else { return nil }
        _ = read(FileHeader.schema, in: root)
        _ = read(FileHeader.version, in: root)
        let name = read(SiteFormat.name, in: root)
        let outline = read(SiteFormat.outline, in: root)
        let walls = walls(root)
        let defaults = defaults(root)
        let fleet = fleet(root["beacons"])
        let beacons = fleet == nil ? beacons(root["beacons"], defaults, inside: outline) : []
        let mounts = read(SiteFormat.mounts, in: root) ?? []
        if let outline, let index = mounts.firstIndex(where: outline.isOutside), let node = root["mounts"] {
            warning("mount \(index + 1) is outside the outline", at: node[index] ?? node)
        }
        let paths = (read(SiteFormat.paths, in: root) ?? []).compactMap { self.path($0, inside: outline) }
        let rooms = (read(SiteFormat.rooms, in: root) ?? []).compactMap { self.room($0, inside: outline) }
        let receivers = receivers(root, inside: outline)
        let picture = read(SiteFormat.picture, in: root).flatMap { self.picture($0) }
        let sensitivity = read(SiteFormat.sensitivity, in: root)
        let radio = sensitivity.flatMap { self.radio(root, sensitivity: $0) }
        let background = read(SiteFormat.backgroundLoad, in: root)
        let scanners = scanners(root)
        let hasOwnTarget = root["target"] != nil
        let target = hasOwnTarget ? read(SiteFormat.target, in: root).flatMap { self.target($0) } : .usual
        guard let name, let scanners, let target, let radio, let background else { return nil }
        return Site(
            name: name, picture: picture, outline: outline, walls: walls, beacons: beacons, fleet: fleet, paths: paths,
            rooms: rooms, receivers: receivers, mounts: mounts, radio: radio, backgroundLoad: background,
            scanners: scanners, target: target,
            hasOwnTarget: hasOwnTarget,
            defaults: defaults)
    }

    /// Returns the outline with these corners; nil after reporting an error. The first corner may be repeated at the
    /// end.
    mutating func outline(_ corners: [FloorPosition], _ node: JSONNode) -> FloorOutline? {
        do throws(FloorOutline.Fault) {
            return try FloorOutline(corners: corners)
        } catch {
            switch error {
            case .noArea: self.error("an outline has at least three corners, not all on one line", at: node)
            case .crossing(let first, let second):
                let repeated = zip(corners, corners.dropFirst()).enumerated().first { $0.element.0 == $0.element.1 }
                if let repeated {
                    self.error("corner \(repeated.offset + 2) equals the previous corner", at: node)
                } else {
                    self.error(
                        "the outline crosses or touches itself: the sides after corner \(first + 1) and after corner "
                            + "\(second + 1)", at: node)
                }
            }
        }
        return nil
    }

    private mutating func walls(_ root: JSONNode) -> [Wall] {
        var walls: [Wall] = []
        for wall in read(SiteFormat.walls, in: root) ?? [] {
            let attenuation = read(WallKeys.attenuation, in: wall)
            let from = read(WallKeys.from, in: wall)
            let to = read(WallKeys.to, in: wall)
            let points = read(WallKeys.points, in: wall) ?? [from, to].compactMap { $0 }
            guard let attenuation else { continue }
            guard walls.count + points.count <= SiteFormat.wallLimit else {
                error(
                    "there are more than \(SiteFormat.wallLimit) walls: leave out small walls, which hardly change "
                        + "the signal", at: root["walls"] ?? root)
                return []
            }
            for (from, to) in zip(points, points.dropFirst()) {
                walls.append(Wall(from: from, to: to, attenuation: attenuation))
            }
        }
        return walls
    }

    private mutating func defaults(_ root: JSONNode) -> Site.Defaults {
        var defaults = Site.Defaults()
        guard let object = read(SiteFormat.defaults, in: root) else { return defaults }
        if let interval = read(BeaconKeys.defaultInterval, in: object) {
            defaults.intervalMicroseconds = Self.microseconds(interval)
        }
        if let payload = read(BeaconKeys.defaultPayload, in: object) { defaults.payloadOctets = payload }
        if let power = read(BeaconKeys.defaultRadioPower, in: object) { defaults.radioPower = power }
        return defaults
    }

    private mutating func fleet(_ node: JSONNode?) -> Site.FleetReference? {
        guard let node, case .object = node.value else { return nil }
        guard let object = open(FleetKeys.section, node) else { return nil }
        let path = read(FleetKeys.fleet, in: object)
        return Site.FleetReference(
            path: path ?? "", site: read(FleetKeys.site, in: object), floor: read(FleetKeys.floor, in: object),
            node: node)
    }

    /// Reads the list of beacons. Reports a warning for a beacon outside the outline.
    private mutating func beacons(
        _ node: JSONNode?, _ defaults: Site.Defaults, inside outline: FloorOutline?
    ) -> [SiteBeacon] {
        var beacons: [SiteBeacon] = []
        var names: [String: Int] = [:]
        let nodes = list(node, of: "beacons", count: 1...Site.beaconLimit) ?? []
        for (index, element) in nodes.enumerated() {
            guard let object = BeaconKeys.type.read(&self, element) else { continue }
            let name = object["name"] == nil ? "beacon-\(index + 1)" : read(BeaconKeys.name, in: object)
            let position = read(BeaconKeys.position, in: object)
            let interval = read(BeaconKeys.interval, in: object).map(Self.microseconds)
            let payload = read(BeaconKeys.payload, in: object) ?? defaults.payloadOctets
            let power = read(BeaconKeys.radioPower, in: object) ?? defaults.radioPower
            guard let name, let position else { continue }
            if let first = names.updateValue(index, forKey: name) {
                error("\(ProblemText.quoted(name)) is also the name of beacons[\(first)]", at: object["name"] ?? object)
            }
            if let outline, !outline.contains(position) {
                warning("\(ProblemText.quoted(name)) is outside the outline", at: object["position"] ?? object)
            }
            guard let airtime = try? PacketTiming.airtimeMicroseconds(payloadOctets: payload),
                let beacon = try? SiteBeacon(
                    name: name, position: position, intervalMicroseconds: interval ?? defaults.intervalMicroseconds,
                    airtimeMicroseconds: airtime, radioPower: power)
            else { continue }
            beacons.append(beacon)
        }
        return beacons
    }

    /// Converts an advertising interval from ms to µs, rounded to steps of 0.625 ms as controllers do.
    private static func microseconds(_ milliseconds: Double) -> Double {
        let microseconds = (milliseconds * 1000).rounded()
        return AdvertisingInterval(microseconds: Int(microseconds)).map { Double($0.microseconds) } ?? microseconds
    }

    /// Reads a path. Reports a warning for a corner outside the outline.
    private mutating func path(_ node: JSONNode, inside outline: FloorOutline?) -> Site.Path? {
        let name = read(PathKeys.name, in: node)
        let corners = read(PathKeys.points, in: node)
        guard let name, let corners, let speed = read(PathKeys.speed, in: node) else { return nil }
        guard let walk = try? SiteWalk(corners: corners, speed: speed) else {
            error("a path has at least two points", at: node["points"] ?? node)
            return nil
        }
        if let outline, let corner = corners.firstIndex(where: { !outline.contains($0) }) {
            warning(
                "point \(corner + 1) of the path \(ProblemText.quoted(name)) is outside the outline",
                at: node["points"] ?? node)
        }
        return Site.Path(name: name, walk: walk)
    }

    /// Reads a room. Reports a warning for a room with a corner outside the outline.
    private mutating func room(_ node: JSONNode, inside outline: FloorOutline?) -> Site.Room? {
        guard let name = read(SiteRoomKeys.name, in: node), let corners = read(SiteRoomKeys.outline, in: node) else {
            return nil
        }
        if let corner = outline?.firstCornerOutside(of: corners) {
            warning(outsideMessage(room: name, corner: corner), at: node["outline"] ?? node)
        }
        return Site.Room(name: name, outline: corners)
    }

    /// The message about a room with a corner outside the outline.
    func outsideMessage(room name: String, corner: FloorPosition) -> String {
        let coordinates = [corner.x, corner.y].map { NumberFormat.significant($0, 6) }.joined(separator: ", ")
        return "the room \(ProblemText.quoted(name)) has a corner outside the outline, at [\(coordinates)]"
    }

    /// Reads the receivers. Reports a warning for a receiver outside the outline.
    private mutating func receivers(_ root: JSONNode, inside outline: FloorOutline?) -> [Site.Receiver] {
        var receivers: [Site.Receiver] = []
        for node in read(SiteFormat.receivers, in: root) ?? [] {
            let name = read(SiteReceiverKeys.name, in: node)
            guard let position = read(SiteReceiverKeys.position, in: node), let name else { continue }
            if let first = receivers.firstIndex(where: { $0.name == name }) {
                error("\(ProblemText.quoted(name)) is also the name of receivers[\(first)]", at: node["name"] ?? node)
            }
            if outline?.isOutside(position) == true {
                warning("\(ProblemText.quoted(name)) is outside the outline", at: node["position"] ?? node)
            }
            receivers.append(Site.Receiver(name: name, position: position))
        }
        return receivers
    }

    private mutating func picture(_ node: JSONNode) -> Site.Picture? {
        let file = read(PictureKeys.file, in: node)
        let width = read(PictureKeys.width, in: node)
        let position = read(PictureKeys.position, in: node)
        guard let file, let width, let position else { return nil }
        return Site.Picture(file: file, width: width, position: position, node: node["file"] ?? node)
    }

    private mutating func radio(_ root: JSONNode, sensitivity: Double) -> SiteRadio? {
        let node: JSONNode
        if root["pathLoss"] == nil {
            node = JSONNode(.object([]), at: root.position, path: root.path)
        } else {
            guard let object = read(SiteFormat.pathLoss, in: root) else { return nil }
            node = object
        }
        let model = read(PathLossKeys.model, in: node)
        guard let loss = read(PathLossKeys.loss, in: node), let exponent = read(PathLossKeys.exponent, in: node),
            let coefficient = read(PathLossKeys.coefficient, in: node),
            let floors = read(PathLossKeys.floorLoss, in: node),
            let shadowing = read(PathLossKeys.shadowing, in: node)
        else { return nil }
        let pathLoss: PathLoss? =
            switch model {
            case .logDistance, nil: try? .logDistance(lossAtOneMeterDecibels: loss, exponent: exponent)
            case .heydon: .heydon
            case .thesis: .thesis
            case .itu: try? .indoor(coefficient: coefficient, floorLossDecibels: floors)
            }
        return pathLoss.flatMap { try? SiteRadio(pathLoss: $0, shadowing: shadowing, sensitivity: sensitivity) }
    }

    private mutating func target(_ object: JSONNode) -> SiteCoverage.Target? {
        let seconds = read(TargetKeys.seconds, in: object)
        let probability = read(TargetKeys.probability, in: object)
        let beacons = read(TargetKeys.beacons, in: object)
        guard let seconds, let probability, let beacons else { return nil }
        return try? SiteCoverage.Target(seconds: seconds, probability: probability, beacons: beacons)
    }
}
