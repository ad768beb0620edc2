internal import Airtime
internal import BluetoothTypes

/// A question for the planner: the estimate of a widely read thesis for a number of beacons, and the correct values.
public struct ThesisQuestion: Sendable {
    /// The number of beacons in range of one receiver, at least 1.
    public let beacons: Int
    /// The site of a fleet with these beacons; nil if the question states only their number.
    public let origin: PlannedAir.Origin?

    /// Creates a question about a number of beacons in range of one receiver, at least 1.
    public init(beacons: Int) {
        self.beacons = beacons
        origin = nil
    }

    /// Creates a question about the beacons of a site.
    public init(air: PlannedAir) {
        beacons = air.beacons
        origin = air.origin
    }

    /// Returns the thesis's values and the correct values. Throws the models' errors.
    public func answer() throws(PlanError) -> PlanAnswer {
        let formula = try PlanError.asking { () throws(AirtimeError) in try ThesisFormula(beacons: beacons) }
        let arriving = NumberFormat.significant(formula.arrivingPerSecondPerBeacon)
        let sent = NumberFormat.significant(formula.offeredPerSecondPerBeacon)
        let senders = beacons == 1 ? "one beacon" : "each of \(beacons) beacons"
        var answer = PlanAnswer(
            title: "The thesis's estimate for \(beacons) beacons",
            sentence: formula.truth.map {
                "\(NumberFormat.significant($0.arrivingPerSecondPerBeacon)) of \(sent) advertisements a second from \(senders) "
                    + "arrive; the thesis estimates \(arriving)."
            }
                ?? "No beacon can send \(sent) advertisements a second, as the thesis assumes for \(senders); the thesis "
                + "estimates that \(arriving) of them arrive. At most 40 a second are possible.")
        if let origin {
            answer.add(.fleet, .word(origin.fleet))
            answer.add(.site, .word(origin.site))
        }
        answer.add(.beacons, .count(beacons))
        answer.add(.thesisOffered, .number(formula.offeredPerSecondPerBeacon))
        answer.add(.thesisArriving, .number(formula.arrivingPerSecondPerBeacon))
        add(formula.truth, in: &answer)
        for fault in ThesisFormula.faults { answer.note(fault) }
        answer.add(.faults, .list(ThesisFormula.faults.map { .word($0) }))
        return answer
    }

    private func add(_ truth: ThesisFormula.Truth?, in answer: inout PlanAnswer) {
        guard let truth else { return answer.add(.truth, .nothing) }
        let arriving = PlanQuantity.number(truth.arrivingPerSecondPerBeacon, unit: "1/s")
        let most = PlanQuantity.number(truth.bestArrivingPerSecondPerBeacon, unit: "1/s")
        answer.add(
            .truth,
            .object([
                (.trueCollisionFree, .share(truth.collisionFreeProbability)), (.trueArriving, arriving),
                (.bestOffered, .number(truth.bestOfferedPerSecondPerBeacon)), (.bestArriving, most),
            ]))
        answer.show(
            "arriving, exact", arriving,
            remark: "\(NumberFormat.percent(truth.collisionFreeProbability)) are free of collisions")
        answer.show(
            "arriving, at the best interval", most,
            remark: "each beacon sends \(NumberFormat.significant(truth.bestOfferedPerSecondPerBeacon)) in a second")
    }

    /// The keys of the answer in JSON.
    static let keys: [PlanKey] =
        PlanKey.origin + [
            .beacons, .thesisOffered, .thesisArriving, .truth, .trueCollisionFree, .trueArriving, .bestOffered,
            .bestArriving, .faults,
        ]
}

extension PlanKey {
    fileprivate static let thesisOffered = PlanKey(
        "offeredPerSecondPerBeacon", "Advertisements that each beacon sends in a second, according to the thesis.",
        label: "sent, by the thesis", unit: "1/s")
    fileprivate static let thesisArriving = PlanKey(
        "arrivingPerSecondPerBeacon", "Advertisements of each beacon that arrive in a second, according to the thesis.",
        label: "arriving, by the thesis", unit: "1/s")
    fileprivate static let truth = PlanKey("truth", "The exact values; null if no beacon can send that often.")
    fileprivate static let trueCollisionFree = PlanKey(
        "truth.collisionFreeProbability", "Share of packets that do not collide, 0 to 1.")
    fileprivate static let trueArriving = PlanKey(
        "truth.arrivingPerSecondPerBeacon", "Advertisements of each beacon that arrive in a second.")
    fileprivate static let bestOffered = PlanKey(
        "truth.bestOfferedPerSecondPerBeacon",
        "Advertisements that each beacon must send in a second so that as many as possible arrive.")
    fileprivate static let bestArriving = PlanKey(
        "truth.bestArrivingPerSecondPerBeacon",
        "Advertisements of each beacon that arrive in a second if each beacon sends so many.")
    fileprivate static let faults = PlanKey("faults", "The errors of the thesis, one sentence each.")
}
