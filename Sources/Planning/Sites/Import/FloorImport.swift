public import Airtime
internal import BluetoothTypes
public import Configuration

/// Reads the parts of a floor from GeoJSON (RFC 7946), the format that programs for maps and `ogr2ogr` write.
///
/// A word in the property `kind` or `layer` of a feature names the kind of the feature, in upper or lower case.
/// Features without a known kind are ignored.
public struct FloorImport: Sendable {
    /// The options of an import.
    public struct Options: Sendable {
        /// The length of a unit of the drawing in m. Nil to detect the unit: degrees if the file states degrees or if
        /// its numbers look like degrees, otherwise metres.
        public var metersPerUnit: Double?
        /// The point in degrees that becomes the origin.
        public var reference: (longitude: Double, latitude: Double)?
        /// The point in m that becomes the origin.
        public var origin: FloorPosition?
        /// The loss in dB of walls for which the file states neither a loss nor a material.
        public var wallAttenuation = WallMaterial.brick.attenuation

        public init() {}
    }

    private let options: Options
    private var decoder = ConfigurationDecoder()
    private var draft: SiteDraft
    /// The rooms in the file, with their positions for messages.
    private var roomNodes: [JSONNode] = []
    /// The number of features without a known kind, by the text that names their layer.
    private var unknownLayers: [String: Int] = [:]
    private var holeCount = 0
    /// The number of walls for which the file states neither a loss nor a material.
    private var plainWallCount = 0
    private var outlineCount = 0

    private init(_ draft: SiteDraft, _ options: Options) {
        self.draft = draft
        self.options = options
    }

    /// Adds the parts of a floor to a draft. An outline in the file replaces the outline of the draft.
    ///
    /// - Returns: the draft, nil if there is an error, and all problems in the order of the file.
    public static func read(
        _ octets: [UInt8], into draft: SiteDraft, _ options: Options
    ) -> (draft: SiteDraft?, problems: [FileProblem]) {
        if let program = otherFormat(octets) {
            let problem = FileProblem(
                "this is \(program), not GeoJSON; convert it: ogr2ogr -f GeoJSON floor.geojson floor.dxf",
                at: JSONPosition(line: 1, column: 1))
            return (nil, [problem])
        }
        let (root, faults) = JSONDocument.parse(octets)
        var reader = FloorImport(draft, options)
        if let root { reader.read(root) }
        let problems = (faults + reader.decoder.problems).sorted { $0.position < $1.position }
        return (problems.contains(where: \.isError) ? nil : reader.draft, problems)
    }

    /// Returns the name of the format if the file is a drawing of a CAD program; nil otherwise.
    private static func otherFormat(_ octets: [UInt8]) -> String? {
        let start = String(decoding: octets.prefix(400), as: UTF8.self)
        let words = start.split { $0.isWhitespace }
        if start.hasPrefix("AC10") { return "a DWG drawing" }
        return words.first == "0" && words.dropFirst().first == "SECTION" || words.first == "999"
            ? "a DXF drawing" : nil
    }

    // MARK: - Features

    /// A feature with a known kind.
    private struct Feature {
        let kind: DrawnKind
        /// The text that names the kind, which may name a material too.
        let layer: String
        let properties: [JSONMember]
        let shapes: [DrawnShape]
        let node: JSONNode

        /// Returns the first property with one of these names. The names are in lower case.
        func property(_ names: [String]) -> JSONNode? { FloorImport.property(names, of: properties) }

        /// Returns the text of a property. A number is returned as its digits.
        func text(_ names: [String]) -> String? {
            FloorImport.property(names, of: properties).flatMap(FloorImport.text)
        }
    }

    private static func property(_ names: [String], of properties: [JSONMember]) -> JSONNode? {
        names.lazy.compactMap { name in properties.first { $0.key.lowercased() == name }?.value }
            .first { if case .null = $0.value { false } else { true } }
    }

    private static func text(_ node: JSONNode) -> String? {
        switch node.value {
        case .string(let text): text.contains { !$0.isWhitespace } ? text : nil
        case .number(let number): number.text
        default: nil
        }
    }

