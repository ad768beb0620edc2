import Configuration
import FoundationEssentials
import LinuxHost
import Sightings
import Sites
import Testing

@testable import Inventory

@Suite struct CountReportTests {
    private static let start = RFC3339Time(secondsSince1970: 1_772_366_400)

    /// Returns the log of a session in which some beacons were near all the time, and others were far.
    private static func log(
        _ number: Int, near: [Int], far: [Int] = [], inventory: Inventory, by: String = "ana", deaf: Bool = false
    ) throws -> [UInt8] {
        var world = World(items: 0)
        world.session = CountSession(inventory)
        world.session.begin(at: World.instant(0))
        for second in 0..<6 {
            for beacon in near { world.hear(beacon, second: Double(second) + 0.3, rssi: -50) }
            for beacon in far { world.hear(beacon, second: Double(second) + 0.4, rssi: -80) }
        }
        if deaf { world.session.stopListening(at: World.instant(5.5)) }
        let findings = world.session.advance(to: World.instant(7)) + world.session.finish(at: World.instant(8))
        _ = findings
        let header = CountLog.Header(
            session: "s\(number)", inventory: inventory.name, countName: "2026-03-01", by: by, receiver: "hci\(number)",
            machine: "m", start: start)
        var text = header.line(rule: CountRule())
        func time(_ instant: HeardInstant) -> RFC3339Time {
            RFC3339Time(
                secondsSince1970: start.secondsSince1970 + Int(instant.nanoseconds / 1_000_000_000) + number * 100)
        }
        for (_, finding) in world.session.findings.sorted(by: { $0.key < $1.key }) {
            text += CountLog.line(finding, in: world.session, at: time(finding.instant))
        }
        for (beacon, seen) in world.session.takeChanges() {
            text += CountLog.line(seen, of: beacon, in: world.session, time: time)
        }
        text += CountLog.line(of: world.session, lost: 3, at: time(World.instant(8)), isEnd: true)
        return Array(text.utf8)
    }

