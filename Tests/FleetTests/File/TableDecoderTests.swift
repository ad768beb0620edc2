import Configuration
import Testing

@testable import Fleet

@Suite("Tables")
struct TableTests {
    private static func rows(_ text: String) -> (header: [String], rows: [[String]], problems: [String]) {
        let octets = Array(text.utf8)
        let (table, problems) = CSVTable.open(octets, file: "t.csv")
        guard let table else { return ([], [], problems.map(\.description)) }
        var found: [[String]] = []
        var faults = problems.map(\.description)
        var scanner = table.rows
        var row = CSVRow()
        while scanner.next(&row) {
            if let fault = row.fault { faults.append("\(table.position(of: fault.offset, in: row)): \(fault.message)") }
            found.append(row.cells.map { $0.string(in: octets) })
        }
        return (table.header, found, faults)
    }

    @Test(
        "cells are read according to RFC 4180",
        arguments: [
            ("a,b\n1,2\n", [["1", "2"]]), ("a,b\r\n1,2\r\n", [["1", "2"]]), ("a,b\r1,2", [["1", "2"]]),
            ("\u{FEFF}a,b\n1,2", [["1", "2"]]), ("a;b\n1,5;2\n", [["1,5", "2"]]), ("a\tb\n1\t\n", [["1", ""]]),
            ("a,b\n\"1\",\"2\"\n", [["1", "2"]]), ("a,b\n\"x, \"\"y\"\"\",2\n", [["x, \"y\"", "2"]]),
            ("a,b\n\"1\n2\",3\n4,5", [["1\n2", "3"], ["4", "5"]]), ("a,b\n 1 , 2 \n", [["1", "2"]]),
            ("a,b\n\" 1 \",2\n", [[" 1 ", "2"]]), ("a,b\n\n1,2\n\n,\n", [["1", "2"]]),
            ("a,b\n\"\"\"\",\n", [["\"", ""]]),
        ])
    func reads(text: String, rows: [[String]]) {
        let found = Self.rows(text)
        #expect(found.header == ["a", "b"])
        #expect(found.rows == rows)
        #expect(found.problems == [])
    }

    @Test("random cells are unchanged after writing and reading", arguments: [",", ";", "\t"], 1...100)
    func readsBack(separator: Character, seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let alphabet: [Character] = ["a", "Z", "0", "#", "!", "ü", "€", " ", "\"", ",", ";", "\t", "\n"]
        var written: [[String]] = []
        var text = "a\(separator)b\n"
        for _ in 0..<20 {
            // More than half of the characters are "a", which gives long runs of letters. The "." keeps a row from
            // being empty, because empty rows are skipped.
            let cells = (0..<2).map { column in
                String(
                    (0..<Int.random(in: 0...20, using: &random)).map { _ in
                        alphabet.randomElement(using: &random).map { Bool.random(using: &random) ? $0 : "a" } ?? "a"
                    }) + (column == 0 ? "." : "")
            }
            written.append(cells)
            text += cells.map { Self.cell($0, separator, &random) }.joined(separator: "\(separator)") + "\n"
        }
        let found = Self.rows(text)
        #expect(found.rows == written)
        #expect(found.problems == [])
    }

    /// Returns the cell as a program writes it: in quotes if it needs them, otherwise with or without spaces around it.
    private static func cell(_ contents: String, _ separator: Character, _ random: inout SplitMix64) -> String {
        let isPlain = contents.allSatisfy { $0 != separator && $0 != "\"" && $0 != "\n" }
        guard isPlain, contents.first?.isWhitespace != true, contents.last?.isWhitespace != true else {
            return "\"" + contents.replacing("\"", with: "\"\"") + "\""
        }
        let spaces = { (count: Int) in String(repeating: " ", count: count) }
        return spaces(Int.random(in: 0...2, using: &random)) + contents + spaces(Int.random(in: 0...9, using: &random))
    }