    private mutating func read(_ root: JSONNode) {
        guard case .object = root.value else { return decoder.wrongKind(root, expected: "an object") }
        if let kind = FileKind(root) {
            return decoder.error("this is \(kind.name), not GeoJSON", at: root)
        }
        guard let type = decoder.text(decoder.required("type", in: root, "such as \"FeatureCollection\"")) else {
            return
        }
        guard type == "FeatureCollection" || type == "Feature" else {
            return decoder.error(
                "a \(ProblemText.quoted(type)) has no property \"kind\" or \"layer\"; a FeatureCollection is expected",
                at: root["type"] ?? root)
        }
        let nodes =
            type == "Feature"
            ? [root]
            : decoder.list(
                decoder.required("features", in: root, "list of features"), of: "features", count: 0...Self.featureLimit
            )
        let features = (nodes ?? []).compactMap { feature($0, layerOfAll: root["name"]?.string) }
        guard !decoder.problems.contains(where: \.isError) else { return }
        noteLeftOut(root)
        guard !features.isEmpty else {
            return decoder.error(
                "no feature has a known kind: give each a property \"kind\" or \"layer\" with one of the words "
                    + Self.kinds + (layers.isEmpty ? "" : ", not \(layers)"), at: root)
        }
        guard let scale = scale(root, features) else { return }
        for feature in features { take(feature, scale) }
        checkRooms()
        noteWalls(root)
    }

    /// The largest number of features.
    private static let featureLimit = 500_000
    /// The words for the kinds, for messages.
    private static let kinds = "outline, wall, room, beacon, receiver, mount and path"

    private mutating func feature(_ node: JSONNode, layerOfAll: String?) -> Feature? {
        guard case .object = node.value, node["type"]?.string == "Feature" else {
            decoder.error("a feature is expected: an object with \"type\": \"Feature\"", at: node)
            return nil
        }
        let properties = node["properties"]?.members ?? []
        let texts = [["kind"], ["layer"]].compactMap { names in
            Self.property(names, of: properties).flatMap(Self.text)
        }
        let match = (texts + [layerOfAll].compactMap(\.self)).lazy.compactMap { text in
            DrawnKind(in: text).map { (kind: $0, layer: text) }
        }.first
        guard let match else {
            unknownLayers[texts.first ?? "", default: 0] += 1
            return nil
        }
        guard let geometry = decoder.required("geometry", in: node, "shape of the feature") else { return nil }
        let shapes = decoder.shapes(of: geometry, holes: &holeCount)
        return Feature(
            kind: match.kind, layer: match.layer, properties: properties, shapes: shapes, node: node)
    }

    // MARK: - Coordinates

    /// Returns the scale of the drawing; nil after reporting a problem.
    private mutating func scale(_ root: JSONNode, _ features: [Feature]) -> DrawingScale? {
        let points = features.lazy.flatMap(\.shapes).flatMap(\.points)
        let bounds = FloorBounds(points.map { FloorPosition(x: $0.x, y: $0.y) })
        let node = root["crs"] ?? root
        let namedCoordinates = (root["crs"]?["properties"]?["name"]?.string).map { NamedCoordinates($0) }
        if options.metersPerUnit == nil, namedCoordinates == .stretched {
            decoder.error(
                "this coordinate system stretches lengths: convert the file to degrees with "
                    + "`ogr2ogr -t_srs EPSG:4326 -f GeoJSON degrees.geojson FILE`", at: node)
            return nil
        }
        let isTiny =
            namedCoordinates == nil
            && bounds.map { max($0.width, $0.height) < Self.degreeExtent && $0.width + $0.height > 0 } ?? false
        guard options.metersPerUnit == nil, namedCoordinates == .degrees || isTiny else { return lengths(root, bounds) }
        guard options.origin == nil else {
            decoder.error("the coordinates are degrees: use --reference LON,LAT instead of --origin", at: node)
            return nil
        }
        guard let reference = options.reference else {
            let corner = bounds?.low ?? FloorPosition(x: 13.3777, y: 52.5163)
            decoder.error(
                "the coordinates are degrees: give the place that becomes the origin, such as --reference "
                    + [corner.x, corner.y].map { NumberFormat.trimmed(NumberFormat.fixed($0, 7)) }.joined(
                        separator: ","),
                at: node)
            return nil
        }
        return TangentPlane(longitude: reference.longitude, latitude: reference.latitude).map { .degrees($0) }
    }

    /// If a drawing names no coordinate system and its numbers span less than this, they are read as degrees: a floor
    /// of 0.1 m does not exist.
    private static let degreeExtent = 0.1

    private mutating func lengths(_ root: JSONNode, _ bounds: FloorBounds?) -> DrawingScale? {
        guard options.reference == nil else {
            decoder.error(
                "the coordinates are lengths, not degrees: leave out --reference; --origin X,Y moves the origin",
                at: root)
            return nil
        }
        let meters = options.metersPerUnit ?? 1
        let origin = options.origin ?? FloorPosition(x: 0, y: 0)
        guard let bounds else { return .lengths(meters: meters, origin: origin) }
        let ends = [bounds.low.x, bounds.low.y, bounds.high.x, bounds.high.y].map { $0 * meters }
        let size = max(bounds.width, bounds.height) * meters
        if zip(ends, [origin.x, origin.y, origin.x, origin.y]).contains(where: { abs($0 - $1) > Site.extent }) {
            let corner = [ends[0], ends[1]].map { NumberFormat.trimmed(NumberFormat.fixed($0.rounded(.down), 0)) }
            decoder.error(
                size > Site.extent
                    ? "the floor is \(NumberFormat.significant(size)) m long, more than \(Int(Site.extent)) m: give "
                        + "the unit of the drawing, such as --unit mm"
                    : "the floor is more than \(Int(Site.extent)) m from the origin: move the origin with --origin "
                        + corner.joined(separator: ","), at: root)
            return nil
        }
        if options.metersPerUnit == nil, size > Self.longFloor {
            decoder.warning(
                "the floor is \(NumberFormat.significant(size)) m long; if the drawing is in millimetres, use --unit mm",
                at: root)
        }
        return .lengths(meters: meters, origin: origin)
    }

