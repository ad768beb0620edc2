public import Airtime
internal import BeaconService
internal import Configuration
internal import EddystoneSecurity
internal import Fleet
internal import FleetStore
internal import LinuxHost
public import Listener
internal import Planner
internal import Sightings
public import Sites

/// Reads and writes maps, and the sites and fleets that belong to them.
public enum MapFile {
    /// The largest map file, in bytes.
    public static let limit = 1 << 28

    /// Reads a map.
    ///
    /// - Parameter path: The file, or `-` for standard input.
    /// - Throws: If the file is missing or not a map. The error contains each problem with its line.
    public static func read(_ path: String) throws(ListenerServiceError) -> SignalMap {
        let octets = try contents(path, limit: limit)
        let name = path == "-" ? "standard input" : path
        let (map, problems) = SignalMap.decode(octets)
        guard let map else {
            // Determine the kind of the file only after decoding has failed, because reading a large map twice takes
            // long.
            if let problem = WrongFile.refusal(octets, name, wanted: .map) { throw problem }
            // Report one problem for a file of another kind, instead of one problem for each key.
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

    /// Returns true if a file looks like a map: it is one JSON object that is not a line of a survey. Returns false for
    /// standard input.
    ///
    /// - Throws: If the file is missing.
    public static func isMap(_ path: String) throws(ListenerServiceError) -> Bool {
        guard path != "-" else { return false }
        let start = try InputPieces(path).peek(1 << 12)
        return InputForm(start) == .object
    }

    /// Writes a map to a file, or prints it for `-`. The old file remains until the new file is complete.
    public static func write(_ map: SignalMap, to path: String) throws(ListenerServiceError) {
        if path == "-" { return map.write { Terminal.write($0) } }
        do throws(SystemError) {
            try Files.replace(path) { take throws(SystemError) in try map.write(take) }
        } catch {
            throw unwritable(path, error)
        }
    }

    /// Writes a text to a file, or prints it for `-`. The old file remains until the new file is complete.
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

    static func unwritable(_ path: String, _ error: SystemError) -> ListenerServiceError {
        .refused(.system, "\(path): it cannot be written: \(error.text)")
    }

    /// Reads a site.
    ///
    /// - Throws: If the file is missing or not a site.
    public static func site(_ path: String) throws(ListenerServiceError) -> Site {
        try site(try contents(path, limit: 1 << 25), path)
    }

    /// Reads a site and its picture, for a drawing.
    ///
    /// - Throws: If the file is missing or not a site, or if its picture cannot be used.
    public static func drawnSite(_ path: String) throws(ListenerServiceError) -> Site {
        var site = try site(path)
        do throws(FloorPictureError) {
            try site.readPicture(ofSite: path)
        } catch {
            throw .refused(
                error.isMissing ? .missing : .malformed,
                error.problem.text(file: path == "-" ? "standard input" : path))
        }
        return site
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

    /// Returns the positions of beacons. Each position is listed under every key that its beacon may have in a survey.
    ///
    /// - Parameter path: A site file, or a fleet in any of its forms.
    /// - Throws: If the file is neither a site nor a fleet.
    public static func beaconPositions(_ path: String) throws(ListenerServiceError) -> [BeaconKey: FloorPosition] {
        let octets = Files.isDirectory(path) ? [] : try contents(path, limit: 1 << 28)
        if let problem = WrongFile.refusal(octets, path, wanted: .positions) { throw problem }
        if isSite(octets) {
            var positions: [BeaconKey: FloorPosition] = [:]
            let site = try site(octets, path)
            for beacon in site.beacons { if let key = BeaconKey(beacon.name) { positions[key] = beacon.position } }
            if let fleet = site.fleet {
                let fleetPositions = try self.positions(
                    of: manifest(fleetPath(fleet.path, ofSite: path), isNamedInFile: true))
                positions.merge(fleetPositions) { site, _ in site }
            }
            return positions
        }
        return try positions(of: manifest(path))
    }

    private static func positions(of manifest: FleetManifest) -> [BeaconKey: FloorPosition] {
        var positions: [BeaconKey: FloorPosition] = [:]
        for beacon in manifest.beacons {
            guard case .plan(let east, let north, _)? = beacon.position, let x = Double(east.text),
                let y = Double(north.text)
            else { continue }
            let position = FloorPosition(x: x, y: y)
            if let key = BeaconKey(beacon.name) { positions[key] = position }
            for advertisement in beacon.advertisements {
                if let identity = BeaconIdentity(advertisement.identity) { positions[BeaconKey(identity)] = position }
            }
        }
        return positions
    }

    /// Returns the path of the fleet that a site file names. Relative paths start at the directory of the site file.
    private static func fleetPath(_ fleet: String, ofSite site: String) -> String {
        let directory = site.lastIndex(of: "/").map { String(site[...$0]) } ?? ""
        return fleet.hasPrefix("/") ? fleet : directory + fleet
    }

    /// Reads the manifest of a fleet.
    ///
    /// - Parameter isNamedInFile: `true` if a site file names the path.
    private static func manifest(
        _ path: String, isNamedInFile: Bool = false
    ) throws(ListenerServiceError) -> FleetManifest {
        do throws(FleetStoreError) {
            return try NamedFleet(path: path, isNamedInFile: isNamedInFile).manifest()
        } catch {
            throw .fleet(error)
        }
    }

    /// Returns true if a file is a site, even if it contains only beacons.
    private static func isSite(_ octets: [UInt8]) -> Bool {
        guard let root = JSONDocument.parse(octets).root else { return false }
        return FileKind(root) == .site || FileKind(root) == nil && root["beacons"] != nil
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

    // MARK: Sites

    /// Makes a map from a site file and the fleet that it names.
    ///
    /// The key of a beacon in the site file is its name. The key of a beacon in the fleet is the first identity that it
    /// sends.
    ///
    /// - Throws: If the file is missing, not a site, or without beacons.
    public static func map(ofSite path: String, settings: LocatorSettings) throws(ListenerServiceError) -> SignalMap {
        let (site, keys, octets) = try siteWithFleet(path)
        let name = path == "-" ? "standard input" : path
        return try MapFitting.refusing { () throws(PositioningError) -> SignalMap in
            var map = try SignalMap(site: site, keys: keys, floor: site.fleet?.floor)
            var settings = settings
            settings.likelihoodTemperature = map.settings.likelihoodTemperature
            map.settings = settings
            var digest = IncrementalDigest()
            digest.update(octets)
            map.sources = [.init(name: name, sha256: digest.text)]
            _ = try Locator(map)
            return map
        }
    }

    /// Creates a simulation of a site file.
    ///
    /// - Throws: The errors of ``map(ofSite:settings:)``.
    public static func simulatedSite(
        _ path: String, seed: UInt64
    ) throws(ListenerServiceError) -> (simulated: SimulatedSite, site: Site) {
        let (site, keys, _) = try siteWithFleet(path)
        return try MapFitting.refusing { () throws(PositioningError) -> (simulated: SimulatedSite, site: Site) in
            (try SimulatedSite(site, keys: keys, floor: site.fleet?.floor, seed: seed), site)
        }
    }

    /// Reads a site with the beacons of its fleet. Returns the site, the keys of these beacons by name, and the file's
    /// bytes.
    private static func siteWithFleet(
        _ path: String
    ) throws(ListenerServiceError) -> (site: Site, keys: [String: BeaconKey], octets: [UInt8]) {
        let octets = try contents(path, limit: 1 << 25)
        var site = try site(octets, path)
        var keys: [String: BeaconKey] = [:]
        let name = path == "-" ? "standard input" : path
        if let reference = site.fleet {
            var fleet = SiteFleet(reference, of: site)
            for beacon in try manifest(fleetPath(reference.path, ofSite: path), isNamedInFile: true).beacons {
                fleet.add(beacon)
                let identity = beacon.advertisements.lazy.compactMap { BeaconIdentity($0.identity) }.first
                if let identity { keys[beacon.name] = BeaconKey(identity) }
            }
            do throws(FileProblem) {
                _ = try fleet.fill(&site)
            } catch {
                throw .refused(.invalid, error.text(file: name))
            }
        }
        return (site, keys, octets)
    }
}
