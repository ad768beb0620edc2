internal import Airtime
internal import Configuration

/// Writes the lines of a survey in the form that ``SurveyReader`` reads. Each line ends with a line feed.
public enum SurveyWriter {
    /// Returns the first line of a recording.
    public static func line(_ recording: Survey.Recording) -> String {
        var members: [(String, JSONValue)] = [("survey", 1)]
        if let site = recording.site { members.append(("site", .string(site))) }
        let receiver = [("name", recording.receiver), ("adapter", recording.adapter), ("address", recording.address)]
            .compactMap { key, value in value.map { (key, JSONValue.string($0)) } }
        if !receiver.isEmpty { members.append(("receiver", .record(receiver))) }
        if let started = recording.started { members.append(("started", .string(started.description))) }
        return JSONValue.record(members).line + "\n"
    }

    /// Returns the first line of a stay.
    public static func line(_ stay: Survey.Stay) -> String {
        var members: [(String, JSONValue)] = [("stay", .integer(stay.number))]
        if let place = stay.place { members.append(("place", .string(place))) }
        if let position = stay.position { members.append(("position", .position(position))) }
        if let floor = stay.floor { members.append(("floor", .string(floor))) }
        if let heading = stay.heading { members.append(("heading", .real(heading))) }
        if let session = stay.session { members.append(("session", .string(session))) }
        return JSONValue.record(members).line + "\n"
    }

    /// Returns the line of one second of a stay: the level of every packet in dBm, by beacon.
    public static func line(seconds: Double, readings: [(key: BeaconKey, levels: [Double])]) -> String {
        let levels = readings.map { ($0.key.text, JSONValue.array($0.levels.map(JSONValue.real))) }
        return JSONValue.record([("t", .real(seconds)), ("rssi", .record(levels))]).line + "\n"
    }

    /// Returns the last line of a stay.
    public static func end(stay: Int, seconds: Int) -> String { "{\"end\":\(stay),\"seconds\":\(seconds)}\n" }

    /// Returns a line that cancels a stay.
    public static func drop(stay: Int) -> String { "{\"drop\":\(stay)}\n" }

    /// Returns a line that replaces the place, the position and the floor of a stay with those of `spot`. Values that
    /// are `nil` in `spot` are not replaced.
    public static func move(stay: Int, to spot: SurveySpot) -> String {
        var members: [(String, JSONValue)] = [("move", .integer(stay))]
        if let position = spot.position { members.append(("position", .position(position))) }
        if let place = spot.place { members.append(("place", .string(place))) }
        if let floor = spot.floor { members.append(("floor", .string(floor))) }
        return JSONValue.record(members).line + "\n"
    }

    /// Returns a whole survey. Cancelled stays are left out, and moved stays have their new positions.
    ///
    /// - Parameter first: The number of the first stay, if the stays are to be numbered again in their order; `nil` to
    ///   keep the numbers.
    public static func text(_ survey: Survey, numberingFrom first: Int? = nil) -> String {
        var text = ""
        var recording: Int? = -1
        for (index, kept) in survey.stays.filter({ !$0.isCancelled }).enumerated() {
            var stay = kept
            if let first { stay.number = first + index }
            if stay.recording != recording {
                recording = stay.recording
                text += line(stay.recording.map { survey.recordings[$0] } ?? Survey.Recording())
            }
            text += line(stay)
            for index in stay.vectors {
                let vector = survey.vector(index)
                let readings = zip(vector.readings, survey.packets(index)).map { reading, levels in
                    (key: survey.beacons[reading.beacon], levels: levels)
                }
                text += line(seconds: vector.seconds, readings: readings)
            }
            text += end(stay: stay.number, seconds: stay.vectors.count)
        }
        return text
    }
}

extension JSONValue {
    /// Returns the shortest text that gives the same number; null if the number is not finite.
    static func real(_ value: Double) -> JSONValue {
        guard value.isFinite else { return .null }
        if let whole = Int(exactly: value), whole.magnitude < 1 << 53 { return .integer(whole) }
        return JSONNumber("\(value)").map(JSONValue.number) ?? .null
    }

    /// Returns a number with at most `digits` decimals; null for `nil` and for numbers that are not finite.
    static func rounded(_ value: Double?, _ digits: Int = 3) -> JSONValue {
        guard let value else { return .null }
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        return real((value * scale).rounded() / scale)
    }

    /// Returns a string; null for `nil`.
    static func text(_ text: String?) -> JSONValue { .optional(text, JSONValue.string) }

    /// Returns a position as a list: metres east, metres north.
    static func position(_ position: FloorPosition) -> JSONValue { .array([.real(position.x), .real(position.y)]) }

    /// Returns a position as a list, metres east and metres north, with at most three decimals; null for `nil`.
    static func roundedPosition(_ position: FloorPosition?) -> JSONValue {
        .optional(position) { .array([.rounded($0.x), .rounded($0.y)]) }
    }

    /// Returns a position as an object with the members `x` and `y`, in metres east and north.
    static func point(_ position: FloorPosition, _ digits: Int = 3) -> JSONValue {
        .record([("x", .rounded(position.x, digits)), ("y", .rounded(position.y, digits))])
    }
}
