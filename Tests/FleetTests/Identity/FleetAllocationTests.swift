import BluetoothTypes
import Configuration
import Testing

@testable import Fleet

@Suite("Identities")
struct AllocationTests {
    /// A beacon of a made-up fleet.
    private struct Box: Equatable {
        var name: String
        var site: Int
        var serial: String
        var was = ""
    }

    private static func text(_ boxes: [Box], siteNames: [Int: String] = [:]) -> (String, [String: String]) {
        let fleet = """
            {
              "version": 1, "name": "made", "template": { "advertisements": [
                { "type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": "${major}",
                  "minor": "${minor}", "intervalMs": 500, "measuredPowerDbm": -59 },
                { "type": "eddystone-uid", "namespace": "${namespace}", "instance": "${instance}", "intervalMs": 500,
                  "measuredPowerDbm": -18 } ] },
              "identities": { "major": { "per": "site" }, "minor": { "within": "site" },
                "namespace": { "domain": "example.org" }, "instance": { "from": "counter" } },
              "beacons": { "csv": "boxes.csv" }
            }
            """
        // The table has a column for former names only if a beacon is renamed.
        let hasFormerNames = boxes.contains { !$0.was.isEmpty }
        let rows = boxes.map { "\($0.name),site\($0.site),\($0.serial)" + (hasFormerNames ? ",\($0.was)" : "") }
        let header = "name,site,serial" + (hasFormerNames ? ",was" : "")
        return (fleet, ["boxes.csv": ([header] + rows).joined(separator: "\n") + "\n"])
    }

    private static func allocate(_ boxes: [Box], _ lock: FleetLock?, releasing: [String] = []) throws
        -> (fleet: Fleet, allocation: FleetAllocation, problems: [FileProblem])
    {
        let (text, tables) = text(boxes)
        let (fleet, problems) = MadeFleet.decode(text, tables: tables)
        #expect(problems == [])
        let made = try #require(fleet)
        let (allocation, faults) = FleetAllocation.make(made, lock: lock, releasing: releasing, now: MadeFleet.now)
        return (made, allocation, faults)
    }

    /// Returns the lock after writing and reading it, as the next run reads it.
    private static func written(_ lock: FleetLock) throws -> FleetLock {
        let (read, problems) = FleetLock.decode(lock.text, file: "made.lock.json")
        #expect(problems == [])
        let again = try #require(read)
        #expect(again.text == lock.text)
        return again
    }

