public import BluetoothTypes
public import Configuration
internal import HCITransports
internal import LinuxHost

/// One thing that was looked at, and what to do where it stands in a beacon's way.
public struct DoctorFinding: Hashable, Sendable {
    /// How much it stands in a beacon's way.
    public enum Mark: String, Hashable, Sendable {
        case ok
        /// A beacon goes on the air, and not quite as somebody may expect.
        case warn
        /// No beacon goes on the air with this adapter.
        case fail
    }

    public let mark: Mark
    /// What was looked at, in a word.
    public let topic: String
    public let message: String
    /// What to do; `nil` where nothing has to be done.
    public let remedy: String?

    static func ok(_ topic: String, _ message: String) -> Self {
        Self(mark: .ok, topic: topic, message: message, remedy: nil)
    }

    static func warn(_ topic: String, _ message: String, _ remedy: String) -> Self {
        Self(mark: .warn, topic: topic, message: message, remedy: remedy)
    }

    static func fail(_ topic: String, _ message: String, _ remedy: String) -> Self {
        Self(mark: .fail, topic: topic, message: message, remedy: remedy)
    }

    /// One object of `doctor --json`.
    public var json: JSONValue {
        .record([
            ("topic", .string(topic)), ("mark", .string(mark.rawValue)), ("message", .string(message)),
            ("remedy", .optional(remedy, JSONValue.string)),
        ])
    }
}

/// All that was found, for people and for programs.
public struct DoctorReport: Hashable, Sendable {
    /// The adapter that was looked at; `nil` where there is none.
    public let adapter: String?
    /// In the order in which one would look.
    public let findings: [DoctorFinding]

    /// Looks at this machine, and at one of its adapters.
    ///
    /// A beacon that runs is not disturbed; a controller outside the kernel that nobody uses is reset.
    ///
    /// - Parameters:
    ///   - adapter: In the form that the beacon shall use; `nil` for the first adapter with LE, as a service takes it.
    ///   - root: Where /sys, /etc, /usr and /run begin, for tests.
    public init(_ adapter: AdapterName?, root: String = "") {
        let adapters = BlueZAdapter.all()
        let chosen = adapter ?? adapters.first(where: \.supportsLE).map { .raw(index: $0.index) }
        let subject = DoctorSubject(chosen, adapters, root: root)
        self.init(
            adapter: chosen?.description,
            findings: subject.kernel + subject.presence + subject.radioSwitches + subject.bluetoothd + subject.rights
                + subject.controller + subject.sensors + subject.units + subject.clock)
    }

    init(adapter: String?, findings: [DoctorFinding]) {
        self.adapter = adapter
        self.findings = findings
    }

    /// Whether nothing stops a beacon.
    public var isGood: Bool { !findings.contains { $0.mark == .fail } }

    /// What `doctor --json` prints.
    public var json: JSONValue {
        .record([
            ("adapter", .optional(adapter, JSONValue.string)), ("good", .boolean(isGood)),
            ("findings", .array(findings.map(\.json))),
        ])
    }

    /// A line for each finding, its remedy below it, and a summary.
    public func text(color: Bool) -> String {
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
