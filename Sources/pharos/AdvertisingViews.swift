internal import Advertiser
internal import BeaconFrames
internal import BeaconStatus
internal import BluetoothTypes
internal import Configuration
internal import LinuxHost

/// What does not change while the beacon is on the air.
struct OnAirFacts {
    let name: String
    /// The adapter as it was named.
    let adapter: String
    /// The intervals as somebody asked for them, one for each advertisement.
    let asked: [RequestedInterval]
}

/// Somebody who is told what happens on the air, by whatever way it is sent.
protocol AdvertisingView {
    /// How often something is drawn anew; `nil` for never.
    var microsecondsBetweenUpdates: Int? { get }
    func onAir(_ session: some KeptSession)
    /// - Parameter heard: what a second virtual controller hears of it; `nil` on real adapters.
    func update(_ session: some KeptSession, _ heard: HeardOnAir?)
    func offAir(_ session: some KeptSession, _ heard: HeardOnAir?)
}

extension AdvertisingView {
    var microsecondsBetweenUpdates: Int? { nil }
    func update(_ session: some KeptSession, _ heard: HeardOnAir?) {}

    /// Writes `text`, unless standard output takes nothing for a second: a terminal that was stopped must keep nobody
    /// from taking the beacon off the air and ending the program.
    func say(_ text: String) {
        if Terminal.takesOutput(within: 1000) { Terminal.write(text) }
    }
}

/// The view that the options ask for.
func advertisingView(_ facts: OnAirFacts, _ options: OnAirOptions) -> any AdvertisingView {
    if options.json { return JSONView(facts) }
    if options.quiet { return QuietView() }
    return Terminal.outputIsTerminal ? LiveView(facts) : LineView(facts)
}

/// `--quiet`.
struct QuietView: AdvertisingView {
    func onAir(_ session: some KeptSession) {}
    func offAir(_ session: some KeptSession, _ heard: HeardOnAir?) {}
}

/// `--json`: one line for each thing that happens.
struct JSONView: AdvertisingView {
    private let facts: OnAirFacts

    init(_ facts: OnAirFacts) {
        self.facts = facts
    }

    func onAir(_ session: some KeptSession) {
        let advertisements = zip(session.advertisements, facts.asked).map(Self.members)
        var line: [(String, JSONValue)] = [
            ("event", .string("on-air")),
            ("name", .string(facts.name)),
            ("adapter", .string(facts.adapter)),
            ("family", .string(session.controller.family.rawValue)),
        ]
        // What reads a single advertisement need not know of lists.
        if advertisements.count == 1 { line += advertisements[0] }
        line.append(("advertisements", .array(advertisements.map(JSONValue.record))))
        line.append(("warnings", .array(session.warnings.map(JSONValue.string))))
        say(JSONValue.record(line).line + "\n")
    }

    private static func members(
        _ status: OnAirAdvertisement, _ asked: RequestedInterval
    ) -> [(String, JSONValue)] {
        let wanted = status.advertisement
        return [
            ("address", .optional(status.address) { .string($0.description) }),
            (
                "addressType",
                .optional(status.address) { _ in .string(status.isAddressRandom ? "random-static" : "public") }
            ),
            ("type", .string(wanted.content.typeName)),
            ("pdu", .string(wanted.pdu.rawValue)),
            ("intervalMs", .decimal(asked.milliseconds)),
            ("grantedIntervalMs", .milliseconds(status.grantedMicroseconds)),
            ("sharedBy", .integer(status.sharers)),
            ("instance", .optional(status.place.instance) { .integer($0) }),
            ("radioPowerDbm", .optional(wanted.radioPower) { .integer(Int($0.dBm)) }),
            ("grantedRadioPowerDbm", .optional(status.grant.power) { .integer(Int($0.dBm)) }),
            ("radioPowerNote", .string(status.grant.description)),
            ("octets", .hex(status.payload.octets)),
        ]
    }

    func offAir(_ session: some KeptSession, _ heard: HeardOnAir?) {
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
        say(JSONValue.record(members).line + "\n")
    }
}

/// Standard output is a file or a pipe: one block at the start, one line at the end.
struct LineView: AdvertisingView {
    private let facts: OnAirFacts

    init(_ facts: OnAirFacts) {
        self.facts = facts
    }

    func onAir(_ session: some KeptSession) {
        say(OnAirText.lines(facts, session, nil, color: false).joined(separator: "\n") + "\n")
    }

    func offAir(_ session: some KeptSession, _ heard: HeardOnAir?) {
        say(OnAirText.farewell(session, heard).joined(separator: "\n") + "\n")
    }
}

/// A terminal: the block is drawn again in its place.
final class LiveView: AdvertisingView {
    private let facts: OnAirFacts
    private var drawn = 0

    init(_ facts: OnAirFacts) {
        self.facts = facts
    }

    var microsecondsBetweenUpdates: Int? { 200_000 }

    func onAir(_ session: some KeptSession) { draw(session, nil) }
    func update(_ session: some KeptSession, _ heard: HeardOnAir?) { draw(session, heard) }

    func offAir(_ session: some KeptSession, _ heard: HeardOnAir?) {
        draw(session, heard)
        say(OnAirText.farewell(session, heard).joined(separator: "\n") + "\n")
    }

    private func draw(_ session: some KeptSession, _ heard: HeardOnAir?) {
        // A frame that the terminal does not take at once is left out: waiting would hold up the beacon.
        guard Terminal.takesOutput() else { return }
        let width = Terminal.columns
        let lines = OnAirText.lines(facts, session, heard, color: Terminal.wantsColor, width: width)
        // Up to the block's first line, and each line cleared to its end before it is written anew.
        let up = drawn == 0 ? "" : "\u{1B}[\(drawn)A"
        Terminal.write(up + lines.map { "\r\u{1B}[K" + $0 + "\n" }.joined())
        drawn = lines.count
    }
}

extension OnAirAdvertisement.Place {
    /// The number of the kernel's instance; `nil` for a set.
    var instance: Int? {
        guard case .instance(let number) = self else { return nil }
        return Int(number)
    }

    /// `set 1`, `instance 3`.
    var text: String {
        switch self {
        case .set(let position): "set \(position + 1)"
        case .instance(let number): "instance \(number)"
        }
    }
}
