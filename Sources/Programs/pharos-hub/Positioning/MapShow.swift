internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Positioning

struct MapShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a map: its field, its errors, and what would help.",
        discussion: """
            pharos map show map.json
            pharos map show map.json --html map.html --site museum-site.json
            pharos map show map.json --beacon ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206/1/2 --svg beacon.svg

            The page shows the field of each beacon with what was measured, how many beacons are heard, the error to be \
            expected, which places are taken for each other, and where one more beacon or stay would help most.
            """)

    /// What the colours show.
    enum Layer: String, CaseIterable {
        case error
        case heard
    }

    @Argument(help: "A map that `pharos map fit` wrote, or - for standard input.", completion: .file())
    var map: String

    @Option(help: ArgumentHelp("Write one self-contained page to this file.", valueName: "file"), completion: .file())
    var html: String?

    @Option(help: ArgumentHelp("Write a drawing for print to this file.", valueName: "file"), completion: .file())
    var svg: String?

    @Option(
        help: ArgumentHelp("Draw the walls and the outline of this site.", valueName: "site"), completion: .file())
    var site: String?

    @Option(
        help: ArgumentHelp(
            "What the heat map and the drawing show: error, or heard for how many beacons (default: error).",
            valueName: "layer"),
        completion: .list(Layer.allCases.map(\.rawValue)), transform: MapValue.named)
    var layer: Layer?

    @Option(help: ArgumentHelp("Show the field of this beacon instead.", valueName: "key"))
    var beacon: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if beacon != nil, layer != nil { throw ValidationError("Give --beacon or --layer, not both.") }
        for file in [html, svg].compactMap({ $0 }) where file == "-" && json || file == "-" && html == svg {
            throw ValidationError("Only one of --html, --svg and --json can go to standard output.")
        }
        try OutputFiles.refuseOverwriting([("--html", html), ("--svg", svg)], read: [map, site])
    }

    func run() throws {
        let map = try MapFile.read(map)
        let site = try site.map { path in try MapFile.site(path) }
        let subject = try subject(map)
        let picture = try MapPicture(map)
        let layer = MapLayer(subject, of: picture)
        if let html {
            let command = ShellText.line(["pharos"] + CommandLine.arguments.dropFirst())
            try MapFile.write(MapPage(picture, command: command, site: site).html, to: html)
        }
        if let svg {
            guard let layer else {
                throw Failure(
                    .dataFormat, "\(self.map): no place of this map has a position, so there is no plan to draw")
            }
            let title = map.site.map { "Map of \($0)" } ?? "A map of signals"
            try MapFile.write(MapDrawing(picture, layer: layer, title: title, site: site).svg, to: svg)
        }
        if html == "-" || svg == "-" { return }
        if json { return Terminal.write(MapSummary(picture).json.line + "\n") }
        if html == nil, svg == nil {
            Terminal.write(text(picture, layer))
        } else {
            for file in [html, svg].compactMap({ $0 }) { Terminal.write("wrote \(file)\n") }
        }
    }

    /// Whether the terminal says that it has no more than ASCII.
    private var isPlain: Bool {
        let encoding =
            Terminal.environment("LC_ALL") ?? Terminal.environment("LC_CTYPE") ?? Terminal.environment("LANG")
        return encoding.map { !$0.uppercased().contains("UTF") } ?? false
    }

    private func subject(_ map: SignalMap) throws -> MapLayer.Subject {
        guard let beacon else { return layer == .heard ? .heard : .expectedError }
        guard let number = BeaconKey(beacon).flatMap({ map.number(of: $0) }) else {
            throw Failure(
                .usage,
                "--beacon \(TerminalText.quoted(beacon)): the map has no such beacon; `pharos map show --json` names all"
            )
        }
        return .beacon(number)
    }

    private func text(_ picture: MapPicture, _ layer: MapLayer?) -> String {
        let summary = MapSummary(picture)
        var text = TerminalText.line(summary.answer) + "\n\n"
        if let layer {
            text += MapHeatMap(picture, layer: layer, width: Terminal.columns, isPlain: isPlain).text
            text += "\n"
        }
        for sentence in summary.advice { text += TerminalText.line(sentence) + "\n" }
        return text
    }
}
