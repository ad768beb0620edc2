internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Sites

/// `site init`: writes a first site file, from a picture or from a size.
struct SiteInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a site file to start from.",
        discussion: """
            pharos site init museum --image plan.png --width-m 48
            pharos site init hall --width-m 20 --height-m 12

            The picture is a PNG or JPEG file of the floor from above, with north at the top. --width-m is the length on the \
            floor from its left edge to its right edge. The lower left corner becomes the origin.
            """)

    @Argument(help: "Name of the site. The file is NAME.json.", completion: .file())
    var name: String

    @Option(
        help: ArgumentHelp("Picture of the floor, PNG or JPEG, which pages draw behind it.", valueName: "file"),
        completion: .file())
    var image: String?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Width of the picture, or of the floor.", valueName: "m"),
        transform: Self.meters)
    var widthM: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Depth of the floor from south to north. With a picture, its shape decides.", valueName: "m"),
        transform: Self.meters)
    var heightM: Double?

    @Flag(help: "Replace the file if it exists.")
    var force = false

    private static func meters(_ text: String) throws -> Double { try PlanValue.number(text, in: 0.1...100_000, "m") }

    func validate() throws {
        if image != nil, heightM != nil {
            throw ValidationError("Leave out --height-m: the height follows from the shape of the picture.")
        }
        if image != nil, widthM == nil {
            throw ValidationError("--image needs --width-m, the width of the picture on the floor in metres.")
        }
        if image == nil, widthM == nil || heightM == nil {
            throw ValidationError("Give a picture, --image and --width-m, or a size, --width-m and --height-m.")
        }
    }

    func run() throws {
        let path = name.hasSuffix(".json") ? name : name + ".json"
        var draft = SiteDraft(name: try Self.siteName(of: path))
        var size = (width: widthM ?? 0, height: heightM ?? 0)
        var origin = ""
        if let image {
            let picture = try Self.picture(image)
            size.height = size.width * picture.aspectRatio
            guard size.height <= Site.extent else {
                throw Failure(.usage, "\(image): with this width the picture is higher than \(Int(Site.extent)) m")
            }
            draft.picture = (SitePath.relative(image, toFile: path), size.width, FloorPosition(x: 0, y: 0))
            origin = ", from \(image) (\(picture.width) × \(picture.height) pixels)"
        }
        draft.outline = [(0, 0), (size.width, 0), (size.width, size.height), (0, size.height)].map {
            FloorPosition(x: $0, y: $1)
        }
        try Self.write(draft, to: path, replaces: force)
        let measures = [size.width, size.height].map { NumberFormat.significant($0) + " m" }.joined(separator: " × ")
        Terminal.show(
            TerminalText.line("Wrote \(path): \(measures)\(origin).") + "\n"
                + TerminalText.line("Next: pharos plan site \(path) --html \(path.dropLast(5)).html") + "\n")
    }

    /// The name of the site in a file.
    private static func siteName(of path: String) throws -> String {
        let stem = path.split(separator: "/").last.map { String($0.dropLast(5)) } ?? ""
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

    /// Writes a file that `pharos site check` finds good.
    private static func write(_ draft: SiteDraft, to path: String, replaces: Bool) throws {
        let text = draft.text
        let (site, problems) = Site.decode(Array(text.utf8))
        guard site != nil else {
            throw Failure(.dataFormat, PlanSite.lines(problems.filter { $0.severity == .error }, file: path))
        }
        guard replaces, Files.exists(path) else { return try NewFile.write(text, to: path, canReplace: true) }
        do throws(SystemError) {
            try Files.replace(path, with: Array(text.utf8), keepsRights: true)
        } catch {
            throw Failure(.osError, "\(path): \(error.text)")
        }
    }
}

/// Paths of files that other files name.
enum SitePath {
    /// The path of `path`, which is relative to the working directory, as a file names it that is in another directory.
    ///
    /// Without a short way from there to here it is absolute.
    static func relative(_ path: String, toFile file: String) -> String {
        let directory = InputFile.directory(of: file)
        if path.hasPrefix("/") || directory.isEmpty { return path }
        if path.hasPrefix(directory) { return String(path.dropFirst(directory.count)) }
        let steps = directory.split(separator: "/").filter { $0 != "." }
        if !directory.hasPrefix("/"), !steps.contains("..") {
            return String(repeating: "../", count: steps.count) + path
        }
        return Files.resolved(path) ?? path
    }
}