    /// The length in m above which a floor is probably drawn in another unit.
    private static let longFloor = 2000.0

    /// Returns the positions of a shape on the floor. A position that equals the previous position is left out.
    private mutating func positions(_ shape: DrawnShape, _ scale: DrawingScale) -> [FloorPosition] {
        var result: [FloorPosition] = []
        for point in shape.points {
            guard let position = scale.position(point) else {
                decoder.error("this is not a longitude and a latitude in degrees", at: shape.node)
                return []
            }
            guard abs(position.x) <= Site.extent, abs(position.y) <= Site.extent else {
                decoder.error("this is more than \(Int(Site.extent)) m from the reference", at: shape.node)
                return []
            }
            if position != result.last { result.append(position) }
        }
        if shape.isClosed, result.count > 1, result.first == result.last { result.removeLast() }
        return result
    }

    // MARK: - Parts of the floor

    private mutating func take(_ feature: Feature, _ scale: DrawingScale) {
        let shapes = feature.shapes.map { (shape: $0, positions: positions($0, scale)) }.filter {
            !$0.positions.isEmpty
        }
        switch feature.kind {
        case .outline: for part in shapes { takeOutline(part.shape, part.positions) }
        case .wall: takeWalls(feature, shapes)
        case .room:
            let name = feature.text(Self.nameKeys)
            for (index, part) in shapes.enumerated() {
                guard let corners = ring(part.shape, part.positions, of: .room) else { continue }
                draft.rooms.append(
                    .init(name: Self.name(name, index) ?? "room-\(draft.rooms.count + 1)", corners: corners))
                roomNodes.append(part.shape.node)
            }
        case .beacon: add(feature, shapes, to: \.beacons, "beacon")
        case .receiver: add(feature, shapes, to: \.receivers, "receiver")
        case .mount: draft.mounts += shapes.compactMap { Self.middle($0.positions) }
        case .path:
            let (name, speed) = (
                feature.text(Self.nameKeys), number(feature.property(["speedmps", "speed"]), 0.01...100, "m/s")
            )
            for (index, part) in shapes.enumerated() {
                let points = part.shape.isClosed ? part.positions + part.positions.prefix(1) : part.positions
                guard points.count > 1 else {
                    decoder.error("a path has at least two points", at: part.shape.node)
                    continue
                }
                draft.paths.append(
                    .init(
                        name: Self.name(name, index) ?? "path-\(draft.paths.count + 1)", points: points, speed: speed))
            }
        }
    }

    /// The properties that may contain the name of a feature.
    private static let nameKeys = ["name", "label", "text", "bezeichnung", "id"]

    /// Returns the name of a part of a feature. For example, the second part of the feature `desk` is `desk-2`.
    private static func name(_ name: String?, _ index: Int) -> String? {
        name.map { index == 0 ? $0 : "\($0)-\(index + 1)" }
    }

    private mutating func takeOutline(_ shape: DrawnShape, _ positions: [FloorPosition]) {
        outlineCount += 1
        guard outlineCount == 1 else {
            return decoder.error(
                "this is a second outline: a site has one, so import each floor separately", at: shape.node)
        }
        if let corners = ring(shape, positions, of: .outline) { draft.outline = corners }
    }

    /// Returns the corners of a ring; nil after reporting an error, for example if the ring crosses itself. If a line
    /// is open, its last corner is joined to the first.
    private mutating func ring(
        _ shape: DrawnShape, _ positions: [FloorPosition], of kind: DrawnKind
    ) -> [FloorPosition]? {
        guard shape.form != .point else {
            decoder.error("\(kind.name) is an area or a line around it, not a point", at: shape.node)
            return nil
        }
        return decoder.outline(positions, shape.node)?.corners
    }

