import LinuxHost
import Planner
import TestSupport

@testable import Rehearsal

/// A fleet of beacons on a floor with six receivers, as files in a new directory.
struct RehearsedWorld {
    let directory: TemporaryFolder
    var fleetFile: String { directory.path + "/fleet.json" }
    var siteFile: String { directory.path + "/site.json" }

    private static let positions = [(4, 4), (15, 4), (26, 4), (4, 16), (15, 16), (26, 16)]

    /// - Parameters:
    ///   - beacons: The number of beacons, at most six.
    ///   - controller: The kind of controller of all machines.
    ///   - interval: The interval of the most frequent advertisement, in ms.
    ///   - schedule: The keys that replace the interval, such as a pattern or an interval and a PHY; nil to use the
    ///     interval.
    init(
        beacons count: Int = 6, controller: String = "extended", frames: Int = 1, interval: Double = 318.75,
        shadowing: Double = 3, scanner: String = "android-balanced", background: Double = 0,
        targetSeconds: Double = 10, schedule: String? = nil
    ) throws {
        directory = try TemporaryFolder()
        let more = [
            "",
            #", { "type": "eddystone-tlm", "intervalMs": 5000 }"#,
        ]
        let beacons = Self.positions.prefix(count).enumerated().map { index, place in
            #"{ "name": "box-\#(index + 1)", "position": [\#(place.0), \#(place.1)] }"#
        }
        let fleet = """
            { "version": 1, "name": "world",
              "template": { "radioPowerDbm": 0, "calibration": { "default": -59 }, "advertisements": [
                { "type": "ibeacon", "uuid": "3c2a6f0e-5b1d-4e77-9a48-0d6f2c9b7e11", "major": 1, "minor": "${minor}",
                  \(schedule ?? "\"intervalMs\": \(interval)") }\(more[frames - 1])
              ] },
              "defaults": { "controller": "\(controller)" },
              "identities": { "minor": { "within": "fleet" } },
              "beacons": [\(beacons.joined(separator: ", "))] }
            """
        let receivers = Self.positions.enumerated().map { index, place in
            #"{ "name": "ear-\#(index + 1)", "position": [\#(place.0 + 2), \#(place.1 + 1)] }"#
        }
        let site = """
            { "version": 1, "name": "world", "outline": [[0, 0], [30, 0], [30, 20], [0, 20]],
              "walls": [ { "from": [10, 0], "to": [10, 8], "attenuationDb": 3 } ],
              "beacons": { "fleet": "fleet.json" },
              "paths": [ { "name": "tour", "points": [[2, 10], [28, 10]] } ],
              "receivers": [\(receivers.joined(separator: ", "))],
              "pathLoss": { "model": "log-distance", "lossAt1mDb": 55, "exponent": 2, "shadowingDb": \(shadowing) },
              "scanner": "\(scanner)", "backgroundLoad": \(background),
              "target": { "detectWithinS": \(targetSeconds), "probability": 0.9 } }
            """
        try write(fleet, fleetFile)
        try write(site, siteFile)
    }

    private func write(_ text: String, _ path: String) throws {
        try Files.create(path, with: Array(text.utf8), mode: 0o644)
    }

    func fleet() throws -> RehearsedFleet { try RehearsedFleet(file: siteFile, siteFile: nil) }

    /// Returns the report and the tallies of a rehearsal.
    func rehearse(
        hours: Double = 0.25, phones: Int = 20, scannerPHY: ScannerPHY? = nil, seed: UInt64 = 1, threads: Int = 2,
        faults: [RehearsalFault] = []
    ) throws -> (report: RehearsalReport, tallies: RehearsalTallies) {
        var options = Rehearsal.Options()
        options.hours = hours
        options.phones = phones
        options.scannerPHY = scannerPHY
        options.seed = seed
        options.threads = threads
        options.faults = faults
        options.arguments = "site.json"
        let result = try Rehearsal(try fleet(), options).run(version: "test")
        guard let result else { throw RehearsalError(.request, "it was stopped") }
        return result
    }
}
