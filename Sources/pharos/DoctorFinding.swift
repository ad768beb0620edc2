internal import Configuration
internal import LinuxHost

/// One thing that was looked at, and what to do where it stands in a beacon's way.
struct DoctorFinding: Equatable {
    enum Mark: String {
        case ok
        /// A beacon goes on the air, and not quite as somebody may expect.
        case warn
        /// No beacon goes on the air with this adapter.
        case fail
    }

    let mark: Mark
    /// What was looked at, in a word.
    let topic: String
    let message: String
    let remedy: String?

    static func ok(_ topic: String, _ message: String) -> Self {
        Self(mark: .ok, topic: topic, message: message, remedy: nil)
    }

    static func warn(_ topic: String, _ message: String, _ remedy: String) -> Self {
        Self(mark: .warn, topic: topic, message: message, remedy: remedy)
    }

    static func fail(_ topic: String, _ message: String, _ remedy: String) -> Self {
        Self(mark: .fail, topic: topic, message: message, remedy: remedy)
    }

    var json: JSONValue {
        .record([
            ("topic", .string(topic)), ("mark", .string(mark.rawValue)), ("message", .string(message)),
            ("remedy", .optional(remedy, JSONValue.string)),
        ])
    }
}

/// All that was found, for people and for programs.
struct DoctorReport {
    /// The adapter that was looked at; `nil` where there is none.
    let adapter: String?
    let findings: [DoctorFinding]

    var isGood: Bool { !findings.contains { $0.mark == .fail } }

    var json: JSONValue {
        .record([
            ("adapter", .optional(adapter, JSONValue.string)), ("good", .boolean(isGood)),
            ("findings", .array(findings.map(\.json))),
        ])
    }

    func text(color: Bool) -> String {
        let width = findings.map(\.topic.count).max() ?? 0
        var text = ""
        for finding in findings {
            let topic = finding.topic + String(repeating: " ", count: width - finding.topic.count)
            let word = finding.mark.rawValue
            let mark = color ? "\u{1B}[1;\(finding.mark.color)m\(word)\u{1B}[0m" : word
            text += mark + String(repeating: " ", count: 4 - word.count) + "  \(topic)  \(finding.message)\n"
            if let remedy = finding.remedy { text += String(repeating: " ", count: 8 + width) + "→ \(remedy)\n" }
        }
        return text + "\n" + summary + "\n"
    }

    private var summary: String {
        let failures = findings.filter { $0.mark == .fail }.count
        let warnings = findings.filter { $0.mark == .warn }.count
        let subject = adapter.map { " on \($0)" } ?? ""
        let counted = warnings == 0 ? "" : warnings == 1 ? ", 1 warning" : ", \(warnings) warnings"
        if failures == 0 { return "Nothing stops a beacon\(subject)\(counted)." }
        return (failures == 1 ? "1 thing stops" : "\(failures) things stop") + " a beacon\(subject)\(counted)."
    }
}

extension DoctorFinding.Mark {
    fileprivate var color: String {
        switch self {
        case .ok: "32"
        case .warn: "33"
        case .fail: "31"
        }
    }
}
