internal import Airtime
internal import PlanReport
internal import Sites

/// A surveyed site as the page draws it.
struct SitePicture {
    let site: Site
    let points: [SiteSurvey.Point]
    let spacing: Double
    let proposal: SitePlacement?

    /// More beacons than this are a grey smear, and a page that no phone opens.
    private static let beaconLimit = 2000

    var plan: PlanPageContent.FloorPlan {
        let drawn = site.beacons.prefix(Self.beaconLimit).map { beacon in
            PlanPageContent.FloorPlan.Beacon(beacon.name, at: point(beacon.position))
        }
        let proposed = (proposal?.positions ?? []).prefix(Self.beaconLimit).enumerated().map { index, position in
            PlanPageContent.FloorPlan.Beacon("proposed \(index + 1)", at: point(position), isProposed: true)
        }
        let weakest = SiteQuestion.weakest(points)
        return .init(
            title: site.name,
            caption:
                "The share of cases in which a beacon is found within \(NumberText.duration(site.target.seconds)), place by place.",
            valueName: "found in time", unit: "%", isHigherBetter: true, target: 100 * site.target.probability,
            spotSpacing: spacing,
            outline: (site.outline?.corners ?? []).map { point($0) },
            walls: site.walls.prefix(5000).map {
                .init(from: point($0.from), to: point($0.to), attenuation: $0.attenuation)
            },
            beacons: drawn + proposed,
            spots: points.map {
                .init(point($0.reception.position), $0.reception.best == nil ? nil : 100 * $0.detectedShare)
            },
            paths: site.paths.map { path in .init(path.name, path.walk.corners.map { point($0) }) },
            weakSpots: weakest.map { .init(point($0.reception.position), 100 * $0.detectedShare) })
    }

    private func point(_ position: FloorPosition) -> PlanPageContent.Point { .init(position.x, position.y) }
}
