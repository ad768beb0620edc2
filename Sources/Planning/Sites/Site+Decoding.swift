internal import Airtime
internal import BluetoothTypes
public import Configuration

extension Site {
    /// Reads a site file.
    ///
    /// - Returns: the site, `nil` when there is an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8]) -> (site: Site?, problems: [FileProblem]) {
        let (root, faults) = JSONDocument.parse(octets)
        var decoder = ConfigurationDecoder()
        let site = root.flatMap { decoder.site($0) }
        let problems = faults + decoder.problems
        let hasErrors = problems.contains { $0.severity == .error }
        return (hasErrors ? nil : site, problems.sorted { $0.position < $1.position })
    }

    /// Every key of a site file.
    static let keys = [
        "$schema", "version", "name", "outline", "walls", "beacons", "mounts", "paths", "defaults", "pathLoss",
        "receiverSensitivityDbm", "backgroundLoad", "scanner", "target",
    ]
    static let beaconKeys = ["name", "position", "intervalMs", "payloadOctets", "radioPowerDbm"]
    static let fleetKeys = ["fleet", "site", "floor"]
    static let defaultKeys = ["intervalMs", "payloadOctets", "radioPowerDbm"]
    static let wallKeys = ["from", "to", "points", "attenuationDb"]
    static let pathKeys = ["name", "points", "speedMps"]
    static let pathLossKeys = ["model", "lossAt1mDb", "exponent", "coefficient", "floorLossDb", "shadowingDb"]
    static let scannerKeys = ["windowMs", "intervalMs"]
    static let targetKeys = ["detectWithinS", "probability"]

    /// The floor of a town is not larger, in m.
    public static let extent = 100_000.0
    static let attenuationRange = 0.0...100.0
    /// Of an outline, in which each side is compared with each other, and of a path.
    static let cornerLimit = 2000
    /// More walls than this are no floor plan but a drawing of the furniture.
    static let wallLimit = 250_000
    public static let beaconLimit = 250_000
    static let pathLimit = 1000
    static let mountLimit = 20_000
}

extension ConfigurationDecoder {
    /// A site file's whole tree, or that of a file that holds one.
    package mutating func site(_ node: JSONNode) -> Site? {
        guard expect(.site, node) else { return nil }
        guard let root = object(node, keys: Site.keys) else { return nil }
        _ = text(root["$schema"])
        version(required("version", in: root, "\(Site.version) for this format"))
        let name = name(required("name", in: root, "what this site is called, such as \"museum-ground-floor\""))
        let outline = outline(root["outline"])
        let walls = walls(root["walls"])
        let defaults = defaults(root["defaults"])
        let fleet = fleet(root["beacons"])
        let beacons = fleet == nil ? beacons(root["beacons"], defaults, inside: outline) : []
        let mounts = root["mounts"].flatMap { positions($0, limit: Site.mountLimit) } ?? []
        let paths = paths(root["paths"])
        let sensitivity = real(root["receiverSensitivityDbm"], in: -130...0, unit: "dBm") ?? -90
        let radio = radio(root["pathLoss"], sensitivity: sensitivity)
        let background = real(root["backgroundLoad"], in: 0...0.99) ?? 0
        let scanner = scanner(root["scanner"])
        let target = target(required("target", in: root, "what is to be reached everywhere"))
        if root["outline"] == nil, root["beacons"] == nil, root["walls"] == nil {
            error("there is no floor: give \"outline\", \"walls\" or \"beacons\"", at: root)
        }
        guard let name, let scanner, let target, let defaults, let radio else { return nil }
        return Site(
            name: name, outline: outline, walls: walls, beacons: beacons, fleet: fleet, paths: paths, mounts: mounts,
            radio: radio,
            backgroundLoad: background, scanner: scanner, target: target, defaults: defaults)
    }

    private mutating func outline(_ node: JSONNode?) -> FloorOutline? {
        guard let node, var corners = positions(node, limit: Site.cornerLimit) else { return nil }
        do throws(FloorOutline.Fault) {
            // A polygon that is closed by its first corner once more is meant the same.
            if corners.count > 1, corners.first == corners.last { corners.removeLast() }
            return try FloorOutline(corners: corners)
        } catch {
            switch error {
            case .noArea: self.error("an outline has at least three corners, not all on one line", at: node)
            case .crossing(let first, let second):
                let twice = zip(corners, corners.dropFirst()).enumerated().first { $0.element.0 == $0.element.1 }
                if let twice {
                    self.error("corner \(twice.offset + 2) is the same as the one before it", at: node)
                } else {
                    self.error(
                        "the outline crosses or touches itself: the sides after corner \(first + 1) and after corner "
                            + "\(second + 1)", at: node)
                }
            }
        }
        return nil
    }

