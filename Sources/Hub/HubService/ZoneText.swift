internal import BluetoothTypes
internal import Configuration
public import Zones

/// Events as text for people.
public enum ZoneText {
    /// One line: time, kind, zone, beacon, distance, duration, cause, and the zone's text.
    public static func line(_ event: ZoneEvent, _ context: ZoneEvent.Context) -> String {
        var parts = [
            context.unixMicroseconds(event.instant).map(ZoneEvent.time) ?? "-", event.kind.rawValue, event.zone,
        ]
        if let beacon = event.beacon { parts.append(beacon) }
        if let distance = event.distance {
            parts.append("\(DecimalText.thousandths(Int((min(1e6, distance) * 10).rounded()) * 100)) m")
        }
        if event.kind == .exit || event.kind == .dwell, let lasted = event.lastedMicroseconds(context) {
            parts.append("after \((lasted + 500_000) / 1_000_000) s")
        }
        if let cause = event.cause { parts.append("(\(cause.rawValue))") }
        let content = [event.content?.title, event.content?.body].compactMap(\.self).filter { !$0.isEmpty }
        if !content.isEmpty { parts.append(TerminalText.line(content.joined(separator: ": "))) }
        return parts.joined(separator: "  ")
    }
}
