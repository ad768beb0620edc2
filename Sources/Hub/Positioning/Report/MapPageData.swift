internal import Airtime
internal import Planner

/// What the page's script draws from: layers, cells and places.
struct MapPageData {
    /// What can be chosen, the expected error first.
    let layers: [MapLayer]
    /// The places that can be chosen, as numbers in the map.
    let placeNumbers: [Int]
    /// What was left out.
    private(set) var notes: [String] = []

    private let picture: MapPicture
    private let floors: [MapFloor]

    /// Values of layers and of places that a page has room for.
    private static let layerValues = 150_000
    private static let placeValues = 30_000
    /// The digits of levels: one character a cell, from this level on in whole dBm.
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    private static let firstLevel = -101

    /// - Parameter divisor: 1, or 2, 4, 8 … for less of everything.
    init(_ picture: MapPicture, _ floors: [MapFloor], divisor: Int) {
        self.picture = picture
        self.floors = floors
        let map = picture.map
        let room = max(1, Self.layerValues / divisor / max(1, picture.cells.count))
        // Those that are heard most, in the order of the map.
        let order = map.beacons.indices.sorted { (map.beacons[$0].seconds, $1) > (map.beacons[$1].seconds, $0) }
        let shown = order.prefix(room).sorted()
        let subjects = [MapLayer.Subject.expectedError, .heard] + shown.map { .beacon($0) }
        layers = subjects.compactMap { MapLayer($0, of: picture) }
        let perPlace = max(1, map.statistics.reduce(0) { $0 + $1.count } / max(1, map.places.count))
        placeNumbers = Array(floors.flatMap(\.places).sorted().prefix(max(20, Self.placeValues / divisor / perPlace)))
        if shown.count < map.beacons.count, !layers.isEmpty {
            notes.append(
                "The \(shown.count) of the \(map.beacons.count) beacons that are heard most have a layer; `pharos map show "
                    + "--beacon KEY` shows another one.")
        }
    }

    /// The block as an element of the page.
    var element: String {
        let json = PageData.object([
            ("firstLevel", .number(Double(Self.firstLevel))), ("digits", .text(String(Self.digits))),
            ("layers", .list(layers.map(layer))), ("floors", .list(floors.map(floor))),
            ("places", .object(placeNumbers.map { ("\($0)", place($0)) })),
        ]).json
        return "<script type=\"application/json\" id=\"data\">\(json)</script>\n"
    }

    private func layer(_ layer: MapLayer) -> PageData {
        var members: [(String, PageData)] = [
            ("name", .text(HTMLEscaping.shortened(layer.name, to: 160))), ("unit", .text(layer.unit)),
            ("caption", .text(layer.caption)), ("higher", .flag(layer.shades.isHigherBetter)),
            ("bounds", .list(layer.shades.bounds.map(Self.short))),
            ("shades", .list(layer.shades.names(unit: layer.unit).map(PageData.text))),
        ]
        if case .beacon(let number) = layer.subject {
            members.append(("beacon", .number(Double(number))))
            members.append(("levels", .text(String(layer.values.map(Self.digit)))))
        } else {
            members.append(("values", .list(layer.values.map(Self.short))))
        }
        return .object(members)
    }

    private static func digit(_ level: Double) -> Character {
        digits[max(0, min(digits.count - 1, Int(level.rounded()) - firstLevel))]
    }

    private func floor(_ floor: MapFloor) -> PageData {
        .object([
            ("cells", .list(floor.cells.map { .number(Double($0)) })),
            (
                "corners",
                .list(
                    floor.cells.flatMap { cell -> [PageData] in
                        let corner = floor.corner(cell)
                        return [Self.short(corner.x), Self.short(corner.y)]
                    })
            ), ("side", Self.short(floor.side)),
            ("places", .list(floor.places.map { .number(Double($0)) })),
        ])
    }

    /// `levels` are beacon, measured level and residual, one after the other.
    private func place(_ number: Int) -> PageData {
        let place = picture.map.places[number]
        let spot = floors.first { $0.floor == place.floor }?.spot(number)
        let levels = picture.map.statistics[number].flatMap { found -> [PageData] in
            [
                .number(Double(found.beacon)), Self.short(found.mean),
                Self.short(picture.residual(beacon: found.beacon, place: number)),
            ]
        }
        return .object([
            ("name", .text(HTMLEscaping.shortened(place.name, to: 80))), ("x", Self.short(spot?.x)),
            ("y", Self.short(spot?.y)), ("error", Self.short(picture.placeErrors[number])),
            ("heard", .number(picture.heard(at: number).map(Double.init))),
            (
                "taken",
                .list(
                    picture.confusion[number].flatMap { [.number(Double($0.place)), Self.short($0.probability, 1000)] })
            ), ("levels", .list(levels)),
        ])
    }

    /// A tenth is what a screen shows.
    private static func short(_ value: Double?, _ scale: Double) -> PageData {
        .number(value.map { ($0 * scale).rounded() / scale })
    }

    private static func short(_ value: Double?) -> PageData { short(value, 100) }
}