    private mutating func walls(_ node: JSONNode?) -> [Wall] {
        guard let node else { return [] }
        var walls: [Wall] = []
        for element in list(node, of: "walls", limit: Site.wallLimit) ?? [] {
            guard let wall = object(element, keys: Site.wallKeys) else { continue }
            let attenuation = real(
                required(
                    "attenuationDb", in: wall, "what one crossing costs, such as 3 for plaster or 12 for concrete"),
                in: Site.attenuationRange, unit: "dB")
            if let points = wall["points"] {
                if wall["from"] != nil || wall["to"] != nil {
                    error("give \"points\", or \"from\" and \"to\", not both", at: wall)
                }
                guard let row = positions(points, limit: Site.wallLimit), let attenuation else { continue }
                if row.count < 2 { error("a wall has at least two points", at: points) }
                guard walls.count + row.count <= Site.wallLimit else {
                    error(
                        "this makes more than \(Site.wallLimit) walls: leave out what radio waves do not notice",
                        at: node)
                    return []
                }
                for (from, to) in zip(row, row.dropFirst()) {
                    walls.append(Wall(from: from, to: to, attenuation: attenuation))
                }
            } else {
                let from = position(required("from", in: wall, "where the wall begins, such as [0, 4.5]"))
                let to = position(required("to", in: wall, "where the wall ends, such as [12, 4.5]"))
                guard let from, let to, let attenuation else { continue }
                walls.append(Wall(from: from, to: to, attenuation: attenuation))
            }
        }
        return walls
    }

    private mutating func paths(_ node: JSONNode?) -> [Site.Path] {
        guard let node else { return [] }
        var paths: [Site.Path] = []
        for element in list(node, of: "paths", limit: Site.pathLimit) ?? [] {
            guard let path = object(element, keys: Site.pathKeys) else { continue }
            let name = text(required("name", in: path, "what the path is called"))
            let speed = real(path["speedMps"], in: 0.01...100, unit: "m/s") ?? 1.4
            let points = required("points", in: path, "the corners of the way")
            guard let name, let points, let corners = positions(points, limit: Site.cornerLimit) else { continue }
            guard corners.count >= 2, let walk = try? SiteWalk(corners: corners, speed: speed) else {
                error("a path has at least two points", at: points)
                continue
            }
            paths.append(Site.Path(name: name, walk: walk))
        }
        return paths
    }

    /// Without a word about it, what was measured with Bluetooth indoors (Strzoda, 2022).
    private mutating func radio(_ node: JSONNode?, sensitivity: Double) -> SiteRadio? {
        enum Model: String, CaseIterable { case logDistance = "log-distance", heydon, thesis, itu }
        let object = object(node, keys: Site.pathLossKeys)
        if node != nil, object == nil { return nil }
        let model = object.flatMap { object in
            word(required("model", in: object, "log-distance, itu, heydon or thesis"), of: Model.self)
        }
        let shadowing = real(object?["shadowingDb"], in: 0...20, unit: "dB") ?? 4
        let loss = real(object?["lossAt1mDb"], in: 0...120, unit: "dB") ?? 65
        let exponent = real(object?["exponent"], in: 1...8) ?? 2.03
        let coefficient = real(object?["coefficient"], in: 10...80) ?? 30
        let floors = real(object?["floorLossDb"], in: 0...100, unit: "dB") ?? 0
        let pathLoss: PathLoss? =
            switch model {
            case .logDistance, nil: try? .logDistance(lossAtOneMeterDecibels: loss, exponent: exponent)
            case .heydon: .heydon
            case .thesis: .thesis
            case .itu: try? .indoor(coefficient: coefficient, floorLossDecibels: floors)
            }
        return pathLoss.flatMap { try? SiteRadio(pathLoss: $0, shadowing: shadowing, sensitivity: sensitivity) }
    }

    private mutating func scanner(_ node: JSONNode?) -> ScannerPreset? {
        guard let node else { return ScannerPreset(named: "android-low-power") }
        if case .string(let name) = node.value {
            if let preset = ScannerPreset(named: name) { return preset }
            notAWord(name, ScannerPreset.all.map(\.name), at: node)
            return nil
        }
        guard let scanner = object(node, keys: Site.scannerKeys) else { return nil }
        let window = real(required("windowMs", in: scanner, "how long it listens"), in: 2.5...40959.375, unit: "ms")
        let interval = real(required("intervalMs", in: scanner, "how often"), in: 2.5...40959.375, unit: "ms")
        guard let window, let interval else { return nil }
        guard
            let pattern = try? ScanPattern(
                windowMicroseconds: Int((window * 1000).rounded()),
                intervalMicroseconds: Int((interval * 1000).rounded()))
        else {
            error("the scan window is longer than the scan interval", at: scanner)
            return nil
        }
        let names = [pattern.windowMicroseconds, pattern.intervalMicroseconds].map { DecimalText.thousandths($0) }
        return ScannerPreset(name: names.joined(separator: "/") + " ms", pattern: pattern)
    }

    private mutating func target(_ node: JSONNode?) -> SiteSurvey.Target? {
        guard let node, let target = object(node, keys: Site.targetKeys) else { return nil }
        let seconds = real(
            required("detectWithinS", in: target, "how long detection may take"), in: 0.01...3600, unit: "s")
        let probability = real(
            required("probability", in: target, "in which share of cases"), in: 0.01...0.9999)
        guard let seconds, let probability else { return nil }
        return try? SiteSurvey.Target(seconds: seconds, probability: probability)
    }
}