    @Test(
        "adding, removing, reordering or renaming a beacon changes no other identity", arguments: 1...15)
    func staysTheSame(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        var boxes = (0..<Int.random(in: 1...12, using: &random)).map {
            Box(name: "b\($0)", site: Int.random(in: 0...2, using: &random), serial: "s\($0)")
        }
        var allocation = try Self.allocate(boxes, nil).allocation
        var lock = try Self.written(allocation.lock)
        var known = allocation.identities
        /// All identities that were ever allocated, with their beacons.
        var owners: [String: String] = [:]
        for (name, identity) in known { owners[identity] = name }
        var counter = boxes.count
        for _ in 0..<30 {
            var renamed: [String: String] = [:]
            var moved: Set<String> = []
            for index in boxes.indices { boxes[index].was = "" }
            switch Int.random(in: 0..<7, using: &random) {
            case 0, 1:
                counter += 1
                let place = Int.random(in: 0...boxes.count, using: &random)
                let box = Box(name: "b\(counter)", site: Int.random(in: 0...3, using: &random), serial: "s\(counter)")
                boxes.insert(box, at: place)
            case 2 where boxes.count > 1: boxes.remove(at: Int.random(in: boxes.indices, using: &random))
            case 3: boxes.shuffle(using: &random)
            case 4:
                counter += 1
                let index = Int.random(in: boxes.indices, using: &random)
                renamed["r\(counter)"] = boxes[index].name
                boxes[index].was = boxes[index].name
                boxes[index].name = "r\(counter)"
            case 5:
                counter += 1
                boxes[Int.random(in: boxes.indices, using: &random)].serial = "t\(counter)"
            default:
                let index = Int.random(in: boxes.indices, using: &random)
                boxes[index].site = (boxes[index].site + 1) % 4
                moved.insert(boxes[index].name)
            }
            allocation = try Self.allocate(boxes, lock).allocation
            let now = allocation.identities
            for (name, identity) in now where !moved.contains(name) {
                if let before = known[renamed[name] ?? name] { #expect(identity == before, "\(name)") }
            }
            #expect(Set(now.values).count == now.count)
            // All identities of a renamed beacon, including those of its former places, belong to its new name.
            for (new, old) in renamed { owners = owners.mapValues { $0 == old ? new : $0 } }
            for (name, identity) in now {
                let owner = owners[identity]
                #expect(owner == nil || owner == name, "\(identity) was \(owner ?? "")'s")
                owners[identity] = name
            }
            // A removed beacon keeps its identity under its last name.
            for (name, identity) in known where now[name] == nil && !renamed.values.contains(name) {
                owners[identity] = name
            }
            for (name, identity) in now { known[name] = identity }
            for old in renamed.values { known[old] = nil }
            lock = try Self.written(allocation.lock)
        }
    }

    @Test("a second run with an unchanged fleet changes nothing")
    func isStable() throws {
        let boxes = (0..<50).map { Box(name: "b\($0)", site: $0 % 5, serial: "") }
        let first = try Self.allocate(boxes, nil)
        let second = try Self.allocate(boxes, first.allocation.lock)
        #expect(second.allocation.lock.text == first.allocation.lock.text)
        #expect(second.allocation.changes == FleetAllocation.Changes())
    }

    @Test("a retired identity returns to its own beacon, and is reused only after a release")
    func keepsRetired() throws {
        let all = ["a", "b", "c"].map { Box(name: $0, site: 0, serial: "") }
        let first = try Self.allocate(all, nil)
        let without = try Self.allocate([all[0], all[1]], first.allocation.lock)
        #expect(without.allocation.changes.retired == ["c"])
        #expect(without.allocation.lock.retiredNames == ["c"])
        let newcomer = try Self.allocate(
            [all[0], all[1], Box(name: "d", site: 0, serial: "")], without.allocation.lock)
        #expect(newcomer.allocation.identities["d"]?.hasPrefix("1 4 4 ") == true)
        let back = try Self.allocate(all, without.allocation.lock)
        #expect(back.allocation.changes.revived == ["c"])
        #expect(back.allocation.identities == first.allocation.identities)
        let released = try Self.allocate(
            [all[0], all[1], Box(name: "d", site: 0, serial: "")], without.allocation.lock, releasing: ["c"])
        #expect(released.problems == [])
        #expect(released.allocation.changes.released == ["c"])
        #expect(released.allocation.identities["d"]?.hasPrefix("1 3 3 ") == true)
    }

    @Test("only retired beacons can be released", arguments: ["a", "nobody"])
    func refusesRelease(name: String) throws {
        let box = Box(name: "a", site: 0, serial: "")
        let first = try Self.allocate([box], nil)
        let second = try Self.allocate([box], first.allocation.lock, releasing: [name])
        #expect(second.problems.contains { $0.description.contains("cannot release") && $0.isError })
    }

    @Test("a replaced device keeps the identity, and the lock lists the earlier devices")
    func recordsReplacedMachines() throws {
        let first = try Self.allocate([Box(name: "a", site: 0, serial: "s1")], nil)
        let second = try Self.allocate([Box(name: "a", site: 0, serial: "s2")], first.allocation.lock)
        let third = try Self.allocate([Box(name: "a", site: 0, serial: "s3")], Self.written(second.allocation.lock))
        #expect(third.allocation.identities == first.allocation.identities)
        #expect(third.allocation.changes.replacedMachines == [.init(name: "a", other: "s3")])
        let text = String(decoding: third.allocation.lock.text, as: UTF8.self)
        #expect(text.contains(#""box":"s3","earlierBoxes":["s1","s2"]"#))
    }

    @Test("renamed groups keep their numbers")
    func renamesGroups() throws {
        func text(_ site: String, _ was: String) -> String {
            """
            { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "ibeacon",
              "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": "${major}", "minor": "${minor}",
              "intervalMs": 500, "measuredPowerDbm": -59 } ] },
              "identities": { "major": { "per": "site" }, "minor": { "within": "floor" } },
              "groups": [ { "name": "first", "beacons": [ { "name": "x" } ] },
                { "name": "\(site)"\(was), "groups": [ { "name": "ground",
                  "beacons": [ { "name": "a" }, { "name": "b" } ] } ] } ] }
            """
        }
        let old = try #require(MadeFleet.decode(text("north", "")).fleet)
        let (before, _) = FleetAllocation.make(old, lock: nil, now: MadeFleet.now)
        let new = try #require(MadeFleet.decode(text("south", ", \"was\": \"north\"")).fleet)
        let (after, problems) = FleetAllocation.make(new, lock: before.lock, now: MadeFleet.now)
        #expect(problems == [])
        #expect(after.identities == before.identities)
        #expect(after.changes == FleetAllocation.Changes())
        let (again, _) = FleetAllocation.make(new, lock: after.lock, now: MadeFleet.now)
        #expect(again.identities == before.identities)
    }

    @Test("all 65536 minors are assigned, and another one only after a release")
    func exhaustsMinors() throws {
        let boxes = (0..<65_536).map { Box(name: "b\($0)", site: 0, serial: "") }
        let newcomer = [Box(name: "n", site: 0, serial: "")]
        let full = try Self.allocate(boxes, nil)
        #expect(full.problems == [])
        #expect(Set(full.allocation.lock.entries.map(\.minor)).count == 65_536)
        let over = try Self.allocate(boxes + newcomer, full.allocation.lock)
        #expect(over.problems.contains { $0.description.contains("all 65536 minor numbers of \"site0\"") })
        // A beacon that is released in the same run makes room.
        let after = try Self.allocate(Array(boxes.dropFirst()) + newcomer, full.allocation.lock, releasing: ["b0"])
        #expect(after.problems == [])
        #expect(after.allocation.changes.released == ["b0"] && after.allocation.changes.retired == [])
        #expect(Set(after.allocation.lock.entries.map(\.minor)).count == 65_536)
    }

    @Test("addresses are static random and derived from the names")
    func givesAddresses() throws {
        let boxes = (0..<1000).map { Box(name: "b\($0)", site: 0, serial: "") }
        let first = try Self.allocate(boxes, nil)
        let addresses = first.allocation.lock.entries.compactMap(\.address)
        #expect(addresses.allSatisfy { $0.isValidStaticRandom })
        #expect(Set(addresses).count == 1000)
        let reversed = try Self.allocate(boxes.reversed(), nil)
        #expect(
            Set(reversed.allocation.lock.entries.map(\.address)) == Set(first.allocation.lock.entries.map(\.address)))
    }

