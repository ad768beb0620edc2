internal import BeaconService
public import Configuration
internal import EddystoneSecurity
internal import Fleet
internal import FleetStore
public import Listener
internal import Planner
internal import Sightings
public import Sites

extension MapFile {
    /// A map of a site file alone: what the planner expects of its beacons, or of those of the fleet that it names.
    ///
    /// Beacons of a site file have the keys that their names are; those of a fleet the identities that they send first.
    ///
    /// - Throws: where the file is missing, or no site, or without beacons.
    public static func map(ofSite path: String, settings: LocatorSettings) throws(ListenerServiceError) -> SignalMap {
        let (site, keys, octets) = try placed(path)
        let name = path == "-" ? "standard input" : path
        do throws(PositioningError) {
            var map = try SignalMap(site: site, keys: keys, floor: site.fleet?.floor)
            var settings = settings
            settings.temper = map.settings.temper
            map.settings = settings
            var digest = RunningDigest()
            digest.take(octets)
            map.sources = [.init(name: name, sha256: digest.text)]
            _ = try Locator(map)
            return map
        } catch {
            throw MapFitting.refusal(error)
        }
    }

    /// A floor to survey and to walk through that exists in a site file only.
    ///
    /// - Throws: as ``map(ofSite:settings:)`` does.
    public static func simulatedSite(
        _ path: String, seed: UInt64
    ) throws(ListenerServiceError) -> (simulated: SimulatedSite, site: Site) {
        let (site, keys, _) = try placed(path)
        do throws(PositioningError) {
            return (try SimulatedSite(site, keys: keys, floor: site.fleet?.floor, seed: seed), site)
        } catch {
            throw MapFitting.refusal(error)
        }
    }

    /// A site with the beacons of its fleet in it, their identities by name, and the file's octets.
    private static func placed(
        _ path: String
    ) throws(ListenerServiceError) -> (site: Site, keys: [String: BeaconKey], octets: [UInt8]) {
        let octets = try contents(path, limit: 1 << 25)
        var site = try site(octets, path)
        var keys: [String: BeaconKey] = [:]
        let name = path == "-" ? "standard input" : path
        if let reference = site.fleet {
            var placed = SiteFleet(reference, of: site)
            let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
            do throws(FleetStoreError) {
                let fleet = reference.path.hasPrefix("/") ? reference.path : directory + reference.path
                for beacon in try NamedFleet(path: fleet).manifest().beacons {
                    placed.add(beacon)
                    let identity = beacon.advertisements.lazy.compactMap { BeaconIdentity($0.identity) }.first
                    if let identity { keys[beacon.name] = BeaconKey(identity) }
                }
            } catch {
                throw .fleet(error)
            }
            do throws(FileProblem) {
                _ = try placed.fill(&site)
            } catch {
                throw .refused(.invalid, error.text(file: name))
            }
        }
        return (site, keys, octets)
    }
}

/// What a map of a site file alone holds, as text and as JSON.
public struct SiteFitReport: Sendable {
    private let map: SignalMap
    private let output: String

    /// - Parameter output: Where the map was written.
    public init(_ map: SignalMap, output: String) {
        self.map = map
        self.output = output
    }

    /// For people.
    public var text: String {
        "\(MapText.count(map.beacons.count, "beacon")) of a site file, no survey\n\n"
            + "took \(map.settings.algorithm.rawValue): the planner's path loss and walls; nobody knows how good it is here "
            + "before something is surveyed\n"
    }

    /// The same for programs, with the keys of a map of surveys.
    public var json: JSONValue {
        .record([
            ("map", .string(output)), ("places", .integer(map.places.count)),
            ("beacons", .integer(map.beacons.count)), ("vectors", 0), ("stays", 0), ("sessions", 0),
            ("algorithm", map.settings.json), ("evaluation", .null), ("trials", []), ("advice", []),
            ("notices", .array(map.notices.map(JSONValue.string))),
        ])
    }
}