    private static func report(_ inventory: Inventory, _ logs: [[UInt8]]) throws -> CountReport {
        let journal = CountJournal(countName: "2026-03-01", inventory: inventory.name, start: start, by: "ana")
        return CountReport(inventory, journal, try logs.map { try #require(CountLog($0)) })
    }

    @Test func combinesTheLogsOfSeveralPeopleAndReceivers() throws {
        let inventory = World.inventory(items: 4)
        let report = try Self.report(
            inventory,
            [
                Self.log(1, near: [0], far: [1, 2], inventory: inventory),
                Self.log(2, near: [0, 1], inventory: inventory, by: "ben", deaf: true),
            ])
        #expect(report.outcomes.map(\.state) == [.found, .found, .heard, .missing])
        #expect(report.by == ["ana", "ben"] && report.summary == "2 of 4 found, 1 heard, not near, 1 missing")
        // The first sighting wins.
        #expect(report.outcomes[0].foundBy == "ana" && report.outcomes[1].foundBy == "ben")
        #expect(report.receivers.map(\.listening.deaf) == [0, 2500] && report.receivers.allSatisfy(\.isEnded))
        // The order of the logs does not matter.
        let other = try Self.report(
            inventory,
            [
                Self.log(2, near: [0, 1], inventory: inventory, by: "ben", deaf: true),
                Self.log(1, near: [0], far: [1, 2], inventory: inventory),
            ])
        #expect(other.outcomes == report.outcomes)
    }

    /// A log may be truncated at any byte. All whole lines count.
    @Test func aTruncatedLogKeepsItsWholeLines() throws {
        let inventory = World.inventory(items: 3)
        let octets = try Self.log(1, near: [0, 1, 2], inventory: inventory)
        var most = 0
        for end in stride(from: 0, through: octets.count, by: 7) {
            guard let log = CountLog(Array(octets[..<end])) else { continue }
            let lines = octets[..<end].split(separator: 10, omittingEmptySubsequences: false).dropLast()
            let whole = lines.filter { String(decoding: $0, as: UTF8.self).contains(#""event":"found""#) }.count
            #expect(log.findings.count == whole && log.damagedLines == 0)
            most = max(most, whole)
        }
        #expect(most == 3)
    }

    @Test(arguments: [
        "", "\n", "{}\n", "nonsense\n", #"{"event":"session","v":2,"session":"a","at":"2026-03-01T12:00:00Z"}"# + "\n",
    ])
    func refusesTextThatIsNotALog(text: String) {
        #expect(CountLog(Array(text.utf8)) == nil)
    }

    @Test func countsDamagedLinesAndAcceptsTimesThatGoBack() throws {
        let inventory = World.inventory(items: 1)
        let text =
            #"{"event":"session","v":1,"session":"a","at":"2026-03-01T12:00:00Z"}"# + "\nnonsense\n"
            + #"{"event":"seen","beacon":"\#(World.identity(0))","first":"2026-03-01T12:00:09Z","last":"2026-03-01T11:00:00Z","reports":-4,"bestRssiDbm":-60}"#
            + "\n" + #"{"event":"found","beacon":"nobody"}"# + "\n"
        let log = try #require(CountLog(Array(text.utf8)))
        #expect(log.damagedLines == 2)
        let report = try Self.report(inventory, [Array(text.utf8)])
        #expect("\(try #require(report.outcomes[0].firstHeard))" == "2026-03-01T11:00:00Z")
        #expect(report.warnings.count == 1 && !report.receivers[0].isEnded)
    }

    @Test func reportsTheChangesSinceTheLastCount() throws {
        let before = World.inventory(items: 5)
        var after = before
        after.items.remove(at: 4)
        after.items.append(Inventory.Item(id: "new", name: "New", beacon: World.identity(9)))
        after.items[3].place = "van"
        var old = CountJournal(countName: "2026-02-01", inventory: "tools", start: Self.start, by: "ana")
        old.finish =
            CountJournal(
                Array((old.firstLine + CountJournal.finishLine(before, at: Self.start, by: "ana")).utf8))?.finish
        let report = CountReport(
            after, CountJournal(countName: "2026-03-01", inventory: "tools", start: Self.start, by: "ana"),
            [try #require(CountLog(try Self.log(1, near: [1, 3, 9], inventory: after)))],
            previous: (old, [try #require(CountLog(try Self.log(1, near: [0, 3], inventory: before)))]))
        #expect(
            report.changes.map { "\($0.id) \($0.kind.rawValue)" } == [
                "item-1 lost", "item-2 returned", "item-3 still-missing", "item-4 moved", "new added",
                "item-5 removed",
            ])
    }

    @Test func aReceivedItemIsNotMissing() throws {
        let inventory = World.inventory(items: 2)
        var old = CountJournal(countName: "2026-02-01", inventory: "tools", start: Self.start, by: "ana")
        old.finish =
            CountJournal(
                Array((old.firstLine + CountJournal.finishLine(inventory, at: Self.start, by: "ana")).utf8))?.finish
        let report = CountReport(
            inventory, CountJournal(countName: "2026-03-01", inventory: "tools", start: Self.start, by: "ana"),
            [try #require(CountLog(try Self.log(1, near: [], far: [0, 1], inventory: inventory)))],
            previous: (old, [try #require(CountLog(try Self.log(1, near: [0], inventory: inventory)))]))
        #expect(report.changes.map { "\($0.id) \($0.kind.rawValue)" } == ["item-1 not-near", "item-2 not-near"])
    }

    @Test func aFinishedCountKeepsItsItems() throws {
        let inventory = World.inventory(items: 2)
        let journal = CountJournal(countName: "c", inventory: "tools", start: Self.start, by: "ana")
        let text = journal.firstLine + CountJournal.finishLine(inventory, at: Self.start, by: "ben")
        let read = try #require(CountJournal(Array(text.utf8)))
        #expect(read.finish?.items == inventory.items && read.finish?.by == "ben")
        // A truncated line does not finish the count.
        #expect(CountJournal(Array(text.utf8.dropLast(2)))?.finish == nil)
        let report = CountReport(World.inventory(items: 5), read, [])
        #expect(report.outcomes.count == 2 && report.warnings == ["no receiver has taken part in this count"])
    }

    @Test func countsOfADayAreNumbered() {
        let taken: Set = ["2026-03-01", "2026-03-01-2"]
        #expect(CountJournal.name(on: Self.start, taken: taken) == "2026-03-01-3")
        let names = ["2026-03-01-10", "2026-03-01-2", "2026-02-01", "2026-03-01"]
        #expect(
            names.sorted(by: CountJournal.isBefore) == ["2026-02-01", "2026-03-01", "2026-03-01-2", "2026-03-01-10"])
    }

    /// Names with formulas, markup and control characters are shown as text.
    @Test func escapesHostileNamesInEveryFormat() throws {
        var inventory = World.inventory(items: 1)
        inventory.items[0].name = "=cmd|'/C calc'!A0<script>alert(1)</script>\u{202E}\"&"
        inventory.items[0].place = "@SUM(A1)"
        inventory.title = "</title><img src=x onerror=y>"
        let report = try Self.report(inventory, [Self.log(1, near: [0], inventory: inventory)])
        #expect(report.csv.contains("\"'=cmd|''/C") || report.csv.contains("\"'=cmd|'/C"))
        #expect(report.csv.contains("\"'@SUM(A1)\""))
        for page in [report.html, InventoryMap(inventory, on: nil, report).html] + ReportSheets(report).pages {
            #expect(!page.contains("<script") && !page.contains("<img") && !page.contains("\u{202E}"))
        }
        #expect(!report.text.contains("\u{202E}") && report.json.line.contains("<script>"))
    }

    @Test func thePictureOfASiteIsBehindTheItems() throws {
        let text = """
            {"version":1,"name":"hall","outline":[[0,0],[18,0],[18,6],[0,6]],"picture":{"file":"hall.png","widthM":18}}
            """
        var site = try #require(Site.decode(Array(text.utf8)).site)
        #expect(!InventoryMap(World.inventory(items: 1), on: site).svg.contains("<image"))
        let header: [UInt8] =
            [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 0, 9, 0, 0, 0, 3]
        site.picture?.image = try PictureFile(header)
        let map = InventoryMap(World.inventory(items: 1), on: site)
        for drawing in [map.svg, map.html] {
            let picture = try #require(
                drawing.firstRange(of: "<image class=\"floorPicture\" x=\"30\" y=\"30\" width=\"1000\""))
            let outline = try #require(drawing.firstRange(of: "class=\"inner\" fill=\"none\""))
            #expect(picture.lowerBound < outline.lowerBound)
        }
    }

    @Test func tenThousandItemsFillManyPages() throws {
        let inventory = World.inventory(items: 10_000)
        let report = try Self.report(inventory, [])
        let pages = ReportSheets(report).pages
        #expect(pages.count > 100 && pages.last?.contains("signature") == true)
        #expect(pages.map { $0.matches(of: /\(item-\d+\)/).count }.reduce(0, +) >= 10_000)
    }
}

/// Pictures in the page of a report.
@Suite struct ItemPhotoTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 1]

    @Test(
        arguments: [
            ("image/png", png), ("image/jpeg", [0xFF, 0xD8, 0xFF, 0xE0]), ("image/gif", Array("GIF89a..".utf8)),
            ("image/webp", Array("RIFF....WEBPVP8 ".utf8)), (nil, Array("<svg onload=\"alert(1)\"/>".utf8)),
            (nil, Array("RIFF....WAVE".utf8)), (nil, []), (nil, Array("<html>".utf8)), (nil, Array("BM".utf8)),
        ] as [(String?, [UInt8])])
    func detectsTheImageTypeByTheFirstBytes(type: String?, octets: [UInt8]) {
        #expect(ItemPhoto.Kind(octets).map { "image/" + $0.rawValue } == type)
    }

    @Test func refusesFilesThatAreNotPictures() throws {
        let folder = try TemporaryDirectory()
        func refusal(_ name: String) -> String? {
            do throws(InventoryError) {
                _ = try ItemPhoto("\(folder.path)/\(name)")
                return nil
            } catch {
                return error.messages.joined(separator: "|")
            }
        }
        #expect(refusal("none.jpg")?.hasSuffix("none.jpg: this picture does not exist") == true)
        try Files.create("\(folder.path)/page.jpg", with: Array("<html>".utf8))
        #expect(refusal("page.jpg")?.contains("this is not a picture: use JPEG, PNG, GIF or WebP") == true)
        try Files.create(
            "\(folder.path)/large.png", with: Self.png + [UInt8](repeating: 0, count: ItemPhoto.limit))
        #expect(refusal("large.png")?.contains("larger than 1 MiB: make a smaller copy") == true)
        try Files.makeDirectory("\(folder.path)/folder.png")
        #expect(refusal("folder.png")?.contains("this picture cannot be read") == true)
        try Files.create("\(folder.path)/good.jpg", with: Self.png)
        #expect(try ItemPhoto("\(folder.path)/good.jpg").address == "data:image/png;base64,iVBORw0KGgoAAQ==")
    }

    @Test func aPDFLeavesOutWebPPictures() throws {
        let folder = try TemporaryDirectory()
        try Files.create("\(folder.path)/saw.webp", with: Array("RIFF....WEBPVP8 ".utf8))
        var inventory = World.inventory(items: 2)
        inventory.items[1].photo = "saw.webp"
        let start = RFC3339Time(secondsSince1970: 1_772_366_400)
        var report = CountReport(
            inventory, CountJournal(countName: "2026-03-01", inventory: inventory.name, start: start, by: "ana"), [])
        report.photos = InventoryStore("\(folder.path)/tools.json").photos(of: report, inventory).photos
        #expect(report.html.contains("data:image/webp"))
        #expect(!ReportSheets(report).pages.joined().contains("<image"))
        #expect(ReportDelivery.photosMissing(inPDFOf: report) == 1)
    }

    /// Rows of five pictures continue on the next page.
    @Test func manyPicturesFillManyPages() throws {
        let folder = try TemporaryDirectory()
        try Files.create("\(folder.path)/saw.png", with: Self.png)
        var inventory = World.inventory(items: 43)
        for index in inventory.items.indices { inventory.items[index].photo = "saw.png" }
        let start = RFC3339Time(secondsSince1970: 1_772_366_400)
        var report = CountReport(
            inventory, CountJournal(countName: "2026-03-01", inventory: inventory.name, start: start, by: "ana"), [])
        let before = ReportSheets(report).pages.count
        report.photos = InventoryStore("\(folder.path)/tools.json").photos(of: report, inventory).photos
        let pages = ReportSheets(report).pages
        #expect(pages.joined().ranges(of: "<image").count == 43 && pages.count > before)
        for page in pages {
            for image in page.matches(of: /<image x="(\d+)" y="(\d+)" width="5000" height="3800"/) {
                #expect(try #require(Int(image.1)) + 5000 <= 29_700 - 1200)
                #expect(try #require(Int(image.2)) + 3800 <= 21_000 - 1200)
            }
        }
    }

    @Test func pageAndMailContainThePicturesOfTheItems() throws {
        let folder = try TemporaryDirectory()
        let store = InventoryStore("\(folder.path)/tools.json")
        try Files.create("\(folder.path)/saw.png", with: Self.png)
        var inventory = World.inventory(items: 4)
        inventory.items[0].photo = "saw.png"
        inventory.items[0].name = "Saw \" onload=\"x"
        inventory.items[1].photo = "saw.png"
        inventory.items[2].photo = "none.png"
        let start = RFC3339Time(secondsSince1970: 1_772_366_400)
        let journal = CountJournal(countName: "2026-03-01", inventory: inventory.name, start: start, by: "ana")
        var report = CountReport(inventory, journal, [])
        #expect(!report.html.contains("<img"))
        let (photos, problems) = store.photos(of: report, inventory)
        #expect(photos.keys.sorted() == inventory.items[0...1].map(\.id).sorted())
        #expect(problems == ["\(folder.path)/none.png: this picture does not exist"])
        report.photos = photos
        let image = "<img src=\"data:image/png;base64,iVBORw0KGgoAAQ==\" alt=\"Photo of Saw &quot; onload=&quot;x\">"
        #expect(report.html.contains(image))
        #expect(report.html.ranges(of: "<img ").count == 2)
        let sheets = ReportSheets(report).pages.joined()
        #expect(sheets.ranges(of: "href=\"data:image/png;base64,iVBORw0KGgoAAQ==\"").count == 2)
        #expect(sheets.contains(">Photos</text>") && !sheets.contains("onload=\"x"))
        #expect(ReportDelivery.photosMissing(inPDFOf: report) == 0)
        let mail = try MailMessage(report, pdf: nil, to: ["store@example.org"])
        let attachment = try #require(mail.text.split(separator: "filename=\"").last).split(separator: "\n\n")[1]
        let lines = attachment.split(separator: "\n").prefix { !$0.hasPrefix("--") }
        let isWhole = lines.joined() == Data(report.html.utf8).base64EncodedString()
        #expect(isWhole, "the mail contains the page with its pictures")
    }
}

@Suite struct MailMessageTests {
    @Test(
        arguments: [
            ("store@example.org", true), ("a.b+c@x-1.de", true), ("a@b", true), ("", false), ("a", false),
            ("-oQ/tmp@b", false), ("a@-b", false), ("a@b\nBcc: c@d", false), ("a b@c", false), ("a@b,c@d", false),
            ("a@b@c", false), ("ä@b", false), ("\"a\"@b", false), ("<a@b>", false),
        ])
    func acceptsOnlyPlainAddresses(address: String, isGood: Bool) {
        #expect(MailMessage.isAddress(address) == isGood)
    }

    @Test func lineBreaksInValuesDoNotEndAMailHeader() throws {
        let message = try MailMessage(
            to: ["a@b"], subject: "Tools\r\nBcc: evil@example.org", text: "hello",
            .init(name: "a\"\r\nX: y.pdf", type: "application/pdf", octets: Array("%PDF".utf8)))
        let head = message.text.components(before: "\n\n")
        #expect(!message.text.contains("Bcc") && !message.text.contains("\r") && !message.text.contains("\nX:"))
        #expect(head.contains("Subject: =?utf-8?B?") && message.text.contains("JVBERg=="))
        #expect(throws: InventoryError.self) {
            try MailMessage(to: ["a@b\n"], subject: "", text: "", .init(name: "", type: "", octets: []))
        }
    }
}

extension String {
    fileprivate func components(before separator: String) -> Substring {
        range(of: separator).map { self[..<$0.lowerBound] } ?? self[...]
    }

    private func range(of other: String) -> Range<Index>? { ranges(of: other).first }
}
