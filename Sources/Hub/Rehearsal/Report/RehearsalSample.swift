internal import Airtime

extension RehearsalReport {
    /// A small report with invented values, from which a page can be made and tested without a rehearsal: three
    /// beacons, one of which stops, a phone that walks past them, and 20 s to play.
    package static var sample: RehearsalReport {
        var report = RehearsalReport(
            version: "1.0.0", file: "museum.json", fleet: "museum", seeds: [7], hours: 1, phones: 1,
            scanners: "android-balanced", site: nil,
            beacons: [
                Beacon(name: "hall-entrance", position: FloorPosition(x: 2.5, y: 1)),
                Beacon(name: "hall-desk", position: FloorPosition(x: 9, y: 4.5)),
                Beacon(name: "ships-cog", position: FloorPosition(x: 14, y: 3)),
            ], replay: "rehearse museum.json --seed 7")
        report.faults = [Fault(kind: "stops", subject: "hall-desk", atS: 12, isFound: true)]
        report.promises = [
            RehearsalPromise(
                .silence, "hall-desk", beacon: 1, relation: .atMost, expected: 4.1, measured: 3588, unit: "s",
                count: 48, verdict: .broken, reason: "hall-desk was not received after 12 s: planted fault \"stops\"",
                fault: 0),
            RehearsalPromise(
                .battery, "hall-desk", beacon: 1, relation: .atLeast, expected: nil, measured: nil, unit: "days",
                verdict: .unjudged, reason: "its machine has no battery"),
            RehearsalPromise(
                .interval, "hall-entrance: ibeacon", beacon: 0, relation: .equal, expected: 255, measured: 255.1,
                unit: "ms", standardError: 0.2, count: 14_117, verdict: .holds),
            RehearsalPromise(
                .detection, "near hall-entrance", beacon: 0, relation: .atLeast, expected: 90, measured: 97.5,
                unit: "%",
                standardError: 1.1, count: 200, verdict: .holds),
        ]
        report.notes = ["The values of this report are invented."]
        var playback = RehearsalPlayback(fromS: 0, toS: 20)
        for tick in 0..<80 {
            for (beacon, end) in [20.0, 12, 20].enumerated() {
                let ms = Double(tick) * 250 + Double(beacon) * 3.5
                guard ms < end * 1000 else { continue }
                playback.events.milliseconds.append(ms)
                playback.events.beacons.append(beacon)
                let collides = (tick + beacon) % 11 == 0
                playback.events.received.append(collides ? 0 : 1)
                playback.events.collided.append(collides ? 1 : 0)
            }
        }
        playback.phones = [
            RehearsalPlayback.Phone(
                scanner: "android-balanced",
                track: [
                    RehearsalPlayback.TrackPoint(atS: 0, FloorPosition(x: 1, y: 1)),
                    RehearsalPlayback.TrackPoint(atS: 10, FloorPosition(x: 9, y: 3.5)),
                    RehearsalPlayback.TrackPoint(atS: 20, FloorPosition(x: 11, y: 10)),
                ],
                discoveries: [
                    RehearsalPlayback.Discovery(atS: 2.1, beacon: 0), RehearsalPlayback.Discovery(atS: 6.4, beacon: 1),
                ])
        ]
        playback.changes = [RehearsalPlayback.Change(atS: 12, beacon: 1, text: "hall-desk stops")]
        report.playback = playback
        return report
    }
}
