import Configuration
import Testing

@testable import Fleet

@Suite("Lock files")
struct LockTests {
    private static let good = """
        {
        "version":1,
        "fleet":"f",
        "groups":[
        {"group":"north","major":1},
        {"group":"south","major":2}
        ],
        "beacons":[
        {"name":"a","in":"north","minor":1,"instance":"000000000001","address":"C1:02:03:04:05:06"},
        {"name":"b","in":"north","minor":2,"instance":"000000000002","address":"C1:02:03:04:05:07","box":"s:1"},
        {"name":"c","in":"south","minor":1,"address":"C1:02:03:04:05:08","eidEpoch":"2026-03-01T12:00:00Z","retired":true}
        ]
        }

        """

    private static func decode(_ text: String) -> (lock: FleetLock?, problems: [String]) {
        let (lock, problems) = FleetLock.decode(Array(text.utf8), file: "f.lock.json")
        return (lock, problems.map(\.description))
    }

    /// The lock in the older format without check marks.
    private static func unmarked(_ lock: FleetLock) -> String {
        String(decoding: lock.text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in
                guard let mark = line.firstRange(of: ",\"check\":\"") else { return String(line) }
                return String(line[..<mark.lowerBound] + line[mark.upperBound...].dropFirst(5))
            }.joined(separator: "\n")
    }

    @Test("a check mark is the CRC-16/CCITT-FALSE of a line")
    func mark() {
        #expect(LineMark.of("123456789") == 0x29B1)
    }

    @Test("a lock is unchanged after writing and reading, and gets check marks")
    func reads() throws {
        let (lock, problems) = Self.decode(Self.good)
        #expect(problems == [])
        let read = try #require(lock)
        #expect(Self.unmarked(read) == Self.good)
        let (again, faults) = FleetLock.decode(read.text, file: "f.lock.json")
        #expect(faults == [] && again?.text == read.text)
        #expect(read.text.count - Self.good.utf8.count == 5 * 15)
        #expect(lock?.retiredNames == ["c"])
        #expect(lock?.liveCount == 2)
    }

    @Test(
        "lines in other JSON formatting have the same meaning",
        arguments: [
            ("{\"name\":\"a\",\"in\"", "{ \"name\": \"a\", \"in\""), ("[\n{\"group\"", "[ {\"group\""),
            ("\"version\":1", "\"version\": 1"),
            ("C1:02:03:04:05:06", "c1:02:03:04:05:06"), (",\n{\"name\":\"b\"", ", {\"name\":\"b\""), ("\n]\n}", "]}"),
        ])
    func readsOtherForms(from: String, into: String) throws {
        let (lock, problems) = Self.decode(Self.good.replacing(from, with: into))
        #expect(problems == [])
        #expect(try Self.unmarked(#require(lock)) == Self.good)
    }

    @Test(
        "faults are reported with their line",
        arguments: [
            (
                "\"version\":1", "\"version\":2",
                "f.lock.json:2:11: version: the lock file is of version 2, this Pharos knows 1"
            ),
            (
                "\"minor\":2", "\"minor\":1",
                "10:1: \"a\" (line 9) and \"b\" both have the minor 1 in north, as after a merge"
            ),
            ("000000000002", "000000000001", "10:1: \"a\" (line 9) and \"b\" both have the instance 000000000001"),
            ("05:07", "05:06", "10:1: \"a\" (line 9) and \"b\" both have the address C1:02:03:04:05:06"),
            ("\"name\":\"b\"", "\"name\":\"a\"", "10:1: \"a\" appears twice, first in line 9"),
            ("\"major\":2", "\"major\":1", "6:1: the groups north (line 5) and south have the same major 1"),
            ("\"group\":\"south\"", "\"group\":\"north\"", "6:1: the group north appears twice"),
            ("C1:02:03:04:05:07", "01:02:03:04:05:07", "10:1: 01:02:03:04:05:07 is not a static random address"),
            ("\"minor\":2", "\"minor\":65536", "10:"),
            ("\"name\":\"b\"", "\"name\":\"b/c\"", "would lead into another directory"),
            ("\"minor\":2", "\"miner\":2", "did you mean \"minor\"?"), ("\"minor\":2", "\"minor\":\"2\"", "10:"),
            ("{\"name\":\"b\"", "<<<<<<< HEAD\n{\"name\":\"b\"", "10:1: a merge conflict begins here"),
            ("\"retired\":true", "\"retired\":1", "11:"), ("2026-03-01", "2026-13-01", "11:"),
            ("\"box\":\"s:1\"", "\"box\":\"$(id)\"", "10:"), ("\"fleet\":\"f\",\n", "", "the key \"fleet\" is missing"),
            ("\"fleet\":\"f\"", "\"fleet\":\"\"", "the fleet's name: the name is empty"),
            ("]\n}\n", "]\n", "the file ends inside the object"), ("\"minor\":1,", "\"minor\":1", "a comma is missing"),
        ])
    func findsFaults(from: String, into: String, problem: String) throws {
        let text = Self.good
        let place = try #require(text.firstRange(of: from))
        let (lock, problems) = Self.decode(text.replacingCharacters(in: place, with: into))
        #expect(lock == nil)
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }

