internal import BluetoothTypes
package import Configuration
internal import LinuxHost
package import Listener
package import Sightings

/// Receives for some seconds or reads a whole recording, and lists the beacons that a query selects.
package final class BeaconSearch: SightingConsumer {
    /// A beacon that was found.
    package struct Candidate {
        /// The beacon's name in the files of `--known`, otherwise its identity.
        package let title: String
        /// The beacon's local name; `nil` if it sends none.
        package let localName: String?
        package let address: String?
        /// The mean of the beacon's last levels, in dBm; `nil` if no report had a level.
        package let level: Double?
    }

    /// How long to receive, in microseconds.
    package static let microseconds = 5_000_000
    /// The time over which levels are averaged, in microseconds.
    private static let window = 10_000_000

    private var table: SightingTable
    private let query: BeaconQuery

    package init(_ query: BeaconQuery, _ table: SightingTable) {
        self.query = query
        self.table = table
    }

    package var isSatisfied: Bool { Terminal.outputIsGone }

    package func advance(to now: HeardInstant) {}

    package func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        table.receive(report.sighting, octets, range)
    }

    package func say(_ sentence: String, isWarning: Bool) {
        if isWarning { Terminal.writeError("pharos: \(sentence)\n") }
    }

    package func finish(at now: HeardInstant) {}

    /// The selected beacons that were received, the highest level first.
    package var candidates: [Candidate] {
        var candidates: [Candidate] = []
        for track in table.tracks {
            guard let last = track.lastHeard, query.matches(track) else { continue }
            guard let title = track.known?.name ?? track.identity?.description else { continue }
            let level = track.window.tally(over: Self.window, until: last).trimmedMean
            let name = track.nameOctets.isEmpty ? nil : String(decoding: track.nameOctets, as: UTF8.self)
            let candidate = Candidate(
                title: title, localName: name, address: track.sender?.address.description, level: level)
            // A known beacon may have several identities. Keep the candidate with the highest level.
            if let index = candidates.firstIndex(where: { $0.title == title }) {
                if candidates[index].level ?? -200 < level ?? -200 { candidates[index] = candidate }
            } else {
                candidates.append(candidate)
            }
        }
        return candidates.sorted { ($1.level ?? -200, $0.title) < ($0.level ?? -200, $1.title) }
    }

    /// Returns the candidates as a table, with the rows numbered from 1.
    package static func text(_ candidates: [Candidate]) -> String {
        var table = Table(
            ["", "beacon", "dBm", "address", "name"], alignment: [.right, .left, .right, .left, .left])
        for (index, candidate) in candidates.enumerated() {
            table.add([
                "\(index + 1)", TerminalText.line(candidate.title),
                candidate.level.map { "\(Int($0.rounded()))" } ?? "-",
                candidate.address ?? "-", candidate.localName.map { TerminalText.quoted($0, to: 20) } ?? "",
            ])
        }
        return table.text
    }

    /// Returns the candidates as one JSON object.
    package static func json(_ candidates: [Candidate]) -> JSONValue {
        .record([
            ("event", "list"),
            (
                "beacons",
                .array(
                    candidates.map { candidate in
                        .record([
                            ("beacon", .string(candidate.title)),
                            ("name", .optional(candidate.localName, JSONValue.string)),
                            ("address", .optional(candidate.address, JSONValue.string)),
                            ("rssiDbm", .rounded(candidate.level)),
                        ])
                    })
            ),
        ])
    }
}
