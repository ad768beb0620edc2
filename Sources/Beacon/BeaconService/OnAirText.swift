public import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
public import Configuration
internal import Profiles

/// The text that `advertise` prints.
public enum OnAirText {
    /// The lines of the view: a title, the time on the air, and the advertisements.
    ///
    /// - Parameters:
    ///   - heard: The reports that a second virtual controller has received; `nil` on real adapters.
    ///   - width: The longest line. Longer lines are cut, because the view could not overwrite wrapped lines.
    public static func lines(
        _ facts: OnAirFacts, _ session: some AdvertisingSession, _ heard: HeardOnAir?, color: Bool, width: Int = .max
    ) -> [String] {
        let advertisements = session.advertisements
        let title = "\(facts.name) on \(facts.adapter) · \(controller(session.controller, advertisements))"
        let timeLine = (color ? "\u{1B}[1;32m●\u{1B}[0m " : "● ") + "on the air for \(clock(session.secondsOnAir))"
        var body: [String]
        if advertisements.count == 1, let requested = facts.requestedIntervals.first {
            body = labelled(rows(advertisements[0], requested, events(session)))
        } else {
            body = labelled(
                powers(advertisements) + localNames(advertisements) + sharing(advertisements) + phys(advertisements)
                    + patterns(advertisements))
            body += table(advertisements, facts.requestedIntervals, width: width)
            body += labelled([("events", events(session))])
        }
        if let heard { body += labelled(heard.sentences.map { ("received", $0) }) }
        // The row of the radio power already shows a power that HCI commands could not set, so no warning repeats this.
        let warnings =
            session.controller.family == .managed ? session.warnings : session.transmitPowerWarnings
        body += labelled(warnings.map { ("warning", $0) })
        return [cut(title, to: width), timeLine] + body.map { cut($0, to: width) }
    }

    /// The line; if it is longer than `width`, cut to that width with an ellipsis at its end.
    private static func cut(_ line: String, to width: Int) -> String {
        line.count > width ? String(line.prefix(max(0, width - 1))) + "…" : line
    }

    /// The lines after the end: the time on the air, and the number of events.
    public static func finalLines(_ session: some AdvertisingSession, _ heard: HeardOnAir?) -> [String] {
        var lines = [
            "off the air after \(clock(session.secondsOnAir)): "
                + "\(NumberFormat.count(session.computedEvents, "advertising event")) (computed)"
        ]
        if let heard { lines += heard.sentences.map { "received by a second virtual controller: \($0)" } }
        return lines
    }

    private static func labelled(_ rows: [(String, String)]) -> [String] {
        rows.map { label, value in "  " + (label + String(repeating: " ", count: 12)).prefix(12) + "  " + value }
    }

    // MARK: One advertisement

    private static func rows(
        _ status: OnAirAdvertisement, _ requested: RequestedInterval, _ events: String
    ) -> [(String, String)] {
        let mean = DecimalText.thousandths(status.meanPeriodMicroseconds)
        var rows = [
            ("payload", status.contentText), ("bytes", status.octetsText(separator: " ")), ("address", address(status)),
        ]
        rows += localNames([status])
        if status.place.instance != nil { rows.append(("sent from", status.place.text)) }
        if let phy = status.advertisement.phy { rows.append(("PHY", Self.phy(phy, status))) }
        if let pattern = status.pattern { rows.append(("pattern", Self.pattern(pattern))) }
        let change = status.pattern == nil ? "requested \(requested.milliseconds) ms, granted " : "now "
        rows.append(("interval", change + "\(status.setIntervalText); an event every \(mean) ms on average"))
        return rows + [("radio power", power(status)), ("events", events)]
    }

    /// The parts of a pattern, and the current part: `100 ms for 2 s, 1000 ms for 8 s; now part 2, for 3 s more`.
    private static func pattern(_ status: OnAirPattern) -> String {
        let remainingSeconds = (status.pattern.position(after: status.elapsed).rest + 999_999) / 1_000_000
        return "\(status.pattern); now part \(status.part + 1), for \(remainingSeconds) s more"
    }

    // MARK: Several advertisements

