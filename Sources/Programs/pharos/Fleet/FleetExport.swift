internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import Fleet
internal import FleetStore
internal import LinuxHost

struct FleetExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write a fleet for other programs.",
        subcommands: [
            FleetExportAnsible.self, FleetExportCSV.self, FleetExportGeoJSON.self, FleetExportHomeAssistant.self,
            FleetExportPrometheus.self,
        ])

    /// Prints on standard error how many beacons an export leaves out and why, with the names of at most five of them.
    static func warn(_ omitted: [String], _ reason: String) {
        guard !omitted.isEmpty else { return }
        let names = omitted.prefix(5).joined(separator: ", ") + (omitted.count > 5 ? ", …" : "")
        Terminal.writeMessage("\(NumberFormat.count(omitted.count, "beacon")) \(reason): \(names)")
    }
}

/// The option for the file that an export writes.
struct ExportOutput: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to write (default: standard output).", valueName: "file"),
        completion: .file())
    var output = "-"

    /// Throws an error if the export would replace the fleet that it is made from.
    func refuseOverwriting(_ source: FleetArgument) throws {
        try OutputFiles.refuseOverwriting(
            [("--output", output)], read: [source.fleet, source.fleet + "/manifest.json"])
    }

    /// Writes the export. Throws an error if it would replace a table or the lock of the fleet.
    func write(_ text: String, of source: FleetArgument) throws {
        if Files.exists(output) {
            try OutputFiles.refuseOverwriting([("--output", output)], read: try source.named.sources())
        }
        try ExportFile.write(text, to: output)
    }
}

struct FleetExportCSV: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "csv", abstract: "Write a table for spreadsheets with a line for each advertisement.",
        discussion: """
            If the fleet file names a table, the columns have the names of that table. If a beacon has a title, the \
            titles are the second column. Cells are separated by commas, and numbers have decimal points, as other \
            programs expect.

            With --output, the file begins with a byte order mark, which spreadsheets need to detect UTF-8. Standard \
            output has no byte order mark, because other programs do not expect it.
            """)

    @OptionGroup var source: FleetArgument
    @OptionGroup var destination: ExportOutput

    func validate() throws { try destination.refuseOverwriting(source) }

    func run() throws {
        let byteOrderMark = destination.output == "-" ? "" : FleetSpreadsheet.byteOrderMark
        let names = try source.named.columnNames()
        let text = try FleetSpreadsheet.text(source.manifest(), names: names)
        try destination.write(byteOrderMark + text, of: source)
    }
}

struct FleetExportHomeAssistant: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "homeassistant",
        abstract: "Write known_devices.yaml for Home Assistant's bluetooth_le_tracker.",
        discussion: "Put the file next to configuration.yaml. If a file exists there, merge the two by hand."
    )

    @OptionGroup var source: FleetArgument
    @OptionGroup var destination: ExportOutput

    func validate() throws { try destination.refuseOverwriting(source) }

    func run() throws {
        let (text, omitted) = KnownDevices.text(try source.manifest())
        try destination.write(text, of: source)
        FleetExport.warn(omitted, "without an address that stays the same, left out")
    }
}

struct FleetExportPrometheus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prometheus",
        abstract: "Write targets and alert rules for silent beacons, stale metrics and wrong profiles.",
        discussion: """
            Writes pharos-targets.json (for file_sd_configs) and pharos-alerts.yml (for rule_files). Prometheus \
            queries node_exporter on the machines, whose textfile collector reads the files of `pharos run \
            --metrics-file`.
            """)

    @OptionGroup var source: FleetArgument

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The directory to write into.", valueName: "directory"),
        completion: .directory)
    var output: String

    @Option(help: "The TCP port of node_exporter on the machines.")
    var port: Int = 9100

    func validate() throws {
        try OptionValue.check("--port", port, in: 1...65535)
    }

    func run() throws {
        let prometheus = PrometheusFleet(try source.manifest(), port: port)
        try Files.makeDirectory(output)
        try ExportFile.write(prometheus.targets, to: output + "/pharos-targets.json")
        try ExportFile.write(prometheus.rules, to: output + "/pharos-alerts.yml")
        FleetExport.warn(prometheus.withoutHost, "without a host, which Prometheus cannot query")
    }
}

