import BluetoothTypes
import Fleet
import Testing

@Suite struct LabelSheetTests {
    @Test(arguments: [(0, 0, 0), (1, 0, 1), (24, 0, 1), (25, 0, 2), (1, 23, 1), (1, 24, 2), (2, 23, 2), (5, -3, 1)])
    func aPageHasTwentyFourLabels(_ count: Int, _ skipped: Int, _ pages: Int) {
        #expect(LabelSheet(Self.beacons(count), skipping: skipped).pageCount == pages)
    }

    @Test(arguments: LabelPaper.all)
    func everyLabelLiesOnThePaper(_ paper: LabelPaper) throws {
        let beacons = Self.beacons(paper.labelsPerPage)
        let page = LabelSheet(beacons, paper: paper, hasCutLines: true).page(0)
        let corners = page.split(separator: "<g transform=\"translate(").dropFirst().map { part in
            part.prefix { $0 != ")" }.split(separator: " ").compactMap { Int($0) }
        }
        #expect(corners.count == paper.labelsPerPage)
        let size = try #require(page.split(separator: "<rect width=\"").last?.split(separator: "\""))
        let (width, height) = (try #require(Int(size[0])), try #require(Int(size[2])))
        for corner in corners {
            #expect(corner[0] >= 0 && corner[1] >= 0 && corner[0] + width <= 21_000 && corner[1] + height <= 29_700)
        }
        // The labels are centered on the sheet.
        #expect(corners[0][0] == 21_000 - corners[corners.count - 1][0] - width)
        #expect(corners[0][1] == 29_700 - corners[corners.count - 1][1] - height)
    }

    @Test func labelHasNamePlaceIdentityAndAddress() throws {
        let page = LabelSheet(Self.beacons(1)).page(0)
        for text in [">hall-0<", ">museum / ground<", ">major 1 minor 0<", ">000000000001<", ">D0:11:22:33:44:00<"] {
            #expect(page.contains(text), "\(text)")
        }
    }

    @Test func skipsUsedLabels() throws {
        let sheet = LabelSheet(Self.beacons(2), skipping: 23)
        let (first, second) = (sheet.page(0), sheet.page(1))
        #expect(first.contains(">hall-0<") && !first.contains(">hall-1<"))
        #expect(second.contains(">hall-1<") && !second.contains(">hall-0<"))
        #expect(first.contains("translate(14000 25950)") && second.contains("translate(0 50)"))
    }

    @Test func escapesTextsOfTheFleet() throws {
        var beacon = try #require(Self.beacons(1).first)
        beacon.name = "</text><script>&"
        beacon.group = ["a\u{0}\u{1B}b", "\u{202E}evil", "]]>"]
        let page = LabelSheet([beacon]).page(0)
        #expect(page.contains("&lt;/text&gt;&lt;") && page.contains("]]&gt;"))
        #expect(!page.contains("<script") && !page.unicodeScalars.contains { $0.value < 10 || $0 == "\u{202E}" })
    }

    @Test func longTextsAreBrokenAndCut() throws {
        var beacon = try #require(Self.beacons(1).first)
        beacon.name = String(repeating: "abcdefg-", count: 8)
        beacon.group = [String(repeating: "site", count: 200)]
        beacon.advertisements += (0..<40).map { number in
            .init(
                type: "eddystone-url", identity: .eddystoneURL("https://example.org/\(number)/…"),
                intervalMicroseconds: 100_000)
        }
        let page = LabelSheet([beacon]).page(0)
        let lines = page.split(separator: "<text").dropFirst().map {
            String($0.drop { $0 != ">" }.dropFirst().prefix { $0 != "<" })
        }
        #expect(lines.filter { $0.hasPrefix("abc") }.joined() == beacon.name)
        #expect(lines.contains { $0.hasSuffix("…") })
        #expect(lines.suffix(2) == ["and 39 more", "D0:11:22:33:44:00"])
    }

    @Test func allNamesHaveTheSizeOfTheLongest() throws {
        var beacons = Self.beacons(25)
        beacons[24].name = String(repeating: "n", count: 20)
        let sheet = LabelSheet(beacons)
        let pages = sheet.page(0) + sheet.page(1)
        let sizes = pages.split(separator: "font-size=\"").filter { $0.contains("bold") }.map {
            $0.prefix { $0 != "\"" }
        }
        #expect(sizes.count == 25 && Set(sizes).count == 1)
        let alone = LabelSheet(Self.beacons(1)).page(0)
        #expect(!alone.contains("font-size=\"\(sizes[0])\" font-weight=\"bold\""))
    }

    @Test func theSizeFitsTheTitles() throws {
        var beacons = Self.beacons(2)
        beacons[1].title = "Bürgermeister-Porträt"
        let page = LabelSheet(beacons).page(0)
        #expect(page.contains(">Bürgermeister-Porträt<"), "\(page)")
    }

    @Test(arguments: [-1, 1, Int.max, Int.min])
    func pagesOutOfRangeAreEmpty(_ index: Int) throws {
        #expect(!(LabelSheet(Self.beacons(3)).page(index).contains("<text")))
    }

    @Test func findsPaperByTheSizeOfItsLabels() {
        #expect(LabelPaper(named: "99.1x38.1")?.labelsPerPage == 14)
        #expect(LabelPaper(named: "70x36") == nil)
    }

    private static func beacons(_ count: Int) -> [FleetManifest.Beacon] {
        (0..<max(0, count)).map { number in
            let octets = FixedOctets<6>([0xD0, 0x11, 0x22, 0x33, 0x44, UInt8(number)]) ?? .init()
            return FleetManifest.Beacon(
                name: "hall-\(number)", group: ["museum", "ground"], address: DeviceAddress(octets),
                profileHash: "0123456789abcdef",
                advertisements: [
                    .init(
                        type: "ibeacon", identity: .iBeacon(uuid: .init(repeating: 7), major: 1, minor: UInt16(number)),
                        intervalMicroseconds: 200_000),
                    .init(
                        type: "eddystone-uid",
                        identity: .eddystoneUID(
                            namespace: .init(repeating: 9), instance: .init([0, 0, 0, 0, 0, 1]) ?? .init()),
                        intervalMicroseconds: 350_000),
                    .init(type: "eddystone-tlm", identity: .none, intervalMicroseconds: 5_000_000),
                ])
        }
    }
}
