internal import BluetoothTypes

extension RehearsalPromise.Kind {
    /// The promised property in words.
    var words: String {
        switch self {
        case .interval: "advertising interval"
        case .share: "packets received"
        case .silence: "longest silence"
        case .level: "level at a receiver"
        case .identity: "own identity"
        case .collisions: "collisions"
        case .detection: "detection in time"
        case .walk: "detection on a path"
        case .percentile: "95th percentile of detection"
        case .telemetry: "age of telemetry"
        case .rotation: "change of ephemeral ids"
        case .presence: "presence"
        case .room: "room"
        case .receiver: "receiver"
        case .battery: "battery life"
        }
    }
}

extension RehearsalPromise.Verdict {
    var words: String {
        switch self {
        case .holds: "holds"
        case .broken: "does not hold"
        case .unjudged: "cannot be judged"
        }
    }

    /// The rank of the verdict: 0 for the worst.
    var rank: Int {
        switch self {
        case .broken: 0
        case .unjudged: 1
        case .holds: 2
        }
    }
}

extension RehearsalPromise {
    /// The promised value as text, such as `at least 90 %` or `255 ms`; a dash if there is none.
    var promised: String {
        guard let expected, expected.isFinite else { return NumberFormat.none }
        let value = Self.text(expected, unit)
        return switch relation {
        case .atLeast: "at least \(value)"
        case .atMost: "at most \(value)"
        case .equal: value
        }
    }

    /// The measured value as text, with its standard error if it has one, such as `97.5 ± 1.1 %`.
    var measuredText: String {
        guard let standardError, standardError.isFinite, let measured, measured.isFinite else {
            return Self.text(measured, unit)
        }
        return Self.text(measured, "") + " ± " + NumberFormat.significant(standardError, 2, unit: unit)
    }

    private static func text(_ value: Double?, _ unit: String) -> String {
        NumberFormat.significant(value, 4, unit: unit)
    }
}

/// Formats times of a rehearsal.
enum RehearsalClock {
    /// Hours, minutes and, unless they are 0, seconds: `10:00`, `00:00:12`.
    static func text(_ seconds: Double) -> String {
        let whole = Int(max(0, min(seconds, 1e9)))
        func twoDigits(_ value: Int) -> String { NumberFormat.padded(value, to: 2) }
        let minutes = "\(twoDigits(whole / 3600)):\(twoDigits(whole / 60 % 60))"
        return whole % 60 == 0 ? minutes : "\(minutes):\(twoDigits(whole % 60))"
    }
}

extension RehearsalReport.Fault {
    /// The fault in words: `hall-desk stops at 10:00`.
    var words: String {
        let word = kind.split(separator: "-").joined(separator: " ")
        return "\(subject.isEmpty ? word : "\(subject) \(word)") at \(RehearsalClock.text(atS))"
    }
}
