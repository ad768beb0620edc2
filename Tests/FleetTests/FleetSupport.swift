import Configuration
import FoundationEssentials

@testable import Fleet

/// A fleet made from texts.
struct MadeFleet {
    var fleet: Fleet
    var problems: [FileProblem]

    static let now = RFC3339Time(secondsSince1970: 1_772_366_400)

    /// - Parameter tables: The tables by their names in the fleet file.
    static func decode(_ text: String, tables: [String: String] = [:]) -> (fleet: Fleet?, problems: [FileProblem]) {
        Fleet.decode(Array(text.utf8), file: "fleet.json") { name in
            tables[name].map { .octets(Array($0.utf8)) } ?? .unreadable("there is no such file")
        }
    }

    /// Returns all problems of decoding, allocating and checking.
    static func problems(_ text: String, tables: [String: String] = [:], keys: FleetKeyFolder? = nil) -> [String] {
        let (fleet, problems) = decode(text, tables: tables)
        guard let fleet else { return problems.map(\.description) }
        let (allocation, faults) = FleetAllocation.make(fleet, lock: nil, now: now)
        return (problems + faults + allocation.check(keys: keys).problems).map(\.description)
    }
}

extension FleetAllocation {
    /// The allocated values of each beacon, by its name.
    var identities: [String: String] {
        var found: [String: String] = [:]
        for (number, beacon) in fleet.beacons.enumerated() {
            let own = identity(of: number)
            func text(_ value: Any?) -> String { value.map { "\($0)" } ?? "-" }
            found[beacon.name] =
                "\(text(own.major)) \(text(own.minor)) \(text(own.instance)) \(text(own.address))"
        }
        return found
    }
}

extension FleetAllocation {
    /// The beacons with valid profiles.
    var beacons: [GeneratedBeacon] { (0..<count).map { beacon($0) }.filter { $0.beacon != nil } }

    var manifest: FleetManifest { FleetManifest(fleet: fleet.name, beacons: beacons.compactMap(\.beacon)) }

    /// Returns all profiles by name, and the manifest as JSON and as a table.
    func all() -> (profiles: [String: String], manifest: String, table: String) {
        var profiles: [String: String] = [:]
        for beacon in beacons { profiles[beacon.name] = String(decoding: beacon.profile, as: UTF8.self) }
        return (profiles, manifest.json, manifest.csv)
    }
}

/// Files of the repository.
enum Repository {
    static let root = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/" + $1 }

    static func text(_ path: String) -> String {
        FileManager.default.contents(atPath: root + "/" + path).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    static func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: root + "/" + folder)) ?? []).sorted()
    }
}

/// A generator that gives the same numbers for the same seed: SplitMix64 (Steele, Lea, Flood, 2014).
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
