package import Configuration
internal import Sightings

/// The keys of a zone in the `zones` of a listener file.
package enum ZoneKeys {
    static let name = Key("name", .name, "Name of the zone, such as \"desk-peter\".", isRequired: true)
    static let tag = Key("tag", tagType, "The zone applies to all beacons with this tag.")
    static let beacons = Key(
        "beacons", .list("beacons", 1...Int.max, of: .beaconName, isUnique: true),
        "Names of the beacons to which the zone applies.")
    static let per = Key(
        "per", ValueType<ZoneRule.Scope>.word,
        """
        beacon: each beacon enters and leaves on its own (default with tag). zone: the zone is entered with the first \
        beacon and left with the last (default with beacons).
        """)
    static let within = Key(
        "withinM", .thousandths(distances, unit: "m"), "Distance below which a beacon is inside.",
        default: ZoneRule.defaultDistance)
    static let leaveBeyond = Key(
        "leaveBeyondM", .thousandths(distances, unit: "m"),
        "Distance above which a beacon is outside. Default: 1.5 times withinM.")
    static let above = Key(
        "aboveDbm", .integer(levels, unit: "dBm"),
        "Signal level above which a beacon is inside, in place of a distance.")
    static let leaveBelow = Key(
        "leaveBelowDbm", .integer(levels, unit: "dBm"),
        "Signal level below which a beacon is outside. Default: 6 dB less than aboveDbm.")
    static let reports = Key(
        "reports", .integer(1...MedianWindow.capacity), "Number of reports in the window that a beacon needs to enter.",
        default: 2)
    static let window = Key(
        "windowS", automatic(100...3_600_000),
        """
        Length of the window: the last seconds, whose levels are used. auto (the default): 3 s, or 3 periods of the \
        beacon if that is longer.
        """)
    static let leaveAfter = Key(
        "leaveAfterS", .thousandths(0...3_600_000, unit: "s"),
        "Time for which a beacon must be outside before it leaves.", default: 5000)
    static let silentAfter = Key(
        "silentAfterS", automatic(1000...86_400_000),
        "Silence after which a beacon has left. auto (the default): computed from the interval and the loss.")
    static let dwell = Key(
        "dwellS", .list("seconds", 1...Int.max, of: .integer(1...864_000, unit: "s"), isUnique: true),
        "Times in s, in ascending order. When a beacon has been inside for one of them, a dwell event is sent.")
    static let exclusive = Key(
        "exclusive", .name, "Name of a group of zones. Beacons are inside at most one zone of a group: the nearest.")
    static let exclusiveMargin = Key(
        "exclusiveDb", .integer(0...40, unit: "dB"),
        """
        While a beacon is inside another zone of the group, a beacon enters this zone only if its level is higher by at \
        least this value. 3 dB is 1.4 times nearer, 6 dB is twice as near.
        """, default: 3)
    static let proof = Key(
        "proof", ValueType<ZoneRule.Proof>.word,
        """
        none: any identity counts. eid: only an ephemeral id counts, which only a beacon with the key can send. An id from \
        more than two senders, or at levels that no single place explains, does not count: another device repeats it.
        """,
        default: ZoneRule.Proof.none)
    static let onEnter = Key("onEnter", .section(ContentKeys.section), "Text of the enter event.")
    static let onExit = Key("onExit", .section(ContentKeys.section), "Text of the exit event.")

    static let section = Section(
        "A zone that beacons enter and leave.",
        [
            name, tag, beacons, per, within, leaveBeyond, above, leaveBelow, reports, window, leaveAfter, silentAfter,
            dwell, exclusive, exclusiveMargin, proof, onEnter, onExit,
        ],
        rules: [
            .oneOrMore(
                of: ["tag", "beacons"],
                otherwise: "this zone has no beacons: give the \"tag\" of its beacons, or \"beacons\" by their names"),
            .notBoth("tag", "beacons", otherwise: "a zone has \"tag\" or \"beacons\", not both"),
            .notBoth(
                "withinM", "aboveDbm", otherwise: "a zone is bounded by \"withinM\" or \"aboveDbm\", not both"),
            .with(
                "leaveBelowDbm", needs: "aboveDbm",
                otherwise: "this key needs \"aboveDbm\", which this zone does not have"),
            .with(
                "exclusiveDb", needs: "exclusive",
                otherwise: "this key needs \"exclusive\", which this zone does not have"),
            .notBoth(
                "aboveDbm", "leaveBeyondM", otherwise: "this key needs \"withinM\", which this zone does not have"),
        ])

    /// The key `zones` of the listener file: the list of zones.
    package static let zones = Key(
        "zones", .list("zones", 1...Int.max, of: .section(section)), "Zones that beacons enter and leave.")

    private static let tagType = ValueType<String>.label().defined(as: "label", "A text for people.")
    /// The permitted distances, in thousandths of a metre.
    private static let distances = 10...1_000_000
    private static let levels = -120...20
    private static let auto = "auto"

    /// Returns the type of a time in thousandths of a second. The word `auto` in the file has the value `nil`.
    private static func automatic(_ range: ClosedRange<Int>) -> ValueType<Int> {
        let seconds = ValueType<Int>.thousandths(range, unit: "s")
        let (low, high) = (JSONNumber(thousandths: range.lowerBound), JSONNumber(thousandths: range.upperBound))
        return ValueType(
            schema: ["anyOf": [["const": .string(auto)], .object(seconds.schema)]], range: "\(low)...\(high) s"
        ) { decoder, node in
            guard case .string(let text) = node.value else { return seconds.read(&decoder, node) }
            if text != auto { decoder.notAWord(text, [auto], at: node) }
            return nil
        }
    }
}

extension ValueType<JSONNode> {
    /// The name of a beacon. The value is the JSON node, so that a problem with the name is reported with its line.
    fileprivate static var beaconName: ValueType {
        ValueType(schema: ["type": "string"]) { decoder, node in decoder.text(node).map { _ in node } }
    }
}

/// The keys of the text of an event. `${key}` in a text is replaced by the beacon's attachment with that key.
enum ContentKeys {
    static let title = Key(
        "title", .label(200, isEmptyGood: true), "Title, such as \"${owner} is here\" with the attachment owner.")
    static let body = Key(
        "body", .label(1000, isEmptyGood: true), "Text below the title, with attachments as in title.")
    static let section = Section("A title and a text.", [title, body])
}
