import Airtime

@testable import Planner

/// A page with all parts and of the usual size. Its values are invented.
enum SamplePage {
    typealias Content = PlanPageContent

    static func content() throws -> Content {
        var content = Content(
            title: "250 beacons in one hall",
            answer:
                "Set every beacon to 271.25 ms: an Android app in balanced mode then finds a given one within 2.6 s in "
                + "90 % of the cases, and more than twice as many packets arrive as at 100 ms.",
            command:
                "pharos plan interval --beacons 250 --detect-within-s 5 --probability 0.9 --scanner android-balanced")
        content.explorer = try explorer()
        content.latencies = latencies
        content.heatMap = heatMap
        content.floorPlan = floorPlan
        content.curves = [life]
        content.figures = [
            .init("battery life", "2.1", unit: "years", remark: "nRF52832 at +4 dBm on a CR2477"),
            .init("beacons in range", "250", remark: "of 312 on the floor"),
            .init("thesis formula", "7.6", unit: "1/s", remark: "charges only the later packet of a pair"),
        ]
        content.notes = [
            "All beacons have the same interval and packets of the same length.",
            "Windows under 100 ms: high percentiles are up to 5 % too short.",
        ]
        return content
    }

    static func explorer() throws -> Content.Explorer {
        var numbers = Content.Numbers()
        numbers.collisionFreeProbability = 0.1670051
        numbers.arrivalsPerSecondPerBeacon = 1.5905248
        numbers.airtimeMicroseconds = 376
        numbers.channelLoad = 0.8952381
        numbers.latencyP50 = 1.98
        numbers.latencyP90 = 5.64
        numbers.latencyP99 = 11.2
        numbers.bestLatencyIntervalMs = 265.625
        numbers.bestThroughputIntervalMs = 183.125
        return Content.Explorer(
            beacons: 250, intervalMs: 100, scanners: try scanners, scannerName: "android-balanced",
            discovered: discovered(mean: 2.2), numbers: numbers)
    }

    static var scanners: [Content.Scanner] {
        get throws {
            let named = [
                ("android-low-power", 512, 5120), ("android-balanced", 1024, 4096), ("android-low-latency", 4096, 4096),
                ("ios-find-my", 30, 300), ("harmony", 20, 600),
            ]
            return try named.map { name, window, interval in
                Content.Scanner(
                    name, try ScanPattern(windowMicroseconds: window * 1000, intervalMicroseconds: interval * 1000))
            } + [Content.Scanner("continuous", .continuous)]
        }
    }

    /// A curve that rises in steps, one for each scan interval, as with scanners that pause.
    static func discovered(mean: Double) -> [Content.Point] {
        var points: [Content.Point] = []
        var left = 1.0
        for step in 0..<1200 {
            let isOpen = step % 12 < 4
            left *= isOpen ? 0.92 : 0.997
            points.append(.init(Double(step + 1) * mean / 25, 1 - left))
        }
        return points
    }

    private static var latencies: Content.LatencyComparison {
        let rows = [
            ("android-low-power", 4.38), ("android-balanced", 1.98), ("android-low-latency", 0.41),
            ("ios-find-my", 3.9), ("harmony", 14.2), ("continuous", 0.41),
        ]
        return .init(
            caption: "250 beacons at 100 ms. The same beacons, the same air: only the scanner differs.",
            rows: rows.map { name, half in
                .init(
                    name, p50: half, p90: half * 3.3, p95: half * 4.2, p99: name == "harmony" ? nil : half * 6.4,
                    discovered: discovered(mean: half))
            })
    }

