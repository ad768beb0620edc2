public import Airtime
internal import Glibc
public import Positioning

/// The public recordings of a library and an office (Mendoza-Silva et al., BLE RSS Measurements Dataset for Research on
/// Accurate Indoor Positioning, CC BY 4.0). They are not part of the project; PHAROS_RECORDINGS names their folder.
public struct PublicRecordings {
    /// A survey, and the test recording that is located on it.
    public struct Column {
        public let name: String
        public let survey: Survey
        public let test: Survey
        /// True if the test was recorded with the survey's receiver.
        public let isOwnReceiver: Bool
        /// The positions of the beacons.
        public let beacons: [BeaconKey: FloorPosition]
    }

    private let folder: String

    /// Returns `nil` and prints a message if the recordings cannot be read.
    public init?() {
        guard let value = unsafe getenv("PHAROS_RECORDINGS") else {
            Self.complain("PHAROS_RECORDINGS names no folder")
            return nil
        }
        let folder = unsafe String(cString: value) + "/uji"
        guard unsafe access(folder + "/rss_lib_rss.csv.gz", R_OK) == 0 else {
            Self.complain("\(folder) cannot be read")
            return nil
        }
        self.folder = folder
    }

    private static func complain(_ reason: String) {
        print("\n!!! NOT HELD AGAINST PUBLIC RECORDINGS: \(reason); they are not part of the project.\n")
    }

    private func rows(_ name: String) -> [[String]] {
        guard let pipe = unsafe popen("gzip -dc '\(folder)/\(name).csv.gz'", "r") else { return [] }
        defer { _ = unsafe pclose(pipe) }
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = unsafe fread(&buffer, 1, buffer.count, pipe)
            guard count > 0 else { break }
            octets += buffer[..<count]
        }
        return String(decoding: octets, as: UTF8.self).split(whereSeparator: \.isNewline).map {
            $0.split(separator: ",").map(String.init)
        }
    }

    private struct Row {
        let position: FloorPosition
        let phone: Int
        let power: Int
        let campaign: Int
        let point: Int
        let levels: [Double]
    }

    private func samples(_ kind: String) -> [Row] {
        let levels = rows("rss_\(kind)_rss").map { $0.map { Double($0) ?? 100 } }
        let positions = rows("rss_\(kind)_crd").map { FloorPosition(x: Double($0[0]) ?? 0, y: Double($0[1]) ?? 0) }
        let ids = rows("rss_\(kind)_ids").map { Int($0[0]) ?? 0 }
        return levels.indices.map {
            Row(
                position: positions[$0], phone: ids[$0] / 10_000_000, power: ids[$0] / 1_000_000 % 10,
                campaign: ids[$0] / 100_000 % 10, point: ids[$0] / 100 % 1000, levels: levels[$0])
        }
    }

    /// Returns a key whose number has leading zeros, so that keys sort in the order of the columns.
    private static func key(_ number: Int) -> BeaconKey {
        guard let key = BeaconKey("beacon-\(number < 9 ? "0" : "")\(number + 1)") else { preconditionFailure() }
        return key
    }

    /// - Parameter byPlace: True for one stay for each position; false for one for each point and direction.
    private func survey(_ rows: [Row], byPlace: Bool) -> Survey {
        var survey = Survey()
        let count = rows.first?.levels.count ?? 0
        let numbers = (0..<count).map { survey.number(of: Self.key($0)) ?? 0 }
        var order: [String] = []
        var groups: [String: [Row]] = [:]
        for row in rows {
            let key = byPlace ? "\(row.position.x),\(row.position.y)" : "\(row.point)"
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append(row)
        }
        for (number, key) in order.enumerated() {
            let group = groups[key, default: []]
            survey.begin(Survey.Stay(number: number + 1, position: group[0].position, session: byPlace ? nil : key))
            for (second, row) in group.enumerated() {
                let readings = row.levels.enumerated().filter { $0.element != 100 }
                    .map { SignalVector.Reading(beacon: numbers[$0.offset], level: $0.element) }
                survey.append(SignalVector(seconds: Double(second), readings: readings))
            }
        }
        return survey
    }

    private func positions(_ kind: String) -> [BeaconKey: FloorPosition] {
        let found = rows("dep_\(kind)").dropFirst().enumerated().map { number, row in
            (Self.key(number), FloorPosition(x: Double(row[1]) ?? 0, y: Double(row[2]) ?? 0))
        }
        return Dictionary(found) { first, _ in first }
    }

    private static let officePlaces =
        [1, 2, 3, 4, 5, 7, 9, 10, 12, 14, 15, 17, 19, 20, 22, 24, 25, 27] + Array(29...40)
        + [42, 44, 45, 47, 49, 50, 52, 54, 55, 57, 59, 60, 62, 64, 65, 66, 67, 68]
    private static let leftOut = [1, 17, 18, 34, 35, 51, 52, 68]

    /// Returns the library with three phones, surveyed with one and located with another, and the office with three
    /// powers.
    public func columns() -> [Column] {
        let (library, office) = (samples("lib"), samples("geo"))
        var columns: [Column] = []
        for (own, other) in [(1, 1), (2, 2), (3, 3), (1, 2), (1, 3), (3, 1)] {
            columns.append(
                Column(
                    name: "library \(own)→\(other)",
                    survey: survey(library.filter { $0.phone == own && $0.campaign == 2 }, byPlace: true),
                    test: survey(
                        library.filter {
                            $0.phone == other && $0.campaign == 3 && !Self.leftOut.contains($0.point)
                        }, byPlace: false), isOwnReceiver: own == other, beacons: positions("lib")))
        }
        for power in 1...3 {
            let rows = office.filter { $0.power == power }
            columns.append(
                Column(
                    name: "office \([-4, -12, -20][power - 1])",
                    survey: survey(rows.filter { Self.officePlaces.contains($0.point) }, byPlace: true),
                    test: survey(rows.filter { !Self.officePlaces.contains($0.point) }, byPlace: false),
                    isOwnReceiver: true, beacons: positions("geo")))
        }
        return columns
    }
}
