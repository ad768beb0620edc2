import Configuration
import LinuxHost
import TestSupport
import Testing

/// `site init` and `site check`.
@Suite struct SiteCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A PNG of 48 × 30 pixels; the program reads only the header.
    private static let png: [UInt8] =
        [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        + [0, 0, 0, 48, 0, 0, 0, 30, 8, 2, 0, 0, 0]

    private func inFolder(_ line: String) throws -> Program.Result {
        try Program.shell("cd '\(folder.path)' && exec \"$0\" \(line)")
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try Files.read(folder.place(name)), as: UTF8.self)
    }

    @Test func aPictureBecomesASite() throws {
        _ = try folder.file("plan.png", Self.png)
        let made = try inFolder("site init museum --image plan.png --width-m 96")
        #expect(made.code == 0 && made.errors.isEmpty, "\(made)")
        #expect(made.output.hasPrefix("Wrote museum.json: 96 m × 60 m, from plan.png (48 × 30 pixels).\n"))
        let root = try #require(JSONDocument.parse(Array(text("museum.json").utf8)).root)
        #expect(root["picture"]?["file"]?.string == "plan.png" && root["picture"]?["widthM"]?.integer == 96)
        #expect(root["outline"]?[2]?[0]?.integer == 96 && root["outline"]?[2]?[1]?.integer == 60)
        #expect(try inFolder("site check museum.json").output == "museum.json: good\n")
        let page = try inFolder("plan site museum.json --places 40 --html page.html")
        #expect(page.code == 0, "\(page)")
        let html = try text("page.html")
        #expect(html.contains("href=\"data:image/png;base64,iVBORw0KGgo"))
        #expect(html.contains("<g class=\"overPicture\">"))
        // The picture fills the outline.
        #expect(html.contains("<image class=\"floorPicture\" x=\"16\" y=\"16\" width=\"568\" height=\"355\""))
    }

    @Test("the path of the picture is relative to the site file")
    func picturesOfOtherDirectories() throws {
        _ = try folder.file("here/plan.png", Self.png)
        for (words, file) in [
            ("here/a --image here/plan.png", "plan.png"), ("b --image here/plan.png", "here/plan.png"),
            ("here/c --image ./here/plan.png", ".././here/plan.png"),
            ("d --image \(folder.path)/here/plan.png", "\(folder.path)/here/plan.png"),
        ] {
            #expect(try inFolder("site init \(words) --width-m 10").code == 0, "\(words)")
            let path = "\(words.split(separator: " ")[0]).json"
            let root = try #require(JSONDocument.parse(Array(text(path).utf8)).root)
            #expect(root["picture"]?["file"]?.string == file)
            #expect(try inFolder("site check \(path)").code == 0, "\(words)")
        }
    }

    @Test("a proposal in another directory refers to the same picture")
    func proposalsKeepThePicture() throws {
        _ = try folder.file("here/plan.png", Self.png)
        try folder.file("next/keep", text: "")
        #expect(try inFolder("site init here/hall --image here/plan.png --width-m 10").code == 0)
        for (file, picture) in [("next/hall.json", "../here/plan.png"), ("here/next.json", "plan.png")] {
            #expect(try inFolder("plan site here/hall.json --places 20 --propose --write-site \(file)").code == 0)
            let root = try #require(JSONDocument.parse(Array(text(file).utf8)).root)
            #expect(root["picture"]?["file"]?.string == picture && root["picture"]?["widthM"]?.integer == 10)
            #expect(try inFolder("site check \(file)").output == "\(file): good\n")
        }
    }

    @Test func aFileThatIsThereIsKept() throws {
        try folder.file("hall.json", text: "mine")
        let kept = try inFolder("site init hall --width-m 20 --height-m 12")
        #expect(kept.code == 64)
        #expect(kept.errors == "pharos: hall.json: this file exists; choose another name, or use --force\n")
        #expect(try text("hall.json") == "mine")
        #expect(try inFolder("site init hall --width-m 20 --height-m 12 --force").code == 0)
        #expect(try inFolder("site check hall.json").output == "hall.json: good\n")
        let planned = try inFolder("plan site hall.json --places 20 --json")
        #expect(planned.code == 0 && planned.output.contains("\"reached\":true"), "\(planned)")
    }

    @Test(arguments: [
        ("site init x", 64, "Give a picture (--image and --width-m), a drawing (--from) or a size"),
        ("site init x --image plan.png", 64, "--image needs --width-m, the width of the picture on the floor"),
        ("site init x --image plan.png --width-m 9 --height-m 9", 64, "the height follows from the shape"),
        ("site init x --image plan.png --width-m 0", 64, "0 is out of range 0.1...100000 m"),
        ("site init 'x y' --width-m 9 --height-m 9", 64, "\"x y\" is not a valid name"),
        ("site init x --image none.png --width-m 9", 66, "none.png"),
        ("site init x --image text.png --width-m 9", 65, "text.png is not a picture; use PNG or JPEG\n"),
        ("site init x --image large.png --width-m 9", 65, "large.png is too large: it has 65536 × 65536 pixels"),
    ])
    func badPicturesAreRefused(_ line: String, code: Int32, message: String) throws {
        _ = try folder.file("plan.png", Self.png)
        try folder.file("text.png", text: "hello")
        var large = Self.png
        large.replaceSubrange(16..<24, with: [0, 1, 0, 0, 0, 1, 0, 0])
        _ = try folder.file("large.png", large)
        let result = try inFolder(line)
        #expect(result.code == code && result.errors.contains(message), "\(result)")
        #expect(!Files.exists(folder.place("x.json")) && result.output.isEmpty)
    }

    @Test func reportsABadPictureAtItsPositionInTheFile() throws {
        try folder.file("text.png", text: "hello")
        func site(_ file: String) -> String {
            """
            {"version":1,"name":"x","outline":[[0,0],[9,0],[9,9]],
             "picture":{"file":"\(file)","widthM":9}}
            """
        }
        try folder.file("x.json", text: site("text.png"))
        let place = "x.json:2:20: picture.file: \"text.png\" is not a picture; use PNG or JPEG\n"
        let check = try inFolder("site check x.json")
        #expect(check.code == 1 && check.output == place, "\(check)")
        let page = try inFolder("plan site x.json --places 20 --html x.html")
        #expect(page.code == 65 && page.errors == "pharos: " + place, "\(page)")
        #expect(!Files.exists(folder.place("x.html")))
        // The picture is needed for a page only.
        #expect(try inFolder("plan site x.json --places 20").code == 0)
        try folder.file("x.json", text: site("none.png"))
        #expect(try inFolder("plan site x.json --places 20 --html x.html").code == 66)
        let missing = try inFolder("site check x.json --json")
        #expect(
            missing.code == 1 && missing.output.contains("\\\"none.png\\\" cannot be read: No such file"), "\(missing)")
        #expect(try inFolder("site check none.json").code == 66)
    }

    private static let drawing = """
        {"type":"FeatureCollection","features":[
         {"type":"Feature","properties":{"kind":"outline"},
          "geometry":{"type":"Polygon","coordinates":[[[0,0],[20000,0],[20000,10000],[0,10000],[0,0]]]}},
         {"type":"Feature","properties":{"layer":"A-WALL-GLASS"},
          "geometry":{"type":"LineString","coordinates":[[8000,0],[8000,6000]]}},
         {"type":"Feature","properties":{"layer":"Beacons","name":"door"},
          "geometry":{"type":"Point","coordinates":[1000,1000]}}]}
        """

    @Test func aDrawingBecomesASite() throws {
        try folder.file("plan.geojson", text: Self.drawing)
        _ = try folder.file("plan.png", Self.png)
        let made = try inFolder("site init shop --from plan.geojson --unit mm --image plan.png --width-m 24")
        #expect(made.code == 0 && made.errors.isEmpty, "\(made)")
        #expect(
            made.output.hasPrefix(
                "Wrote shop.json: 20 m × 10 m, from plan.png (48 × 30 pixels), from plan.geojson with 1 wall and 1 beacon.\n"
            ))
        let root = try #require(JSONDocument.parse(Array(text("shop.json").utf8)).root)
        #expect(root["walls"]?[0]?["attenuationDb"]?.integer == 2 && root["picture"]?["widthM"]?.integer == 24)
        #expect(try inFolder("site check shop.json").output == "shop.json: good\n")
        // The file is in metres. A floor of 20 km is written with a warning.
        let large = try inFolder("site init large --from plan.geojson")
        #expect(large.code == 0 && large.errors.contains("plan.geojson:1:1: warning: the floor is 20000 m long; if"))
        #expect(try inFolder("site init shop --from plan.geojson --unit mm").code == 64)
    }

    @Test(arguments: [
        (
            "--from bad.geojson", 78,
            "bad.geojson:3:47: features[0].geometry.coordinates[0]: the outline crosses or touches"
        ),
        ("--from text.geojson", 65, "text.geojson:1:1"), ("--from none.geojson", 66, "none.geojson"),
        ("--from plan.geojson --unit mile", 64, "use one of mm, cm, m, in, ft"),
        ("--from plan.geojson --reference 200,1", 64, "write the longitude and the latitude in degrees"),
        ("--from plan.geojson --reference 2,1 --unit mm", 64, "give one of them"),
        ("--from plan.geojson --width-m 3", 64, "Leave out --width-m and --height-m"),
        ("--width-m 3 --height-m 3 --unit mm", 64, "--unit is for a drawing: add --from."),
    ])
    func refusesBadDrawingsAndWritesNothing(_ words: String, code: Int32, message: String) throws {
        try folder.file("plan.geojson", text: Self.drawing)
        try folder.file("text.geojson", text: "hello")
        try folder.file(
            "bad.geojson", text: Self.drawing.replacing("[20000,0],[20000,10000]", with: "[20000,9000],[20000,0]"))
        let result = try inFolder("site init x \(words)")
        #expect(result.code == code && result.errors.contains(message), "\(result)")
        #expect(!Files.exists(folder.place("x.json")) && result.output.isEmpty)
        if code != 65 { #expect(result.errors.split(separator: "\n").count { $0.hasPrefix("pharos: ") } == 1) }
    }

    @Test func siteSchemaEqualsThatOfPlanSite() throws {
        #expect(try Program.run("site", "schema").output == Program.run("plan", "site", "--schema").output)
    }
}
