internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import Fleet
internal import LinuxHost

struct FleetList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the beacons of a fleet and what they send.",
        discussion: """
            One line for each advertisement. With --json, one line for each beacon, with the keys of manifest.json.
            """)

    @OptionGroup var source: FleetArgument
    @OptionGroup var filter: BeaconFilter

    @Option(
        help: ArgumentHelp("Only advertisements of this type, such as ibeacon. May be repeated.", valueName: "type"))
    var type: [String] = []

    @Flag(help: "Print one JSON object a line for each beacon.")
    var json = false

    func run() throws {
        let manifest = try source.manifest()
        var beacons = try filter.apply(to: manifest.beacons, of: source.fleet)
        if !type.isEmpty {
            let types = Set(type)
            for index in beacons.indices { beacons[index].advertisements.removeAll { !types.contains($0.type) } }
            beacons.removeAll { $0.advertisements.isEmpty }
        }
        guard !json else {
            for beacon in beacons { Terminal.write(String(decoding: beacon.line, as: UTF8.self) + "\n") }
            return
        }
        var table = Table(
            ["beacon", "group", "adapter", "type", "identity", "interval ms"],
            alignment: [.left, .left, .left, .left, .left, .right])
        for beacon in beacons {
            for advertisement in beacon.advertisements {
                table.add([
                    beacon.name, beacon.group.isEmpty ? "-" : beacon.group.joined(separator: "/"),
                    Self.printable(beacon.adapter ?? "-"), advertisement.type,
                    Self.printable(Self.text(advertisement.identity)),
                    JSONNumber(thousandths: advertisement.intervalMicroseconds).text,
                ])
            }
        }
        Terminal.write(table.text)
    }

    private static func text(_ identity: FleetManifest.Identity) -> String {
        switch identity {
        case .iBeacon(let uuid, let major, let minor): "\(uuid.uuidText) \(major) \(minor)"
        case .altBeacon(_, let id): id.description
        case .eddystoneUID(let namespace, let instance): "\(namespace) \(instance)"
        case .eddystoneURL(let url): url
        case .none: "-"
        }
    }

    /// A manifest may have been written by anybody, who shall not write to the terminal.
    private static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map {
                    $0.value < 0x20 || $0.value == 0x7F || (0x80..<0xA0).contains($0.value) ? "\u{FFFD}" : $0
                }))
    }
}
