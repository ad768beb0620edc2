import Configuration
import Testing

@testable import Fleet

/// Fleet files that are proposed for an existing table.
@Suite struct FleetProposalTests {
    private static let uuid = "7d5f2b18-60c3-4f0e-8b6a-51e0a4d93c27"

    private func proposal(_ table: String) throws -> FleetProposal {
        try FleetProposal(Array(table.utf8), file: "t.csv")
    }

    @Test("the meanings of columns are guessed from their names and cells")
    func guesses() throws {
        let table = try proposal(
            "Bemerkung;Gerät;Standort;Etage;X;Y;IP\nam Tor;tor-1;nord;eg;1,5;2;10.0.0.1\n;tor-2;nord;eg;3;4;\n")
        let roles = table.roles.map { "\($0.key.rawValue)=\($0.value)" }.sorted()
        #expect(roles == ["floor=Etage", "host=IP", "name=Gerät", "site=Standort", "x=X", "y=Y"])
        #expect(table.rows == 2 && table.fault == nil)
    }

    @Test(
        "a proposed file decodes to a fleet without problems",
        arguments: [
            "Box,Site,Floor,x,y\na,n,g,1,2\nb,n,g,3,4\n", "name\na\nb\n", "id;Raum\na;r1\nb;r2\n",
            "name,uuid,major,minor\na,\(uuid),1,2\nb,\(uuid),1,3\n", "beacon,interval\na,500\nb,\n",
            "beacon,Radio power\na,-4\nb,\n",
        ])
    func makesFleets(table: String) throws {
        let text = try proposal(table).text(name: "f", uuid: Self.uuid)
        #expect(MadeFleet.problems(text, tables: ["t.csv": table]) == [], "\(text)")
        let (fleet, _) = MadeFleet.decode(text, tables: ["t.csv": table])
        let (allocation, _) = FleetAllocation.make(try #require(fleet), lock: nil, now: MadeFleet.now)
        #expect((0..<2).allSatisfy { allocation.beacon($0).beacon?.advertisements.count == 1 })
    }

    @Test(
        "a column with advertising intervals is recognized",
        arguments: ["Intervall", "Sendeintervall (ms)", "Advertising interval"])
    func recognizesIntervals(header: String) throws {
        #expect(try proposal("Name;\(header)\na;500\n").roles[.interval] == header)
    }

    @Test(
        "a column with radio powers is recognized",
        arguments: ["Sendeleistung (dBm)", "Radio power", "radioPowerDbm"])
    func recognizesRadioPowers(header: String) throws {
        let table = try proposal("Name;\(header)\na;-4\nb;\n")
        #expect(table.roles[.radioPower] == header)
        #expect(try proposal("Name;TX power\na;-59\n").roles[.radioPower] == nil)
        let text = table.text(name: "f", uuid: Self.uuid)
        let (fleet, _) = MadeFleet.decode(text, tables: ["t.csv": "Name;\(header)\na;-4\nb;\n"])
        let (allocation, _) = FleetAllocation.make(try #require(fleet), lock: nil, now: MadeFleet.now)
        let powers = (0..<2).map { allocation.beacon($0).beacon?.advertisements.first?.radioPower }
        #expect(powers == [-4, 0])
    }

    @Test("repeated names are reported with their column and rows; unused columns are listed")
    func reportsRepeatedNamesWithTheirRows() throws {
        let names = (1...30).map { "b\($0)" } + ["b4", "b9"]
        let table = try proposal("Nummer;Farbe;MAC\n" + names.map { "\($0);rot;x\n" }.joined())
        #expect(
            table.fault == "t.csv: \"Nummer\" can name the beacons, except in some rows. Correct these rows: "
                + "row 32: \"b4\" is also in row 5; row 33: \"b9\" is also in row 10")
        let good = try proposal("Name;MAC;IP-Adresse\na;C0:01:00:44:20:82;10.0.0.1\n")
        #expect(good.unused == ["MAC"] && good.roles[.host] == "IP-Adresse")
    }

    @Test(
        "a column of titles or serial numbers names the beacons if no other column can",
        arguments: [
            "Bezeichnung", "Titel", "Seriennummer", "IP",
        ])
    func namesByTheOnlyColumn(header: String) throws {
        let table = try proposal("\(header);Etage\nB001;EG\nB002;EG\nB003;OG\n")
        #expect(table.fault == nil && table.roles[.name] == header)
        #expect(table.roles.values.count { $0 == header } == 1)
    }

    @Test("repeated names are not reported for a column of groups")
    func doesNotReportRepeatsInAGroupColumn() throws {
        let fault = try #require(try proposal("Nr;Etage\nA1;EG\nA1;OG\n").fault)
        #expect(fault.contains("\"Nr\": row 3: \"A1\" is also in row 2") && !fault.contains("Etage"))
    }

    @Test("a column with spaces or umlauts does not name beacons; a column with valid names does")
    func refusesNames() throws {
        var table = try proposal("Name,Kurz,Raum\nBüro Süd,bs,Erster Stock\nHalle,ha,eg\n")
        #expect(
            table.roles[.name] == "Kurz" && table.roles[.title] == "Name" && table.unusable == ["Raum": "Erster Stock"])
        #expect(
            throws: FleetProposalError(messages: [
                "row 2: \"Büro Süd\" has letters beyond ASCII in it; a name has letters (a-z, A-Z), digits, \".\", \"_\" and \"-\", "
                    + "with a letter or digit first; for example \"Buero-Sued\""
            ])
        ) { try table.set(.name, to: "Name") }
        #expect(throws: FleetProposalError(messages: ["the table has no column \"Kurs\"; did you mean \"Kurz\"?"])) {
            try table.set(.name, to: "Kurs")
        }
        #expect(try proposal("Name\nBüro Süd\n").fault?.contains("Add a column \"name\"") == true)
        #expect(FleetProposal.groupName(for: "1. OG") == "1.-OG")
        #expect(try proposal("Name\n").fault?.contains("no rows") == true)
    }
}