    @Test(
        "an instance can be the device's serial number",
        arguments: [
            ("10000000a1b2c3d4", "0000a1b2c3d4"), ("ab", "0000000000ab"), ("00:11:22:33:44:55", "001122334455"),
        ])
    func takesSerials(serial: String, instance: String) {
        #expect(Allocator.instance(fromSerial: serial) == UInt64(instance, radix: 16))
    }

    private static func boxes(_ names: String...) -> [Box] {
        names.map { name in
            let parts = name.split(separator: "<")
            return Box(name: String(parts[0]), site: 0, serial: "", was: parts.count > 1 ? String(parts[1]) : "")
        }
    }

    /// Each history ends with a renaming that is refused, or that needs a release.
    @Test(
        "contradictory renamings of beacons are refused with instructions",
        arguments: [
            ([["x", "y"], ["x<y", "y<x"]], "to swap two names, use a third name"),
            ([["x", "y"], ["y<x"]], "an identity in use for \"y\" and one for \"x\""),
            ([["x"], ["y<x"], ["y<x", "z<x"]], "the beacon \"x\" was renamed to \"y\" before"),
            ([["x"], ["y<x", "z<x"]], "two beacons have the former name \"x\""),
            ([["x"], ["x", "y<z"]], "the lock has no beacon \"z\""),
            ([["x"], ["x", "y<x"]], "the beacon \"x\" is still in the fleet"),
        ])
    func refusesRenamings(history: [[String]], reason: String) throws {
        var lock: FleetLock?
        for names in history.dropLast() {
            let boxes = names.flatMap { Self.boxes($0) }
            lock = try Self.allocate(boxes, lock).allocation.lock
        }
        let last = try Self.allocate(history.last.map { $0.flatMap { Self.boxes($0) } } ?? [], lock)
        #expect(last.problems.count { $0.message.contains(reason) } >= 1, "\(last.problems.map(\.message))")
    }

