internal import Airtime
internal import PlanReport
internal import Sites

/// A surveyed site as the page draws it.
struct SitePicture {
    let site: Site
    let points: [SiteSurvey.Point]
    let spacing: Double
    /// How many of the beacons, the last of them, are proposed.
    let proposed: Int
    let goal: PlanPageContent.FloorPlan.Goal?

    /// More beacons than this are a grey smear, and a page that no phone opens.
    private static let beaconLimit = 2000

    var plan: PlanPageContent.FloorPlan {
        let standing = site.beacons.count - proposed
        let beacons = site.beacons.enumerated().prefix(Self.beaconLimit).map { index, beacon in
            PlanPageContent.FloorPlan.Beacon(beacon.name, at: point(beacon.position), isProposed: index >= standing)
        }
        let weakest = SiteQuestion.weakest(points)
        var plan = PlanPageContent.FloorPlan(
            title: site.name,
            caption:
                "The share of cases in which a beacon is found within \(NumberText.duration(site.target.seconds)), place by place.",
            valueName: "found in time", unit: "%", isHigherBetter: true, target: 100 * site.target.probability,
            spotSpacing: spacing,
            outline: (site.outline?.corners ?? []).map { point($0) },
            walls: site.walls.prefix(5000).map {
                .init(from: point($0.from), to: point($0.to), attenuation: $0.attenuation)
            },
            beacons: beacons,
            spots: points.map {
                .init(point($0.reception.position), $0.reception.best == nil ? nil : 100 * $0.detectedShare)
            },
            paths: site.paths.map { path in .init(path.name, path.walk.corners.map { point($0) }) },
            weakSpots: weakest.map { .init(point($0.reception.position), 100 * $0.detectedShare) })
        plan.goal = goal
        return plan
    }

    private func point(_ position: FloorPosition) -> PlanPageContent.Point { .init(position.x, position.y) }
}
