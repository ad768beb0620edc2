internal import Airtime
internal import Configuration

/// A kind of part of a floor in a drawing.
enum DrawnKind: CaseIterable {
    case outline, wall, room, beacon, receiver, mount, path

    /// The words that drawings use for this kind, English and German, in lower case. A longer word that ends with one
    /// of these words, such as `Außenwand`, means the same.
    private var words: [String] {
        switch self {
        case .outline: ["outline", "outlines", "boundary", "perimeter", "contour", "umriss", "umrisse", "kontur"]
        case .wall:
            [
                "wall", "walls", "partition", "partitions", "wand", "wände", "waende", "mauer", "mauern", "mauerwerk",
            ]
        case .room: ["room", "rooms", "raum", "räume", "raeume", "zimmer"]
        case .beacon: ["beacon", "beacons", "bake", "baken", "sender"]
        case .receiver:
            ["receiver", "receivers", "gateway", "gateways", "empfänger", "empfaenger", "scanner", "scanners"]
        case .mount: ["mount", "mounts", "halterung", "halterungen", "montagepunkt", "montagepunkte"]
        case .path: ["path", "paths", "route", "routes", "weg", "wege", "pfad", "pfade", "rundgang", "rundgänge"]
        }
    }

    /// The kind that a text of a drawing names, such as `A-WALL` or `Außenwände`; nil if the text names no kind.
    init?(in text: String) {
        let kind = DrawingWords(text).first { word in Self.allCases.first { $0.words.contains(where: word.hasSuffix) }
        }
        guard let kind else { return nil }
        self = kind
    }

    /// The name in messages.
    var name: String {
        switch self {
        case .outline: "the outline"
        case .wall: "a wall"
        case .room: "a room"
        case .beacon: "a beacon"
        case .receiver: "a receiver"
        case .mount: "a mount"
        case .path: "a path"
        }
    }
}

/// A point of a drawing, with the unchanged coordinates of the file.
struct DrawnPoint: Hashable {
    var x: Double
    var y: Double
}

/// A point, a line or an area of a drawing.
struct DrawnShape {
    enum Form: Hashable {
        case point
        case line
        /// The outer ring of a polygon.
        case area
    }

    let form: Form
    /// The corners; a single corner for a point. A ring does not repeat its first corner.
    var points: [DrawnPoint]
    /// True for a ring, and for a line that ends at its first corner.
    let isClosed: Bool
    /// The coordinates in the file, with their position for messages.
    let node: JSONNode
}

extension ConfigurationDecoder {
    /// The largest number of corners in all shapes of a drawing.
    private static var cornerLimit: Int { 1_000_000 }

    /// Reads the shapes of a geometry object (RFC 7946, 3.1). Holes of polygons are counted in `holes` and ignored.
    mutating func shapes(of geometry: JSONNode, holes: inout Int, depth: Int = 0) -> [DrawnShape] {
        if case .null = geometry.value { return [] }
        guard let type = text(required("type", in: geometry, "kind of geometry, such as \"Polygon\"")) else {
            return []
        }
        if type == "GeometryCollection" {
            guard depth < 8 else {
                error("the collections are nested too deeply", at: geometry)
                return []
            }
            let parts = required("geometries", in: geometry, "list of geometries")
            return (list(parts, of: "geometries", count: 0...Int.max) ?? []).flatMap {
                shapes(of: $0, holes: &holes, depth: depth + 1)
            }
        }
        guard let node = required("coordinates", in: geometry, "list of positions") else { return [] }
        func elements(_ node: JSONNode) -> [JSONNode] { list(node, of: "positions", count: 0...Int.max) ?? [] }
        switch type {
        case "Point": return [point(node)].compactMap(\.self)
        case "MultiPoint": return elements(node).compactMap { point($0) }
        case "LineString": return [line(node)].compactMap(\.self)
        case "MultiLineString": return elements(node).compactMap { line($0) }
        case "Polygon": return [area(node, &holes)].compactMap(\.self)
        case "MultiPolygon": return elements(node).compactMap { area($0, &holes) }
        default:
            error("\(ProblemText.quoted(type)) is not a geometry of GeoJSON", at: geometry["type"] ?? geometry)
            return []
        }
    }

    private mutating func point(_ node: JSONNode) -> DrawnShape? {
        position(node).map { DrawnShape(form: .point, points: [$0], isClosed: false, node: node) }
    }

    private mutating func line(_ node: JSONNode) -> DrawnShape? {
        guard let points = positions(node) else { return nil }
        let isClosed = points.count > 3 && points.first == points.last
        return DrawnShape(form: .line, points: isClosed ? points.dropLast() : points, isClosed: isClosed, node: node)
    }

    /// Reads the outer ring of a polygon. The ring may be open: its last corner is joined to the first.
    private mutating func area(_ node: JSONNode, _ holes: inout Int) -> DrawnShape? {
        guard let rings = list(node, of: "rings") else { return nil }
        holes += rings.count - 1
        guard var points = positions(rings[0]) else { return nil }
        if points.count > 1, points.first == points.last { points.removeLast() }
        return DrawnShape(form: .area, points: points, isClosed: true, node: rings[0])
    }

    private mutating func positions(_ node: JSONNode) -> [DrawnPoint]? {
        guard let nodes = list(node, of: "positions", count: 1...Self.cornerLimit) else { return nil }
        let points = nodes.compactMap { position($0) }
        return points.count == nodes.count ? points : nil
    }

    /// Reads a position of two numbers. A height and further numbers are ignored.
    private mutating func position(_ node: JSONNode) -> DrawnPoint? {
        guard let parts = node.elements, parts.count >= 2 else {
            wrongKind(node, expected: "a position such as [3.5, 12]")
            return nil
        }
        guard let x = number(parts[0]), let y = number(parts[1]) else { return nil }
        guard let x = Double(x.text), let y = Double(y.text), x.isFinite, y.isFinite else {
            error("the numbers of a position are too large", at: node)
            return nil
        }
        return DrawnPoint(x: x, y: y)
    }
}
