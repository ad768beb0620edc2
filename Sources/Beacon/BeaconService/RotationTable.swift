internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration

/// The rates of the advertisements that share a set: as requested, and as sent.
struct RotationTable {
    private struct Row {
        let set: Int
        let number: Int
        let type: String
        let requested: RequestedInterval
        let status: OnAirAdvertisement
    }

    /// The time for which the table gives the numbers of events, in seconds.
    private static let seconds = 600
    private let rows: [Row]

    init(_ session: BeaconSession, _ requested: [RequestedInterval]) {
        rows = zip(session.advertisements, requested).enumerated().compactMap { index, pair in
            let (status, requested) = pair
            guard status.sharers > 1, case .set(let set) = status.place else { return nil }
            return Row(
                set: set, number: index + 1, type: status.advertisement.content.typeName, requested: requested,
                status: status)
        }
    }

    var isEmpty: Bool { rows.isEmpty }

    private var sets: [Int] { Set(rows.map(\.set)).sorted() }

    /// A table whose lines begin with `#`.
    var text: String {
        var result = ""
        for set in sets {
            let members = rows.filter { $0.set == set }
            guard let interval = members.first?.status.setInterval.lowerBound else { continue }
            let period = DecimalText.thousandths(interval.meanPeriodMicroseconds)
            result += "# set \(set + 1) sends \(members.count) advertisements in turn: its interval is \(interval), "
            result += "with an event every \(period) ms on average\n"
            var table = Table(
                ["", "", "asked ms", "granted ms", "due in \(Self.seconds) s", "sent in \(Self.seconds) s"],
                alignment: [.right, .left, .right, .right, .right, .right])
            for row in members {
                table.add([
                    String(row.number), row.type, row.requested.milliseconds,
                    row.status.grantedMilliseconds,
                    Self.events(row.status.advertisement.interval.meanPeriodMicroseconds),
                    Self.events(row.status.meanPeriodMicroseconds),
                ])
            }
            result += table.text.split(separator: "\n").map { "#   \($0)\n" }.joined()
        }
        return result
    }

    var jsonLines: String {
        sets.map { set in
            let members = rows.filter { $0.set == set }
            let interval = members.first?.status.setInterval.lowerBound.microseconds ?? 0
            return JSONValue.record([
                ("set", .integer(set + 1)), ("setIntervalMs", .thousandths(interval)),
                (
                    "members",
                    .array(
                        members.map { row in
                            JSONValue.record([
                                ("advertisement", .integer(row.number)), ("type", .string(row.type)),
                                ("intervalMs", .decimal(row.requested.milliseconds)),
                                ("grantedIntervalMs", .milliseconds(row.status.grantedMicroseconds)),
                            ])
                        })
                ),
            ]).line + "\n"
        }.joined()
    }

    private static func events(_ periodMicroseconds: Int) -> String {
        let period = max(1, periodMicroseconds)
        return String((seconds * 1_000_000 + period / 2) / period)
    }
}
