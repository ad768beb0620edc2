internal import BeaconFrames
internal import BluetoothTypes
public import Configuration
internal import Sightings

extension AuditReport {
    /// For people, at most 80 columns wide: a table, the reasons, the warnings, and one sentence.
    public var text: String {
        var table = Table(
            ["beacon", "sends", "heard", "%", "ms", "silent s", "dBm", "verdict"],
            alignment: [.left, .left, .right, .right, .right, .right, .right, .left])
        for audit in advertisements { table.add(audit.cells) }
        var lines = [table.text]
        for audit in advertisements {
            for (verdict, reason) in zip(audit.verdicts, audit.reasons) {
                lines.append("\(audit.name): \(verdict.rawValue): \(reason)\n")
            }
        }
        if advertisements.contains(where: { !$0.reasons.isEmpty }) { lines.insert("\n", at: 1) }
        if !warnings.isEmpty { lines.append("\n") }
        lines += warnings.map { "warning: \($0.name): \($0.sentence)\n" }
        return lines.joined() + "\n" + summary + "\n"
    }

    /// What came of it, in one line.
    public var summary: String {
        let judged = judgedCount
        let wrong = advertisements.count { !$0.verdicts.allSatisfy { $0 == .ok } }
        let seconds = AuditNumber.tenths(Double(listenedMicroseconds) / 1_000_000)
        let head =
            judged == 0
            ? "Nothing could be judged"
            : wrong == 0
                ? judged == 1
                    ? "The advertisement is as it should be" : "All \(judged) advertisements are as they should be"
                : "\(wrong) of \(judged) advertisements are not as they should be"
        let lost = receivers.reduce(0) { $0 + $1.lost }
        return head + ", by \(seconds) s of listening."
            + (lost > 0 ? " \(lost) reports were lost on the way: shares are lower bounds." : "")
    }

    /// One object.
    public var json: JSONValue {
        .record([
            ("good", .boolean(isGood)), ("listenedS", AuditNumber.seconds(listenedMicroseconds)),
            ("lowerBound", .boolean(isLowerBound)),
            (
                "receivers",
                .array(
                    receivers.map { receiver in
                        .record([
                            ("receiver", .string(receiver.name)),
                            ("listenedS", AuditNumber.seconds(receiver.listened.microseconds)),
                            ("reports", .integer(receiver.reports)), ("lost", .integer(receiver.lost)),
                        ])
                    })
            ), ("advertisements", .array(advertisements.map(\.json))),
            ("warnings", .array(warnings.map(\.json))),
        ])
    }
}

extension AdvertisementAudit {
    /// How it is called in sentences.
    var name: String { TerminalText.line(beacon) + " " + expected.type }

    fileprivate var cells: [String] {
        let type = expected.type.hasPrefix("eddystone-") ? String(expected.type.dropFirst(10)) : expected.type
        return [
            TerminalText.line(TerminalText.shortened(beacon, to: 14)), type, "\(heard)/\(owed)",
            share.map { "\(Int(($0 * 100).rounded()))" } ?? "-",
            intervalMicroseconds.map { AuditNumber.tenths(Double($0) / 1000) } ?? "-",
            heard > 0 ? AuditNumber.tenths(Double(longestSilenceMicroseconds) / 1_000_000) : "-",
            meanLevel.map { "\(Int($0.rounded()))" } ?? "-", verdicts.first?.rawValue ?? "unjudged",
        ]
    }

    fileprivate var json: JSONValue {
        .record([
            ("beacon", .string(beacon)), ("type", .string(expected.type)),
            ("identity", expected.identity.map { .string($0.description) } ?? .null),
            ("verdicts", .array(verdicts.map { .string($0.rawValue) })),
            ("reasons", .array(reasons.map(JSONValue.string))), ("heard", .integer(heard)),
            ("owed", .integer(owed)), ("share", AuditNumber.value(share)),
            ("intervalMs", AuditNumber.milliseconds(intervalMicroseconds)),
            ("expectedIntervalMs", AuditNumber.milliseconds(expected.intervalMicroseconds)),
            ("longestSilenceS", heard > 0 ? AuditNumber.seconds(longestSilenceMicroseconds) : .null),
            ("silenceLimitS", .optional(silenceLimitMicroseconds) { AuditNumber.seconds($0) }),
            ("address", .optional(sender) { .string($0.address.description) }),
            ("expectedAddress", expected.addressText.map(JSONValue.string) ?? .null),
            ("expectedOctets", .optional(expected.octets) { .string($0.text) }),
            ("wrongOctets", wrongOctets.isEmpty ? .null : .hex(wrongOctets)),
            ("rssiDbm", .record([("mean", AuditNumber.value(meanLevel)), ("sd", AuditNumber.value(levelDeviation))])),
            (
                "telemetry",
                .optional(telemetry) { frame in
                    .record([
                        ("batteryMv", .optional(frame.batteryMillivolts) { .integer(Int($0)) }),
                        ("temperatureC", .optional(frame.temperature) { .decimal("\($0.celsius)") }),
                        ("advertisements", .integer(Int(frame.advertisements))),
                        ("uptimeS", .number(JSONNumber(thousandths: Int(frame.uptimeDeciseconds) * 100))),
                    ])
                }
            ),
        ])
    }
}

extension ExpectedAdvertisement {
    fileprivate var identity: BeaconIdentity? { if case .frame(let identity) = content { identity } else { nil } }

    fileprivate var addressText: String? {
        if case .exactly(let sender) = address { sender.address.description } else { nil }
    }
}

extension AuditWarning {
    /// What it means, in one sentence.
    var sentence: String {
        switch self {
        case .stranger(let identity, let sender, let reports):
            "\(identity)\(sender.map { " from \($0.address)" } ?? "") is no beacon of these, \(reports) reports"
        case .notInRange(let beacon): "\(TerminalText.line(beacon)) is out of reach of every receiver that listened"
        case .unjudged(let beacon, let type):
            "\(TerminalText.line(beacon)) \(type): its key, its epoch or its bytes are unknown"
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .stranger(let identity, let sender, let reports):
            .record([
                ("warning", .string(name)), ("identity", .string(identity.description)),
                ("address", .optional(sender) { .string($0.address.description) }), ("reports", .integer(reports)),
            ])
        case .notInRange(let beacon): .record([("warning", .string(name)), ("beacon", .string(beacon))])
        case .unjudged(let beacon, let type):
            .record([("warning", .string(name)), ("beacon", .string(beacon)), ("type", .string(type))])
        }
    }
}

/// Numbers of a report, rounded once.
enum AuditNumber {
    static func tenths(_ value: Double) -> String {
        DecimalText.thousandths(Int(min(1e12, max(-1e12, value * 10)).rounded()) * 100)
    }

    /// With three places.
    static func value(_ value: Double?) -> JSONValue {
        .optional(value) { .number(JSONNumber(thousandths: Int(min(1e12, max(-1e12, $0 * 1000)).rounded()))) }
    }

    static func seconds(_ microseconds: Int) -> JSONValue {
        .number(JSONNumber(thousandths: (microseconds + 500) / 1000))
    }

    static func milliseconds(_ microseconds: Int?) -> JSONValue {
        .optional(microseconds) { .number(JSONNumber(thousandths: $0)) }
    }
}
