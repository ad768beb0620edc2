internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes

/// The live view's words: what is on the air, since when, asked and granted.
enum OnAirText {
    /// - Parameters:
    ///   - heard: what a second virtual controller hears of it; `nil` on real adapters.
    ///   - width: longer lines are cut, because a wrapped one could not be drawn over.
    static func lines(
        _ facts: OnAirFacts, _ session: BeaconSession, _ heard: HeardOnAir?, color: Bool, width: Int = .max
    ) -> [String] {
        let advertisements = session.advertisements
        let title = "\(facts.name) on \(facts.adapter) · \(controller(facts, advertisements))"
        let sign = (color ? "\u{1B}[1;32m●\u{1B}[0m " : "● ") + "on the air for \(clock(session.secondsOnAir))"
        var body: [String]
        if advertisements.count == 1, let only = advertisements.first, let asked = facts.asked.first {
            body = labelled(rows(only, asked, events: session.computedEvents))
        } else {
            body = labelled(powers(advertisements) + sharing(advertisements))
            body += table(advertisements, facts.asked)
            body += labelled([("events", events(session.computedEvents))])
        }
        if let heard { body += labelled([("heard", heard.text)]) }
        body = body.map { $0.count > width ? String($0.prefix(max(0, width - 1))) + "…" : $0 }
        return [String(title.prefix(width)), sign] + body
    }

    static func farewell(_ session: BeaconSession, _ heard: HeardOnAir?) -> [String] {
        var lines = [
            "off the air after \(clock(session.secondsOnAir)): \(session.computedEvents) advertising events (computed)"
        ]
        if let heard { lines.append("heard by a second virtual controller: \(heard.text)") }
        return lines
    }

    private static func labelled(_ rows: [(String, String)]) -> [String] {
        rows.map { label, value in "  " + (label + String(repeating: " ", count: 12)).prefix(12) + "  " + value }
    }

    // MARK: One advertisement

    private static func rows(
        _ status: BeaconSession.AdvertisementStatus, _ asked: RequestedInterval, events count: UInt64
    ) -> [(String, String)] {
        let mean = DecimalText.thousandths(status.meanPeriodMicroseconds)
        return [
            ("payload", payload(status)),
            ("octets", Hexadecimal.text(status.payload.octets, separator: " ")),
            ("address", address(status)),
            (
                "interval",
                "asked \(asked.milliseconds) ms, granted \(status.setInterval); an event every \(mean) ms on average"
            ),
            ("radio power", power(status)),
            ("events", events(count)),
        ]
    }

    // MARK: Several

    /// What the radio sends with, once where all are alike.
    private static func powers(_ advertisements: [BeaconSession.AdvertisementStatus]) -> [(String, String)] {
        var seen: [String] = []
        for status in advertisements where !seen.contains(power(status)) { seen.append(power(status)) }
        return seen.map { ("radio power", $0) }
    }

    private static func sharing(_ advertisements: [BeaconSession.AdvertisementStatus]) -> [(String, String)] {
        let shared = advertisements.filter { $0.sharers > 1 }
        return Set(shared.map(\.set)).sorted().compactMap { set in
            guard let status = shared.first(where: { $0.set == set }) else { return nil }
            let mean = DecimalText.thousandths(status.setInterval.meanPeriodMicroseconds)
            return (
                "set \(set + 1)",
                "shared by \(status.sharers), at \(status.setInterval); an event every \(mean) ms on average"
            )
        }
    }

    private static func table(
        _ advertisements: [BeaconSession.AdvertisementStatus], _ asked: [RequestedInterval]
    ) -> [String] {
        var table = Table(
            ["", "asked ms", "granted ms", "events", "set", "address", "payload"],
            alignment: [.left, .right, .right, .right])
        for (status, asked) in zip(advertisements, asked) {
            table.add([
                status.isItsTurn ? "▸" : " ", asked.milliseconds,
                DecimalText.thousandths(status.grantedIntervalMicroseconds), String(status.events),
                "\(status.set + 1) \(status.sharers > 1 ? "shared" : "own")", address(status), payload(status),
            ])
        }
        return table.text.split(separator: "\n").map { "  " + $0 }
    }

    // MARK: Words

    private static func controller(
        _ facts: OnAirFacts, _ advertisements: [BeaconSession.AdvertisementStatus]
    ) -> String {
        let isExtended = facts.capabilities.hasExtendedAdvertising
        let family = isExtended ? "extended advertising, legacy PDUs" : "legacy advertising"
        let pdus = Set(advertisements.map(\.advertisement.pdu.specificationName)).sorted().joined(separator: ", ")
        return "\(facts.capabilities.version), \(family), \(pdus)"
    }

    private static func payload(_ status: BeaconSession.AdvertisementStatus) -> String {
        guard let frame = BeaconFrame(decoding: status.payload) else {
            return "\(status.advertisement.content.typeName), \(status.payload.octets.count) octets"
        }
        return FrameText.sentence(frame)
    }

    private static func address(_ status: BeaconSession.AdvertisementStatus) -> String {
        "\(status.address) (\(status.isAddressRandom ? "static random" : "public"))"
    }

    private static func power(_ status: BeaconSession.AdvertisementStatus) -> String {
        let asked = status.advertisement.radioPower.map { "asked \($0), " } ?? ""
        return asked + status.grant.description
    }

    private static func events(_ count: UInt64) -> String {
        "\(count) (computed: this controller does not count them)"
    }

    static func clock(_ seconds: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }
}
