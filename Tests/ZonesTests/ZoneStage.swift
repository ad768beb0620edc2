import BluetoothTypes
import Configuration
import Sightings
import Testing

@testable import Zones

/// A table and an engine, with events as short lines: `12.5 enter desk key`.
struct ZoneStage {
    private(set) var table: SightingTable
    private(set) var engine: ZoneEngine
    private let names: [String]
    /// The time of the last report, in seconds.
    private var time = 0.0

    static let eidTrack = 3

    /// Beacons `a`, `b`, `c`, and `g`, which is every iBeacon of their UUID.
    static func withGroup(_ rules: [ZoneRule]) -> ZoneStage {
        ZoneStage(
            rules,
            known: ["a", "b", "c"].enumerated().map { number, name in
                KnownBeacon(name: name, identity: Self.identity(number + 1))
            } + [KnownBeacon(name: "g", .iBeacon(uuid: FixedOctets(repeating: 7), major: nil, minor: nil))])
    }

    private init(_ rules: [ZoneRule], known: [KnownBeacon]) {
        table = SightingTable(known: known, strangers: .counted)
        names = known.map(\.name)
        engine = ZoneEngine(rules, known: known, beacons: Self.notes)
    }

    /// Beacons `a`, `b`, `c` with iBeacons of minor 1, 2, 3, and `a` once more by its ephemeral ids.
    init(_ rules: [ZoneRule], intervals: [Int?] = [nil, nil, nil]) {
        var known = ["a", "b", "c"].enumerated().map { number, name in
            KnownBeacon(name: name, identity: Self.identity(number + 1), intervalMicroseconds: intervals[number])
        }
        known.append(KnownBeacon(name: "a", identity: nil))
        table = SightingTable(
            known: known, strangers: .counted, resolver: { id, _ in id[0] == 1 ? Self.eidTrack : nil })
        names = known.map(\.name)
        engine = ZoneEngine(rules, known: known, beacons: Self.notes)
    }

    static let notes = [
        ZoneBeacon(name: "a", tags: ["desk"], attachments: [.init(key: "owner", text: "Peter")]),
        ZoneBeacon(name: "b", tags: ["desk", "door"]), ZoneBeacon(name: "c"),
    ]

    private static func identity(_ minor: Int) -> BeaconIdentity {
        .iBeacon(uuid: FixedOctets(repeating: 7), major: 1, minor: UInt16(minor))
    }

    static func at(_ seconds: Double) -> HeardInstant {
        HeardInstant(nanoseconds: UInt64((seconds * 1000).rounded()) * 1_000_000)
    }

    static func line(_ event: ZoneEvent) -> String {
        let time = DecimalText.thousandths(Int(event.instant.nanoseconds / 1_000_000))
        let parts = [time, event.kind.rawValue, event.zone, event.beacon, event.cause?.rawValue]
        return parts.compactMap(\.self).joined(separator: " ")
    }

    mutating func events(until seconds: Double) -> [ZoneEvent] { checked(engine.advance(to: Self.at(seconds))) }

    /// Checks the invariants of the engine after a step, and returns the events of the step.
    private func checked(_ events: [ZoneEvent]) -> [ZoneEvent] {
        #expect(engine.check() == [])
        return events
    }

    mutating func lines(until seconds: Double) -> [String] { events(until: seconds).map(Self.line) }

    /// Continues with unknown zones, as after the file was read again while zones are unknown.
    mutating func continueUnknown(since seconds: Double) {
        engine.continueUnknown(since: Self.at(seconds), hasReceived: true)
    }

    /// Continues with known zones, as after the file was read again while the receiver works.
    mutating func continueKnown() { engine.continueUnknown(since: nil, hasReceived: true) }

    /// Returns the events until `seconds`, while a device that the file does not name sends twice a second.
    mutating func lines(withOthersUntil seconds: Double) -> [String] {
        var lines: [String] = []
        while time + 0.5 <= seconds { lines += hearOther(time + 0.5) }
        return lines + self.lines(until: seconds)
    }

    /// Returns the events that are due, and those of a report of a device that the file does not name.
    mutating func hearOther(_ seconds: Double) -> [String] {
        let data: [UInt8] = [0x02, 0x01, 0x06]
        return lines(until: seconds) + receive(data, from: 30, seconds, -70).map(Self.line)
    }

    /// Returns the events that are due, and those of a report of the beacon `name`. A level of -59 dBm is 1 m.
    mutating func hear(_ name: String, _ seconds: Double, _ level: Int8?) -> [String] {
        let lines = lines(until: seconds)
        return lines + receive(name, seconds, level).map(Self.line)
    }

    /// Returns the events of a report of the beacon `name`.
    ///
    /// - Parameters:
    ///   - sender: The number of the sender; `nil` for the beacon's own.
    ///   - power: The measured power byte.
    mutating func receive(
        _ name: String, _ seconds: Double, _ level: Int8?, from sender: UInt8? = nil, power: UInt8 = 0xC5
    ) -> [ZoneEvent] {
        let number = UInt8(names.firstIndex(of: name) ?? 0)
        let data =
            [0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15] + [UInt8](repeating: 7, count: 16) + [0, 1, 0, number + 1, power]
        return receive(data, from: sender ?? number, seconds, level)
    }

    /// Returns the events that are due, and those of a report with an ephemeral id of `a`.
    mutating func hearID(_ seconds: Double, _ level: Int8, id: UInt8 = 0, from sender: UInt8 = 9) -> [String] {
        let lines = lines(until: seconds)
        let data: [UInt8] = [0x0D, 0x16, 0xAA, 0xFE, 0x30, 0xE7, 1, 0, 0, 0, 0, 0, 0, id]
        return lines + receive(data, from: sender, seconds, level).map(Self.line)
    }

    private mutating func receive(
        _ data: [UInt8], from number: UInt8, _ seconds: Double, _ level: Int8?
    ) -> [ZoneEvent] {
        time = seconds
        let sighting = Sighting(
            at: Self.at(seconds), from: Sender(DeviceAddress(FixedOctets(repeating: 0xC0 + number)), isRandom: true),
            rssi: level)
        let track = table.receive(sighting, data.span, data.indices)
        return checked(engine.receive(track, in: table, sighting))
    }

    /// Returns the events of reports of the beacon `name` every `step` seconds from `from` to before `to`.
    mutating func hear(_ name: String, each step: Double = 1, from: Double, to: Double, _ level: Int8) -> [String] {
        var lines: [String] = []
        var time = from
        while time < to {
            lines += hear(name, time, level)
            time += step
        }
        return lines
    }

    mutating func becomeDeaf(_ seconds: Double) -> [String] {
        engine.stopListening(at: Self.at(seconds))
        return lines(until: seconds)
    }

    mutating func becomeHearing(_ seconds: Double) -> [String] {
        time = max(time, seconds)
        return checked(engine.startListening(at: Self.at(seconds))).map(Self.line) + lines(until: seconds)
    }

    mutating func resume(_ presences: [ZoneEngine.Presence], now: Int64) {
        engine.resume(presences, unixMicroseconds: now)
        #expect(engine.check() == [])
    }
}
