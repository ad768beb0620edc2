internal import CommandSupport
internal import Configuration
internal import Fleet
internal import FleetStore
internal import LinuxHost
internal import Planner
internal import Sites

/// Reads the files that a site file names: its fleet and its picture.
enum SiteCompanions {
    /// If a site refers to a fleet, sets the site's beacons to those of the fleet.
    ///
    /// - Parameter file: The path of the site file; `-` for standard input.
    /// - Returns: The fleet, which is `nil` if the site has none, and warnings with their places in the site file.
    static func fillFleet(
        of site: inout Site, _ file: String
    ) throws -> (fleet: SiteFleet?, warnings: [FileProblem]) {
        guard let reference = site.fleet else { return (nil, []) }
        var siteFleet = SiteFleet(reference, of: site)
        let directory = reference.path.hasPrefix("/") || file == "-" ? "" : Files.directory(of: file)
        let manifest = try NamedFleet(path: directory + reference.path, isNamedInFile: true).plannedManifest()
        for beacon in manifest.beacons { siteFleet.add(beacon) }
        do throws(FileProblem) {
            return (siteFleet, try siteFleet.fill(&site))
        } catch {
            throw Failure(.configuration, error.text(file: Files.inputName(file)))
        }
    }

    /// Reads the picture of a site, if the site has one.
    ///
    /// - Parameter file: The path of the site file; `-` for standard input.
    static func readPicture(of site: inout Site, _ file: String) throws {
        do throws(FloorPictureError) {
            try site.readPicture(ofSite: file)
        } catch {
            throw Failure(error.isMissing ? .noInput : .dataFormat, error.problem.text(file: Files.inputName(file)))
        }
    }
}