    private static var heatMap: Content.HeatMap {
        let intervals = [20, 100, 152.5, 211.25, 318.75, 417.5, 546.25, 760, 852.5, 1022.5, 1285]
        let modes = ["low-power", "balanced", "low-latency", "30/300", "20/600", "continuous"]
        let cells = intervals.enumerated().map { row, interval in
            modes.indices.map { column in
                let isResonant = (row * 7 + column * 5) % 23 == 0 && row > 3
                let value = [4.7, 3.3, 0.05, 0.9, 2.4, 0.02][column] + interval / 130 * (isResonant ? 9 : 1)
                return Content.HeatMap.Cell(row == 9 && column == 0 ? nil : value, isResonant: isResonant)
            }
        }
        return .init(
            title: "Interval and scan mode",
            caption: "A single beacon. Where its interval keeps step with the scanner's, "
                + "discovery can take minutes.", valueName: "time until 95 of 100 have seen it", intervalsMs: intervals,
            scanModes: modes, cells: cells)
    }

    private static var life: Content.Curve {
        let points = (1...60).map { Content.Point(Double($0) * 20, 2.6 * Double($0) / 5) }
        return .init(
            title: "Battery life", caption: "Life grows with the interval until sleep takes over.",
            x: .init("advertising interval", unit: "ms"), y: .init("life", unit: "days"),
            series: [
                .init("CR2477", points.map { .init($0.x, 1400 * $0.x / ($0.x + 420)) }),
                .init("CR2032", points.map { .init($0.x, 330 * $0.x / ($0.x + 420)) }),
            ], markers: [.init("today", x: 100), .init("proposed", x: 271.25)])
    }

    static var floorPlan: Content.FloorPlan {
        let spots = (0..<1800).map { index -> Content.FloorPlan.Spot in
            let (x, y) = (Double(index % 60) + 0.5, Double(index / 60) + 0.5)
            let near = [(9.0, 8.0), (30, 22), (50, 9)].map { (x - $0.0) * (x - $0.0) + (y - $0.1) * (y - $0.1) }
            return .init(.init(x, y), x > 52 && y > 25 ? nil : 0.4 + (near.min() ?? 0) / 30)
        }
        return .init(
            title: "The floor", caption: "Seconds until 95 of 100 phones have seen a beacon.",
            valueName: "time to detect", unit: "s", isHigherBetter: false, spotSpacing: 1,
            outline: [.init(0, 0), .init(60, 0), .init(60, 30), .init(0, 30)],
            walls: [
                .init(from: .init(20, 0), to: .init(20, 18), attenuation: 6),
                .init(from: .init(40, 12), to: .init(40, 30), attenuation: 12),
                .init(from: .init(40, 12), to: .init(52, 12), attenuation: 3),
            ],
            beacons: [
                .init("west <1>", at: .init(9, 8)), .init("middle", at: .init(30, 22)), .init("east", at: .init(50, 9)),
                .init("proposed", at: .init(52, 24), isProposed: true),
            ], spots: spots, paths: [.init("aisle", [.init(0, 15), .init(25, 15), .init(58, 4)])],
            weakSpots: [
                .init(.init(0.5, 29.5), 18.2, remark: "far from every beacon"),
                .init(.init(58, 27), nil, remark: "behind two walls"),
            ])
    }

    static var battery: Content.Battery {
        get throws {
            .init(
                beacons: 50, intervalMs: 500, payloadOctets: 31, chip: BeaconChip.all[0], battery: BeaconBattery.all[2])
        }
    }

    static var walk: Content.Walk {
        get throws {
            .init(
                path: try WalkPast(speedMetersPerSecond: 1.4, closestDistanceMeters: 3, rangeMeters: 10),
                probabilitySeen: 0.93, fleet: try explorer())
        }
    }

    static var density: Content.Density {
        get throws {
            .init(
                beaconsInRange: 120, gridSpacingM: 2.3, detectWithinS: 10, probability: 0.95, rangeM: 15,
                intervalMs: 500, payloadOctets: 31, scanners: try scanners, scannerName: "continuous",
                shares: [.init(1, 1), .init(10, 0.999), .init(120, 0.95), .init(500, 0.4)])
        }
    }
}
