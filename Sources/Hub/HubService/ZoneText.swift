internal import Advertiser
internal import BluetoothTypes
internal import Configuration
internal import LinuxHost
public import Zones

/// Events for people.
public enum ZoneText {
    /// One line: when, what, where, who, how far, for how long, why, and what the zone says.
    public static func line(_ event: ZoneEvent, _ telling: ZoneEvent.Telling) -> String {
        var parts = [
            telling.unixMicroseconds(event.instant).map(ZoneEvent.time) ?? "-", event.kind.rawValue, event.zone,
        ]
        if let beacon = event.beacon { parts.append(beacon) }
        if let distance = event.distance {
            parts.append("\(DecimalText.thousandths(Int((min(1e6, distance) * 10).rounded()) * 100)) m")
        }
        if event.kind == .exit || event.kind == .dwell, let lasted = event.lastedMicroseconds(telling) {
            parts.append("after \((lasted + 500_000) / 1_000_000) s")
        }
        if let cause = event.cause { parts.append("(\(cause.rawValue))") }
        let content = [event.content?.title, event.content?.body].compactMap(\.self).filter { !$0.isEmpty }
        if !content.isEmpty { parts.append(TerminalText.line(content.joined(separator: ": "))) }
        return parts.joined(separator: "  ")
    }
}

/// Log lines on standard error: for the journal each with its priority in front (sd-daemon(3)), for people with the
/// program's name.
struct HubJournal {
    /// systemd sets JOURNAL_STREAM where standard error goes to the journal.
    private let isJournal = Terminal.environment("JOURNAL_STREAM") != nil

    func write(_ priority: Supervisor.LogPriority, _ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            Terminal.writeError((isJournal ? "<\(priority.rawValue)>" : "pharos: ") + line + "\n")
        }
    }
}