    /// The different radio powers, each once.
    private static func powers(_ advertisements: [OnAirAdvertisement]) -> [(String, String)] {
        var powers: [String] = []
        for status in advertisements where !powers.contains(power(status)) { powers.append(power(status)) }
        return powers.map { ("radio power", $0) }
    }

    /// The different local names, each once.
    private static func localNames(_ advertisements: [OnAirAdvertisement]) -> [(String, String)] {
        var names: [String] = []
        for name in advertisements.compactMap(\.localName) where !names.contains(name) { names.append(name) }
        return names.map { ("local name", TerminalText.quoted($0, to: 40) + " in the scan response") }
    }

    private static func sharing(_ advertisements: [OnAirAdvertisement]) -> [(String, String)] {
        var listedSets: Set<OnAirAdvertisement.Place> = []
        return advertisements.compactMap { status in
            guard status.sharers > 1, case .set = status.place, listedSets.insert(status.place).inserted else {
                return nil
            }
            let mean = DecimalText.thousandths(
                status.setInterval.lowerBound.microseconds + AdvertisingInterval.meanDelayMicroseconds)
            return (
                status.place.text,
                "sends \(status.sharers) advertisements in turn: one every \(status.setIntervalText); with the random delay, "
                    + "every \(mean) ms on average"
            )
        }
    }

    /// The PHY in words: `LE Coded: extended advertising, 200 bytes; not received by scanners of LE 1M`.
    private static func phy(_ phy: ExtendedPHY, _ status: OnAirAdvertisement) -> String {
        "\(phy.name): extended advertising, \(status.payload.octets.count) bytes; not received by "
            + (phy.isCoded ? "scanners of LE 1M" : "scanners of legacy PDUs")
    }

    private static func phys(_ advertisements: [OnAirAdvertisement]) -> [(String, String)] {
        advertisements.compactMap { status in
            status.advertisement.phy.map { ("PHY", "\(status.place.text): \(phy($0, status))") }
        }
    }

    private static func patterns(_ advertisements: [OnAirAdvertisement]) -> [(String, String)] {
        advertisements.compactMap { status in
            status.pattern.map { ("pattern", "\(status.place.text): \(pattern($0))") }
        }
    }

    /// A row for each advertisement. If it is wider than the terminal, the payload stands alone on a second line.
    private static func table(
        _ advertisements: [OnAirAdvertisement], _ requested: [RequestedInterval], width: Int
    ) -> [String] {
        func lines(withPayload: Bool) -> [String] {
            var table = Table(
                ["", "asked ms", "granted ms", "events", "set", "address"] + (withPayload ? ["payload"] : []),
                alignment: [.left, .right, .right, .right])
            for (status, requested) in zip(advertisements, requested) {
                let cells = [
                    status.isItsTurn ? "▸" : " ", requested.milliseconds, status.grantedMilliseconds,
                    String(status.events), place(status), address(status),
                ]
                table.add(cells + (withPayload ? [status.contentText] : []))
            }
            return table.text.split(separator: "\n").map { "  " + $0 }
        }
        let fullLines = lines(withPayload: true)
        if fullLines.allSatisfy({ $0.count <= width }) { return fullLines }
        let shortLines = lines(withPayload: false)
        return shortLines.prefix(1)
            + zip(shortLines.dropFirst(), advertisements).flatMap { [$0, "    " + $1.contentText] }
    }

    // MARK: Words

    private static func place(_ status: OnAirAdvertisement) -> String {
        guard case .set(let position) = status.place else { return status.place.text }
        return "\(position + 1) \(status.sharers > 1 ? "shared" : "own")"
    }

    private static func controller(_ controller: OnAirController, _ advertisements: [OnAirAdvertisement]) -> String {
        let route = controller.family == .managed ? "through the kernel, " : ""
        let hasLegacyPDUs = advertisements.contains { $0.advertisement.phy == nil }
        let family =
            controller.hasExtendedAdvertising
            ? "extended advertising" + (hasLegacyPDUs ? ", legacy PDUs" : "") : "legacy advertising"
        let pdus = Set(advertisements.map(\.advertisement.pduName)).sorted().joined(separator: ", ")
        return "\(route)\(controller.version), \(family), \(pdus)"
    }

