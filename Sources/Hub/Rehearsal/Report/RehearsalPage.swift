internal import BluetoothTypes
internal import Planner

/// A rehearsal as one self-contained page: the verdicts on the promises, the floor, a player of the advertising events,
/// and tables of the promises.
///
/// The page needs no network. Without scripts and on paper, only the player is missing. The player plays at most the
/// first 200,000 advertising events, and the tables have at most 1000 rows; captions and notes describe the omissions.
public struct RehearsalPage: Sendable {
    private let report: RehearsalReport

    public init(_ report: RehearsalReport) {
        self.report = report
    }

    /// The whole page.
    public var html: String {
        let player = RehearsalPlayer(report)
        let tables = RehearsalTables(report: report)
        return PageShell.page(
            title: "Rehearsal of \(HTMLEscaping.shortened(report.fleet, to: 40))", brand: "Pharos, the rehearsal",
            answer: report.headline, command: "pharos \(report.replay)", style: RehearsalScript.style,
            main: tiles + (player?.figure(table: tables.beacons) ?? "") + RehearsalScript.filters
                + tables.promises + tables.kinds + tables.faults,
            notes: notes + (player?.notes ?? []), scripted: (data(player), RehearsalScript.text))
    }

    private func data(_ player: RehearsalPlayer?) -> String {
        let kinds = RehearsalPromise.Kind.allCases.filter { kind in report.promises.contains { $0.kind == kind } }
        return PageData.object([
            ("kinds", .list(kinds.map { .text($0.words) })), ("play", player?.data ?? .null),
        ]).element(id: "data")
    }

    /// The tiles with the most important numbers.
    private var tiles: String {
        func count(_ verdict: RehearsalPromise.Verdict) -> Int { report.promises.count { $0.verdict == verdict } }
        func tile(_ id: String, _ name: String, _ number: Int, isHidden: Bool = false) -> ControlPanel.Tile {
            .init(id, name, "\(number)", Double(number), isHidden: isHidden)
        }
        let foundFaults = report.faults.count(where: \.isFound)
        // In the style, `seen` makes the numbers large, and `verdicts` colours the first three tiles.
        return ControlPanel.tiles(
            [
                tile("holding", "promises hold", count(.holds)), tile("broken", "do not hold", count(.broken)),
                tile("unjudged", "cannot be judged", count(.unjudged)),
                .init(
                    "faultsFound", "planted faults found", "\(foundFaults) of \(report.faults.count)",
                    Double(foundFaults), isHidden: report.faults.isEmpty),
                tile("beaconCount", "beacons", report.beacons.count),
                .init(
                    "phoneCount",
                    "phones in \(NumberFormat.significant(report.hours, unit: "h"))"
                        + (report.seeds.count > 1 ? ", in each of \(report.seeds.count) runs" : ""), "\(report.phones)",
                    Double(report.phones)),
            ], class: "seen verdicts")
    }

    private var notes: [String] {
        let seeds = report.seeds.prefix(20).map { "\($0)" }.joined(separator: ", ")
        return report.notes + [
            "Made from \(HTMLEscaping.shortened(report.file, to: 160)) by Pharos \(report.version), "
                + "\(report.seeds.count == 1 ? "seed" : "seeds") \(seeds). The same command gives the same numbers."
        ]
    }
}

/// The files of the page, which the build embeds.
enum RehearsalScript {
    static let text = [
        SharedScript.text, string(PackageResources.replay_js), string(PackageResources.player_js),
        string(PackageResources.promises_js),
    ].joined(separator: "\n")
    static let style = string(PackageResources.rehearsal_css)
    /// The controls above the table of promises.
    static let filters = string(PackageResources.filters_html)
    /// The controls of the player.
    static let player = string(PackageResources.player_html)
    /// The numbers at the player's current time, next to the floor.
    static let nowPlaying = string(PackageResources.now_html)

    private static func string(_ octets: [UInt8]) -> String { String(decoding: octets, as: UTF8.self) }
}
