internal import Airtime
internal import BluetoothTypes
public import Configuration
internal import Fleet
public import Sites

/// The page on which the user draws a floor: HTML with its style and script. The page reads and writes a site file.
public struct SiteEditorPage: Sendable {
    /// The way in which the page saves the file.
    public enum Saving: Hashable, Sendable {
        /// The page sends the file to the program that serves the page.
        case program
        /// The page writes the file by itself, or downloads it.
        case browser
    }

    /// The picture that is drawn behind the floor, as a data URL, with its size in pixels.
    public struct Picture: Sendable {
        public var address: String
        public var width: Int
        public var height: Int

        /// Creates a picture from its address and its size in pixels.
        public init(address: String, width: Int, height: Int) {
            (self.address, self.width, self.height) = (address, width, height)
        }
    }

    public var saving: Saving
    /// The name of the site file that the page shows.
    public var fileName: String
    /// The text of the site file; nil if the user opens a file on the page.
    public var text: String?
    /// True if the site file does not exist yet.
    public var isNew = false
    /// The fingerprint of ``text``. The page sends it together with a new text.
    public var fingerprint = ""
    public var picture: Picture?
    /// The beacons of the fleet that the file refers to. The page shows them, and does not change them.
    public var fleetBeacons: [SiteBeacon] = []
    /// The problems of the site file and of the files that it names.
    public var problems: [FileProblem] = []

    public init(saving: Saving, fileName: String, text: String? = nil) {
        (self.saving, self.fileName, self.text) = (saving, fileName, text)
    }

    /// The whole page.
    public var html: String {
        let script = SiteEditorScript.text
        let title = "Edit <span id=\"siteName\">\(HTMLEscaping.text(HTMLEscaping.shortened(fileName, to: 160)))</span>"
        return "<!doctype html>\n<html lang=\"en\">\n"
            + PageShell.head(
                title: HTMLEscaping.text(HTMLEscaping.shortened(fileName, to: 160)),
                styles: [PageStyle.text, SiteEditorScript.style], script: script,
                sources: saving == .program ? "connect-src 'self'; img-src data:" : "img-src data: blob:")
            + "<body class=\"edits\">\n<header>\(PageShell.brand("Pharos"))\n<h1>\(title)</h1></header>\n<main>\n"
            + SiteEditorScript.body
            + "</main>\n<footer><p>Made by Pharos. <span id=\"wholePage\"></span></p></footer>\n"
            + data.element() + "<script>\(script)</script>\n</body>\n</html>\n"
    }

    private var data: PageData {
        .object([
            ("saves", .text(saving == .program ? "program" : "browser")), ("fileName", .text(fileName)),
            ("text", text.map { .text($0) } ?? .null), ("isNew", .flag(isNew)), ("fingerprint", .text(fingerprint)),
            ("schema", .text(Site.schema)),
            ("detectWithinS", .number(SiteCoverage.Target.usual.seconds)),
            ("probability", .number(SiteCoverage.Target.usual.probability)),
            ("scanners", .list(ScannerPreset.all.map(Self.scanner))),
            ("wallLoss", .number(WallMaterial.brick.attenuation)),
            ("materials", .list(WallConstruction.all.map(\.data))),
            ("picture", picture.map(Self.picture) ?? .null),
            ("fleetBeacons", .list(fleetBeacons.map(Self.beacon))),
            (
                "problems",
                .list(
                    problems.map {
                        .object([("path", .text($0.path.description)), ("text", .text($0.description))])
                    })
            ),
        ])
    }

    private static func picture(_ picture: Picture) -> PageData {
        .object([
            ("address", .text(picture.address)), ("width", .number(Double(picture.width))),
            ("height", .number(Double(picture.height))),
        ])
    }

