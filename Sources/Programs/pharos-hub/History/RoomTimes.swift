internal import BeaconService
internal import CommandSupport
internal import Configuration
internal import Store

/// The time that beacons were in rooms or zones, summed over their events, the oldest event first.
///
/// The events of each database are a sequence of their own: a beacon is in one room of a collector at a time, and in any
/// number of zones of each listener. Time in which the listener or the collector did not run does not count.
struct RoomTimes {
    /// A beacon in a room or a zone.
    private struct Key: Hashable {
        /// The number of the database.
        let source: Int
        /// The listener of a zone; `nil` for a room of a collector.
        let receiver: String?
        let beacon: String
        /// `nil` while the room was not known.
        let place: String?
    }

    /// The total of one beacon in one room or zone.
    struct Row {
        let beacon: String
        /// `nil` for the time in which the room was not known.
        let place: String?
        /// The listener of a zone; `nil` for a room of a collector.
        let receiver: String?
        var microseconds: Int64 = 0
        var stays = 0
        /// Whether the beacon was still there at the end.
        var isOngoing = false
    }

    /// The starts of the stays that have not ended, in microseconds since 1970.
    private var open: [Key: Int64] = [:]
    private var rows: [Row] = []
    /// The index of each total in ``rows``.
    private var numbers: [Key: Int] = [:]
    /// The times of each database in which its service did not run, the oldest first.
    private let pauses: [[ServicePause]]

    /// Creates sums without events.
    ///
    /// - Parameter pauses: The times of each database in which its service did not run, the oldest first.
    init(pauses: [[ServicePause]] = []) { self.pauses = pauses }

    /// Takes the next event.
    ///
    /// - Parameter source: The number of its database.
    /// - Returns: the length in microseconds of the stay that it ends; `nil` if it ends none.
    @discardableResult
    mutating func take(_ event: EventStore.Event, from source: Int) -> Int64? {
        guard let beacon = event.beacon, let time = event.time else { return nil }
        let root = JSONDocument.parse(Array(event.json.utf8)).root
        // Only the events of zones have this key.
        let isRoom = root?["zone"] == nil
        let place = event.zone.isEmpty ? nil : event.zone
        func key(_ place: String?) -> Key {
            Key(source: source, receiver: isRoom ? nil : root?["receiver"]?.string, beacon: beacon, place: place)
        }
        switch event.kind {
        case "enter", "room", "known":
            guard isRoom || event.kind == "enter", open[key(place)] == nil else { return nil }
            let ended = isRoom ? endRooms(of: beacon, from: source, at: time) : nil
            begin(key(place), at: time)
            return ended
        case "unknown" where isRoom:
            let ended = endRooms(of: beacon, from: source, at: time)
            begin(key(nil), at: time)
            return ended
        case "exit": return isRoom ? endRooms(of: beacon, from: source, at: time) : end(key(place), at: time)
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
            times.rows[numbers[key] ?? 0].microseconds += running(start, time, key.source)
            times.rows[numbers[key] ?? 0].isOngoing = !isPaused(at: time, key.source)
        }
        return times.rows.filter { $0.beacon == name || $0.place == name }.sorted {
            ($1.microseconds, $0.beacon, $0.receiver ?? "") < ($0.microseconds, $1.beacon, $1.receiver ?? "")
        }
    }

    private mutating func begin(_ key: Key, at time: Int64) {
        let number = numbers[key] ?? rows.count
        if number == rows.count {
            numbers[key] = number
            rows.append(Row(beacon: key.beacon, place: key.place, receiver: key.receiver))
        }
        rows[number].stays += 1
        open[key] = time
    }

    private mutating func end(_ key: Key, at time: Int64) -> Int64? {
        guard let start = open.removeValue(forKey: key), let number = numbers[key] else { return nil }
        let lasted = running(start, time, key.source)
        rows[number].microseconds += lasted
        return lasted
    }

    private mutating func endRooms(of beacon: String, from source: Int, at time: Int64) -> Int64? {
        open.keys.filter { $0.beacon == beacon && $0.source == source && $0.receiver == nil }
            .compactMap { end($0, at: time) }.max()
    }

    /// The time between two moments in which the service of a database ran, in microseconds.
    private func running(_ start: Int64, _ end: Int64, _ source: Int) -> Int64 {
        guard pauses.indices.contains(source) else { return max(0, end - start) }
        let paused = pauses[source].reduce(0) { $0 + max(0, min(end, $1.end) - max(start, $1.start)) }
        return max(0, end - start - paused)
    }

    private func isPaused(at time: Int64, _ source: Int) -> Bool {
        pauses.indices.contains(source) && pauses[source].contains { $0.start < time && time < $0.end }
    }
}

extension RoomTimes.Row {
    static let header = ["beacon", "zone", "seconds", "stays", "ongoing", "receiver"]

    private var seconds: Int { Int((microseconds + 500_000) / 1_000_000) }

    /// The cells of a table for users.
    var cells: [String] {
        let length = StatusText.duration(
            from: RFC3339Time(secondsSince1970: 0), to: RFC3339Time(secondsSince1970: seconds))
        return [
            TerminalText.line(TerminalText.shortened(beacon, to: 40)),
            TerminalText.line(TerminalText.shortened(place ?? "unknown", to: 40)),
            TerminalText.line(TerminalText.shortened(receiver ?? "-", to: 40)), length, "\(stays)",
            isOngoing ? "still there" : "",
        ]
    }

    /// A line of RFC 4180.
    var csv: String {
        [
            SpreadsheetText.text(beacon), SpreadsheetText.text(place ?? ""), "\(seconds)", "\(stays)", "\(isOngoing)",
            SpreadsheetText.text(receiver ?? ""),
        ].joined(separator: ",")
    }

    var json: JSONValue {
        .record([
            ("beacon", .string(beacon)), ("zone", .optional(place, JSONValue.string)),
            ("seconds", .integer(seconds)), ("stays", .integer(stays)), ("ongoing", .boolean(isOngoing)),
            ("receiver", .optional(receiver, JSONValue.string)),
        ])
    }
}
