internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes

/// The live view's words: what is on the air, since when, asked and granted.
enum OnAirText {
    /// - Parameters:
    ///   - heard: what a second virtual controller hears of it; `nil` on real adapters.
    ///   - width: longer lines are cut, because a wrapped one could not be drawn over.
    static func lines(
        _ facts: OnAirFacts, _ session: AdvertisingSession, _ heard: HeardOnAir?, color: Bool, width: Int = .max
    ) -> [String] {
        var rows = [
            ("payload", payload(facts, session)),
            ("octets", Hexadecimal.text(session.payload.octets, separator: " ")),
            ("address", address(session)),
            ("interval", interval(facts, session)),
            ("radio power", power(facts, session)),
            ("events", "\(session.computedEvents) (computed: this controller does not count them)"),
        ]
        if let heard { rows += [("heard", heard.text)] }
        let title = "\(facts.name) on \(facts.adapter) · \(controller(facts, session))"
        let sign = (color ? "\u{1B}[1;32m●\u{1B}[0m " : "● ") + "on the air for \(clock(session.secondsOnAir))"
        let body = rows.map { label, value in
            let plain = "  " + (label + String(repeating: " ", count: 12)).prefix(12) + "  " + value
            return plain.count > width ? String(plain.prefix(max(0, width - 1))) + "…" : plain
        }
        return [String(title.prefix(width)), sign] + body
    }

    static func farewell(_ session: AdvertisingSession, _ heard: HeardOnAir?) -> [String] {
        var lines = [
            "off the air after \(clock(session.secondsOnAir)): \(session.computedEvents) advertising events (computed)"
        ]
        if let heard { lines.append("heard by a second virtual controller: \(heard.text)") }
        return lines
    }

    private static func controller(_ facts: OnAirFacts, _ session: AdvertisingSession) -> String {
        let family = session.plan.family == .legacy ? "legacy advertising" : "extended advertising, legacy PDUs"
        return "\(facts.capabilities.version), \(family), \(session.plan.pdu.specificationName)"
    }

    private static func payload(_ facts: OnAirFacts, _ session: AdvertisingSession) -> String {
        guard let frame = BeaconFrame(decoding: session.payload) else {
            return "\(facts.source.advertisement.content.typeName), \(session.payload.octets.count) octets"
        }
        return FrameText.sentence(frame)
    }

    private static func address(_ session: AdvertisingSession) -> String {
        "\(session.address) (\(session.isAddressRandom ? "static random" : "public"))"
    }

    private static func interval(_ facts: OnAirFacts, _ session: AdvertisingSession) -> String {
        let mean = DecimalText.thousandths(session.plan.interval.meanPeriodMicroseconds)
        return "asked \(facts.asked.milliseconds) ms, granted \(session.plan.interval); "
            + "an event every \(mean) ms on average"
    }

    private static func power(_ facts: OnAirFacts, _ session: AdvertisingSession) -> String {
        let asked = session.plan.radioPower.map { "asked \($0), " } ?? ""
        return asked + session.grant.description
    }

    private static func clock(_ seconds: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }
}
