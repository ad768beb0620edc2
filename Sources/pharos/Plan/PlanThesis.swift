internal import Airtime
internal import ArgumentParser
internal import Configuration
internal import PlanReport

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
        let beacons = site?.beacons ?? beacons ?? 1
        let formula = try PlanValue.answer { () throws(AirtimeError) in try ThesisFormula(beacons: beacons) }
        var answer = PlanAnswer(
            title: "The thesis' estimate for \(beacons) beacons",
            answer:
                "The thesis promises that of \(PlanNumber.text(formula.offeredPerSecondPerBeacon)) advertisements a "
                + "second from \(beacons == 1 ? "one beacon" : "each of \(beacons) beacons") "
                + "\(PlanNumber.text(formula.arrivingPerSecondPerBeacon)) arrive"
                + (formula.truth.map { "; \(PlanNumber.text($0.arrivingPerSecondPerBeacon)) do." }
                    ?? "; but no beacon sends that often, 40 a second is the most."))
        if let site { answer.origin(of: site) }
        answer.member("beacons", Double(beacons))
        answer.member("offeredPerSecondPerBeacon", formula.offeredPerSecondPerBeacon)
        answer.member("arrivingPerSecondPerBeacon", formula.arrivingPerSecondPerBeacon)
        answer.figure("sent, by the thesis", PlanNumber.text(formula.offeredPerSecondPerBeacon), unit: "1/s")
        answer.figure("arriving, by the thesis", PlanNumber.text(formula.arrivingPerSecondPerBeacon), unit: "1/s")
        if let truth = formula.truth { add(truth, to: &answer) } else { answer.json.append(("truth", .null)) }
        for fault in ThesisFormula.faults { answer.note("\(fault)") }
        answer.json.append(("faults", .array(ThesisFormula.faults.map { .string("\($0)") })))
        try answer.show(output)
    }

    private func add(_ truth: ThesisFormula.Truth, to answer: inout PlanAnswer) {
        answer.json.append(
            (
                "truth",
                .record([
                    ("collisionFreeProbability", .real(truth.collisionFreeProbability)),
                    ("arrivingPerSecondPerBeacon", .real(truth.arrivingPerSecondPerBeacon)),
                    ("bestOfferedPerSecondPerBeacon", .real(truth.bestOfferedPerSecondPerBeacon)),
                    ("bestArrivingPerSecondPerBeacon", .real(truth.bestArrivingPerSecondPerBeacon)),
                ])
            ))
        answer.figure(
            "arriving in truth", PlanNumber.text(truth.arrivingPerSecondPerBeacon), unit: "1/s",
            remark: "\(PlanNumber.percent(truth.collisionFreeProbability)) are free of collisions")
        answer.figure(
            "the most that can arrive", PlanNumber.text(truth.bestArrivingPerSecondPerBeacon), unit: "1/s",
            remark: "when \(PlanNumber.text(truth.bestOfferedPerSecondPerBeacon)) a second are sent")
    }
}
