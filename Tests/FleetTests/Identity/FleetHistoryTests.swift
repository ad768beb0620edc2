import Configuration
import Testing

@testable import Fleet

/// Random histories of a fleet. Edits add, remove, move and rename beacons, and add, remove and rename groups. Names
/// are used again, and each `was` stays in the file.
@Suite("Histories of fleets")
struct FleetHistoryTests {
    private struct Group {
        var name: String
        var was: String?
        /// The name at the last generation.
        var generated: String?
    }

    private struct Beacon {
        var number: Int
        var name: String
        var was: String?
        var generated: String?
        /// The number of its group.
        var group: Int
        var generatedGroup: Int?
    }

    private struct History {
        var random: SplitMix64
        let rules: String
        let countsInSites: Bool
        let hasMajors: Bool
        var groups: [Int: Group] = [:]
        var beacons: [Beacon] = []
        var counter = 0
        /// Names that an edit since the last generation has freed.
        var freed: Set<String> = []

        init(seed: UInt64) {
            random = SplitMix64(seed: seed)
            let kinds = [("site", true), ("site", false), ("fleet", true), ("", true)]
            let (within, hasMajors) = kinds[Int(seed % 4)]
            countsInSites = within == "site"
            self.hasMajors = hasMajors
            rules =
                (hasMajors ? "\"major\": { \"per\": \"site\" }, " : "")
                + (within.isEmpty ? "" : "\"minor\": { \"within\": \"\(within)\" }, ")
                + "\"instance\": { \"from\": \"counter\" }"
            for _ in 0..<3 { addGroup() }
            for _ in 0..<4 { addBeacon() }
        }

        private mutating func freeName(_ prefix: String, _ used: [String?]) -> String? {
            let name = "\(prefix)\(Int.random(in: 0..<7, using: &random))"
            return used.contains(name) || freed.contains(name) ? nil : name
        }

        private mutating func addGroup() {
            guard let name = freeName("g", groups.values.flatMap { [$0.name, $0.generated] }) else { return }
            counter += 1
            groups[counter] = Group(name: name)
        }

        private mutating func addBeacon() {
            guard let name = freeName("b", beacons.flatMap { [$0.name, $0.generated] }),
                let group = groups.keys.sorted().randomElement(using: &random)
            else { return }
            counter += 1
            beacons.append(Beacon(number: counter, name: name, group: group))
        }

        mutating func edit() {
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1: addBeacon()
            case 2:
                guard let index = beacons.indices.randomElement(using: &random) else { return }
                freed.formUnion([beacons[index].name, beacons[index].generated].compactMap { $0 })
                beacons.remove(at: index)
            case 3, 4:
                guard let index = beacons.indices.randomElement(using: &random),
                    let group = groups.keys.sorted().randomElement(using: &random)
                else { return }
                beacons[index].group = group
            case 5:
                guard let index = beacons.indices.randomElement(using: &random),
                    let name = freeName("b", beacons.flatMap { [$0.name, $0.generated] })
                else { return }
                freed.insert(beacons[index].name)
                beacons[index].name = name
                // The former name is the name in the lock. This "was" stays in the file after the next generation.
                if let generated = beacons[index].generated { beacons[index].was = generated }
            case 6:
                guard let key = groups.keys.sorted().randomElement(using: &random),
                    let name = freeName("g", groups.values.flatMap { [$0.name, $0.generated] })
                else { return }
                freed.insert(groups[key]?.name ?? "")
                groups[key]?.name = name
                if let generated = groups[key]?.generated { groups[key]?.was = generated }
            case 7: addGroup()
            default:
                guard groups.count > 1, let key = groups.keys.sorted().randomElement(using: &random) else { return }
                freed.formUnion([groups[key]?.name, groups[key]?.generated].compactMap { $0 })
                groups[key] = nil
                for beacon in beacons where beacon.group == key {
                    freed.formUnion([beacon.name, beacon.generated].compactMap { $0 })
                }
                beacons.removeAll { $0.group == key }
            }
        }

