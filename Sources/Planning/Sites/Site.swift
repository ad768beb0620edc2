public import Airtime
internal import BluetoothTypes
public import Configuration

/// A floor plan as a site file describes it: checked, in the models' own types.
public struct Site: Sendable {
    public var name: String
    /// The floor's outline; `nil` where the file has none.
    public var outline: FloorOutline?
    public var walls: [Wall]
    public var beacons: [SiteBeacon]
    /// Where the beacons come from instead; `nil` where the file lists them itself.
    public var fleet: FleetReference?
    public var paths: [Path]
    /// Where beacons can be mounted; empty where anywhere on the floor will do.
    public var mounts: [FloorPosition]
    /// How radio waves reach a receiver here, and what it can still hear.
    public var radio: SiteRadio
    /// The share of the channel that strangers keep busy, 0..<1.
    public var backgroundLoad: Double
    public var scanner: ScannerPreset
    public var target: SiteSurvey.Target
    /// What beacons are that say nothing of themselves, and those that are proposed.
    public var defaults: Defaults

    /// The fleet whose beacons stand here. Who reads the site reads the fleet, too, and puts them into ``beacons``.
    public struct FleetReference: Sendable {
        /// As it stands in the file: a fleet file, the folder that `fleet generate` wrote, or the manifest in it,
        /// relative to the site file.
        public var path: String
        /// Which of its sites; `nil` where it has one only.
        public var site: String?
        /// Which floor of that; `nil` for all.
        public var floor: String?
        /// Where in the site file it is named.
        public var node: JSONNode
    }

    /// A way that people walk.
    public struct Path: Sendable {
        public var name: String
        public var walk: SiteWalk
    }

    /// What a beacon is that does not say otherwise.
    public struct Defaults: Hashable, Sendable {
        /// T in µs.
        public var intervalMicroseconds = 500_000.0
        public var payloadOctets = 31
        /// dBm.
        public var radioPower = 0.0
    }

    /// The version of the file format.
    public static let version = 1

    /// The rectangle around the outline, around everything where there is none; `nil` for a site with neither an
    /// outline, walls, beacons, paths nor mounts.
    public var bounds: FloorBounds? {
        if let outline { return FloorBounds(outline.corners) }
        return FloorBounds(
            walls.flatMap { [$0.from, $0.to] } + beacons.map(\.position) + paths.flatMap(\.walk.corners) + mounts)
    }
}

extension ConfigurationDecoder {
    /// What beacons are that do not say otherwise.
    mutating func defaults(_ node: JSONNode?) -> Site.Defaults? {
        var defaults = Site.Defaults()
        guard let node else { return defaults }
        guard let object = object(node, keys: Site.defaultKeys) else { return nil }
        if let interval = interval(object["intervalMs"]) { defaults.intervalMicroseconds = interval }
        if let octets = integer(object["payloadOctets"], in: PacketTiming.payloadRange) {
            defaults.payloadOctets = octets
        }
        if let power = real(object["radioPowerDbm"], in: -127...20, unit: "dBm") { defaults.radioPower = power }
        return defaults
    }

    /// The fleet that stands in place of a list of beacons.
    mutating func fleet(_ node: JSONNode?) -> Site.FleetReference? {
        guard let node, case .object = node.value else { return nil }
        let object = object(node, keys: Site.fleetKeys)
        let path = word(object.flatMap { required("fleet", in: $0, "the fleet file, such as \"museum.json\"") })
        let site = word(object?["site"])
        let floor = word(object?["floor"])
        return Site.FleetReference(path: path ?? "", site: site, floor: floor, node: node)
    }

    /// A text that says something.
    private mutating func word(_ node: JSONNode?) -> String? {
        guard let node, let text = text(node) else { return nil }
        if text.isEmpty { error("there is nothing in this text", at: node) }
        return text
    }

    /// The beacons, each at its place; outside the outline only with a warning.
    mutating func beacons(
        _ node: JSONNode?, _ defaults: Site.Defaults?, inside outline: FloorOutline?
    ) -> [SiteBeacon] {
        guard let node else { return [] }
        let defaults = defaults ?? Site.Defaults()
        var beacons: [SiteBeacon] = []
        var names: [String: Int] = [:]
        for (index, element) in (list(node, of: "beacons", limit: Site.beaconLimit) ?? []).enumerated() {
            guard let object = object(element, keys: Site.beaconKeys) else { continue }
            let name = object["name"] == nil ? "beacon-\(index + 1)" : text(object["name"])
            let place = required("position", in: object, "metres east and north, such as [3.5, 12]")
            let position = position(place)
            let interval = interval(object["intervalMs"]) ?? defaults.intervalMicroseconds
            let octets = integer(object["payloadOctets"], in: PacketTiming.payloadRange) ?? defaults.payloadOctets
            let power = real(object["radioPowerDbm"], in: -127...20, unit: "dBm") ?? defaults.radioPower
            guard let name, let place, let position else { continue }
            if let first = names.updateValue(index, forKey: name) {
                error("\(ProblemText.quoted(name)) is also the name of beacons[\(first)]", at: object["name"] ?? object)
            }
            if let outline, !outline.contains(position) {
                warning("\(ProblemText.quoted(name)) stands outside the outline", at: place)
            }
            guard let airtime = try? PacketTiming.airtimeMicroseconds(payloadOctets: octets),
                let beacon = try? SiteBeacon(
                    name: name, position: position, intervalMicroseconds: interval, airtimeMicroseconds: airtime,
                    radioPower: power)
            else { continue }
            beacons.append(beacon)
        }
        return beacons
    }

