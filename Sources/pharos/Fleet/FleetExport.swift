internal import ArgumentParser
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

    /// Says on standard error whom an export could not take, at most a few by name.
    static func warn(_ left: [String], _ why: String) {
        guard !left.isEmpty else { return }
        let names = left.prefix(5).joined(separator: ", ") + (left.count > 5 ? ", …" : "")
        Terminal.writeError("pharos: \(left.count) \(left.count == 1 ? "beacon" : "beacons") \(why): \(names)\n")
    }
}

/// Where one file goes.
struct ExportOutput: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to write (default: standard output).", valueName: "file"),
        completion: .file())
    var output = "-"
}

struct FleetExportCSV: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "csv", abstract: "Write a table for spreadsheets: one line for each advertisement.",
        discussion: """
            With --output the file begins with a byte order mark, which spreadsheets need to see UTF-8. Standard output has \
            none, for programs that read it.
            """)

    @OptionGroup var source: FleetArgument
    @OptionGroup var destination: ExportOutput

    func run() throws {
        let mark = destination.output == "-" ? "" : FleetSpreadsheet.byteOrderMark
        try OutputFile.write(mark + FleetSpreadsheet.text(source.manifest()), to: destination.output)
    }
}

struct FleetExportHomeAssistant: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "homeassistant",
        abstract: "Write known_devices.yaml for Home Assistant's bluetooth_le_tracker.",
        discussion: "It belongs beside configuration.yaml. Keep devices of a file that is already there by hand."
    )

    @OptionGroup var source: FleetArgument
    @OptionGroup var destination: ExportOutput

    func run() throws {
        let (text, left) = KnownDevices.text(try source.manifest())
        try OutputFile.write(text, to: destination.output)
        FleetExport.warn(left, "without an address that stays the same, left out")
    }
}

struct FleetExportPrometheus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prometheus",
        abstract: "Write targets and alert rules: silent beacons, stale metrics, wrong profiles.",
        discussion: """
            Writes pharos-targets.json (for file_sd_configs) and pharos-alerts.yml (for rule_files). Boxes are asked by \
            way of node_exporter, whose textfile collector reads what `pharos run --metrics-file` writes.
            """)

    @OptionGroup var source: FleetArgument

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The directory to write into.", valueName: "directory"),
        completion: .directory)
    var output: String

    @Option(help: "Where node_exporter listens on the boxes.")
    var port: Int = 9100

    func validate() throws {
        guard (1...65535).contains(port) else { throw ValidationError("--port \(port) is out of range 1...65535.") }
    }

    func run() throws {
        let prometheus = PrometheusFleet(try source.manifest(), port: port)
        try Files.makeDirectory(output)
        try OutputFile.write(prometheus.targets, to: output + "/pharos-targets.json")
        try OutputFile.write(prometheus.rules, to: output + "/pharos-alerts.yml")
        FleetExport.warn(prometheus.withoutHost, "without a host, which Prometheus cannot ask")
    }
}
