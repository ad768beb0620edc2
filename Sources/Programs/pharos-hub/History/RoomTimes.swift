internal import BeaconService
internal import CommandSupport
internal import Configuration
internal import Store

/// Sums up how long beacons were in rooms or zones, from their events, which must be added in the order of their times.
///
/// At each site, a beacon is in at most one room of the collector at a time, but it can be in several zones of each
/// listener. If several beacons share a zone, the time is counted for the zone, not for a beacon. Time in which the
/// listener or the collector did not run does not count.
struct RoomTimes {
    /// A beacon in a room or a zone.
    private struct Key: Hashable {
        /// The index of the database.
        let source: Int
        /// The site, in a database of several sites; otherwise `nil`.
        let site: String?
        /// The listener of a zone; `nil` for a room of a collector.
        let receiver: String?
        /// The beacon; `nil` for a zone that several beacons share.
        let beacon: String?
        /// The name of the room or zone; `nil` while the room was not known.
        let place: String?

        /// The key of the total, which is the same for all sites of a database.
        var total: Key { Key(source: source, site: nil, receiver: receiver, beacon: beacon, place: place) }
    }

    /// The total of one beacon in one room or zone.
    struct Row {
        /// The beacon; `nil` for the time in which any of several beacons that share a zone was inside.
        let beacon: String?
        /// The name of the room or zone; `nil` for the time in which the room was not known.
        let place: String?
        /// The listener of a zone; `nil` for a room of a collector.
        let receiver: String?
        var microseconds: Int64 = 0
        var stays = 0
        /// True if the beacon was still in the room or zone at the end of the time span.
        var isOngoing = false
    }

    /// The starts of the stays that have not ended, in microseconds since 1970.
    private var startsOfStays: [Key: Int64] = [:]
    private var rows: [Row] = []
    /// The index of each total in ``rows``. Rooms with the same name at several sites of a database have one total.
    private var rowIndices: [Key: Int] = [:]
    /// The pauses in which the service did not run, by database and site, the oldest first.
    private let pauses: [[String?: [ServicePause]]]

    /// Creates sums without events.
    ///
    /// - Parameter pauses: The pauses in which the service did not run, by database and site, the oldest first.
    init(pauses: [[String?: [ServicePause]]] = []) { self.pauses = pauses }

    /// Adds the next event.
    ///
    /// - Parameter source: The index of the event's database.
    /// - Returns: The duration in microseconds of the stay that the event ends; `nil` if it ends no stay.
    @discardableResult
    mutating func take(_ event: EventStore.Event, from source: Int) -> Int64? {
        guard let time = event.time else { return nil }
        let root = JSONDocument.parse(Array(event.json.utf8)).root
        // Only the events of zones have this key.
        let isRoom = root?["zone"] == nil
        if isRoom, event.beacon == nil { return nil }
        let place = event.zone.isEmpty ? nil : event.zone
        func key(_ place: String?) -> Key {
            Key(
                source: source, site: event.site, receiver: isRoom ? nil : root?["receiver"]?.string,
                beacon: event.beacon, place: place)
        }
        switch event.kind {
        case "enter", "room", "known":
            guard isRoom || event.kind == "enter", startsOfStays[key(place)] == nil else { return nil }
            let stayMicroseconds = isRoom ? endRooms(like: key(place), at: time) : nil
            begin(key(place), at: time)
            return stayMicroseconds
        case "unknown" where isRoom:
            let stayMicroseconds = endRooms(like: key(place), at: time)
            begin(key(nil), at: time)
            return stayMicroseconds
        case "exit": return isRoom ? endRooms(like: key(place), at: time) : end(key(place), at: time)
        default: return nil
        }
    }

    /// Removes all time before `time` from the sums. Stays that have not ended begin at `time`.
    mutating func begin(at time: Int64) {
        let ongoing = startsOfStays.keys.sorted {
            ($0.beacon ?? "", $0.place ?? "") < ($1.beacon ?? "", $1.place ?? "")
        }
        (startsOfStays, rows, rowIndices) = ([:], [], [:])
        for key in ongoing { begin(key, at: time) }
    }

