internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import LinuxHost

/// `pharos sample`: prints or writes files of the repository's directory `profiles`, which are embedded in the program.
struct SampleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sample", abstract: "Print a sample file, or write it to a file.",
        discussion: """
            pharos sample
            pharos sample lobby-ibeacon --output lobby.json
            pharos sample fleets/museum

            Without a name, it lists the samples. Some samples contain the relative paths of other samples. --all writes \
            all samples into one directory, so that these paths are right.
            """)

    @Argument(
        help: "Name of the sample, such as lobby-ibeacon.", completion: .list(Sample.all.map(\.name)),
        transform: Sample.named)
    var sample: Sample?

    @Option(help: ArgumentHelp("Write the sample to this new file.", valueName: "file"), completion: .file())
    var output: String?

    @Option(
        help: ArgumentHelp("Write all samples into this directory.", valueName: "directory"), completion: .directory)
    var all: String?

    func validate() throws {
        if all != nil, sample != nil || output != nil {
            throw ValidationError("--all writes every sample: leave out the name and --output.")
        }
        if output != nil, sample == nil { throw ValidationError("Name the sample that --output is for.") }
    }

    func run() throws {
        if let all { return try writeAll(to: all) }
        guard let sample else { return Terminal.show(Self.list) }
        guard let output else { return Terminal.write(sample.octets) }
        try NewFile.write(sample.octets, to: output)
        Terminal.writeLine("Wrote \(output).")
    }

    private static var list: String {
        var table = Table(["sample", "contents"])
        for sample in Sample.all { table.add([sample.name, sample.summary]) }
        return table.text
    }

    private func writeAll(to directory: String) throws {
        for folder in [directory] + Set(Sample.all.compactMap(\.folder)).sorted().map({ "\(directory)/\($0)" }) {
            do throws(SystemError) {
                try Files.makeDirectory(folder)
            } catch {
                throw Failure(.osError, "\(folder): \(error.text)")
            }
        }
        for sample in Sample.all { try NewFile.write(sample.octets, to: "\(directory)/\(sample.fileName)") }
        Terminal.writeLine("Wrote \(Sample.all.count) samples to \(directory).")
    }
}

/// An embedded file of the directory `profiles`.
struct Sample: Sendable {
    /// The path of the file in `profiles`, without `.json`.
    let name: String
    let summary: String
    private let contents: [UInt8]

    /// The path of the file in `profiles`.
    var fileName: String { isJSON ? name + ".json" : name }

    private var isJSON: Bool { ![".csv", ".geojson", ".png"].contains { name.hasSuffix($0) } }

    /// The subdirectory of the file; `nil` if it is directly in `profiles`.
    var folder: String? {
        let parts = name.split(separator: "/")
        return parts.count > 1 ? String(parts[0]) : nil
    }

    /// The contents of the file. In JSON files, the path in `$schema` is replaced by the path at which the package
    /// installs the schema.
    var octets: [UInt8] {
        guard isJSON else { return contents }
        let text = String(decoding: contents, as: UTF8.self)
            .replacing("\"../schema/", with: "\"schema/")
            .replacing("\"schema/", with: "\"/usr/share/pharos/schema/")
        return Array(text.utf8)
    }

    /// Finds a sample by its name, with or without `.json`.
    ///
    /// - Throws: A ``Mistake`` that suggests the nearest name.
    static func named(_ text: String) throws -> Sample {
        let name = text.hasSuffix(".json") ? String(text.dropLast(5)) : text
        if let sample = all.first(where: { $0.name == name }) { return sample }
        let advice = NearestWord.find(name, among: all.map(\.name)).map { "did you mean \($0)? " } ?? ""
        throw Mistake(advice + "`pharos sample` lists the names")
    }

    static let all: [Sample] = [
        Sample(
            name: "lobby-ibeacon", summary: "one iBeacon", contents: PackageResources.lobby_ibeacon_json),
        Sample(
            name: "door-pattern", summary: "one iBeacon with two intervals that take turns",
            contents: PackageResources.door_pattern_json),
        Sample(
            name: "lobby-north", summary: "iBeacon, Eddystone-UID, URL and telemetry from one machine",
            contents: PackageResources.lobby_north_json),
        Sample(
            name: "lobby-private", summary: "Eddystone-EID with encrypted telemetry",
            contents: PackageResources.lobby_private_json),
        Sample(name: "eddystone-uid", summary: "one Eddystone-UID", contents: PackageResources.eddystone_uid_json),
        Sample(
            name: "eddystone-url", summary: "one Eddystone-URL, a web address",
            contents: PackageResources.eddystone_url_json),
        Sample(
            name: "eddystone-tlm", summary: "telemetry: temperature, battery, uptime",
            contents: PackageResources.eddystone_tlm_json),
        Sample(name: "eddystone-eid", summary: "one Eddystone-EID", contents: PackageResources.eddystone_eid_json),
        Sample(name: "altbeacon", summary: "one AltBeacon", contents: PackageResources.altbeacon_json),
        Sample(
            name: "bthome", summary: "values of this machine in BTHome, for Home Assistant",
            contents: PackageResources.bthome_json),
        Sample(
            name: "home-assistant", summary: "an iBeacon with a name, which Home Assistant needs",
            contents: PackageResources.home_assistant_json),
        Sample(
            name: "warehouse", summary: "an AltBeacon with a local name", contents: PackageResources.warehouse_json),
        Sample(
            name: "thesis-node", summary: "AD structures of your own", contents: PackageResources.thesis_node_json),
        Sample(
            name: "fleets/museum", summary: "a fleet: rooms on floors, three frames from each machine",
            contents: PackageResources.fleets_museum_json),
        Sample(
            name: "fleets/shop", summary: "a fleet: several shops, Eddystone-UID from a domain name",
            contents: PackageResources.fleets_shop_json),
        Sample(
            name: "fleets/car-park", summary: "a fleet whose beacons are in a table",
            contents: PackageResources.fleets_car_park_json),
        Sample(
            name: "fleets/car-park.csv", summary: "the table of fleets/car-park",
            contents: PackageResources.fleets_car_park_csv),
        Sample(
            name: "sites/museum-ground-floor", summary: "a floor with walls, beacons and a target",
            contents: PackageResources.sites_museum_ground_floor_json),
        Sample(
            name: "sites/museum-from-fleet", summary: "a floor whose beacons come from fleets/museum",
            contents: PackageResources.sites_museum_from_fleet_json),
        Sample(
            name: "sites/shop-plan.png", summary: "the picture of a floor, 24 m wide",
            contents: PackageResources.sites_shop_plan_png),
        Sample(
            name: "sites/shop-plan.geojson", summary: "the same floor as a drawing",
            contents: PackageResources.sites_shop_plan_geojson),
        Sample(
            name: "scanners/our-visitors", summary: "scanners for the planner, with names of your own",
            contents: PackageResources.scanners_our_visitors_json),
        Sample(
            name: "listeners/desk", summary: "a listener: who is at which desk",
            contents: PackageResources.listeners_desk_json),
        Sample(
            name: "listeners/living-room", summary: "a listener for Home Assistant, over MQTT",
            contents: PackageResources.listeners_living_room_json),
        Sample(
            name: "listeners/hall", summary: "a listener: one receiver of collectors/museum",
            contents: PackageResources.listeners_hall_json),
        Sample(
            name: "collectors/museum", summary: "a collector: the receivers of a site",
            contents: PackageResources.collectors_museum_json),
        Sample(
            name: "inventories/museum-tools", summary: "an inventory of tools",
            contents: PackageResources.inventories_museum_tools_json),
    ]
}