    /// Adds walls. If a wall is drawn as an area, a signal crosses two of its sides, so each side gets half the loss.
    private mutating func takeWalls(_ feature: Feature, _ shapes: [(shape: DrawnShape, positions: [FloorPosition])]) {
        let givenLoss = number(
            feature.property(["attenuationdb", "attenuation", "lossdb", "loss", "dämpfung"]), 0...100, "dB")
        let material =
            feature.text(["material", "baustoff"]).flatMap { WallMaterial(in: $0) } ?? WallMaterial(in: feature.layer)
        let attenuation = givenLoss ?? material?.attenuation ?? options.wallAttenuation
        for (shape, positions) in shapes {
            guard shape.form != .point else {
                decoder.error("a wall is a line or an area, not a point", at: shape.node)
                continue
            }
            let points = shape.isClosed ? positions + positions.prefix(1) : positions
            // A line of length 0 is ignored.
            guard points.count > 1 else { continue }
            if givenLoss == nil, material == nil { plainWallCount += 1 }
            draft.walls.append(
                .init(points: points, attenuation: shape.form == .area ? attenuation / 2 : attenuation))
        }
    }

    /// A number in a property, which may be a text such as `6 dB`.
    private mutating func number(_ node: JSONNode?, _ range: ClosedRange<Double>, _ unit: String) -> Double? {
        guard let node, let text = Self.text(node) else { return nil }
        let digits = text.replacing(unit, with: "").replacing(",", with: ".").filter { !$0.isWhitespace }
        guard let number = Double(digits), range.contains(number) else {
            let ends = [range.lowerBound, range.upperBound].map { NumberFormat.significant($0) }.joined(
                separator: "...")
            decoder.error("\(ProblemText.quoted(text)) is not a number in \(ends) \(unit)", at: node)
            return nil
        }
        return number
    }

    /// Adds beacons or receivers. A beacon or receiver that is drawn as a line or an area, such as a circle, gets the
    /// position in the middle of this shape.
    private mutating func add(
        _ feature: Feature, _ shapes: [(shape: DrawnShape, positions: [FloorPosition])],
        to list: WritableKeyPath<SiteDraft, [SiteDraft.Point]>, _ what: String
    ) {
        let givenName = feature.text(Self.nameKeys)
        for (index, part) in shapes.enumerated() {
            guard let position = Self.middle(part.positions) else { continue }
            let name = Self.name(givenName, index) ?? "\(what)-\(draft[keyPath: list].count + 1)"
            guard !draft[keyPath: list].contains(where: { $0.name == name }) else {
                decoder.error(
                    "\(ProblemText.quoted(name)) is also the name of another \(what)",
                    at: feature.property(Self.nameKeys) ?? feature.node)
                continue
            }
            draft[keyPath: list].append(.init(name: name, position: position))
        }
    }

    private static func middle(_ positions: [FloorPosition]) -> FloorPosition? {
        FloorBounds(positions).map { FloorPosition(x: ($0.low.x + $0.high.x) / 2, y: ($0.low.y + $0.high.y) / 2) }
    }

    // MARK: - Checks of the whole file

    /// Reports rooms that are not inside the outline. The outline may follow the rooms in the file, so this check is
    /// the last step.
    private mutating func checkRooms() {
        guard let outline = try? FloorOutline(corners: draft.outline) else { return }
        for (room, node) in zip(draft.rooms.suffix(roomNodes.count), roomNodes) {
            guard let corners = try? FloorOutline(corners: room.corners) else { continue }
            if let corner = outline.firstCornerOutside(of: corners) {
                decoder.error(decoder.outsideMessage(room: room.name, corner: corner), at: node)
            }
        }
    }

    /// The names of the layers whose features have no known kind. The layer with the most features is the first.
    private var layers: String {
        let names = unknownLayers.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key).filter { !$0.isEmpty }
        return names.prefix(6).map { ProblemText.quoted($0) }.joined(separator: ", ")
            + (names.count > 6 ? " and others" : "")
    }

    private mutating func noteLeftOut(_ root: JSONNode) {
        let count = unknownLayers.values.reduce(0, +)
        if count > 0 {
            decoder.warning(
                "left out \(count) \(count == 1 ? "feature" : "features") without a known kind"
                    + (layers.isEmpty ? "" : ", of the layers \(layers)") + "; the kinds are \(Self.kinds)", at: root)
        }
        if holeCount > 0 {
            decoder.warning(
                "left out \(holeCount) \(holeCount == 1 ? "hole" : "holes") of areas: draw walls around a courtyard",
                at: root)
        }
    }

    private mutating func noteWalls(_ root: JSONNode) {
        guard plainWallCount > 0 else { return }
        decoder.warning(
            "\(plainWallCount) \(plainWallCount == 1 ? "wall names" : "walls name") neither a loss nor a material, so "
                + "\(NumberFormat.significant(options.wallAttenuation)) dB "
                + "\(plainWallCount == 1 ? "counts" : "count") for each crossing", at: root)
    }
}