    @Test("a renaming to a retired name sets the retired beacon aside, and may remain in the file")
    func renamesToARetiredName() throws {
        let first = try Self.allocate(Self.boxes("x", "y"), nil)
        let second = try Self.allocate(Self.boxes("x"), first.allocation.lock)
        let third = try Self.allocate(Self.boxes("y<x"), second.allocation.lock)
        #expect(third.problems == [])
        #expect(third.allocation.changes.renamed == [.init(name: "y", other: "x")])
        #expect(third.allocation.identities["y"] == first.allocation.identities["x"])
        #expect(third.allocation.lock.retiredNames == ["y~1"])
        let fourth = try Self.allocate(Self.boxes("y<x"), try Self.written(third.allocation.lock))
        #expect(fourth.problems == [] && fourth.allocation.changes == FleetAllocation.Changes())
        let released = try Self.allocate(Self.boxes("y<x"), third.allocation.lock, releasing: ["y~1"])
        #expect(released.problems == [] && released.allocation.changes.released == ["y~1"])
    }

    @Test("a completed renaming may remain in the file, even if the former name is used again")
    func remembersRenamings() throws {
        let first = try Self.allocate(Self.boxes("x"), nil)
        let second = try Self.allocate(Self.boxes("y<x"), first.allocation.lock)
        let third = try Self.allocate(Self.boxes("y<x", "x"), try Self.written(second.allocation.lock))
        #expect(third.problems == [] && third.allocation.changes.added == 1)
        #expect(third.allocation.identities["y"] == first.allocation.identities["x"])
        let fourth = try Self.allocate(Self.boxes("y<x"), try Self.written(third.allocation.lock))
        #expect(fourth.problems == [] && fourth.allocation.changes.retired == ["x"])
        // A name before the last former name is also found.
        let fifth = try Self.allocate(Self.boxes("z<x"), second.allocation.lock)
        #expect(fifth.problems == [])
        #expect(fifth.allocation.identities["z"] == first.allocation.identities["x"])
    }

    @Test("a beacon that gets a new name and a new group at once counts as moved")
    func renamesAndMoves() throws {
        let first = try Self.allocate(Self.boxes("x"), nil)
        let second = try Self.allocate([Box(name: "y", site: 1, serial: "", was: "x")], first.allocation.lock)
        #expect(second.problems == [])
        #expect(second.allocation.changes.moved == ["y"])
        #expect(second.allocation.renumbered.map(\.name) == ["y"])
        let back = try Self.allocate(Self.boxes("y"), try Self.written(second.allocation.lock))
        #expect(back.allocation.identities["y"] == first.allocation.identities["x"])
    }

    @Test("the last instance number is assigned only once")
    func givesOutTheLastInstanceNumberOnce() throws {
        let first = try Self.allocate(Self.boxes("a"), nil)
        var lock = first.allocation.lock
        lock.entries[0].instance = AllocationRules.instanceLimit - 1
        let last = try Self.allocate(Self.boxes("a", "b"), lock)
        #expect(last.problems == [])
        #expect(last.allocation.lock.entries[1].instance == AllocationRules.instanceLimit)
        let over = try Self.allocate(Self.boxes("a", "b", "c"), last.allocation.lock)
        #expect(over.problems.contains { $0.message.hasPrefix("the lock has the last instance number, ffffffffffff") })
    }

