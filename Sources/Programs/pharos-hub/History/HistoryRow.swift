internal import BluetoothTypes
internal import Collector
internal import Configuration
internal import LinuxHost
internal import Store

/// An event as a row of a table, made from its JSON.
struct HistoryRow {
    static let header = [
        "at", "event", "zone", "beacon", "receiver", "since", "dwell_s", "cause", "rssi_dbm", "distance_m", "id",
        "floor", "from", "x_m", "y_m", "probability", "reports", "late",
    ]

    private let event: EventStore.Event
    private let root: JSONNode?

    init(_ event: EventStore.Event) {
        self.event = event
        root = JSONDocument.parse(Array(event.json.utf8)).0
    }

    private func text(_ key: String) -> String? { root?[key]?.string }

    private func number(_ key: String) -> String? { root?[key]?.thousandths.map(DecimalText.thousandths) }

    private func coordinate(_ key: String) -> String? {
        root?["position"]?[key]?.thousandths.map(DecimalText.thousandths)
    }

    /// Returns a minute in which a receiver received a beacon, as an event of the kind `heard`.
    static func event(_ minute: HeardMinute, of beacon: String) -> EventStore.Event {
        let time = SightingCollector.timeText(Int(minute.milliseconds))
        let id = "\(minute.receiver)-\(minute.milliseconds)"
        let level = minute.level.map {
            JSONValue.number(JSONNumber(thousandths: Int((max(-1e9, min(1e9, $0)) * 100).rounded()) * 10))
        }
        let json = JSONValue.record([
            ("event", "heard"), ("id", .string(id)), ("at", .string(time)), ("beacon", .string(beacon)),
            ("receiver", .string(minute.receiver)), ("reports", .integer(minute.reports)),
            ("late", .integer(minute.late)), ("rssiDbm", level ?? .null),
        ])
        let (microseconds, isTooLarge) = minute.milliseconds.multipliedReportingOverflow(by: 1000)
        return EventStore.Event(
            id: id, time: isTooLarge ? nil : microseconds, kind: "heard", zone: "", beacon: beacon, json: json.line)
    }

    /// Returns the cells of the event's row in a table for users.
    ///
    /// - Parameter stayMicroseconds: The duration of the stay that the event ends; `nil` if it ends no stay.
    func cells(_ zone: TimeZoneChoice, stayMicroseconds: Int64?) -> [String] {
        func shown(_ text: String?, to length: Int = 40) -> String {
            text.map { TerminalText.line(TerminalText.shortened($0, to: length)) } ?? "-"
        }
        return [
            shown(event.time.map { zone.text(Int($0 / 1_000_000)) } ?? text("at")), shown(event.kind),
            shown(event.zone.isEmpty ? nil : event.zone), shown(event.beacon),
            shown(text("receiver")),
            number("dwellS") ?? stayMicroseconds.map { DecimalText.thousandths(Int($0 / 1000)) } ?? "-",
            number("rssiDbm") ?? "-", number("distanceM") ?? "-",
            shown(text("cause") ?? reason(zone) ?? text("from").map { "from \($0)" }, to: 80),
        ]
    }

    /// Returns the reason why the room was not known; `nil` if there is none.
    private func reason(_ zone: TimeZoneChoice) -> String? {
        root.flatMap { UnknownReason($0) }?.text(zone, now: Int((event.time ?? 0) / 1000))
    }

    /// The event as a line of comma-separated values (RFC 4180), without a line end.
    var csv: String {
        func cell(_ text: String?) -> String { text.map(SpreadsheetText.text) ?? "" }
        return [
            cell(text("at")), cell(event.kind), cell(event.zone), cell(event.beacon), cell(text("receiver")),
            cell(text("since")), number("dwellS") ?? "", cell(text("cause")), number("rssiDbm") ?? "",
            number("distanceM") ?? "", cell(event.id), cell(text("floor")), cell(text("from")), coordinate("x") ?? "",
            coordinate("y") ?? "", number("probability") ?? "", number("reports") ?? "", number("late") ?? "",
        ].joined(separator: ",")
    }
}
