import Sightings
import Testing

@Suite struct DistanceEstimateTests {
    private func rule(_ model: DistanceModel) -> DistanceEstimate.Rule {
        var rule = DistanceEstimate.Rule()
        rule.model = model
        return rule
    }

    /// Android's mean of ten levels, converted with the three models.
    @Test(arguments: [(DistanceModel.log, 1.440), (.altbeacon, 1.155), (.radius, 1.457)])
    func matchesThePublishedCurves(model: DistanceModel, meters: Double) throws {
        let estimate = try #require(
            DistanceEstimate(level: -62.1667, deviation: 0, count: 9, powerAtOneMeter: -59, rule(model)))
        #expect(abs(estimate.meters - meters) < 0.0006)
    }

    @Test func theAltBeaconCurveIsAPowerBelowOneMetre() throws {
        let estimate = try #require(
            DistanceEstimate(level: -29.5, deviation: 0, count: 9, powerAtOneMeter: -59, rule(.altbeacon)))
        #expect(abs(estimate.meters - 1.0 / 1024) < 1e-9)
    }

    @Test func theIntervalIsAFactorOfTwoInEachDirection() throws {
        let estimate = try #require(
            DistanceEstimate(level: -59, deviation: 0, count: 100, powerAtOneMeter: -59, rule(.log)))
        #expect(abs(estimate.meters - 1) < 1e-12)
        #expect(abs(estimate.highMeters - 1.9953) < 0.0001)
        #expect(abs(estimate.lowMeters - 0.5012) < 0.0001)
        let single = try #require(
            DistanceEstimate(level: -59, deviation: 8, count: 1, powerAtOneMeter: -59, rule(.log)))
        #expect(abs(single.highMeters - 3.1623) < 0.0001)
    }

    @Test(arguments: [(127.0, -59), (0, -59), (-60, -3), (-60, 0), (-60, -101), (-60, -19), (-128, -59)])
    func refusesImplausibleLevelsAndPowers(level: Double, power: Int) {
        #expect(DistanceEstimate(level: level, deviation: 0, count: 3, powerAtOneMeter: power, rule(.log)) == nil)
    }

    @Test(arguments: [(-52.9, Proximity.immediate), (-53.1, .near), (-71.0, .near), (-71.1, .far)])
    func classifiesTheProximityByDistance(level: Double, proximity: Proximity) throws {
        let estimate = try #require(
            DistanceEstimate(level: level, deviation: 0, count: 1, powerAtOneMeter: -59, rule(.log)))
        #expect(estimate.proximity == proximity)
    }
}
