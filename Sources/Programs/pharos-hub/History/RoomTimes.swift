internal import BeaconService
internal import CommandSupport
internal import Configuration
internal import Store

/// The time that beacons were in rooms or zones, summed over their events, the oldest event first.
struct RoomTimes {
    /// A beacon in a room or a zone.
    private struct Key: Hashable {
        let beacon: String
        /// `nil` while the room was not known.
        let place: String?
    }

    /// The total of one beacon in one room or zone.
    struct Row {
        let beacon: String
        /// `nil` for the time in which the room was not known.
        let place: String?
        var microseconds: Int64 = 0
        var stays = 0
        /// Whether the beacon was still there at the end.
        var isOngoing = false
    }

    /// The starts of the stays that have not ended, in microseconds since 1970.
    private var open: [Key: Int64] = [:]
    private var rows: [Row] = []
    private var numbers: [Key: Int] = [:]

    /// Takes the next event.
    ///
    /// - Returns: the length in microseconds of the stay that it ends; `nil` if it ends none.
    @discardableResult
    mutating func take(_ event: EventStore.Event) -> Int64? {
        guard let beacon = event.beacon, let time = event.time else { return nil }
        let place = event.zone.isEmpty ? nil : event.zone
        // In the events of a collector, a beacon is in one room at a time.
        let isRoom = event.kind == "room" || event.json.contains("\"room\":")
        switch event.kind {
        case "enter", "room", "known":
            let key = Key(beacon: beacon, place: place)
            guard isRoom || event.kind == "enter", open[key] == nil else { return nil }
            let ended = isRoom ? endAll(of: beacon, at: time) : nil
            begin(key, at: time)
            return ended
        case "unknown" where isRoom:
            let ended = endAll(of: beacon, at: time)
            begin(Key(beacon: beacon, place: nil), at: time)
            return ended
        case "exit": return isRoom ? endAll(of: beacon, at: time) : end(Key(beacon: beacon, place: place), at: time)
        default: return nil
        }
    }

    /// Leaves out everything before a time: stays that have not ended begin then.
    mutating func begin(at time: Int64) {
        let ongoing = open.keys.sorted { ($0.beacon, $0.place ?? "") < ($1.beacon, $1.place ?? "") }
        (open, rows, numbers) = ([:], [], [:])
        for key in ongoing { begin(key, at: time) }
    }

    /// The totals, with the stays that have not ended by a time.
    ///
    /// - Parameter name: The beacon, or the room or zone.
    func totals(of name: String, at time: Int64) -> [Row] {
        var times = self
        for (key, start) in open where start <= time {
            times.rows[numbers[key] ?? 0].microseconds += time - start
            times.rows[numbers[key] ?? 0].isOngoing = true
        }
        return times.rows.filter { $0.beacon == name || $0.place == name }.sorted {
            ($1.microseconds, $0.beacon) < ($0.microseconds, $1.beacon)
        }
    }

    private mutating func begin(_ key: Key, at time: Int64) {
        let number = numbers[key] ?? rows.count
        if number == rows.count {
            numbers[key] = number
            rows.append(Row(beacon: key.beacon, place: key.place))
        }
        rows[number].stays += 1
        open[key] = time
    }

    private mutating func end(_ key: Key, at time: Int64) -> Int64? {
        guard let start = open.removeValue(forKey: key), let number = numbers[key] else { return nil }
        let lasted = max(0, time - start)
        rows[number].microseconds += lasted
        return lasted
    }

    private mutating func endAll(of beacon: String, at time: Int64) -> Int64? {
        open.keys.filter { $0.beacon == beacon }.compactMap { end($0, at: time) }.max()
    }
}

extension RoomTimes.Row {
    static let header = ["beacon", "zone", "seconds", "stays", "ongoing"]

    private var seconds: Int { Int((microseconds + 500_000) / 1_000_000) }

    /// The cells of a table for users.
    var cells: [String] {
        let length = StatusText.duration(
            from: RFC3339Time(secondsSince1970: 0), to: RFC3339Time(secondsSince1970: seconds))
        return [
            TerminalText.line(TerminalText.shortened(beacon, to: 40)),
            TerminalText.line(TerminalText.shortened(place ?? "unknown", to: 40)), length, "\(stays)",
            isOngoing ? "still there" : "",
        ]
    }

    /// A line of RFC 4180.
    var csv: String {
        [SpreadsheetText.text(beacon), SpreadsheetText.text(place ?? ""), "\(seconds)", "\(stays)", "\(isOngoing)"]
            .joined(separator: ",")
    }

    var json: JSONValue {
        .record([
            ("beacon", .string(beacon)), ("zone", .optional(place, JSONValue.string)),
            ("seconds", .integer(seconds)), ("stays", .integer(stays)), ("ongoing", .boolean(isOngoing)),
        ])
    }
}
