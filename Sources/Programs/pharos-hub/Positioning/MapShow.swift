internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Positioning

struct MapShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a map: signal levels, position errors, and where another beacon or recording would help.",
        discussion: """
            pharos map show map.json
            pharos map show map.json --html map.html --site museum-site.json
            pharos map show map.json --beacon ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-2 --svg beacon.svg

            The page shows the predicted and the measured levels of each beacon, the number of beacons received, the \
            expected error, the places that are mistaken for each other, and where another beacon or recording would \
            help most.
            """)

    /// The values that the colours of the drawing show.
    enum Layer: String, CaseIterable {
        case error
        case heard
    }

    @Argument(help: "A map, or - for standard input.", completion: .file())
    var map: String

    @Option(
        help: ArgumentHelp("Write one self-contained page to this file.", valueName: "file"), completion: .file(),
        transform: OptionValue.page)
    var html: String?

    @Option(help: ArgumentHelp("Write a drawing for print to this file.", valueName: "file"), completion: .file())
    var svg: String?

    @Option(
        help: ArgumentHelp("Draw the picture, the walls and the outline of this site.", valueName: "site"),
        completion: .file())
    var site: String?

    @Option(
        help: ArgumentHelp(
            "The values to show: error (the expected error) or heard (the number of beacons received) (default: error).",
            valueName: "layer"),
        completion: .list(Layer.allCases.map(\.rawValue)), transform: OptionValue.named)
    var layer: Layer?

    @Option(help: ArgumentHelp("Show the levels of this beacon instead of --layer.", valueName: "key"))
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
        let isDrawn = html != nil || svg != nil
        let site = try site.map { path in try isDrawn ? MapFile.drawnSite(path) : MapFile.site(path) }
        let subject = try subject(map)
        let analysis = try MapAnalysis(map)
        let layer = MapLayer(subject, of: analysis)
        if let html {
            let page = MapPage(analysis, command: CommandProgram.commandLine, site: site)
            try MapFile.write(page.html, to: html)
        }
        if let svg {
            guard let layer else {
                throw Failure(
                    .dataFormat, "\(self.map): no place of this map has a position, so there is nothing to draw")
            }
            let title = map.site.map { "Signal map of \($0)" } ?? "Signal map"
            try MapFile.write(MapDrawing(analysis, layer: layer, title: title, site: site).svg, to: svg)
        }
        if html == "-" || svg == "-" { return }
        if json { return Terminal.write(MapSummary(analysis).json.line + "\n") }
        if html == nil, svg == nil {
            Terminal.show(text(analysis, layer))
        } else {
            for file in [html, svg].compactMap({ $0 }) { Terminal.writeLine("wrote \(file)") }
        }
    }

    private func subject(_ map: SignalMap) throws -> MapLayer.Subject {
        guard let beacon else { return layer == .heard ? .heard : .expectedError }
        guard let number = BeaconKey(beacon).flatMap({ map.number(of: $0) }) else {
            throw Failure(
                .usage,
                "--beacon \(TerminalText.quoted(beacon)): the map has no such beacon; `pharos map show --json` lists all beacons"
            )
        }
        return .beacon(number)
    }

    private func text(_ analysis: MapAnalysis, _ layer: MapLayer?) -> String {
        let summary = MapSummary(analysis)
        var text = TerminalText.line(summary.answer) + "\n\n"
        if let layer {
            text += MapHeatMap(analysis, layer: layer, width: Terminal.columns, isPlain: Terminal.isPlain).text
            text += "\n"
        }
        for sentence in summary.advice { text += TerminalText.line(sentence) + "\n" }
        return text
    }
}