    /// Returns the totals of a beacon, room or zone at a time, including the stays that have not ended.
    ///
    /// - Parameter name: The name of the beacon, room or zone.
    func totals(of name: String, at time: Int64) -> [Row] {
        var times = self
        for (key, start) in startsOfStays where start <= time {
            let rowIndex = rowIndices[key.total] ?? 0
            times.rows[rowIndex].microseconds += runningTime(from: start, to: time, key)
            if !isPaused(at: time, key) { times.rows[rowIndex].isOngoing = true }
        }
        // Leave out rows without any time, for example of a stay that began before the time span and ended at its
        // start.
        return times.rows.filter {
            ($0.beacon == name || $0.place == name) && ($0.microseconds > 0 || $0.isOngoing)
        }.sorted {
            ($1.microseconds, $0.beacon ?? "", $0.receiver ?? "")
                < ($0.microseconds, $1.beacon ?? "", $1.receiver ?? "")
        }
    }

    private mutating func begin(_ key: Key, at time: Int64) {
        let rowIndex = rowIndices[key.total] ?? rows.count
        if rowIndex == rows.count {
            rowIndices[key.total] = rowIndex
            rows.append(Row(beacon: key.beacon, place: key.place, receiver: key.receiver))
        }
        rows[rowIndex].stays += 1
        startsOfStays[key] = time
    }

    private mutating func end(_ key: Key, at time: Int64) -> Int64? {
        guard let start = startsOfStays.removeValue(forKey: key), let rowIndex = rowIndices[key.total] else {
            return nil
        }
        let stayMicroseconds = runningTime(from: start, to: time, key)
        rows[rowIndex].microseconds += stayMicroseconds
        return stayMicroseconds
    }

    /// Ends the stay of a beacon in any room of the same collector.
    private mutating func endRooms(like key: Key, at time: Int64) -> Int64? {
        startsOfStays.keys.filter {
            $0.beacon == key.beacon && $0.source == key.source && $0.site == key.site && $0.receiver == nil
        }.compactMap { end($0, at: time) }.max()
    }

    private func pauses(_ key: Key) -> [ServicePause] {
        pauses.indices.contains(key.source) ? pauses[key.source][key.site] ?? [] : []
    }

    /// Returns how long the service that recorded a stay ran between two times, in microseconds.
    private func runningTime(from start: Int64, to end: Int64, _ key: Key) -> Int64 {
        let pausedTime = pauses(key).reduce(0) { $0 + max(0, min(end, $1.end) - max(start, $1.start)) }
        return max(0, end - start - pausedTime)
    }

    private func isPaused(at time: Int64, _ key: Key) -> Bool {
        pauses(key).contains { $0.start < time && time < $0.end }
    }
}

extension RoomTimes.Row {
    static let header = ["beacon", "zone", "seconds", "stays", "ongoing", "receiver"]

    private var seconds: Int { Int((microseconds + 500_000) / 1_000_000) }

    /// The cells of the row in a table for users.
    var cells: [String] {
        let length = StatusText.duration(
            from: RFC3339Time(secondsSince1970: 0), to: RFC3339Time(secondsSince1970: seconds))
        return [
            TerminalText.line(TerminalText.shortened(beacon ?? "-", to: 40)),
            TerminalText.line(TerminalText.shortened(place ?? "unknown", to: 40)),
            TerminalText.line(TerminalText.shortened(receiver ?? "-", to: 40)), length, "\(stays)",
            isOngoing ? "there at the end" : "",
        ]
    }

    /// The row as a line of comma-separated values (RFC 4180), without a line end.
    var csv: String {
        [
            SpreadsheetText.text(beacon ?? ""), SpreadsheetText.text(place ?? ""), "\(seconds)", "\(stays)",
            "\(isOngoing)", SpreadsheetText.text(receiver ?? ""),
        ].joined(separator: ",")
    }

    var json: JSONValue {
        .record([
            ("beacon", .optional(beacon, JSONValue.string)), ("zone", .optional(place, JSONValue.string)),
            ("seconds", .integer(seconds)), ("stays", .integer(stays)), ("ongoing", .boolean(isOngoing)),
            ("receiver", .optional(receiver, JSONValue.string)),
        ])
    }
}
