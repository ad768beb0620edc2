public import Airtime
package import Configuration

/// Writes the lines of a survey, as ``SurveyReader`` reads them. Each ends with a line feed.
public enum SurveyWriter {
    /// The first line of a recording.
    public static func line(_ recording: Survey.Recording) -> String {
        var members: [(String, JSONValue)] = [("survey", .integer(SurveyReader.version))]
        if let site = recording.site { members.append(("site", .string(site))) }
        let receiver = [("name", recording.receiver), ("adapter", recording.adapter), ("address", recording.address)]
            .compactMap { key, value in value.map { (key, JSONValue.string($0)) } }
        if !receiver.isEmpty { members.append(("receiver", .record(receiver))) }
        if let started = recording.started { members.append(("started", .string(started.description))) }
        return JSONValue.record(members).line + "\n"
    }

    /// The first line of a stay.
    public static func line(_ stay: Survey.Stay) -> String {
        var members: [(String, JSONValue)] = [("stay", .integer(stay.number))]
        if let place = stay.place { members.append(("place", .string(place))) }
        if let position = stay.position {
            members.append(("position", .array([.real(position.x), .real(position.y)])))
        }
        if let floor = stay.floor { members.append(("floor", .string(floor))) }
        if let heading = stay.heading { members.append(("heading", .real(heading))) }
        if let session = stay.session { members.append(("session", .string(session))) }
        return JSONValue.record(members).line + "\n"
    }

    /// One second: every packet's level by beacon, in dBm.
    public static func line(seconds: Double, readings: [(key: BeaconKey, levels: [Double])]) -> String {
        let levels = readings.map { ($0.key.text, JSONValue.array($0.levels.map(JSONValue.real))) }
        return JSONValue.record([("t", .real(seconds)), ("rssi", .record(levels))]).line + "\n"
    }

    /// The last line of a stay.
    public static func end(stay: Int, seconds: Int) -> String { "{\"end\":\(stay),\"seconds\":\(seconds)}\n" }

    /// Takes a stay back.
    public static func drop(stay: Int) -> String { "{\"drop\":\(stay)}\n" }

    /// Moves a stay to where it was really taken.
    public static func move(stay: Int, to position: FloorPosition, place: String? = nil) -> String {
        var members: [(String, JSONValue)] = [
            ("move", .integer(stay)), ("position", .array([.real(position.x), .real(position.y)])),
        ]
        if let place { members.append(("place", .string(place))) }
        return JSONValue.record(members).line + "\n"
    }

    /// A whole survey; stays that were dropped are left out, moved ones stand where they were moved to.
    ///
    /// - Parameter first: The number that the first stay gets, the others counting on; `nil` to keep their own.
    public static func text(_ survey: Survey, numberingFrom first: Int? = nil) -> String {
        var text = ""
        var recording: Int? = -1
        for (index, kept) in survey.stays.filter({ !$0.isDropped }).enumerated() {
            var stay = kept
            if let first { stay.number = first + index }
            if stay.recording != recording {
                recording = stay.recording
                text += line(stay.recording.map { survey.recordings[$0] } ?? Survey.Recording())
            }
            text += line(stay)
            for vector in stay.vectors {
                let packets = survey.packets(vector)
                let readings = survey.vector(vector).readings.enumerated().map {
                    (key: survey.beacons[$0.element.beacon], levels: packets[$0.offset])
                }
                text += line(seconds: survey.vector(vector).seconds, readings: readings)
            }
            text += end(stay: stay.number, seconds: stay.vectors.count)
        }
        return text
    }
}

extension JSONValue {
    /// A number as short as it can be; null for what is none.
    static func real(_ value: Double) -> JSONValue {
        guard value.isFinite else { return .null }
        if let whole = whole(value) { return .integer(whole) }
        return JSONNumber("\(value)").map(JSONValue.number) ?? .null
    }

    /// The text of the same, for lists of millions.
    static func append(real value: Double, to octets: inout [UInt8]) {
        guard value.isFinite else {
            octets += "null".utf8
            return
        }
        octets += (whole(value).map { "\($0)" } ?? "\(value)").utf8
    }

    private static func whole(_ value: Double) -> Int? { Int(exactly: value).flatMap { abs($0) < 1 << 53 ? $0 : nil } }

    /// The same with so many digits behind the point at most.
    package static func rounded(_ value: Double, _ digits: Int) -> JSONValue {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        return real((value * scale).rounded() / scale)
    }
}
