import BluetoothTypes
import HCI
import Listener
import Sightings

/// Event packets arrive at a receiver that knows two beacons. Whatever they contain, the table keeps its size, the
/// known beacons keep their places, every number is possible, and equal packets give equal events.
///
/// The octets are a sequence of packets: two octets with the milliseconds since the previous packet, one octet with the
/// length, and the event packet. A length of 255 means a time without listening.
func fuzzSightings(_ octets: [UInt8]) {
    let first = Heard(octets)
    check(first.events == Heard(octets).events, "the same packets give the same events")
    let table = first.processor.table
    check(table.tracks.count <= Heard.known.count + Heard.strangers, "the table keeps its size")
    check(table.tracks.prefix(Heard.known.count).map(\.known) == Heard.known, "known beacons keep their places")
    check(table.tracks.dropFirst(Heard.known.count).allSatisfy { $0.known == nil }, "strangers are no known ones")
    check(table.counts.reports <= first.reader.counts.reports, "nothing is heard that was not reported")
    check(Set(table.heardInRound).count == table.heardInRound.count, "each beacon stands once in a round")
    for track in table.tracks where track.isHeard { checkTrack(track, at: first.now) }
}

/// The result of the packets.
private struct Heard {
    static let strangers = 4
    static let known = [
        KnownBeacon(
            name: "lobby",
            identity: .iBeacon(uuid: FixedOctets(repeating: 0x11), major: 1, minor: 2), intervalMicroseconds: 100_000),
        KnownBeacon(name: "key", identity: .address(DeviceAddress(FixedOctets(repeating: 0xC1)))),
    ]

    var processor: SightingProcessor
    var reader = ReportReader()
    var events: [SightingProcessor.Event] = []
    var now = HeardInstant(nanoseconds: 0)

    init(_ octets: [UInt8]) {
        let regions = [
            RegionMonitor.Region(
                name: "hall", pattern: .iBeacon(uuid: FixedOctets(repeating: 0x11), major: nil, minor: nil)),
            RegionMonitor.Region(name: "key", pattern: nil),
        ]
        processor = SightingProcessor(
            table: SightingTable(known: Self.known, strangers: .kept(Self.strangers)), regions: regions,
            roundMicroseconds: 1_000_000)
        let span = octets.span
        var place = 0
        while place + 3 <= span.count {
            now = now.advanced(byMicroseconds: (Int(span[place]) << 8 | Int(span[place + 1])) * 1000)
            let length = Int(span[place + 2])
            place += 3
            while let event = processor.nextEvent(until: now) { events.append(event) }
            if length == 255 {
                processor.stopListening(at: now)
                now = now.advanced(byMicroseconds: 5_000_000)
                while let event = processor.nextEvent(until: now) { events.append(event) }
                processor.startListening(at: now)
                continue
            }
            let range = place..<min(place + length, span.count)
            reader.take(event: span, in: range, at: now) { report, octets, data in
                check(data.lowerBound >= 0 && data.upperBound <= octets.count, "the data lies in its octets")
                check(data.count <= AdvertisingData.extendedLimit, "data is not longer than it can be")
                let track = processor.receive(report.sighting, octets, data)
                check((track ?? 0) < Self.known.count + Self.strangers, "a beacon has its place in the table")
            }
            place = range.upperBound
        }
        while let event = processor.nextEvent(until: now) { events.append(event) }
        if let event = processor.finish(at: now) { events.append(event) }
    }
}

private func checkTrack(_ track: BeaconTrack, at now: HeardInstant) {
    check(track.nameOctets.count <= BeaconTrack.nameLimit, "a name keeps to its length")
    check(track.events <= track.reports, "an event is at least a report")
    if let level = track.lastLevel { check(LevelTally.range.contains(level), "a level lies where levels can be") }
    if let identity = track.identity {
        let text = identity.description
        check(text.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "an identity is graphic ASCII: \(text)")
        if identity.kind != "url" { check(BeaconIdentity(text) == identity, "an identity can be read: \(text)") }
    }
    let tally = track.window.tally(over: 3_000_000, until: now)
    if let mean = tally.trimmedMean, let low = tally.minimum, let high = tally.maximum {
        check((Double(low)...Double(high)).contains(mean), "the mean lies between the weakest and the strongest level")
    }
    if let period = track.periodMicroseconds {
        check(period > 0 && period.isFinite, "a period is a time")
        if let share = track.interval.share(periodMicroseconds: period, silenceMicroseconds: 0) {
            check((0...1).contains(share), "a share is one: \(share)")
        }
    }
    let estimate = track.claimedPowerAtOneMeter.flatMap { power in
        tally.trimmedMean.flatMap {
            DistanceEstimate(
                level: $0, deviation: tally.standardDeviation ?? 0, count: tally.count, powerAtOneMeter: power, .init())
        }
    }
    if let estimate {
        check(
            estimate.lowMeters <= estimate.meters && estimate.meters <= estimate.highMeters
                && estimate.highMeters.isFinite, "a distance lies in its interval: \(estimate)")
    }
}
