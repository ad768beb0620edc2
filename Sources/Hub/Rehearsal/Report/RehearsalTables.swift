internal import Airtime
internal import BluetoothTypes
internal import Planner

/// The tables of a rehearsal's page: promises, the worst first, planted faults and beacons.
struct RehearsalTables {
    let report: RehearsalReport

    /// The largest number of rows of a table.
    private static let rowLimit = 1000

    /// A table for each verdict. Only the table of the promises that do not hold is open at first.
    var promises: String {
        [
            (RehearsalPromise.Verdict.broken, "Promises that do not hold"),
            (.unjudged, "Promises that cannot be judged"),
            (.holds, "Promises that hold"),
        ].map { verdict, caption in
            let promises = report.promises.filter { $0.verdict == verdict }
            guard !promises.isEmpty else { return "" }
            let shown = Array(promises.prefix(Self.rowLimit))
            let name =
                shown.count < promises.count
                ? "\(caption): the first \(shown.count) of \(promises.count)" : "\(caption): \(promises.count)"
            let table = HTML.table(
                caption: name, header: ["promise", "result", "about", "promised", "measured", "data", "reason"],
                rows: shown.map(cells), marks: shown.map { Self.mark($0.verdict) })
            guard verdict != .broken else {
                return "<section class=\"card promises\">\(table)\(Self.remainder(of: shown.count))</section>\n"
            }
            return
                "<section class=\"card promises\"><details class=\"data\"><summary>\(name)</summary>\(table)</details>"
                + "</section>\n"
        }.joined()
    }

    /// The number of rows of a table that are printed on paper. The style of the page has the same number.
    private static let printedRows = 14

    /// A sentence that appears only on paper, with the number of rows that are not printed.
    private static func remainder(of rows: Int) -> String {
        rows > printedRows ? "<p class=\"onPaper\">\(rows - printedRows) more are on the page.</p>" : ""
    }

    private func cells(_ promise: RehearsalPromise) -> [String] {
        [
            promise.subject, promise.verdict.words, promise.kind.words, promise.promised, promise.measuredText,
            promise.count > 0 ? "\(promise.count)" : NumberFormat.none, promise.reason,
        ]
    }

    private static func mark(_ verdict: RehearsalPromise.Verdict) -> HTML.Mark {
        switch verdict {
        case .holds: .good
        case .broken: .bad
        case .unjudged: .warning
        }
    }

    /// The table with one row for each kind of promise.
    var kinds: String {
        let rows = RehearsalPromise.Kind.allCases.compactMap { kind -> (worst: Int, cells: [String])? in
            let ofKind = report.promises.filter { $0.kind == kind }
            guard !ofKind.isEmpty else { return nil }
            let counts = [RehearsalPromise.Verdict.holds, .broken, .unjudged].map { verdict in
                ofKind.count { $0.verdict == verdict }
            }
            let worst: RehearsalPromise.Verdict = counts[1] > 0 ? .broken : counts[0] > 0 ? .holds : .unjudged
            return (worst.rank, [kind.words, worst.words, "\(ofKind.count)"] + counts.map { "\($0)" })
        }.sorted { $0.worst < $1.worst }
        guard !rows.isEmpty else { return "" }
        let table = HTML.table(
            caption: "Promises by kind",
            header: ["about", "result", "promises", "hold", "do not hold", "cannot be judged"],
            rows: rows.map(\.cells), marks: rows.map { [.bad, .warning, .good][$0.worst] })
        return "<section class=\"card kinds\">\(table)</section>\n"
    }

    /// The table of the planted faults, first the faults that were not found.
    var faults: String {
        guard !report.faults.isEmpty else { return "" }
        let faults = report.faults.filter { !$0.isFound } + report.faults.filter(\.isFound)
        let shown = Array(faults.prefix(Self.rowLimit))
        let table = HTML.table(
            caption: "Planted faults", header: ["planted in", "result", "fault", "time"],
            rows: shown.map {
                [
                    $0.subject.isEmpty ? "the whole site" : $0.subject, $0.isFound ? "found" : "not found", $0.kind,
                    RehearsalClock.text($0.atS),
                ]
            }, marks: shown.map { $0.isFound ? .good : .bad })
        return "<section class=\"card faults\">\(table)\(Self.remainder(of: shown.count))</section>\n"
    }

    /// The table of the beacons, with the same data as the drawing.
    var beacons: String {
        let verdicts = report.verdicts
        let shares = report.detectedShares
        let eventCounts = eventCounts
        let byRank = report.beacons.indices.sorted { (verdicts[$0]?.rank ?? 3, $0) < (verdicts[$1]?.rank ?? 3, $1) }
        let shown = Array(byRank.prefix(Self.rowLimit))
        let hasPlayback = report.playback != nil
        let header =
            ["beacon", "result", "x (m)", "y (m)", "detected in time"]
            + (hasPlayback ? ["events to play", "received", "with collisions"] : [])
        return HTML.table(
            caption: "Beacons", header: header,
            rows: shown.map { index in
                let beacon = report.beacons[index]
                let events = eventCounts[index]
                func share(_ count: Int) -> String {
                    NumberFormat.percent(events.all > 0 ? Double(count) / Double(events.all) : nil)
                }
                return [
                    beacon.name, verdicts[index]?.words ?? "no promise", NumberFormat.fixed(beacon.position?.x, 1),
                    NumberFormat.fixed(beacon.position?.y, 1), NumberFormat.percent(shares[index]),
                ] + (hasPlayback ? ["\(events.all)", share(events.received), share(events.collided)] : [])
            }, marks: shown.map { verdicts[$0].map(Self.mark) })
    }

    /// For each beacon, the numbers of advertising events in the period for the player: all events, the events that a
    /// phone or receiver received, and the events with a collision at a phone or receiver. An event can be both
    /// received and have a collision.
    private var eventCounts: [(all: Int, received: Int, collided: Int)] {
        var counts = report.beacons.map { _ in (all: 0, received: 0, collided: 0) }
        guard let events = report.playback?.events else { return counts }
        for (index, beacon) in events.beacons.enumerated() where counts.indices.contains(beacon) {
            counts[beacon].all += 1
            if events.received[index] > 0 { counts[beacon].received += 1 }
            if events.collided[index] > 0 { counts[beacon].collided += 1 }
        }
        return counts
    }
}
