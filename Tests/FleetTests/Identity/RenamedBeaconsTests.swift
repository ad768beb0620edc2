import Configuration
import Testing

@testable import Fleet

@Suite("Beacons with a new name")
struct RenamedBeaconsTests {
    private static let text = """
        { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "ibeacon",
          "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": "${major}", "minor": "${minor}",
          "intervalMs": 500, "measuredPowerDbm": -59 } ] },
          "identities": { "major": { "per": "site" }, "minor": { "within": "site" } },
          "beacons": { "csv": "t.csv" } }
        """

    /// - Parameter rows: Name, title and host of each beacon.
    private static func allocate(_ rows: [String], _ lock: FleetLock?) throws -> FleetAllocation {
        let table = "name,title,host,site\n" + rows.map { $0 + ",hall\n" }.joined()
        let fleet = try #require(MadeFleet.decode(text, tables: ["t.csv": table]).fleet)
        let (allocation, problems) = FleetAllocation.make(fleet, lock: lock, now: MadeFleet.now)
        #expect(problems == [])
        let (read, faults) = FleetLock.decode(allocation.lock.text, file: "f.lock.json")
        #expect(faults == [] && read?.text == allocation.lock.text)
        return allocation
    }

    @Test(
        "a renamed beacon is recognized by its machine, by place and title, or by number",
        arguments: [
            (["a,Vase,pi-1", "b,Krug,pi-2"], ["c,Teller,pi-1", "b,Krug,pi-2"], ["c"]),
            (["a,Vase,", "b,Krug,"], ["c,Vase,", "b,Krug,"], ["c"]),
            (["0001,,", "0002,,", "0010,,"], ["1,,", "2,,", "0010,,"], ["1", "2"]),
            (["Vase-07,,"], ["vase-7,,"], ["vase-7"]),
            // Three removed beacons and three new ones.
            (["a,A,pi-1", "b,B,pi-2", "c,C,pi-3"], ["d,D,pi-4", "e,E,pi-5", "f,F,pi-6"], []),
            // A title or a machine that several beacons have does not identify a renamed beacon.
            (["a,Vase,pi-1", "b,Vase,pi-1"], ["c,Vase,pi-1", "b,Vase,pi-1"], []),
            // The former name is still in use.
            (["0001,,"], ["0001,,", "1,,"], []),
        ])
    func recognizes(before: [String], after: [String], renamed: [String]) throws {
        let first = try Self.allocate(before, nil)
        let second = try Self.allocate(after, first.lock)
        #expect(second.renumbered.map(\.name) == renamed)
        #expect(second.needsRenumberOption == !renamed.isEmpty)
        #expect(second.renumberingWarnings.isEmpty == renamed.isEmpty)
    }

    @Test("names restored after an accident keep their identities without a request")
    func comesBack() throws {
        let rows = ["0001,Vase,pi-1", "0002,Krug,pi-2"]
        let first = try Self.allocate(rows, nil)
        let lost = try Self.allocate(["1,Vase,pi-1", "2,Krug,pi-2"], first.lock)
        let back = try Self.allocate(rows, lost.lock)
        #expect(!back.needsRenumberOption && back.identities == first.identities)
    }

    @Test("the warning has the count, the rows, the command and how to revert")
    func explains() throws {
        let numbers = (1...40).map { String("000\($0)".suffix(4)) }
        let first = try Self.allocate(numbers.map { "\($0),,pi-\($0)" }, nil)
        let second = try Self.allocate(numbers.map { "\(Int($0) ?? 0),,pi-\($0)" }, first.lock)
        let warnings = second.renumberingWarnings.map(\.description)
        #expect(warnings.count == 1)
        let text = try #require(warnings.first)
        #expect(
            text.hasPrefix(
                "t.csv:2:1: warning: name: 40 beacons would get other identities: 1, 2, 3 and 37 more (rows 2 to 41); the "
                    + "lock has \"0001\" on the machine of \"1\""), "\(text)")
        #expect(text.contains("restore their names; otherwise run `pharos fleet rename fleet.json 0001 1` for each"))
        #expect(
            text.hasSuffix("a spreadsheet may have removed the leading zeros: format that column as text"), "\(text)")
    }

    private static let rows = "name,site,floor\na,hall,ground\nb,hall,ground\nc,hall,first\nd,hall,first\n"

    /// - Parameter level: The level within which minors are counted, and for which majors are allocated.
    private static func allocate(level: String, table: String, _ lock: FleetLock?) throws -> FleetAllocation {
        let text = text.replacing("\"site\"", with: "\"\(level)\"")
        let fleet = try #require(MadeFleet.decode(text, tables: ["t.csv": table]).fleet)
        let (allocation, problems) = FleetAllocation.make(fleet, lock: lock, now: MadeFleet.now)
        #expect(problems == [])
        return allocation
    }

    @Test("a warning about beacons that get their earlier identities back does not advise against it")
    func explainsTheWayBack() throws {
        let first = try Self.allocate(level: "floor", table: Self.rows, nil)
        let moved = Self.rows.replacing("b,hall,ground", with: "b,hall,first")
        let second = try Self.allocate(level: "floor", table: moved, first.lock)
        #expect(
            second.renumberingWarnings.first?.message.hasSuffix("move the beacon back to keep the identity") == true)
        let third = try Self.allocate(level: "floor", table: Self.rows, second.lock)
        #expect(third.changes.revived == ["b"])
        let warnings = third.renumberingWarnings.map(\.message)
        #expect(warnings.count == 1)
        #expect(
            warnings.first?.hasSuffix("; this beacon had this identity before, in the group \"hall/ground\"") == true,
            "\(warnings)")
    }

    @Test(
        "changed rules give one warning, which names them",
        arguments: [
            ("floor", "site", "within smaller groups, for example within \"hall/ground\", and"),
            ("site", "floor", "within larger groups, for example within \"hall\", and"),
        ])
    func explainsChangedRules(from: String, into: String, message: String) throws {
        let first = try Self.allocate(level: from, table: Self.rows, nil)
        let second = try Self.allocate(level: into, table: Self.rows, first.lock)
        let warnings = second.renumberingWarnings.map(\.message)
        #expect(warnings.count == 1, "\(warnings)")
        #expect(warnings.first?.contains(message) == true, "\(warnings)")
        #expect(warnings.first?.contains("identities.major.per or identities.minor.within") == true, "\(warnings)")
    }

    @Test(
        "leading zeros and capital letters do not make a different name",
        arguments: [("0001", "1"), ("A-007", "a-7"), ("b0", "b0"), ("000", "0"), ("x10y01", "x10y1")])
    func ignoresLeadingZerosAndCapitalLetters(name: String, plain: String) {
        #expect(RenamedBeacons.normalized(name) == plain)
    }
}
