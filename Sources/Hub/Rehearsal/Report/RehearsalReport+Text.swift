internal import BluetoothTypes
internal import Configuration

extension RehearsalReport {
    /// The report as text: the promises that are broken or cannot be judged, one line for each kind of promise with
    /// promises that hold, the planted faults, and the summary.
    public var text: String {
        var lines: [String] = []
        let notHolding = promises.filter { $0.verdict != .holds }
        if !notHolding.isEmpty {
            var table = Table(
                ["promise", "of", "promised", "rehearsed", "±", "verdict"],
                alignment: [.left, .left, .right, .right, .right, .left])
            for promise in notHolding.prefix(Self.rowLimit) { table.add(promise.cells) }
            lines.append(table.text)
            if notHolding.count > Self.rowLimit { lines.append("and \(notHolding.count - Self.rowLimit) more\n") }
            lines.append("\n")
            lines += reasons(of: notHolding.prefix(Self.rowLimit)) + ["\n"]
        }
        for kind in RehearsalPromise.Kind.allCases {
            let holding = promises.filter { $0.kind == kind && $0.verdict == .holds }
            guard !holding.isEmpty else { continue }
            let verb = holding.count == 1 ? "holds" : "hold"
            lines.append("\(kind.rawValue): \(holding.count) \(verb)\(Self.measuredRange(holding))\n")
        }
        if !faults.isEmpty {
            lines.append("\n")
            for fault in faults {
                let subject = fault.subject.isEmpty ? "" : " \(TerminalText.line(fault.subject))"
                lines.append(
                    "planted: \(fault.kind)\(subject) at \(NumberFormat.significant(fault.atS, 6)) s: "
                        + "\(fault.isFound ? "found" : "not found")\n")
            }
        }
        if !notes.isEmpty { lines.append("\n") }
        lines += notes.map { "note: \(TerminalText.line($0))\n" }
        return lines.joined() + "\n" + summary + "\n"
    }

    /// The lines with the reasons: one line for each broken promise, and one line for all promises of a kind that
    /// cannot be judged for the same reason.
    private func reasons(of notHolding: ArraySlice<RehearsalPromise>) -> [String] {
        var lines: [String] = []
        for promise in notHolding where !promise.reason.isEmpty {
            var start = ""
            if promise.verdict == .unjudged {
                let alike = notHolding.filter {
                    $0.verdict == .unjudged && $0.kind == promise.kind && $0.reason == promise.reason
                }
                guard alike.first?.subject == promise.subject else { continue }
                start =
                    alike.count == 1
                    ? "\(promise.kind.rawValue): " : "\(promise.kind.rawValue) (\(alike.count)): "
            }
            lines.append("\(promise.verdict.rawValue): \(start)\(TerminalText.line(promise.reason))\n")
        }
        return lines
    }

    /// The largest number of promises in the text.
    private static let rowLimit = 60

    /// The result in one sentence.
    public var summary: String {
        let broken = promises.count { $0.verdict == .broken }
        let judged = promises.count { $0.verdict != .unjudged }
        let runs = seeds.count == 1 ? "seed \(seeds[0])" : "\(seeds.count) seeds"
        let time = "\(NumberFormat.significant(hours, 4)) h with \(beacons.count) beacons and \(phones) phones, \(runs)"
        let foundFaults = faults.count(where: \.isFound)
        let planted = faults.isEmpty ? "" : " \(foundFaults) of \(faults.count) planted faults were found."
        return broken == 0
            ? "All \(judged) promises that can be judged hold: \(time).\(planted)"
            : "\(broken) of \(judged) promises do not hold: \(time).\(planted)"
    }

    /// The smallest and the largest measured value of some promises with up to four significant digits, such as `
    /// (99.1...100 %)`.
    private static func measuredRange(_ promises: [RehearsalPromise]) -> String {
        let values = promises.compactMap(\.measured)
        guard let low = values.min(), let high = values.max(), let unit = promises.first?.unit, !unit.isEmpty else {
            return ""
        }
        let (lowest, highest) = (NumberFormat.significant(low, 4), NumberFormat.significant(high, 4))
        return lowest == highest ? " (\(lowest) \(unit))" : " (\(lowest)...\(highest) \(unit))"
    }
}

extension RehearsalPromise {
    fileprivate var cells: [String] {
        func number(_ value: Double?) -> String {
            value.map { NumberFormat.significant($0, 4) + (unit.isEmpty ? "" : " \(unit)") } ?? "-"
        }
        let sign = expected == nil ? "" : relation == .atLeast ? "≥ " : relation == .atMost ? "≤ " : ""
        return [
            kind.rawValue, TerminalText.line(TerminalText.shortened(subject, to: 40)), sign + number(expected),
            number(measured), standardError.map { NumberFormat.significant($0, 2) } ?? "-", verdict.rawValue,
        ]
    }
}