        var text: String {
            func was(_ name: String?) -> String { name.map { ", \"was\": \"\($0)\"" } ?? "" }
            let groups = groups.sorted { $0.key < $1.key }.map { key, group in
                let own = beacons.filter { $0.group == key }.map { "{ \"name\": \"\($0.name)\"\(was($0.was)) }" }
                let list = own.isEmpty ? "" : ", \"beacons\": [ \(own.joined(separator: ", ")) ]"
                return "{ \"name\": \"\(group.name)\"\(was(group.was))\(list) }"
            }
            let values =
                (hasMajors ? "\"major\": \"${major}\"" : "\"major\": 1")
                + (rules.contains("minor") ? ", \"minor\": \"${minor}\"" : ", \"minor\": 1")
            return """
                { "version": 1, "name": "made", "template": { "advertisements": [
                  { "type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", \(values), "intervalMs": 500,
                    "measuredPowerDbm": -59 },
                  { "type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": "${instance}",
                    "intervalMs": 500, "measuredPowerDbm": -18 } ] },
                  "identities": { \(rules) }, "groups": [ \(groups.joined(separator: ",\n")) ] }
                """
        }

        mutating func markGenerated() {
            groups = groups.mapValues { Group(name: $0.name, was: $0.was, generated: $0.name) }
            for index in beacons.indices {
                beacons[index].generated = beacons[index].name
                beacons[index].generatedGroup = beacons[index].group
            }
            freed = []
        }
    }

    private static let generations = 8

    /// Each of the five parts tests 40 histories.
    @Test("random edits are accepted, and no identity is lost or given to another beacon", arguments: 0..<5)
    func keepsIdentities(part: Int) throws {
        for seed in (part * 40)..<(part * 40 + 40) { try follow(UInt64(seed)) }
    }

    private func follow(_ seed: UInt64) throws {
        var history = History(seed: seed)
        var lock: FleetLock?
        /// The identity of each beacon by its number.
        var identities: [Int: String] = [:]
        /// All entries that the lock has had.
        var known: [UInt64: FleetLock.Entry] = [:]
        var majors: Set<Int> = []
        for step in 0..<Self.generations {
            if step > 0 { for _ in 0..<Int.random(in: 1...3, using: &history.random) { history.edit() } }
            let place: Comment = "seed \(seed), generation \(step)\n\(history.text)"
            let (decoded, faults) = MadeFleet.decode(history.text)
            try #require(faults == [] && decoded != nil, place)
            guard let fleet = decoded else { return }
            let (allocation, problems) = FleetAllocation.make(fleet, lock: lock, now: MadeFleet.now)
            try #require(problems == [], place)
            let now = allocation.identities
            try #require(Set(now.values).count == now.count, place)
            var changed: Set<String> = []
            for beacon in history.beacons {
                guard let before = identities[beacon.number], let identity = now[beacon.name] else { continue }
                if before != identity { changed.insert(beacon.name) }
                let hasMoved = beacon.group != beacon.generatedGroup
                try #require(
                    before == identity || hasMoved,
                    "\(beacon.name): \(before) → \(identity); \(place)\n\(String(decoding: lock?.text ?? [], as: UTF8.self))"
                )
            }
            try #require(Set(allocation.renumbered.map(\.name)) == changed, place)
            // The lock still has each identity, with the same values.
            let (read, damage) = FleetLock.decode(allocation.lock.text, file: "made.lock.json")
            let written = try #require(read, place)
            try #require(damage == [], place)
            let entries = Dictionary(uniqueKeysWithValues: written.entries.map { ($0.instance ?? 0, $0) })
            for (instance, entry) in known {
                let kept = entries[instance]
                try #require(kept?.minor == entry.minor && kept?.address == entry.address, "\(entry); \(place)")
            }
            try #require(majors.isSubset(of: written.groups.compactMap(\.major)), place)
            // An identity that no beacon has is retired.
            let inUse = Set(allocation.entryIndices.map { allocation.lock.entries[$0].instance })
            for entry in written.entries {
                try #require(entry.isRetired != inUse.contains(entry.instance), "\(entry); \(place)")
            }
            guard step == Self.generations - 1 else {
                (lock, identities) = (written, [:])
                known.merge(entries) { _, new in new }
                majors.formUnion(written.groups.compactMap(\.major))
                for beacon in history.beacons { identities[beacon.number] = now[beacon.name] }
                history.markGenerated()
                continue
            }
            let stable = FleetAllocation.make(fleet, lock: written, now: MadeFleet.now)
            try #require(stable.problems == [] && stable.allocation.lock.text == written.text, place)
        }
    }
}
