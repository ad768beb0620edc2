internal import ArgumentParser
internal import Fleet
internal import FleetStore

struct FleetExportGeoJSON: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "geojson", abstract: "Write a map with a point for each beacon.",
        discussion: """
            Positions in metres on a plan need to know where the plan lies: --anchor 52.5,13.4 for its origin, \
            --anchor 52.5,13.4,30 when its second axis points 30 degrees east of north, --anchor museum=52.5,13.4 for one \
            site of several.
            """)

    @OptionGroup var source: FleetArgument
    @OptionGroup var destination: ExportOutput

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Where the origin of a site's plan lies, in degrees; may be given more than once.",
            valueName: "[site=]latitude,longitude[,bearing]"),
        transform: SiteAnchor.init)
    var anchor: [SiteAnchor] = []

    func run() throws {
        let general = anchor.last { $0.site == nil }?.anchor
        let own = anchor.compactMap { entry in entry.site.map { ($0, entry.anchor) } }
        let manifest = try source.manifest()
        let sites = Set(manifest.beacons.compactMap(\.site))
        for (name, _) in own where !sites.contains(name) {
            let known = sites.isEmpty ? "it has none" : "it has " + sites.sorted().prefix(20).joined(separator: ", ")
            throw Failure(.usage, "--anchor \(name)=…: there is no site of that name in \(source.fleet); \(known)")
        }
        let map = FleetMap(
            manifest, anchor: general, anchors: Dictionary(own) { _, last in last })
        try OutputFile.write(map.text, to: destination.output)
        FleetExport.warn(map.withoutPoint, "without a place on the globe, listed without a point (see --anchor)")
    }
}

/// The value of `--anchor`.
struct SiteAnchor {
    let site: String?
    let anchor: FleetMap.Anchor

    init(_ text: String) throws {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        let numbers = parts.last.map { $0.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) } }
        guard parts.count <= 2, let numbers, (2...3).contains(numbers.count), let latitude = numbers[0],
            let longitude = numbers[1], let bearing = numbers.count == 3 ? numbers[2] : 0
        else { throw Mistake("write latitude and longitude in degrees, such as 52.5,13.4") }
        guard let anchor = FleetMap.Anchor(latitude: latitude, longitude: longitude, bearing: bearing) else {
            throw Mistake("latitudes are -85...85 and longitudes -180...180 degrees")
        }
        site = parts.count == 2 ? String(parts[0]) : nil
        self.anchor = anchor
    }
}
