import Airtime
import Configuration
import Rehearsal
import Sites

// Prints the page of an invented rehearsal, or with `json` its report:
//
//     RehearsalProgram sample|museum|large|good|hostile [json]

/// Pseudo-random numbers that are the same in each run.
struct Numbers {
    private var state: UInt64 = 20

    mutating func next() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(state >> 11) / Double(1 << 53)
    }
}

/// A floor of a museum with walls, one room, two receivers and two paths.
let floor = """
    {"version": 1, "name": "museum-ground-floor",
     "outline": [[0, 0], [48, 0], [48, 30], [30, 30], [30, 22], [0, 22]],
     "walls": [
       {"points": [[0, 11], [14, 11]], "attenuationDb": 6}, {"points": [[18, 11], [30, 11], [30, 4]], "attenuationDb": 6},
       {"from": [16, 14], "to": [16, 22], "attenuationDb": 12}, {"points": [[30, 22], [38, 22]], "attenuationDb": 3}],
     "rooms": [{"name": "shop", "outline": [[30, 22], [48, 22], [48, 30], [30, 30]]}],
     "receivers": [{"name": "hall-receiver", "position": [20, 16]}, {"name": "shop-receiver", "position": [36, 24]}],
     "paths": [{"name": "tour", "points": [[1, 5], [15, 6], [16, 12], [24, 16], [34, 14], [42, 8], [40, 26]]},
               {"name": "through to the shop", "points": [[1, 5], [29, 2], [44, 12], [42, 27]]}],
     "beacons": [{"name": "entrance", "position": [3, 5]}],
     "target": {"detectWithinS": 10, "probability": 0.9}}
    """

/// A rehearsal with beacons on a grid inside the floor, of which some have faults.
func invented(beacons count: Int, phones phoneCount: Int, isGood: Bool = false, prefix: String = "box")
    -> RehearsalReport
{
    var numbers = Numbers()
    let columns = Int((Double(count) * 1.5).squareRoot().rounded(.up))
    let rows = (count + columns - 1) / columns
    let beacons = (0..<count).map { number in
        RehearsalReport.Beacon(
            name: "\(prefix)-\(number + 1)",
            position: FloorPosition(
                x: 2 + 44 * Double(number % columns) / Double(max(1, columns - 1)),
                y: 2 + 18 * Double(number / columns) / Double(max(1, rows - 1))))
    }
    var report = RehearsalReport(
        version: "1.0.0", file: "museum.json", fleet: "museum", seeds: [1], hours: 24, phones: phoneCount,
        scanners: "android-balanced 70 %, ios-foreground 30 %", site: Site.decode(Array(floor.utf8)).site,
        beacons: beacons, replay: "rehearse museum.json --hours 24 --phones \(phoneCount) --seed 1")
    var good: [RehearsalPromise] = []
    var bad: [RehearsalPromise] = []
    let stopped =
        isGood ? [] : count < 100 ? [3, 17].filter { $0 < count } : Array(stride(from: 3, to: count, by: 10))
    if !isGood {
        report.faults = [
            .init(kind: "stops", subject: beacons[3].name, atS: 36_000, isFound: true),
            .init(kind: "weak", subject: beacons[min(8, count - 1)].name, atS: 0, isFound: false),
        ]
        report.faults += stopped.dropFirst(2).map {
            .init(kind: "stops", subject: beacons[$0].name, atS: 42_000, isFound: false)
        }
    }
    for (number, beacon) in beacons.enumerated() {
        let isStopped = stopped.contains(number)
        let interval = RehearsalPromise(
            .interval, "\(beacon.name): ibeacon", beacon: number, relation: .equal, expected: 255,
            measured: 255 + 0.4 * numbers.next(), unit: "ms", standardError: 0.2, count: 338_000, verdict: .holds)
        let silence = RehearsalPromise(
            .silence, beacon.name, beacon: number, relation: .atMost, expected: 4.1,
            measured: isStopped ? 50_400 : 2 + numbers.next(), unit: "s", count: 338_000,
            verdict: isStopped ? .broken : .holds,
            reason: isStopped
                ? "\(beacon.name) was not received after \(number == 3 ? "10:00: planted fault \"stops\"" : "11:40")"
                : "",
            fault: isStopped && number == 3 ? 0 : nil)
        let detection = RehearsalPromise(
            .detection, "near \(beacon.name)", beacon: number, relation: .atLeast, expected: 90,
            measured: isStopped ? 41.5 : 100 - 8 * numbers.next(), unit: "%", standardError: 1.1, count: 200,
            verdict: isStopped ? .broken : .holds,
            reason: isStopped ? "\(beacon.name) was silent in 58.5 % of the visits" : "", fault: number == 3 ? 0 : nil)
        let battery = RehearsalPromise(
            .battery, beacon.name, beacon: number, relation: .atLeast, expected: nil, measured: nil, unit: "days",
            verdict: number % 7 == 6 ? .unjudged : .holds, reason: "the profile has no battery")
        good.append(interval)
        bad += isStopped ? [silence, detection] : []
        good += isStopped ? [] : [silence, detection]
        if number % 7 == 6 { good.append(battery) }
    }
    for name in ["tour", "through to the shop"] {
        good.append(
            .init(
                .walk, name, relation: .atLeast, expected: 99, measured: 99.8, unit: "%", standardError: 0.2,
                count: 400,
                verdict: .holds))
    }
    report.promises = bad + good.filter { $0.verdict == .unjudged } + good.filter { $0.verdict == .holds }
    report.notes = ["The values of this report are invented."]
    report.playback = played(beacons, phones: phoneCount, stopped: isGood ? nil : 3, &numbers)
    return report
}