    @Test("a quote within a cell is found at any position", arguments: 1...20)
    func findsQuotes(letters: Int) {
        let problems = Self.rows("a,b\n1," + String(repeating: "x", count: letters) + "\"yyyyyyyyy\n2,3\n").problems
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("2:\(letters + 3): this cell contains a double quote") == true, "\(problems)")
    }

    @Test(
        "faults are reported with line and column",
        arguments: [
            ("a,b\n1,\"2\n", "2:3: this cell begins with a double quote and has no closing double quote"),
            ("a,b\n\"1\"x,2\n", "2:4: the closing double quote must"),
            ("a,b\nü,2\"3\n", "2:4: this cell contains a double quote: put the cell in double quotes"),
            ("a,b,a\n", "1:5: a: the column \"a\" appears twice; the first is at 1:1"), ("", "1:1: the file is empty"),
            ("a,b\n\"1\n2\",3\n4,\"5", "4:3: this cell begins"),
        ])
    func findsFaults(text: String, problem: String) {
        let problems = Self.rows(text).problems
        #expect(problems.count == 1 && problems[0].hasPrefix(problem), "\(problems)")
    }

    @Test("bytes that are not UTF-8 are reported with their position")
    func reportsOtherEncodings() {
        let latin = CSVTable.open(Array("name\nM".utf8) + [0xFC] + Array("ller\n".utf8), file: "t.csv").problems
        #expect(latin.map(\.description) == ["2:2: the byte 0xFC is not UTF-8; save the file as UTF-8"])
        let more = CSVTable.open(Array("name\n".utf8) + [0xFC, 0x0A, 0xE4, 0x0A, 0xF6], file: "t.csv").problems
        #expect(
            more.map(\.description) == [
                "2:1: the byte 0xFC is not UTF-8, and 2 more bytes are not either; save the file as UTF-8"
            ])
        let workbook = CSVTable.open(Array("PK\u{3}\u{4}".utf8) + [0x14, 0, 0xFF], file: "t.csv")
        #expect(workbook.table == nil)
        #expect(workbook.problems.map(\.message).contains { $0.hasPrefix("this is a workbook such as Excel's") })
        let wide = CSVTable.open([0xFF, 0xFE, 0x6E, 0], file: "t.csv")
        #expect(wide.table == nil)
        #expect(wide.problems[0].message.contains("UTF-16"))
    }

    @Test("ill-formed UTF-8 is detected in the same places as by the standard library", arguments: 1...200)
    func agreesWithTheStandardLibraryOnUTF8(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let starts: [UInt8] = [
            0x41, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF, 0x9F, 0xA0,
        ]
        let octets = (0..<Int.random(in: 1...8, using: &random)).map { _ in starts.randomElement(using: &random) ?? 0 }
        #expect(TextEncoding.illFormed(octets, limit: 9).isEmpty == (String(validating: octets, as: UTF8.self) != nil))
    }

    private static let fleet = """
        { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "eddystone-url",
          "url": "https://e.org/${page}", "intervalMs": "${interval}", "measuredPowerDbm": -18 } ] },
          "defaults": { "variables": { "interval": 500 } },
          "groups": [ { "name": "north", "groups": [ { "name": "ground" } ] }, { "name": "south" } ],
          "beacons": { "csv": "t.csv" } }
        """

    @Test(
        "invalid rows are refused with a reason",
        arguments: [
            ("name,page\na/b,x\n", "t.csv:2:1: name: \"a/b\" would lead into another directory"),
            ("name,page\n../a,x\n", "would lead into another directory"), ("name,page\n.a,x\n", "would be hidden"),
            ("name,page\n-a,x\n", "read as an option"), ("name,page\na%i,x\n", "special meaning in unit files"),
            ("name,page\n=1+1,x\n", "formula"), ("name,page\n@a,x\n", "formula"), ("name,page\na b,x\n", "a space"),
            ("name,page\n\"a\nb\",x\n", "the control character 0x0A"), ("name,page\nä,x\n", "beyond ASCII"),
            ("name,page\n,x\n", "the name is empty"),
            ("name,page\n\(String(repeating: "a", count: 65)),x\n", "65 bytes, more than the maximum of 64"),
            ("name,page\na,x\nb,y\na,z\n", "t.csv:4:1: name: the name \"a\" appears twice, first at t.csv:2"),
            (
                "name,page\n<<<<<<< HEAD\na,x\n=======\nb,x\n>>>>>>> theirs\n",
                "t.csv:2:1: a merge conflict begins here: keep the rows that you need"
            ),
            ("name,page\na\n", "t.csv:2:2: the row has 1 cells, the header 2"),
            ("name,page\na,b,c\n", "t.csv:2:5: the row has 3 cells, the header 2"),
            ("page\na\n", "t.csv:1:1: there is no column \"name\""),
            ("name,page,site\na,x,nroth\n", "t.csv:2:5: site: the site \"nroth\" is not among the groups"),
            ("name,page,site\na,x,nroth\n", "did you mean \"north\"?"),
            ("name,page,floor\na,x,ground\n", "a floor is given, but no site"),
            ("name,page,group\na,x,north/ground/a/b\n", "use at most three names"),
            ("name,page,group,site\na,x,north,north\n", "either a column \"group\" or the columns site"),
            ("name,page,serial\na,x,1 2\n", "is not a serial number"),
            ("name,page,host\na,x,$(id)\n", "is not a host name or address"),
            ("name,page,controller\na,x,raspberry\n", "\"raspberry\" is not known"),
            ("name,page,x,y\na,x,\"1,5\",2\n", "write a decimal point, not a comma"),
            ("name,page,x\na,x,1\n", "both x and y"),
            ("name,page,latitude,longitude\na,x,91,0\n", "out of range -90...90 degrees"),
            ("name,page\na,\n", "t.csv:2:3: page: the variable \"page\" is not set: this cell is empty"),
            ("name,page,interval\na,x,5\n", "t.csv:2:5: interval: 5 is out of range 20...10485759.375 ms"),
            ("name,page,interval\na,x,soon\n", "t.csv:2:5: interval: a number is expected, not the string \"soon\""),
            ("name,page\na,this-is-far-too-long\n", "t.csv:2:3: page: the URL takes"),
            ("name,page,interval\na,x,50\n", "t.csv:2:5: warning: interval: 50 ms is refused by controllers before"),
        ])
    func refuses(table: String, problem: String) {
        let problems = MadeFleet.problems(Self.fleet, tables: ["t.csv": table])
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }

    @Test(
        "equal faults in many cells of a column are one problem with their count and rows",
        arguments: [
            (
                "name,page,x,y\n" + (1...400).map { "b\($0),x,\"\($0),5\",2\n" }.joined(), "t.csv:2:7: x: ",
                "; the same is true of 399 more cells of this column, rows 3 to 401"
            ),
            (
                "name,page\n" + (1...3).map { "my box \($0),x\n" }.joined(), "t.csv:2:1: name: \"my box 1\"",
                "; the same is true of 2 more cells of this column, rows 3 to 4"
            ),
            (
                "name,page\na,this-is-far-too-long\nb,this-is-far-too-lang\n", "t.csv:2:3: page: the URL takes",
                "; the same is true of 1 more cell of this column, row 3"
            ),
            (
                "name,page\na,x,1\nb,x,2\nc,x,3\n", "t.csv:2:5: the row has 3 cells",
                "; the same is true of 2 more rows, rows 3 to 4"
            ),
        ])
    func combinesEqualFaultsOfAColumn(table: String, start: String, end: String) {
        let problems = MadeFleet.problems(Self.fleet, tables: ["t.csv": table]).filter { $0.contains(start.suffix(5)) }
        #expect(problems.count == 1 && problems[0].hasPrefix(start) && problems[0].hasSuffix(end), "\(problems)")
    }

    @Test(
        "a message about a number explains separators of thousands and decimal commas",
        arguments: [
            (";", "1.000,5", "; write it without separators between thousands"), (";", "1,000,000", "thousands"),
            (";", "a", "not \"a\""), (",", "\"1,5\"", "; write a decimal point, not a comma"),
        ])
    func explainsNumbers(separator: String, cell: String, end: String) {
        let table =
            ["name", "page", "x", "y"].joined(separator: separator) + "\n"
            + ["a", "x", cell, "2"].joined(separator: separator) + "\n"
        let problems = MadeFleet.problems(Self.fleet, tables: ["t.csv": table]).filter { $0.contains(": x: ") }
        #expect(problems.count == 1 && problems[0].hasSuffix(end), "\(problems)")
    }

    @Test("a missing column is reported as the only problem")
    func namesMissingColumns() {
        let fleet = Self.fleet.replacing(
            "\"csv\": \"t.csv\"", with: "\"csv\": \"t.csv\", \"columns\": { \"page\": \"Seiten\" }")
        let problems = MadeFleet.problems(fleet, tables: ["t.csv": "name,Seite\na,x\nb,y\n"])
        #expect(problems.count == 1 && problems[0].contains("did you mean \"Seite\"?"), "\(problems)")
    }

    @Test("tables separated by semicolons or tabs may have decimal commas or points", arguments: [";", "\t"])
    func readsDecimalCommas(separator: String) throws {
        let table = "name,page,x,y,interval\na,x,1|5,2|25,152|5\nb,x,-0.5,2,500\n"
            .replacing(",", with: separator).replacing("|", with: ",")
        let (fleet, problems) = MadeFleet.decode(Self.fleet, tables: ["t.csv": table])
        #expect(problems.isEmpty, "\(problems)")
        let positions = try #require(fleet).beacons.compactMap { beacon in
            if case .plan(let x, let y, _)? = beacon.position { "\(x.text) \(y.text)" } else { nil }
        }
        #expect(positions == ["1.5 2.25", "-0.5 2"])
        let (allocation, _) = FleetAllocation.make(try #require(fleet), lock: nil, now: MadeFleet.now)
        #expect(allocation.beacon(0).beacon?.advertisements[0].intervalMicroseconds == 152_500)
    }

    @Test("a wrong group name is reported in its own column")
    func namesTheColumn() {
        let fleet = """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "eddystone-url",
              "url": "https://e.org/${page}", "intervalMs": 500, "measuredPowerDbm": -18 } ] },
              "beacons": { "csv": "t.csv", "columns": { "site": "Gebäude", "floor": "Etage", "room": "Raum" } } }
            """
        let problems = MadeFleet.problems(
            fleet, tables: ["t.csv": "name,page,Gebäude,Etage,Raum\na,x,Nord,eg,Büro 1\n"])
        #expect(problems.count == 1 && problems[0].hasPrefix("t.csv:2:13: Raum: \"Büro 1\""), "\(problems)")
    }

    @Test("a cell that lost its leading zeros is reported with the expected zeros")
    func namesLostZeros() {
        let fleet = """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "altbeacon", "companyId": "0x0118",
              "id": "8b0ca750095477cb3e770011223344550000${bay}", "intervalMs": 1000, "measuredPowerDbm": -59 } ] },
              "beacons": { "csv": "t.csv", "columns": { "bay": "Bay" } } }
            """
        let problems = MadeFleet.problems(fleet, tables: ["t.csv": "name,Bay\na,101\nb,7\nc,0102\n"])
        #expect(problems.count == 2, "\(problems)")
        #expect(
            problems[0].hasPrefix("t.csv:2:3: Bay: ")
                && problems[0].contains("the cell \"101\" has lost a leading zero, as in \"0101\""))
        #expect(
            problems[1].hasPrefix("t.csv:3:3: Bay: ")
                && problems[1].contains("the cell \"7\" has lost 3 leading zeros, as in \"0007\""))
    }

    @Test("a title may have any characters, fills ${title}, and is in labels and the manifest")
    func readsTitles() throws {
        let text = Self.fleet.replacing("${page}", with: "x").replacing(
            "\"template\": {", with: "\"template\": { \"scanResponse\": { \"localName\": \"${title}\" },")
        let table = "name,title\nbs,Büro Süd\nha,\n"
        let (fleet, problems) = MadeFleet.decode(text, tables: ["t.csv": table])
        #expect(problems.isEmpty, "\(problems)")
        let (allocation, _) = FleetAllocation.make(try #require(fleet), lock: nil, now: MadeFleet.now)
        let beacons = (0..<2).map { allocation.beacon($0) }
        #expect(String(decoding: beacons[0].profile, as: UTF8.self).contains("\"Büro Süd\""))
        #expect(String(decoding: beacons[1].profile, as: UTF8.self).contains("\"ha\""))
        let beacon = try #require(beacons[0].beacon)
        #expect(beacon.json.line.hasPrefix("{\"name\":\"bs\",\"title\":\"Büro Süd\","))
        let label = BeaconLabel(beacon)
        #expect(label.name == "Büro Süd" && label.lines.first == "bs" && label.codeText.hasPrefix("bs\n"))
        #expect(beacons[1].beacon.map { BeaconLabel($0).name } == "ha")
        let bad = MadeFleet.problems(text, tables: ["t.csv": "name,title\nbs,\"a\tb\"\n"])
        #expect(bad.first?.hasPrefix("t.csv:2:5: title: the title has control characters") == true, "\(bad)")
    }

    @Test("a missing table is reported at the place that names it")
    func reportsAMissingTable() {
        let (_, problems) = MadeFleet.decode(Self.fleet)
        #expect(problems.count == 1)
        #expect(problems.first?.kind == .missing)
        #expect(problems.first?.description.contains("beacons.csv: t.csv: there is no such file") == true)
    }

    @Test("a table within a group refuses rows with another group")
    func refusesOtherGroups() {
        let fleet = Self.fleet.replacing(
            "\"name\": \"south\"", with: "\"name\": \"south\", \"beacons\": { \"csv\": \"s.csv\" }")
        let tables = ["t.csv": "name,page\na,x\n", "s.csv": "name,site,page\nb,north,x\n"]
        let problems = MadeFleet.problems(fleet, tables: tables)
        #expect(problems.contains { $0.contains("s.csv:2:3: site: this site is \"north\", but the table belongs to") })
    }

    @Test("one run reports all problems of all files")
    func reportsAllProblemsInOneRun() {
        let fleet = Self.fleet.replacing("\"intervalMs\": \"${interval}\"", with: "\"intervalMs\": \"${intervall}\"")
        let problems = MadeFleet.problems(fleet, tables: ["t.csv": "name,page,page\n%,x,\nb\nc,x,\n"])
        for part in [
            "the variable \"intervall\" is not set", "appears twice", "special meaning in unit files", "has 1 cells",
        ] {
            #expect(problems.contains { $0.contains(part) }, "\(part): \(problems)")
        }
    }
}