    private static func scanner(_ scanner: ScannerPreset) -> PageData {
        .object([
            ("name", .text(scanner.name)), ("windowMs", .number(Double(scanner.pattern.windowMicroseconds) / 1000)),
            ("intervalMs", .number(Double(scanner.pattern.intervalMicroseconds) / 1000)),
            ("channels", .number(Double(scanner.pattern.channelCount))),
        ])
    }

    private static func beacon(_ beacon: SiteBeacon) -> PageData {
        func intervalAndPayload(_ interval: Double, _ airtime: Double) -> [(String, PageData)] {
            [
                ("intervalMs", .number(interval / 1000)),
                ("payloadOctets", .number(Double(PacketTiming.payloadOctets(airtimeMicroseconds: airtime)))),
            ]
        }
        return .object(
            [
                ("name", .text(beacon.name)),
                ("position", .list([.number(beacon.position.x), .number(beacon.position.y)])),
                ("radioPowerDbm", .number(beacon.radioPower)),
                (
                    "companions",
                    .list(
                        beacon.companions.map {
                            .object(intervalAndPayload($0.intervalMicroseconds, $0.airtimeMicroseconds))
                        })
                ),
            ] + intervalAndPayload(beacon.intervalMicroseconds, beacon.airtimeMicroseconds))
    }
}

/// A wall of a material and a thickness, with the loss of one crossing.
struct WallConstruction: Sendable {
    /// The material and its thickness.
    let name: String
    /// The loss of one crossing in dB.
    let attenuation: Double
    /// The source of the loss.
    let source: String

    /// All wall constructions that the editor offers: usual materials, and walls of a known thickness.
    static var all: [WallConstruction] { rulesOfThumb + computed }

    /// The usual materials. Materials with the same loss are offered as one choice.
    private static var rulesOfThumb: [WallConstruction] {
        Set(WallMaterial.allCases.map(\.attenuation)).sorted().map { loss in
            let names = WallMaterial.allCases.filter { $0.attenuation == loss }.map(\.rawValue)
            return WallConstruction(
                name: names.joined(separator: " or "), attenuation: loss,
                source: "A rule of thumb at 2.4 GHz, as in lists for Wi-Fi. Real walls differ by some dB.")
        }
    }

    /// Walls of a known thickness. The losses at 2.44 GHz are computed from the permittivity and conductivity in ITU-R
    /// P.2040-3, table 3, for a slab that is crossed at a right angle (section 2.2.2.2 there). They are rounded to 0.5
    /// dB.
    static let computed: [WallConstruction] = [
        slab("plasterboard, 2 × 12.5 mm", 1), slab("wooden door, 4 cm", 0.5), slab("brick, 12 cm", 3.5),
        slab("brick, 24 cm", 6.5), slab("concrete, 15 cm", 11.5), slab("concrete, 20 cm", 15),
        slab("concrete, 30 cm", 21.5),
    ]

    private static func slab(_ name: String, _ attenuation: Double) -> WallConstruction {
        WallConstruction(
            name: name, attenuation: attenuation,
            source: "Computed from ITU-R P.2040-3 at 2.44 GHz, crossed at a right angle. Real walls differ by some dB.")
    }

    var data: PageData {
        .object([("name", .text(name)), ("attenuationDb", .number(attenuation)), ("source", .text(source))])
    }
}

/// A site file that the page sent, checked and formatted like other files that the program writes.
public struct EditedSite: Sendable {
    /// The text of the file with two spaces of indentation; nil if the page sent no JSON.
    public let text: String?
    /// Every problem, with its position in ``text``.
    public let problems: [FileProblem]

    /// - Parameter octets: The text that the page sends.
    public init(_ octets: [UInt8]) {
        let (root, faults) = JSONDocument.parse(octets)
        guard let root, faults.isEmpty else {
            text = nil
            problems = faults
            return
        }
        let pretty = JSONValue(root).pretty
        text = pretty
        problems = Site.decode(Array(pretty.utf8)).problems
    }

    /// False if the file has an error and must not be written.
    public var isGood: Bool { text != nil && !problems.contains(where: \.isError) }
}