/// A minute from 09:59:30 on, in which one beacon stops at 10:00.
func played(
    _ beacons: [RehearsalReport.Beacon], phones count: Int, stopped: Int?, _ numbers: inout Numbers
) -> RehearsalPlayback {
    let start = 35_970.0
    var playback = RehearsalPlayback(fromS: start, toS: start + 60)
    var sends: [(ms: Double, beacon: Int)] = []
    for number in beacons.indices {
        var ms = start * 1000 + 333 * numbers.next()
        let end = number == stopped ? 36_000_000 : (start + 60) * 1000
        while ms < end {
            sends.append((ms, number))
            ms += 328 + 10 * numbers.next()
        }
    }
    for send in sends.sorted(by: { ($0.ms, $0.beacon) < ($1.ms, $1.beacon) }) {
        let fate = numbers.next()
        playback.events.milliseconds.append(send.ms)
        playback.events.beacons.append(send.beacon)
        playback.events.received.append(fate < 0.8 ? 1 + Int(5 * fate) : 0)
        playback.events.collided.append(fate > 0.72 && fate < 0.88 ? 1 : 0)
    }
    let corners = [(1.0, 5.0), (15, 6), (16, 12), (24, 16), (34, 14), (42, 8), (40, 26)]
    for phone in 0..<count {
        var at = start + 30 * numbers.next()
        let shift = (numbers.next() - 0.5) * 2.4
        let way = phone % 2 == 0 ? corners : corners.reversed()
        let first = Int(3 * numbers.next())
        var track: [RehearsalPlayback.TrackPoint] = []
        for corner in way[first...] {
            let position = FloorPosition(x: corner.0 + shift, y: corner.1 + shift / 2)
            if let last = track.last { at += last.position.distance(to: position) / 1.2 }
            track.append(.init(atS: at, position))
        }
        var found: [RehearsalPlayback.Discovery] = []
        for (number, beacon) in beacons.enumerated() {
            guard let position = beacon.position else { continue }
            for (from, to) in zip(track, track.dropFirst()) {
                let time = from.atS + (to.atS - from.atS) * numbers.next()
                guard to.position.distance(to: position) < 7, time < start + 60 else { continue }
                found.append(.init(atS: time, beacon: number))
                break
            }
        }
        found.sort { $0.atS < $1.atS }
        playback.phones.append(
            .init(scanner: phone % 3 == 0 ? "ios-foreground" : "android-balanced", track: track, discoveries: found))
    }
    if let stopped {
        playback.changes = [.init(atS: 36_000, beacon: stopped, text: "\(beacons[stopped].name) stops")]
    }
    return playback
}

let arguments = CommandLine.arguments.dropFirst()
let report: RehearsalReport
switch arguments.first {
case "sample": report = .sample
case "museum": report = invented(beacons: 24, phones: 40)
case "large": report = invented(beacons: 400, phones: 100)
case "good": report = invented(beacons: 24, phones: 40, isGood: true)
case "hostile": report = invented(beacons: 9, phones: 3, prefix: "</script><img src=x onerror=alert(1)>\"'&\u{202E}")
default: fatalError("sample, museum, large, good or hostile")
}
print(arguments.contains("json") ? report.json.line : RehearsalPage(report).html)