struct FleetExportAnsible: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ansible",
        abstract: "Write an Ansible inventory, role and playbook that install everything on each machine.",
        discussion: """
            Then run, in that directory, on a machine with access by ssh:

              ansible-playbook rollout.json -e pharos_package=pharos_\(CommandProgram.version)_arm64.deb

            The playbook changes one machine first, then ten, then a quarter of all machines at a time. It stops at a \
            machine whose beacons are not on the air in time. Files with the right contents are not changed. Profiles, \
            keys and drop-ins of earlier roll-outs that are no longer in the fleet are removed; other files stay. \
            Optional variables (-e, or group_vars/all.json):

              pharos_package         the Debian package to install, or
              pharos_binary          the static program alone, with its units
              pharos_keys_directory  the directory that `pharos fleet keys` fills
              pharos_keys            or the keys: {"NAME.key": "32 digits"}, in a
                                     file that ansible-vault encrypts
              pharos_batches         machines at a time: [1, 10, "25%"]
              pharos_wait_s          seconds to wait for the beacons: 60
              pharos_root            a mounted image, such as an SD card, to
                                     prepare for its first boot
            """)

    @OptionGroup var source: FleetArgument

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The directory to write into. Other files in it are not changed.", valueName: "directory"),
        completion: .directory)
    var output: String

    func run() throws {
        let manifest = try source.manifest()
        let inventory: AnsibleInventory
        do throws(AnsibleInventoryError) {
            inventory = try AnsibleInventory(manifest)
        } catch {
            throw Failure(.configuration, "\(error)")
        }
        guard inventory.machineCount > 0 else {
            throw Failure(
                .configuration, "\(source.fleet): no beacon has a host, so Ansible cannot reach any machine")
        }
        let profiles = try NamedFleet(path: source.fleet).profiles(of: manifest.beacons.filter { $0.host != nil })
        try AnsibleFolder(output, fleet: manifest.fleet).write(inventory, profiles)
        FleetExport.warn(inventory.withoutHost, "without a host, which Ansible cannot reach, left out")
        if let missing = try FleetKeys(of: source.named).missingKeys() { Terminal.writeMessage(missing) }
        let beacons = NumberFormat.count(inventory.beacons.count, "beacon")
        let keys = inventory.keys.isEmpty ? "" : " -e pharos_keys_directory=FOLDER"
        Terminal.show(
            """
            \(TerminalText.line(output)): \(beacons) on \(NumberFormat.count(inventory.machineCount, "machine")).
            Next, in that directory: ansible-playbook rollout.json -e pharos_package=FILE.deb\(keys)

            """)
    }
}

struct FleetExportGeoJSON: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "geojson", abstract: "Write a map with a point for each beacon.",
        discussion: """
            Positions in metres need the position of the plan's origin on the globe:

              --anchor 52.5,13.4         the origin, for all sites
              --anchor 52.5,13.4,30      if the plan's second axis points 30 degrees
                                         east of north
              --anchor museum=52.5,13.4  for one site
            """)

    @OptionGroup var source: FleetArgument
    @OptionGroup var destination: ExportOutput

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Position of the origin of a site's plan, in degrees. May be repeated.",
            valueName: "[site=]latitude,longitude[,bearing]"),
        transform: SiteAnchor.init)
    var anchor: [SiteAnchor] = []

    func validate() throws { try destination.refuseOverwriting(source) }

    func run() throws {
        let commonAnchor = anchor.last { $0.site == nil }?.anchor
        let siteAnchors = anchor.compactMap { entry in entry.site.map { ($0, entry.anchor) } }
        let manifest = try source.manifest()
        let sites = Set(manifest.beacons.compactMap(\.site))
        for (name, _) in siteAnchors where !sites.contains(name) {
            let known = sites.isEmpty ? "it has none" : "it has " + sites.sorted().prefix(20).joined(separator: ", ")
            throw Failure(.usage, "--anchor \(name)=…: there is no site of that name in \(source.fleet); \(known)")
        }
        let map = FleetMap(
            manifest, defaultOrigin: commonAnchor, originsOfSites: Dictionary(siteAnchors) { _, last in last })
        try destination.write(map.text, of: source)
        FleetExport.warn(map.withoutPoint, "without a position on the globe, listed without a point (see --anchor)")
    }
}

/// The value of `--anchor`: the geographic position of a site's origin, and the direction of its floor plan.
struct SiteAnchor {
    let site: String?
    let anchor: FleetMap.GlobeOrigin

    init(_ text: String) throws {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        let numbers = parts.last.map { $0.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) } }
        guard parts.count <= 2, let numbers, (2...3).contains(numbers.count), let latitude = numbers[0],
            let longitude = numbers[1], let bearing = numbers.count == 3 ? numbers[2] : 0
        else { throw Mistake("write latitude and longitude in degrees, such as 52.5,13.4") }
        guard let anchor = FleetMap.GlobeOrigin(latitude: latitude, longitude: longitude, bearing: bearing) else {
            throw Mistake("latitudes are -85...85 and longitudes -180...180 degrees")
        }
        site = parts.count == 2 ? String(parts[0]) : nil
        self.anchor = anchor
    }
}
