internal import Airtime
internal import Configuration

/// The declaration of the lines of a survey: their keys and types. A line may have other keys too, which are ignored.
public enum SurveyFormat {
    /// The text of `profiles/schema/survey.schema.json` (JSON Schema, draft 2020-12). The schema describes one line.
    public static var schema: String {
        let lines = [
            RecordingKeys.section, StayKeys.section, SecondKeys.section, EndKeys.section, DropKeys.section,
            MoveKeys.section,
        ]
        let schema: JSONValue = [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Pharos survey, one line",
            "description": "A survey is a file in JSON Lines. Each line is one of these objects.",
            "type": "object",
            "oneOf": .array(lines.map(\.schemaWithOtherKeys)),
        ]
        return schema.pretty
    }
}

extension Section {
    /// The JSON Schema of an object that may have other keys too.
    fileprivate var schemaWithOtherKeys: JSONValue {
        guard case .object(let members) = schema else { return schema }
        return .object(members.filter { $0.key != "additionalProperties" })
    }
}

/// The keys of the first line of a recording.
enum RecordingKeys {
    static let version = Key("survey", .version, "Version of the format, which is 1.", isRequired: true)
    static let site = Key("site", .text, "Name of the site.")
    static let receiver = Key("receiver", ValueType<JSONNode>.section(receiverSection), "The receiver.")
    static let started = Key(
        "started", .text, "Time at which the recording began, such as \"2026-05-01T09:00:00Z\" (RFC 3339).")
    static let section = Section("A recording begins.", [version, site, receiver, started])

    static let receiverName = Key("name", .text, "Name of the receiver.")
    static let adapter = Key("adapter", .text, "Adapter that receives, such as \"hci0\".")
    static let address = Key("address", .text, "Address of the adapter.")
    private static let receiverSection = Section("A receiver.", [receiverName, adapter, address])
}

/// The keys of the first line of a stay.
enum StayKeys {
    static let number = Key(
        "stay", .number, "Number of the stay. Later lines refer to the stay by this number.", isRequired: true)
    static let place = Key("place", .text, "Name of the place.")
    static let position = Key("position", .floorPosition, "Position of the place: [metres east, metres north].")
    static let floor = Key("floor", .text, "Name of the floor, on sites with several floors.")
    static let heading = Key("heading", .heading, "Direction of the receiver in degrees clockwise from north.")
    static let session = Key(
        "session", .text, "Name of the session: the stays that were recorded together, for example on one day.")
    static let section = Section(
        "A stay at one place with one heading begins.", [number, place, position, floor, heading, session])
}

/// The keys of one second of a stay.
enum SecondKeys {
    static let time = Key(
        "t", ValueType<Double>.real(-1e12...1e12, unit: "s"), "Time since the start of the stay.", isRequired: true)
    static let levels = Key(
        "rssi", .levels, "The level of every packet in dBm, by beacon. Empty if nothing was received.", isRequired: true
    )
    static let section = Section("One second of the stay.", [time, levels])
}

/// The keys of the last line of a stay.
enum EndKeys {
    static let number = Key("end", .number, "Number of the stay.", isRequired: true)
    static let seconds = Key("seconds", .number, "Number of seconds of the stay.")
    static let section = Section("The stay ends.", [number, seconds])
}

/// The key of a line that cancels a stay.
enum DropKeys {
    static let number = Key("drop", .number, "Number of the stay.", isRequired: true)
    static let section = Section("A stay is dropped.", [number])
}

/// The keys of a line that changes the position, the place name or the floor of an earlier stay.
enum MoveKeys {
    static let number = Key("move", .number, "Number of the stay.", isRequired: true)
    static let position = Key(
        "position", .floorPosition, "New position of the stay: [metres east, metres north].")
    static let place = Key("place", .text, "New name of the place.")
    static let floor = Key("floor", .text, "New floor of the stay.")
    /// The keys that can change a stay. A line must have at least one of them.
    static let changes = [position.name, place.name, floor.name]
    static let section = Section(
        "A stay is moved.", [number, position, place, floor],
        rules: [.oneOrMore(of: changes, otherwise: "give a \"position\" or a \"place\"")])
}

extension ValueType<Int> {
    /// The type of an integer: the number of a stay, or a number of seconds.
    fileprivate static var number: ValueType {
        let anyInteger: JSONValue = ["type": "integer"]
        return ValueType(schema: anyInteger) { $0.integer($1, in: Int.min...Int.max) }
    }
}

extension ValueType<FloorPosition> {
    /// The type of a position on a floor, such as `[4, 6]`: metres east and north.
    static var floorPosition: ValueType {
        ValueType(schema: ["type": "array", "items": ["type": "number"], "minItems": 2, "maxItems": 3]) {
            decoder, node in
            let range = -Survey.extent...Survey.extent
            // A third number is a height, as in GeoJSON, and is ignored.
            guard let parts = node.elements, parts.count == 2 || parts.count == 3 && parts[2].real != nil else {
                decoder.error("a position is two numbers, metres east and north, such as [4, 6]", at: node)
                return nil
            }
            guard let x = decoder.real(parts[0], in: range, unit: "m"),
                let y = decoder.real(parts[1], in: range, unit: "m")
            else { return nil }
            return FloorPosition(x: x, y: y)
        }
    }
}

extension ValueType<Double> {
    /// The type of a heading in degrees. It is converted to 0..<360. `"unknown"` and null are read as `nil`.
    fileprivate static var heading: ValueType {
        ValueType(schema: ["anyOf": [["type": "number"], ["const": "unknown"], ["type": "null"]]]) { decoder, node in
            if node.string == "unknown" || node.kind == "null" { return nil }
            guard let degrees = decoder.real(node, in: -1e9...1e9, unit: "degrees") else { return nil }
            return degrees - (degrees / 360).rounded(.down) * 360
        }
    }
}

extension ValueType<JSONNode> {
    /// The type of an object with the levels of each beacon.
    fileprivate static var levels: ValueType {
        let level: JSONValue = ["type": "number"]
        return ValueType(
            schema: [
                "type": "object", "additionalProperties": ["anyOf": [level, ["type": "array", "items": level]]],
            ]
        ) { decoder, node in
            if node.members == nil { decoder.wrongKind(node, expected: "an object with the levels of each beacon") }
            return node.members == nil ? nil : node
        }
    }
}
