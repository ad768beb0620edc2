public import Planner
internal import Sightings

extension AuditReport {
    /// One page for a browser.
    ///
    /// - Parameters:
    ///   - title: What was audited.
    ///   - command: The command line that made it.
    public func page(title: String, command: String) -> PlanPage {
        var content = PlanPageContent(title: title, answer: summary, command: command)
        content.maker = "Pharos, the audit"
        content.figures = [
            .init("listened", AuditNumber.tenths(Double(listenedMicroseconds) / 1_000_000), unit: "s")
        ]
        content.figures += receivers.map {
            .init(
                "reports", "\($0.reports)", remark: "by \($0.name)" + ($0.lost > 0 ? ", \($0.lost) more were lost" : "")
            )
        }
        content.figures += AuditVerdict.allCases.compactMap { verdict in
            let count = count(verdict)
            return count > 0 ? .init(verdict.rawValue, "\(count)", unit: "advertisements") : nil
        }
        let wrong = advertisements.filter { !$0.reasons.isEmpty }
        if !wrong.isEmpty {
            content.tables.append(
                .init(
                    caption: "What is not as it should be", header: ["advertisement", "verdict", "why"],
                    rows: wrong.flatMap { audit in
                        zip(audit.verdicts, audit.reasons).map { [audit.name, $0.rawValue, $1] }
                    }))
        }
        content.tables.append(table)
        if !warnings.isEmpty {
            content.tables.append(
                .init(caption: "Warnings", header: ["warning", "what"], rows: warnings.map { [$0.name, $0.sentence] }))
        }
        content.notes = [
            "An advertisement is owed one event in each interval and 5 ms, in the time in which somebody listened.",
            "A silence is too long where the planner's model of losses, which come in runs, explains it in less than one "
                + "audit of a thousand.",
            "Nobody can tell a copied frame by its bytes: clones show by two addresses at once, by a level that jumps, or "
                + "by counters that go back.",
        ]
        return PlanPage(content)
    }

    private var table: PlanPageContent.DataTable {
        .init(
            caption: "All advertisements",
            header: [
                "advertisement", "identity", "verdict", "heard", "owed", "share %", "interval ms", "asked ms",
                "longest silence s", "explained s", "mean dBm", "sd dB", "address",
            ],
            rows: advertisements.map { audit in
                [
                    audit.name, audit.expected.title, audit.verdicts.first?.rawValue ?? "unjudged", "\(audit.heard)",
                    "\(audit.owed)", audit.share.map { AuditNumber.tenths($0 * 100) } ?? "–",
                    audit.intervalMicroseconds.map { AuditNumber.tenths(Double($0) / 1000) } ?? "–",
                    AuditNumber.tenths(Double(audit.expected.intervalMicroseconds) / 1000),
                    audit.heard > 0 ? AuditNumber.tenths(Double(audit.longestSilenceMicroseconds) / 1_000_000) : "–",
                    audit.silenceLimitMicroseconds.map { AuditNumber.tenths(Double($0) / 1_000_000) } ?? "–",
                    audit.meanLevel.map(AuditNumber.tenths) ?? "–", audit.levelDeviation.map(AuditNumber.tenths) ?? "–",
                    audit.sender.map { "\($0.address)" } ?? "–",
                ]
            })
    }
}
