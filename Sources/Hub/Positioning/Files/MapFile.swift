public import Airtime
internal import BeaconService
internal import Configuration
internal import Fleet
internal import FleetStore
internal import LinuxHost
public import Listener
internal import Sightings
public import Sites

/// Reads and writes maps, and the sites and fleets that belong to them.
public enum MapFile {
    /// The largest map file, in bytes.
    public static let limit = 1 << 28

    /// Reads a map.
    ///
    /// - Parameter path: The file, or `-` for standard input.
    /// - Throws: If it is missing or not a map, with each problem and its line.
    public static func read(_ path: String) throws(ListenerServiceError) -> SignalMap {
        let octets = try contents(path, limit: limit)
        let name = path == "-" ? "standard input" : path
        let (map, problems) = SignalMap.decode(octets)
        guard let map else {
            // Examined only now, because a large map would take long to read twice.
            if let problem = WrongFile.refusal(octets, name, wanted: .map) { throw problem }
            // One message for a file of another kind, instead of one for each key.
            if let root = JSONDocument.parse(octets).root, root["statistics"] == nil {
                throw .refused(.malformed, "\(name): this is not a map; `pharos map fit` makes one from surveys")
            }
            let lines = problems.filter(\.isError).map { $0.text(file: name) }
            throw .service(
                .refused(
                    .malformed,
                    lines.isEmpty ? ["\(name): this is not a map; `pharos map fit` makes one from surveys"] : lines))
        }
        return map
    }

    /// Whether a file looks like a map: one JSON object that is not a line of a survey. `false` for standard input.
    ///
    /// - Throws: If it is missing.
    public static func isMap(_ path: String) throws(ListenerServiceError) -> Bool {
        guard path != "-" else { return false }
        let start = try InputPieces(path).peek(1 << 12)
        return InputForm(start) == .object
    }

    /// Writes a map, or prints it for `-`. The old file stays until the new one is complete.
    public static func write(_ map: SignalMap, to path: String) throws(ListenerServiceError) {
        if path == "-" { return map.write { Terminal.write($0) } }
        do throws(SystemError) {
            try Files.replace(path) { take throws(SystemError) in try map.write(take) }
        } catch {
            throw unwritable(path, error)
        }
    }

    /// Writes a text, or prints it for `-`. The old file stays until the new one is complete.
    public static func write(_ text: String, to path: String) throws(ListenerServiceError) {
        if path == "-" {
            Terminal.write(text)
            return
        }
        do throws(SystemError) {
            try Files.replace(path, with: Array(text.utf8), keepsRights: true)
        } catch {
            throw unwritable(path, error)
        }
    }

    private static func unwritable(_ path: String, _ error: SystemError) -> ListenerServiceError {
        .refused(.system, "\(path): it cannot be written: \(error.text)")
    }

    /// Reads a site.
    ///
    /// - Throws: If it is missing or not a site.
    public static func site(_ path: String) throws(ListenerServiceError) -> Site {
        try site(try contents(path, limit: 1 << 25), path)
    }

    /// Decodes a site.
    static func site(_ octets: [UInt8], _ path: String) throws(ListenerServiceError) -> Site {
        let path = path == "-" ? "standard input" : path
        if let problem = WrongFile.refusal(octets, path, wanted: .site) { throw problem }
        let (site, problems) = Site.decode(octets)
        guard let site else {
            let isJSON = JSONDocument.parse(octets).problems.isEmpty
            throw .service(
                .refused(
                    isJSON ? .invalid : .malformed,
                    SurveyFiles.sentences(problems.filter(\.isError).map { $0.inFile(path) })))
        }
        return site
    }

    /// The positions of beacons, by each of the keys that they may have in a survey.
    ///
    /// - Parameter path: A site file or a fleet in any of its forms.
    /// - Throws: If it is neither.
    public static func beaconPositions(_ path: String) throws(ListenerServiceError) -> [BeaconKey: FloorPosition] {
        var found: [BeaconKey: FloorPosition] = [:]
        let octets = Files.isDirectory(path) ? [] : try contents(path, limit: 1 << 28)
        if let problem = WrongFile.refusal(octets, path, wanted: .positions) { throw problem }
        if isSite(octets) {
            let site = try site(octets, path)
            for beacon in site.beacons { if let key = BeaconKey(beacon.name) { found[key] = beacon.position } }
            if let fleet = site.fleet {
                let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
                let named = try beaconPositions(fleet.path.hasPrefix("/") ? fleet.path : directory + fleet.path)
                found.merge(named) { site, _ in site }
            }
            return found
        }
        let manifest: FleetManifest
        do throws(FleetStoreError) {
            manifest = try NamedFleet(path: path).manifest()
        } catch {
            throw .fleet(error)
        }
        for beacon in manifest.beacons {
            guard case .plan(let east, let north, _)? = beacon.position, let x = Double(east.text),
                let y = Double(north.text)
            else { continue }
            let position = FloorPosition(x: x, y: y)
            if let key = BeaconKey(beacon.name) { found[key] = position }
            for advertisement in beacon.advertisements {
                if let identity = BeaconIdentity(advertisement.identity) { found[BeaconKey(identity)] = position }
            }
        }
        return found
    }

    /// Whether a file is a site, even if it has only beacons and a target.
    private static func isSite(_ octets: [UInt8]) -> Bool {
        guard let root = JSONDocument.parse(octets).root else { return false }
        return FileKind(root) == .site || FileKind(root) == nil && root["beacons"] != nil && root["target"] != nil
    }

    /// Reads a whole file.
    static func contents(_ path: String, limit: Int) throws(ListenerServiceError) -> [UInt8] {
        do throws(SystemError) {
            return try Files.readInput(path, limit: limit)
        } catch {
            throw .service(
                BeaconServiceError(error, reading: path == "-" ? "standard input" : path, limit: limit))
        }
    }
}
