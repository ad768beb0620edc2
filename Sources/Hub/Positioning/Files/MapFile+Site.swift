internal import BeaconService
internal import Configuration
internal import EddystoneSecurity
internal import Fleet
internal import FleetStore
public import Listener
internal import Planner
internal import Sightings
public import Sites

extension MapFile {
    /// Makes a map from a site file and the fleet that it names.
    ///
    /// The keys of a site's beacons are their names; the keys of a fleet's beacons are the first identities that they send.
    ///
    /// - Throws: If the file is missing, not a site, or without beacons.
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

    /// A simulation of a site file.
    ///
    /// - Throws: As ``map(ofSite:settings:)`` does.
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

    /// A site with the beacons of its fleet, the keys of these beacons by name, and the file's bytes.
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
