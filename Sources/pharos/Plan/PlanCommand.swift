internal import ArgumentParser

struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Computes how many beacons, how often and how loud.",
        discussion: """
            Every number comes from an exact model, or from a simulation with a seed where there is none. Try \
            `pharos plan interval --beacons 250 --detect-within-s 10 --probability 0.99 --scanner android-low-power`; \
            with a fleet file, `pharos plan collisions --from-fleet museum.json`.
            """,
        subcommands: [
            PlanInterval.self, PlanCollisions.self, PlanLatency.self, PlanDensity.self, PlanWalk.self,
            PlanEnergy.self, PlanSite.self, PlanSimulate.self, PlanThesis.self,
        ])
}
