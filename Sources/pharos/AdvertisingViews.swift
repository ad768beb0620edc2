internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import HCITransports
internal import LinuxHost
internal import Profiles

/// What does not change while the beacon is on the air.
struct OnAirFacts {
    let name: String
    let adapter: AdapterName
    let capabilities: ControllerCapabilities
    let source: PayloadSource
    let asked: RequestedInterval
}

/// Somebody who is told what happens on the air.
protocol AdvertisingView {
    var microsecondsBetweenUpdates: Int { get }
    func onAir(_ session: AdvertisingSession)
    func update(_ session: AdvertisingSession, _ heard: HeardOnAir?)
    func offAir(_ session: AdvertisingSession, _ heard: HeardOnAir?)
}

extension AdvertisingView {
    /// Nothing to redraw: wake up rarely.
    var microsecondsBetweenUpdates: Int { 1_000_000 }
    func update(_ session: AdvertisingSession, _ heard: HeardOnAir?) {}

    /// Writes `text`, unless standard output takes nothing for a second: a terminal that was stopped must keep nobody
    /// from taking the beacon off the air and ending the program.
    func say(_ text: String) {
        if Terminal.takesOutput(within: 1000) { Terminal.write(text) }
    }
}

/// `--quiet`.
struct QuietView: AdvertisingView {
    func onAir(_ session: AdvertisingSession) {}
    func offAir(_ session: AdvertisingSession, _ heard: HeardOnAir?) {}
}

/// `--json`: one line for each thing that happens.
struct JSONView: AdvertisingView {
    private let facts: OnAirFacts

    init(_ facts: OnAirFacts) {
        self.facts = facts
    }

    func onAir(_ session: AdvertisingSession) {
        let plan = session.plan
        let asked = facts.source.advertisement
        say(
            JSONValue.record([
                ("event", .string("on-air")),
                ("name", .string(facts.name)),
                ("adapter", .string(facts.adapter.description)),
                ("family", .string(plan.family == .legacy ? "legacy" : "extended")),
                ("address", .string(session.address.description)),
                ("addressType", .string(session.isAddressRandom ? "random-static" : "public")),
                ("type", .string(asked.content.typeName)),
                ("pdu", .string(plan.pdu.rawValue)),
                ("intervalMs", .decimal(facts.asked.milliseconds)),
                ("grantedIntervalMs", .decimal(DecimalText.thousandths(plan.interval.microseconds))),
                ("radioPowerDbm", .optional(plan.radioPower) { .integer(Int($0.dBm)) }),
                ("grantedRadioPowerDbm", .optional(session.grant.power) { .integer(Int($0.dBm)) }),
                ("radioPowerNote", .string(session.grant.description)),
                ("octets", .hex(session.payload.octets)),
            ]).line + "\n")
    }

    func offAir(_ session: AdvertisingSession, _ heard: HeardOnAir?) {
        var members: [(String, JSONValue)] = [
            ("event", .string("off-air")), ("events", .integer(Int(session.computedEvents))),
            ("eventsCounted", .boolean(false)),
        ]
        if let heard { members.append(("heard", .integer(heard.reports))) }
        say(JSONValue.record(members).line + "\n")
    }
}

/// Standard output is a file or a pipe: one block at the start, one line at the end.
struct LineView: AdvertisingView {
    private let facts: OnAirFacts

    init(_ facts: OnAirFacts) {
        self.facts = facts
    }

    func onAir(_ session: AdvertisingSession) {
        say(OnAirText.lines(facts, session, nil, color: false).joined(separator: "\n") + "\n")
    }

    func offAir(_ session: AdvertisingSession, _ heard: HeardOnAir?) {
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

    var microsecondsBetweenUpdates: Int { 200_000 }

    func onAir(_ session: AdvertisingSession) { draw(session, nil) }
    func update(_ session: AdvertisingSession, _ heard: HeardOnAir?) { draw(session, heard) }

    func offAir(_ session: AdvertisingSession, _ heard: HeardOnAir?) {
        draw(session, heard)
        say(OnAirText.farewell(session, heard).joined(separator: "\n") + "\n")
    }

    private func draw(_ session: AdvertisingSession, _ heard: HeardOnAir?) {
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