    private static func address(_ status: OnAirAdvertisement) -> String {
        guard let address = status.address else { return "chosen by the kernel, which does not report it" }
        return "\(address) (\(status.isAddressRandom ? "static random" : "public"))"
    }

    private static func power(_ status: OnAirAdvertisement) -> String {
        let requested = status.advertisement.radioPower.map { "requested \($0), " } ?? ""
        return requested + status.grant.description
    }

    private static func events(_ session: some AdvertisingSession) -> String {
        let sender = session.controller.family == .managed ? "the kernel" : "this controller"
        return "\(session.computedEvents) (computed: \(sender) does not count them)"
    }

    static func clock(_ seconds: Int) -> String {
        [seconds / 3600, seconds / 60 % 60, seconds % 60].map { NumberFormat.padded($0, to: 2) }
            .joined(separator: ":")
    }
}

/// The lines of `advertise --json`.
public enum OnAirJSON {
    /// The event `on-air`.
    public static func onAir(_ facts: OnAirFacts, _ session: some AdvertisingSession) -> JSONValue {
        let advertisements = zip(session.advertisements, facts.requestedIntervals).map(members)
        var line: [(String, JSONValue)] = [
            ("event", .string("on-air")),
            ("name", .string(facts.name)),
            ("adapter", .string(facts.adapter)),
            ("family", .string(session.controller.family.rawValue)),
        ]
        // The keys of a single advertisement are also in the outermost object, so programs need not read the list.
        if advertisements.count == 1 { line += advertisements[0] }
        line.append(("advertisements", .array(advertisements.map(JSONValue.record))))
        line.append(("warnings", .array(session.warnings.map(JSONValue.string))))
        return .record(line)
    }

    private static func members(
        _ status: OnAirAdvertisement, _ requested: RequestedInterval
    ) -> [(String, JSONValue)] {
        let advertisement = status.advertisement
        return [
            ("address", .optional(status.address) { .string($0.description) }),
            (
                "addressType",
                .optional(status.address) { _ in .string(status.isAddressRandom ? "random-static" : "public") }
            ),
            ("type", .string(advertisement.content.typeName)),
            ("pdu", .string(advertisement.pdu.rawValue)),
            ("intervalMs", .decimal(requested.milliseconds)),
            ("grantedIntervalMs", .milliseconds(status.grantedMicroseconds)),
        ] + (advertisement.pattern.map { [("pattern", $0.json)] } ?? [])
            + (advertisement.phy.map { [("phy", .string($0.rawValue))] } ?? []) + [
                ("sharedBy", .integer(status.sharers)),
                ("instance", .optional(status.place.instance) { .integer($0) }),
                ("radioPowerDbm", .optional(advertisement.radioPower) { .integer(Int($0.dBm)) }),
                ("grantedRadioPowerDbm", .optional(status.grant.power) { .integer(Int($0.dBm)) }),
                ("radioPowerNote", .string(status.grant.description)),
                ("octets", .hex(status.payload.octets)),
                ("localName", .optional(status.localName, JSONValue.string)),
            ]
    }

    /// The event `off-air`.
    ///
    /// - Parameter heard: The reports that a second virtual controller has received; `nil` on real adapters.
    public static func offAir(_ session: some AdvertisingSession, _ heard: HeardOnAir?) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("event", .string("off-air")), ("events", .integer(Int(clamping: session.computedEvents))),
            ("eventsCounted", .boolean(false)),
        ]
        if let heard { members.append(("heard", .integer(heard.reports))) }
        let advertisements = session.advertisements.map { status in
            JSONValue.record([
                ("type", .string(status.advertisement.content.typeName)),
                ("events", .integer(Int(clamping: status.events))),
            ])
        }
        members.append(("advertisements", .array(advertisements)))
        return .record(members)
    }
}

extension OnAirAdvertisement.Place {
    /// The number of the kernel's instance; `nil` for an advertising set.
    var instance: Int? {
        guard case .instance(let number) = self else { return nil }
        return Int(number)
    }

    /// The place in words, such as `set 1` or `instance 3`.
    var text: String {
        switch self {
        case .set(let position): "set \(position + 1)"
        case .instance(let number): "instance \(number)"
        }
    }
}
