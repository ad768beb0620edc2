import Planner
import Sites
import Testing

/// The assumptions of `plan site`, and the table of a proposal.
@Suite struct SiteAssumptionsTests {
    private func answer(_ rest: String) throws -> PlanAnswer {
        let text = #"{"version":1,"name":"hall","outline":[[0,0],[8,0],[8,6],[0,6]]\#(rest)}"#
        let site = try #require(Site.decode(Array(text.utf8)).site)
        return try SiteQuestion(site: site, places: 30, proposal: .addition).answer()
    }

    @Test func anAnswerNamesTheValuesThatDecideIt() throws {
        let answer = try answer(#","beacons":[{"position":[1,1],"intervalMs":100}]"#)
        let note = try #require(answer.notes.first { $0.hasPrefix("Assumptions: ") })
        for text in [
            "31 bytes every 100 to 500 ms with 0 dBm", "65 dB at 1 m with the exponent 2.03", "shadowing of 4 dB",
            "from -90 dBm on",
        ] {
            #expect(note.contains(text), "\(note)")
        }
        let page = answer.page(command: "pharos plan")
        #expect(page.contains("Assumptions: "))
        let assumptions = try #require(answer["assumptions"])
        #expect(assumptions["payloadOctets"]?.value == 31)
        #expect(assumptions["shadowingDb"]?.value == 4)
        #expect(assumptions["intervalMs"]?.value == nil)
    }

    @Test func numbersBeforeAProposalSayToday() throws {
        let target = #""target":{"detectWithinS":10,"probability":0.9,"beacons":2}"#
        let path = #""paths":[{"name":"way","points":[[1,1],[7,5]]}]"#
        let answer = try answer(#","beacons":[{"position":[1,1]}],\#(target),\#(path)"#)
        for label in ["beacons found in time", "fewest beacons found"] {
            let fact = try #require(answer.facts.first { $0.label == label })
            #expect(fact.remark.hasSuffix(", today"), "\(fact)")
        }
        let one = try self.answer("")
        #expect(one["proposal"]?["least"]?.value == 1)
        #expect(one.facts.contains { $0.remark.contains("at least 1 is needed") }, "\(one.facts)")
        let walk = try #require(answer.facts.first { $0.label?.hasPrefix("path way") == true })
        #expect(!walk.remark.contains(" 1 beacons"), "\(walk)")
    }

    @Test func theTableOfAProposalHasTheBeacons() throws {
        let answer = try answer("")
        let csv = PlanComparison([.init(settings: [], answer: answer)]).csv
        let lines = csv.split(separator: "\r\n").map(String.init)
        #expect(lines.count == 2)
        for column in ["assumptions.pathLoss", "assumptions.radioPowerDbm", "proposal.beacons", "proposal.positions"] {
            #expect(lines[0].contains(column), "\(lines[0])")
        }
        guard case .list(let positions)? = answer["proposal"]?["positions"] else {
            Issue.record("no positions")
            return
        }
        #expect(!positions.isEmpty)
        #expect(answer["proposal"]?["beacons"]?.value == Double(positions.count))
        let count = lines[1].split(separator: "(").count - 1
        #expect(count == positions.count, "\(lines[1])")
    }
}
