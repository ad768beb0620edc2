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

    @Test("what is read is what was written")
    func reads() throws {
        let (lock, problems) = Self.decode(Self.good)
        #expect(problems == [])
        #expect(try String(decoding: #require(lock).text, as: UTF8.self) == Self.good)
        #expect(lock?.retiredNames == ["c"])
        #expect(lock?.liveCount == 2)
    }

    @Test(
        "lines in other forms mean the same",
        arguments: [
            ("{\"name\":\"a\",\"in\"", "{ \"name\": \"a\", \"in\""), ("[\n{\"group\"", "[ {\"group\""),
            ("\"version\":1", "\"version\": 1"),
            ("C1:02:03:04:05:06", "c1:02:03:04:05:06"), (",\n{\"name\":\"b\"", ", {\"name\":\"b\""), ("\n]\n}", "]}"),
        ])
    func readsOtherForms(from: String, into: String) throws {
        let (lock, problems) = Self.decode(Self.good.replacing(from, with: into))
        #expect(problems == [])
        #expect(try String(decoding: #require(lock).text, as: UTF8.self) == Self.good)
    }

    @Test(
        "what is wrong is said with its line",
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
            ("\"name\":\"b\"", "\"name\":\"a\"", "10:1: \"a\" is there twice, first in line 9"),
            ("\"major\":2", "\"major\":1", "6:1: the groups north (line 5) and south have the same major 1"),
            ("\"group\":\"south\"", "\"group\":\"north\"", "6:1: the group north is there twice"),
            ("C1:02:03:04:05:07", "01:02:03:04:05:07", "10:1: 01:02:03:04:05:07 is no static random address"),
            ("\"minor\":2", "\"minor\":65536", "10:"),
            ("\"name\":\"b\"", "\"name\":\"b/c\"", "would lead into another folder"),
            ("\"minor\":2", "\"miner\":2", "did you mean \"minor\"?"), ("\"minor\":2", "\"minor\":\"2\"", "10:"),
            ("{\"name\":\"b\"", "<<<<<<< HEAD\n{\"name\":\"b\"", "10:1: here begins a merge conflict"),
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

    @Test("no octets stop the reader", arguments: 1...300)
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

    @Test("a lock of another fleet is not taken")
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