    /// An advertising interval in µs, as controllers have it: 20 ms...10.24 s in steps of 0.625 ms.
    private mutating func interval(_ node: JSONNode?) -> Double? {
        let range = AdvertisingInterval.legacyRange
        let milliseconds = real(
            node,
            in: Double(range.lowerBound.microseconds) / 1000...Double(range.upperBound.microseconds) / 1000, unit: "ms")
        return milliseconds.flatMap { AdvertisingInterval(microseconds: Int(($0 * 1000).rounded())) }
            .map { Double($0.microseconds) }
    }

    /// A list that nobody has made longer than any floor needs.
    mutating func list(_ node: JSONNode?, of what: String, limit: Int) -> [JSONNode]? {
        guard let node, let elements = list(node, of: what) else { return nil }
        guard elements.count <= limit else {
            error("\(elements.count) \(what) are more than the \(limit) that there may be", at: node)
            return nil
        }
        return elements
    }

    /// Pairs of metres.
    mutating func positions(_ node: JSONNode, limit: Int) -> [FloorPosition]? {
        guard let elements = list(node, of: "points", limit: limit) else { return nil }
        let positions = elements.compactMap { position($0) }
        return positions.count == elements.count ? positions : nil
    }

    /// `[3.5, 12]`: metres east and north.
    mutating func position(_ node: JSONNode?) -> FloorPosition? {
        guard let node else { return nil }
        guard case .array(let parts) = node.value, parts.count == 2 else {
            wrongKind(node, expected: "a place such as [3.5, 12], metres east and north,")
            return nil
        }
        let limit = -Site.extent...Site.extent
        guard let x = real(parts[0], in: limit, unit: "m"), let y = real(parts[1], in: limit, unit: "m") else {
            return nil
        }
        return FloorPosition(x: x, y: y)
    }

    /// A number in `range`.
    mutating func real(_ node: JSONNode?, in range: ClosedRange<Double>, unit: String = "") -> Double? {
        guard let node, let number = number(node) else { return nil }
        guard let value = Double(number.text), range.contains(value) else {
            let unit = unit.isEmpty ? "" : " " + unit
            error(
                "\(ProblemText.shortened(number.text)) is out of range \(Self.text(range.lowerBound))..."
                    + "\(Self.text(range.upperBound))\(unit)", at: node)
            return nil
        }
        return value
    }

    private static func text(_ bound: Double) -> String { Int(exactly: bound).map { "\($0)" } ?? "\(bound)" }
}

/// A beacon at a place: how often, how long and how loud.
public struct SiteBeacon: Hashable, Sendable {
    public let name: String
    public let position: FloorPosition
    /// T in µs.
    public let intervalMicroseconds: Double
    /// tau in µs.
    public let airtimeMicroseconds: Double
    /// What its antenna radiates, in dBm.
    public let radioPower: Double
    /// What it sends beside the advertisement that it is detected by, each of count 1: they fill the air, but never hit
    /// its own packets.
    public let companions: [AdvertiserGroup]

    /// Throws for what `AdvertiserGroup` refuses, places that are no numbers, and a radio power outside -127...20 dBm.
    public init(
        name: String, position: FloorPosition, intervalMicroseconds: Double, airtimeMicroseconds: Double,
        radioPower: Double, companions: [AdvertiserGroup] = []
    ) throws(AirtimeError) {
        _ = try AdvertiserGroup(
            count: 1, intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds)
        guard position.x.isFinite, position.y.isFinite else {
            throw .quantity(name: "a position", value: position.x.isFinite ? position.y : position.x)
        }
        guard radioPower >= -127, radioPower <= 20 else {
            throw .quantity(name: "a radio power in dBm (-127...20)", value: radioPower)
        }
        self.name = name
        self.position = position
        self.intervalMicroseconds = intervalMicroseconds
        self.airtimeMicroseconds = airtimeMicroseconds
        self.radioPower = radioPower
        self.companions = companions
    }

    /// E in µs.
    var meanPeriodMicroseconds: Double { intervalMicroseconds + AdvertisingDelay.meanMicroseconds }
}

/// How radio waves reach a receiver on this floor, and what it can still hear.
public struct SiteRadio: Hashable, Sendable {
    /// The mean loss over a distance, without walls.
    public let pathLoss: PathLoss
    /// σ of the shadowing on each link, in dB.
    public let shadowing: Double
    /// The weakest power that is received, in dBm.
    public let sensitivity: Double

    /// Throws for a shadowing outside 0...20 dB and a sensitivity outside -130...0 dBm.
    public init(
        pathLoss: PathLoss, shadowing: Double, sensitivity: Double
    ) throws(AirtimeError) {
        guard shadowing >= 0, shadowing <= 20 else {
            throw .quantity(name: "a shadowing in dB (0...20)", value: shadowing)
        }
        guard sensitivity >= -130, sensitivity <= 0 else {
            throw .quantity(name: "a sensitivity in dBm (-130...0)", value: sensitivity)
        }
        self.shadowing = shadowing
        self.sensitivity = sensitivity
        self.pathLoss = pathLoss
    }

    /// The mean loss in dB over a distance in m; no distance on a floor is too long for a formula.
    func meanLoss(_ distance: Double) -> Double { (try? pathLoss.decibels(atMeters: distance)) ?? .infinity }

    /// The distance in m, at most `limit`, at which a transmitter is still heard when shadowing helps by so many standard
    /// deviations: by 4, and beyond it is heard with a probability below 1 in 30,000.
    func reach(radioPower: Double, limit: Double, deviations: Double = 4) -> Double {
        let lost = radioPower - sensitivity + deviations * shadowing
        guard meanLoss(limit) > lost else { return limit }
        var (near, far) = (0.0, limit)
        for _ in 0..<40 {
            let middle = (near + far) / 2
            if meanLoss(middle) > lost { far = middle } else { near = middle }
        }
        return far
    }
}
