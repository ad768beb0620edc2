internal import ArgumentParser
internal import Planner

struct PlanThesis: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thesis",
        abstract: "The estimate of a much-read thesis, and what is true instead.",
        discussion: "Its 250 beacons give 7.6 and 3.8 advertisements a second, its 130 give 14.6 and 7.3.")

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Beacons in range of one receiver.", valueName: "n"),
        transform: PlanValue.count)
    var beacons: Int?

    @OptionGroup var source: PlanSourceOptions

    @OptionGroup var output: PlanOutput

    func validate() throws { try source.validate(beacons: beacons) }

    func run() throws {
        let site = try source.site(interval: nil, payloadOctets: nil)
        let question = site.map { ThesisQuestion(air: $0) } ?? ThesisQuestion(beacons: beacons ?? 1)
        try output.show(question.answer())
    }
}
