internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Sites

/// `site init`: writes a new site file, from a picture, from a drawing or from a size.
struct SiteInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a site file to start from.",
        discussion: """
            pharos site init museum --image plan.png --width-m 48
            pharos site init shop --from shop.geojson
            pharos site init hall --width-m 20 --height-m 12

            The picture is a PNG or JPEG file of the floor from above, with north at the top. --width-m is the \
            distance on the floor from the picture's left edge to its right edge. The picture's lower left corner \
            becomes the origin.

            --from takes GeoJSON, to which ogr2ogr converts DXF and other formats. The property "kind" or "layer" of a \
            feature must contain one of the words outline, wall, room, beacon, receiver, mount and path, in English or \
            German, in upper or lower case. An open outline is closed with a straight side. A wall has the \
            loss of its property "attenuationDb", or that of its "material" or layer: \(materials). Coordinates are \
            degrees, and need --reference, if the file names a coordinate system in degrees, or if all coordinates lie \
            within 0.1 of each other. All other coordinates are metres.
            """)

    private static let materials = WallMaterial.allCases.map {
        "\($0.rawValue) \(NumberFormat.significant($0.attenuation)) dB"
    }.joined(separator: ", ")

    @Argument(help: "Name of the site. The file is NAME.json.", completion: .file())
    var name: String

    @Option(
        help: ArgumentHelp("Picture of the floor, PNG or JPEG, which pages show behind the floor.", valueName: "file"),
        completion: .file())
    var image: String?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Width of the picture, or of the floor.", valueName: "m"),
        transform: Self.meters)
    var widthM: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Depth of the floor from south to north. With --image, it follows from the shape of the picture.",
            valueName: "m"),
        transform: Self.meters)
    var heightM: Double?

    @Option(
        help: ArgumentHelp(
            "Drawing of the floor in GeoJSON with its outline, walls, rooms, beacons, receivers, mounts and paths.",
            valueName: "file"), completion: .file())
    var from: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Place that becomes the origin, for a drawing in degrees.", valueName: "lon,lat"),
        transform: Self.reference)
    var reference: Pair?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Point of the drawing that becomes the origin, in metres.", valueName: "x,y"),
        transform: Self.origin)
    var origin: Pair?

    @Option(
        help: ArgumentHelp(
            "Unit of the drawing: \(LengthUnit.allCases.map(\.rawValue).joined(separator: ", ")) (default: m).",
            valueName: "unit"), completion: .list(LengthUnit.allCases.map(\.rawValue)), transform: Self.unit)
    var unit: LengthUnit?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Loss of walls that name neither a loss nor a material (default: 6).", valueName: "dB"),
        transform: { try PlanValue.number($0, in: 0...100, "dB") })
    var wallAttenuationDb: Double?

    @OptionGroup var replaceOption: ReplaceOption

    /// The value of an option that is two numbers, separated by a comma.
    struct Pair: Equatable {
        let first: Double
        let second: Double

        /// Parses two numbers; `nil` if the text is something else.
        init?(_ text: String) {
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
                Double(part.filter { $0 != " " }).flatMap { $0.isFinite ? $0 : nil }
            }
            guard numbers.count == 2, let first = numbers[0], let second = numbers[1] else { return nil }
            (self.first, self.second) = (first, second)
        }
    }

    /// A unit of length in drawings.
    enum LengthUnit: String, CaseIterable {
        case mm, cm, m
        case inch = "in"
        case ft

        var meters: Double {
            switch self {
            case .mm: 0.001
            case .cm: 0.01
            case .m: 1
            case .inch: 0.0254
            case .ft: 0.3048
            }
        }
    }

    private static func reference(_ text: String) throws -> Pair {
        guard let pair = Pair(text), abs(pair.first) <= 180, abs(pair.second) <= 90 else {
            throw Mistake("write the longitude and the latitude in degrees, such as 13.3777,52.5163")
        }
        return pair
    }

    private static func origin(_ text: String) throws -> Pair {
        guard let pair = Pair(text) else { throw Mistake("write two numbers of metres, such as 390000,5820000") }
        return pair
    }

    private static func unit(_ text: String) throws -> LengthUnit {
        guard let unit = LengthUnit(rawValue: text.lowercased()) else {
            throw OptionValue.unknown(text, LengthUnit.allCases.map(\.rawValue))
        }
        return unit
    }

    private static func meters(_ text: String) throws -> Double { try PlanValue.number(text, in: 0.1...100_000, "m") }

    func validate() throws {
        if image != nil, heightM != nil {
            throw ValidationError("Leave out --height-m: the height follows from the shape of the picture.")
        }
        if image != nil, widthM == nil {
            throw ValidationError("--image needs --width-m, the width of the picture on the floor in metres.")
        }
        if image == nil, from == nil, widthM == nil || heightM == nil {
            throw ValidationError(
                "Give a picture (--image and --width-m), a drawing (--from) or a size (--width-m and --height-m).")
        }
        if from != nil, image == nil, widthM != nil || heightM != nil {
            throw ValidationError("Leave out --width-m and --height-m: the drawing has the size of the floor.")
        }
        let drawingOptions: [(String, Bool)] = [
            ("--reference", reference != nil), ("--origin", origin != nil), ("--unit", unit != nil),
            ("--wall-attenuation-db", wallAttenuationDb != nil),
        ]
        if from == nil, let option = drawingOptions.first(where: \.1)?.0 {
            throw ValidationError("\(option) is for a drawing: add --from.")
        }
        if reference != nil, origin != nil || unit != nil {
            throw ValidationError("--reference is for degrees, --origin and --unit are for lengths: give one of them.")
        }
    }

    func run() throws {
        let path = name.hasSuffix(".json") ? name : name + ".json"
        var draft = SiteDraft(name: try Self.siteName(of: path))
        var size = (width: widthM ?? 0, height: heightM ?? 0)
        var source = ""
        if let image {
            let picture = try Self.picture(image)
            size.height = size.width * picture.aspectRatio
            guard size.height <= Site.extent else {
                throw Failure(.usage, "\(image): with this width the picture is higher than \(Int(Site.extent)) m")
            }
            draft.picture = (SitePath.relative(image, toFile: path), size.width, FloorPosition(x: 0, y: 0))
            source = ", from \(image) (\(picture.width) × \(picture.height) pixels)"
        }
        if size.width > 0 {
            draft.outline = [(0, 0), (size.width, 0), (size.width, size.height), (0, size.height)].map {
                FloorPosition(x: $0, y: $1)
            }
        }
        if let from {
            draft = try drawing(from, into: draft)
            source += ", from \(from)\(Self.counts(draft))"
        }
        let site = try write(draft, to: path)
        let bounds = site.bounds.map { [$0.width, $0.height] } ?? []
        let measures = bounds.map { NumberFormat.significant($0) + " m" }.joined(separator: " × ")
        Terminal.show(
            TerminalText.line("Wrote \(path): \(measures)\(source).") + "\n"
                + TerminalText.line("Next: pharos plan site \(path) --html \(path.dropLast(5)).html") + "\n")
    }

    /// Returns the name of a new site, which is the name of its file without `.json`.
    private static func siteName(of path: String) throws -> String {
        let stem = InputFile.stem(of: path)
        var decoder = ConfigurationDecoder()
        let name = decoder.name(JSONNode(.string(stem), at: JSONPosition(line: 1, column: 1), path: .root))
        guard let name else { throw Failure(.usage, decoder.problems.map(\.message)) }
        return name
    }

    private static func picture(_ path: String) throws -> PictureFile {
        let octets = try InputFile.read(path, limit: PictureFile.octetLimit)
        do throws(PictureFile.Fault) {
            return try PictureFile(octets)
        } catch {
            throw Failure(.dataFormat, "\(path) \(error)")
        }
    }

    /// Returns a draft with the parts of a drawing added.
    private func drawing(_ path: String, into draft: SiteDraft) throws -> SiteDraft {
        let octets = try InputFile.read(path, limit: PlanSite.sizeLimit)
        var options = FloorImport.Options()
        options.metersPerUnit = unit?.meters
        options.reference = reference.map { ($0.first, $0.second) }
        options.origin = origin.map { FloorPosition(x: $0.first, y: $0.second) }
        if let wallAttenuationDb { options.wallAttenuation = wallAttenuationDb }
        let (drawn, problems) = FloorImport.read(octets, into: draft, options)
        let name = Files.inputName(path)
        guard let drawn else { throw Failure(problems, of: name) }
        for line in FileProblem.lines(problems, file: name) { Terminal.writeMessage(line) }
        return drawn
    }

    /// Returns the numbers of the parts of a drawing, such as ` with 3 walls and 1 room`.
    private static func counts(_ draft: SiteDraft) -> String {
        let counts = [
            (draft.walls.count, "wall"), (draft.rooms.count, "room"), (draft.beacons.count, "beacon"),
            (draft.receivers.count, "receiver"), (draft.mounts.count, "mount"), (draft.paths.count, "path"),
        ]
        let parts = counts.filter { $0.0 > 0 }.map { NumberFormat.count($0.0, $0.1) }
        guard let lastPart = parts.last else { return "" }
        let otherParts = parts.dropLast().joined(separator: ", ")
        return " with " + (otherParts.isEmpty ? lastPart : "\(otherParts) and \(lastPart)")
    }

    /// Writes the draft. Throws an error if it has errors that `pharos site check` would report.
    ///
    /// - Returns: The site of the draft.
    private func write(_ draft: SiteDraft, to path: String) throws -> Site {
        let text = draft.text
        let (site, problems) = Site.decode(Array(text.utf8))
        guard let site else {
            let reasons = problems.filter { $0.severity == .error }.map { "\($0.path): \($0.message)" }
            throw Failure(.configuration, reasons.map { "\(path) was not written: \($0)" })
        }
        try replaceOption.write(text, to: path)
        return site
    }
}

/// Converts paths of files that other files name.
enum SitePath {
    /// Converts a path that is relative to the working directory into a path that is relative to the directory of
    /// `file`.
    ///
    /// If the relative path cannot be derived from the texts of both paths, the result is absolute.
    static func relative(_ path: String, toFile file: String) -> String {
        let directory = Files.directory(of: file)
        if path.hasPrefix("/") || directory.isEmpty { return path }
        if path.hasPrefix(directory) { return String(path.dropFirst(directory.count)) }
        let steps = directory.split(separator: "/").filter { $0 != "." }
        if !directory.hasPrefix("/"), !steps.contains("..") {
            return String(repeating: "../", count: steps.count) + path
        }
        return Files.resolved(path) ?? path
    }
}
