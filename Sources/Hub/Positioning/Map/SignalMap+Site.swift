internal import Airtime
internal import Configuration
public import Sites

extension SignalMap {
    /// Makes a map without a survey. The planner computes its levels from the path loss and the walls.
    ///
    /// The places of the map are the positions of the beacons. `Site.beacons` must include the beacons of the site's
    /// fleet.
    ///
    /// - Parameters:
    ///   - site: The site. Beacons without a key are left out with a warning. If several beacons have the same key,
    ///     all but the first are left out with a warning too.
    ///   - keys: The keys of beacons by their names. The key of a beacon that is missing here is its name. If the name
    ///     cannot be a key, the beacon has no key.
    ///   - floor: The floor's name; `nil` on sites with one floor.
    /// - Throws: ``PositioningError/noBeacons`` if the site has no beacons.
    public init(
        site: Site, keys: [String: BeaconKey] = [:], floor: String? = nil
    ) throws(PositioningError) {
        var beaconOfKey: [BeaconKey: SiteBeacon] = [:]
        var notices: [String] = []
        for beacon in site.beacons.prefix(Survey.beaconLimit) {
            guard let key = keys[beacon.name] ?? BeaconKey(beacon.name) else {
                notices.append("\(ProblemText.quoted(beacon.name)) is not the key of a beacon: it is left out")
                continue
            }
            guard beaconOfKey[key] == nil else {
                notices.append("the site has two beacons with the key \(key): the second one is left out")
                continue
            }
            beaconOfKey[key] = beacon
        }
        if site.beacons.count > Survey.beaconLimit {
            notices.append("the site has more than \(Survey.beaconLimit) beacons: the others are left out")
        }
        let sorted = beaconOfKey.sorted { $0.key < $1.key }
        guard !sorted.isEmpty else { throw .noBeacons }
        var fieldSite = site
        fieldSite.fleet = nil
        fieldSite.beacons = sorted.map(\.value)
        self.init(
            places: sorted.map { Place(name: $0.value.name, position: $0.value.position, floor: floor) },
            beacons: sorted.map { .init(key: $0.key, position: $0.value.position, seconds: 0) },
            statistics: sorted.map { _ in [] })
        self.site = site.name
        modelSite = fieldSite
        self.notices = notices
        settings.likelihoodTemperature = PlannedField.likelihoodTemperature
    }
}

/// The field of a site file: the planner's mean level at each cell, and its uncertainty.
struct PlannedField {
    let grid: CellGrid
    private(set) var table: ReceptionTable

    /// The probability of receiving a beacon in a second: the lower limit for a level far below the receiver's
    /// sensitivity, the upper limit for a level far above it. The limits are not closer to 0 and 1, because the
    /// intervals of the beacons and the sensitivity of the receiver are unknown.
    static let probabilityRange = 0.1...0.5
    /// The standard deviation in dB of the combined error of the receiver's assumed sensitivity and the beacons'
    /// assumed powers.
    static let uncertainty = 15.0
    /// The likelihood temperature with which regions contain the stated share of true positions. It cannot be fitted
    /// without a survey, so it was determined with public recordings of a library and an office.
    static let likelihoodTemperature = 2.0
    /// The margin around the beacons and walls of a floor without an outline, in metres.
    static let margin = 1.0
    /// The largest number of values in the table, which has one value for each cell and beacon. If there would be more
    /// values, the cells become larger.
    static let limit = 20_000_000

    init(_ site: Site, floor: String?, gridMetres: Double?, cellLimit: Int) throws(PositioningError) {
        guard let bounds = site.bounds else { throw .noBeacons }
        let margin = site.outline == nil ? Self.margin : 0
        let area = CellGrid.Area(
            floor: floor, low: .init(x: bounds.low.x - margin, y: bounds.low.y - margin),
            high: .init(x: bounds.high.x + margin, y: bounds.high.y + margin))
        let limit = min(cellLimit, Self.limit / max(1, site.beacons.count))
        let covered = CellGrid([area], step: gridMetres, limit: limit) { site.outline?.contains($0.position) ?? true }
        // An outline that is narrower than a cell may contain no centre of a cell. In this case, cover the whole
        // rectangle.
        grid = covered.cells.isEmpty ? CellGrid([area], step: gridMetres, limit: limit) : covered
        let model = SiteModel(beacons: site.beacons, walls: site.walls, radio: site.radio)
        let shadowing = site.radio.shadowing
        let variance = shadowing * shadowing + LevelSpread.defaultVariance + LevelSpread.unseenVariance
        table = ReceptionTable(cells: grid.cells.count, beacons: site.beacons.count)
        for (cell, place) in grid.cells.enumerated() {
            for beacon in site.beacons.indices {
                let level = model.link(beacon, at: place.position).power
                let standardScore = (level - site.radio.sensitivity) / Self.uncertainty
                let range = Self.probabilityRange
                let probability =
                    range.lowerBound + (range.upperBound - range.lowerBound) * 0.5
                    * erfc(-standardScore / 2.0.squareRoot())
                table.set(
                    beacon: beacon, cell: cell, mean: max(level, ReceivedLevel.range.lowerBound), variance: variance,
                    probability: probability)
            }
        }
    }
}

extension Site {
    /// The parts of a site file from which the field is computed.
    var fieldJSON: JSONValue {
        func spot(_ position: FloorPosition) -> JSONValue { .array([.real(position.x), .real(position.y)]) }
        var members: [(String, JSONValue)] = [("version", .integer(Site.version)), ("name", .string(name))]
        if let outline { members.append(("outline", .array(outline.corners.map(spot)))) }
        if !walls.isEmpty {
            let walls = walls.map { wall in
                JSONValue.record([
                    ("from", spot(wall.from)), ("to", spot(wall.to)), ("attenuationDb", .real(wall.attenuation)),
                ])
            }
            members.append(("walls", .array(walls)))
        }
        if !rooms.isEmpty {
            let rooms = rooms.map { room in
                JSONValue.record([
                    ("name", .string(room.name)), ("outline", .array(room.outline.corners.map(spot))),
                ])
            }
            members.append(("rooms", .array(rooms)))
        }
        let beacons = beacons.map { beacon in
            JSONValue.record([
                ("name", .string(beacon.name)), ("position", spot(beacon.position)),
                ("radioPowerDbm", .real(beacon.radioPower)),
            ])
        }
        members += [
            ("beacons", .array(beacons)), ("pathLoss", radio.pathLossJSON),
            ("receiverSensitivityDbm", .real(radio.sensitivity)),
            (
                "target",
                .record([("detectWithinS", .real(target.seconds)), ("probability", .real(target.probability))])
            ),
        ]
        return .record(members)
    }
}

extension SiteRadio {
    fileprivate var pathLossJSON: JSONValue {
        var members: [(String, JSONValue)]
        switch pathLoss.shape {
        case .thesis: members = [("model", "thesis")]
        case .logDistance(let loss, let exponent):
            members = [("model", "log-distance"), ("lossAt1mDb", .real(loss)), ("exponent", .real(exponent))]
        case .indoor(let coefficient, let floorLoss):
            members = [
                ("model", "itu"), ("coefficient", .rounded(coefficient, 9)), ("floorLossDb", .rounded(floorLoss, 9)),
            ]
        }
        members.append(("shadowingDb", .real(shadowing)))
        return .record(members)
    }
}
