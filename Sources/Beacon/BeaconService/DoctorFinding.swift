public import BluetoothTypes
public import Configuration
internal import HCITransports

/// The result of one check, with a remedy if it found a problem.
public struct DoctorFinding: Equatable, Sendable {
    /// The severity of a finding.
    public enum Mark: String, Hashable, Sendable {
        case ok
        /// A beacon goes on the air, but perhaps not as expected.
        case warn
        /// No beacon goes on the air with this adapter.
        case fail
    }

    public let mark: Mark
    /// The subject of the check, in one or two words.
    public let topic: String
    public let message: String
    /// The remedy; `nil` if none is needed.
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

/// The findings of `pharos doctor`.
public struct DoctorReport: Equatable, Sendable {
    /// The adapter that was checked; `nil` if there is none.
    public let adapter: String?
    /// The findings. A cause comes before its consequences.
    public let findings: [DoctorFinding]

    /// Checks this machine and one of its adapters.
    ///
    /// Running beacons are not disturbed. A controller outside the kernel is reset, unless a beacon uses it.
    ///
    /// - Parameters:
    ///   - adapter: The adapter in the form that the beacon will use; `nil` for the first adapter with LE.
    ///   - root: The directory that contains /sys, /etc, /usr and /run, for tests.
    public init(_ adapter: AdapterName?, root: String = "") {
        let adapters = BlueZAdapter.all()
        let name = adapter ?? adapters.first(where: \.supportsLE).map { .raw(index: $0.index) }
        let checks = DoctorChecks(name, adapters, root: root)
        self.init(
            adapter: name?.description,
            findings: checks.kernel + checks.presence + checks.radioSwitches + checks.bluetoothd + checks.rights
                + checks.controller + checks.sharing + checks.sensors + checks.units + checks.clock)
    }

    init(adapter: String?, findings: [DoctorFinding]) {
        self.adapter = adapter
        self.findings = findings
    }

    /// `true` if no finding prevents a beacon.
    public var isGood: Bool { !findings.contains { $0.mark == .fail } }

    /// The object of `doctor --json`.
    public var json: JSONValue {
        .record([
            ("adapter", .optional(adapter, JSONValue.string)), ("good", .boolean(isGood)),
            ("findings", .array(findings.map(\.json))),
        ])
    }

    /// One line for each finding, with its remedy below it, and a summary.
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
        let warningCount = warnings == 0 ? "" : warnings == 1 ? ", 1 warning" : ", \(warnings) warnings"
        if failures == 0 { return "Nothing prevents a beacon\(subject)\(warningCount)." }
        return (failures == 1 ? "1 problem prevents" : "\(failures) problems prevent")
            + " a beacon\(subject)\(warningCount)."
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