    @Test("an instance from a serial number is kept when the beacon moves and returns")
    func keepsAnInstanceFromTheSerialNumberWhenMoved() throws {
        func allocate(_ site: String, _ lock: FleetLock?) throws -> (Fleet, FleetAllocation, [FileProblem]) {
            let text = """
                { "version": 1, "name": "f", "template": { "advertisements": [
                  { "type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1,
                    "minor": "${minor}", "intervalMs": 500, "measuredPowerDbm": -59 },
                  { "type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": "${instance}",
                    "intervalMs": 500, "measuredPowerDbm": -18 } ] },
                  "identities": { "minor": { "within": "site" }, "instance": { "from": "serial" } },
                  "groups": [ { "name": "north" }, { "name": "south" } ],
                  "beacons": [ { "name": "a", "group": "\(site)", "serial": "00a1" } ] }
                """
            let fleet = try #require(MadeFleet.decode(text).fleet)
            let (allocation, problems) = FleetAllocation.make(fleet, lock: lock, now: MadeFleet.now)
            return (fleet, allocation, problems)
        }
        var lock: FleetLock?
        for site in ["north", "south", "north", "south"] {
            let (fleet, allocation, problems) = try allocate(site, lock)
            #expect(problems == [])
            let own = allocation.lock.entries[allocation.entryIndices[0]]
            #expect(own.instance == 0xA1 && fleet.beaconCount == 1)
            lock = try Self.written(allocation.lock)
        }
        #expect(lock?.entries.count == 2)
    }

    @Test(
        "contradictory renamings of groups are refused with instructions",
        arguments: [
            (["north", "south"], ["north<south", "south<north"], "use a third name"),
            (["north"], ["a<north", "b<north"], "two groups have the former name \"north\""),
            (["north"], ["north", "b<nroth"], "the lock has no group \"nroth\""),
        ])
    func refusesRenamingsOfGroups(before: [String], after: [String], reason: String) throws {
        func fleet(_ names: [String]) throws -> Fleet {
            let groups = names.enumerated().map { index, text in
                let parts = text.split(separator: "<")
                let was = parts.count > 1 ? "\"was\": \"\(parts[1])\", " : ""
                return "{ \"name\": \"\(parts[0])\", \(was)\"beacons\": [ { \"name\": \"b\(index)\" } ] }"
            }
            return try #require(
                MadeFleet.decode(
                    """
                    { "version": 1, "name": "f", "template": { "advertisements": [ { "type": "ibeacon",
                      "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": "${major}", "minor": "${minor}",
                      "intervalMs": 500, "measuredPowerDbm": -59 } ] },
                      "identities": { "major": { "per": "site" }, "minor": { "within": "site" } },
                      "groups": [ \(groups.joined(separator: ", ")) ] }
                    """
                ).fleet)
        }
        let (first, problems) = FleetAllocation.make(try fleet(before), lock: nil, now: MadeFleet.now)
        #expect(problems == [])
        let (_, faults) = FleetAllocation.make(try fleet(after), lock: first.lock, now: MadeFleet.now)
        #expect(faults.contains { $0.isError && $0.message.contains(reason) }, "\(faults.map(\.message))")
    }

    @Test("a missing lock is restored from the manifest")
    func adoptsManifests() throws {
        let boxes = (0..<20).map { Box(name: "b\($0)", site: $0 % 3, serial: "s\($0)") }
        let gone = try Self.allocate(boxes + [Box(name: "g", site: 1, serial: "")], nil)
        let (fleet, allocation, _) = try Self.allocate(boxes.reversed(), gone.allocation.lock)
        let manifest = allocation.manifest
        let adopted = try FleetLock(adopting: manifest, for: fleet)
        let newcomer = [Box(name: "n", site: 1, serial: "")]
        let again = try Self.allocate(newcomer + boxes, try Self.written(adopted))
        #expect(again.problems == [] && again.allocation.changes.added == 1)
        let (before, after) = (allocation.identities, again.allocation.identities)
        for (name, identity) in before { #expect(after[name] == identity) }
        #expect(throws: FleetLock.AdoptionError.otherFleet("other")) {
            var other = manifest
            other.fleet = "other"
            _ = try FleetLock(adopting: other, for: fleet)
        }
    }
}
