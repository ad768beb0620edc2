internal import Airtime

/// The estimate of a much-read thesis for a number of beacons, and what is true instead.
public struct ThesisQuestion: Sendable {
    /// In range of one receiver, at least 1.
    public let beacons: Int
    /// The fleet's site whose beacons they are; `nil` where a number was given.
    public let origin: PlannedAir.Origin?

    /// In range of one receiver, at least 1.
    public init(beacons: Int) {
        self.beacons = beacons
        origin = nil
    }

    /// As many as stand at a site.
    public init(air: PlannedAir) {
        beacons = air.beacons
        origin = air.origin
    }

    /// What the thesis says of so many beacons, and what is exact. Throws what the models refuse.
    public func answer() throws(PlanError) -> PlanAnswer {
        let formula = try PlanError.asking { () throws(AirtimeError) in try ThesisFormula(beacons: beacons) }
        var answer = PlanAnswer(
            title: "The thesis' estimate for \(beacons) beacons",
            sentence:
                "The thesis promises that of \(NumberText.significant(formula.offeredPerSecondPerBeacon)) advertisements a "
                + "second from \(beacons == 1 ? "one beacon" : "each of \(beacons) beacons") "
                + "\(NumberText.significant(formula.arrivingPerSecondPerBeacon)) arrive"
                + (formula.truth.map { "; \(NumberText.significant($0.arrivingPerSecondPerBeacon)) do." }
                    ?? "; but no beacon sends that often, 40 a second is the most."))
        if let origin {
            answer.state("fleet", .word(origin.fleet))
            answer.state("site", .word(origin.site))
        }
        answer.state("beacons", .count(beacons))
        answer.state(
            "offeredPerSecondPerBeacon", .number(formula.offeredPerSecondPerBeacon, unit: "1/s"),
            as: "sent, by the thesis")
        answer.state(
            "arrivingPerSecondPerBeacon", .number(formula.arrivingPerSecondPerBeacon, unit: "1/s"),
            as: "arriving, by the thesis")
        state(formula.truth, in: &answer)
        for fault in ThesisFormula.faults { answer.note("\(fault)") }
        answer.state("faults", .list(ThesisFormula.faults.map { .word("\($0)") }))
        return answer
    }

    private func state(_ truth: ThesisFormula.Truth?, in answer: inout PlanAnswer) {
        guard let truth else { return answer.state("truth", .nothing) }
        let arriving = PlanQuantity.number(truth.arrivingPerSecondPerBeacon, unit: "1/s")
        let most = PlanQuantity.number(truth.bestArrivingPerSecondPerBeacon, unit: "1/s")
        answer.state(
            "truth",
            .record([
                ("collisionFreeProbability", .share(truth.collisionFreeProbability)),
                ("arrivingPerSecondPerBeacon", arriving),
                ("bestOfferedPerSecondPerBeacon", .number(truth.bestOfferedPerSecondPerBeacon, unit: "1/s")),
                ("bestArrivingPerSecondPerBeacon", most),
            ]))
        answer.show(
            "arriving in truth", arriving,
            remark: "\(NumberText.percent(truth.collisionFreeProbability)) are free of collisions")
        answer.show(
            "the most that can arrive", most,
            remark: "when \(NumberText.significant(truth.bestOfferedPerSecondPerBeacon)) a second are sent")
    }
}