    @Test("an empty or truncated lock is reported with the ways to restore it", arguments: [0, 1, 120])
    func advisesToRestore(length: Int) {
        let octets = Array(Self.good.utf8.prefix(length))
        #expect(FleetLock.isUnreadable(octets) && !FleetLock.isUnreadable(Array(Self.good.utf8)))
        let problems = Self.decode(String(decoding: octets, as: UTF8.self)).problems
        #expect(problems.contains { $0.contains("version control") && $0.contains("--adopt") }, "\(problems)")
    }

    @Test("a lock with a merge conflict reports only the conflict")
    func reportsOnlyTheMergeConflict() throws {
        let text = Self.good
        let first = try #require(text.firstRange(of: "\"minor\":2"))
        let changed = text.replacingCharacters(in: first, with: "\"minor\":65536")
        let last = try #require(changed.firstRange(of: "]\n}\n"))
        let problems = Self.decode(changed.replacingCharacters(in: last, with: "<<<<<<< HEAD\n]\n}\n")).problems
        #expect(problems.count == 1)
        #expect(problems.first?.contains("a merge conflict begins here") == true, "\(problems)")
    }

    @Test("random bytes do not crash the reader", arguments: 1...300)
    func survivesAnything(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var octets = Array(Self.good.utf8)
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let place = Int.random(in: octets.indices, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: octets[place] = UInt8.random(in: 0...255, using: &random)
            case 1: octets.remove(at: place)
            default: octets.insert(contentsOf: octets[place...].prefix(20), at: place)
            }
        }
        let (lock, problems) = FleetLock.decode(octets, file: "f")
        #expect((lock == nil) == problems.contains(where: \.isError))
        if let lock { #expect(FleetLock.decode(lock.text, file: "f").lock?.text == lock.text) }
    }

    @Test("a damaged byte never changes an identity and is always reported")
    func findsDamage() throws {
        let lock = try #require(Self.decode(Self.good).lock)
        let text = lock.text
        for place in text.indices {
            // Two of the eight bits of each octet; which two depends on its position.
            for bit in [place % 8, (place + 3) % 8] {
                var damaged = text
                damaged[place] ^= 1 << UInt8(bit)
                let (read, problems) = FleetLock.decode(damaged, file: "f.lock.json")
                guard let read else {
                    #expect(problems.contains { $0.isError })
                    continue
                }
                // The remaining changes are other spellings of the same values, and another name of the fleet. The lock
                // of another fleet is refused.
                #expect(read.text == text || read.fleet != lock.fleet, "octet \(place), bit \(bit)")
            }
        }
    }

    @Test("a wrong check mark is refused with its line, whatever the formatting")
    func reportsTheLineOfAWrongCheckMark() throws {
        let text = String(decoding: try #require(Self.decode(Self.good).lock).text, as: UTF8.self)
        for changed in [text, text.replacing("{\"name\":\"b\"", with: "{ \"name\": \"b\"")] {
            let (lock, problems) = Self.decode(changed.replacing("\"minor\":2", with: "\"minor\":3"))
            #expect(lock == nil)
            #expect(problems.count == 1 && problems[0].hasPrefix("f.lock.json:10:1: the check mark of this line"))
        }
        let unmarked = text.replacing("\"minor\":2", with: "\"minor\":3")
        let line = try #require(unmarked.split(separator: "\n").first { $0.contains("\"minor\":3") })
        let mark = try #require(line.firstRange(of: ",\"check\""))
        let meant = unmarked.replacing(line, with: line[..<mark.lowerBound] + "},")
        #expect(Self.decode(meant).problems == [])
        let (group, faults) = Self.decode(text.replacing("\"major\":2", with: "\"major\":3"))
        #expect(group == nil && faults.contains { $0.hasPrefix("f.lock.json:6:1: ") }, "\(faults)")
    }

    @Test("a large lock with a number for the whole fleet can be read")
    func readsLargeLocksWithAFleetNumber() throws {
        var lock = FleetLock(fleet: "f")
        lock.groups = [.init(path: "", major: 1)]
        for number in 0..<8_000 {
            lock.entries.append(.init(name: "beacon-\(number)", instance: UInt64(number)))
        }
        let text = lock.text
        let (read, problems) = FleetLock.decode(text, file: "f.lock.json")
        #expect(problems == [])
        #expect(read?.entries.count == 8_000 && read?.groups.count == 1)
        var damaged = text
        damaged[text.count / 2] = 0x21
        let (_, faults) = FleetLock.decode(damaged, file: "f.lock.json")
        #expect((faults.first?.line ?? 0) > 2_000)
    }

    @Test("a lock of another fleet is refused")
    func refusesOtherFleets() throws {
        let lock = try #require(Self.decode(Self.good).lock)
        let sample = try #require(MadeFleet.decode(FleetSample.museum.text).fleet)
        let (_, problems) = FleetAllocation.make(sample, lock: lock, now: MadeFleet.now)
        #expect(
            problems.contains { $0.description.contains("this lock belongs to the fleet \"f\", not to \"museum\"") })
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        self[..<range.lowerBound] + text + self[range.upperBound...]
    }
}
