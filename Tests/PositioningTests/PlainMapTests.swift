import Airtime
import BluetoothTypes
import Configuration
import PositioningWorlds
import Testing

@testable import Positioning

/// The plain form of a map's file beside the tree of all its values.
@Suite struct PlainMapTests {
    /// Means of three packets have many digits, one second has no deviation, and one heard nothing.
    private static func text() throws -> String { try map().text }

    private static func map(_ algorithm: PositioningAlgorithm = .nn) throws -> SignalMap {
        var survey = SimulatedBuilding(seed: 4).survey.shortened(toPlaces: 2)
        let number = try #require(BeaconKey("rare").flatMap { survey.number(of: $0) })
        survey.append(seconds: 0.125, [(number, [-71, -72, -72])])
        survey.append(SignalVector(seconds: 3, readings: []))
        survey.append(
            SignalVector(seconds: 4, readings: [.init(beacon: 0, level: -0.0625), .init(beacon: 1, level: 20)]))
        var map = try SignalMap(survey)
        map.settings = LocatorSettings(algorithm)
        return map
    }

    /// What the writer leaves to nobody else is written as a tree of all values is.
    @Test(arguments: [PositioningAlgorithm.nn, .gauss])
    func fileIsThatOfTheTree(algorithm: PositioningAlgorithm) throws {
        var map = try Self.map(algorithm)
        #expect(map.text == map.json.pretty)
        // A site's map has no vectors, and a place may have heard nothing.
        (map.prints, map.table) = ([], VectorTable())
        map.statistics[1] = []
        #expect(map.text == map.json.pretty && map.text.contains("\n  \"vectors\": [],\n"))
    }

    /// As many octets are in memory as one piece has, however many there are.
    @Test func fileIsWrittenInPieces() throws {
        var map = try SignalMap(SimulatedBuilding(seed: 4).survey)
        map.settings = LocatorSettings(.nn)
        for vector in 0..<4000 { map.prints.append(map.prints[vector % 1000]) }
        var (octets, sizes): ([UInt8], [Int]) = ([], [])
        map.write {
            octets += $0
            sizes.append($0.count)
        }
        #expect(String(decoding: octets, as: UTF8.self) == map.json.pretty)
        #expect(sizes.count > 5 && sizes.allSatisfy { $0 < 2 * SignalMap.pieceSize })
        #expect(sizes.dropLast().allSatisfy { $0 >= SignalMap.pieceSize })
        // Whoever cannot take more ends it.
        struct Full: Error {}
        var taken = 0
        #expect(throws: Full.self) {
            try map.write { _ throws(Full) in
                taken += 1
                if taken == 2 { throw Full() }
            }
        }
        #expect(taken == 2)
    }

    @Test func plainFormIsTheTree() throws {
        let octets = Array(try Self.text().utf8)
        let plain = try #require(PlainMap(octets))
        #expect(plain.rest.count < octets.count / 4)
        let (map, tree) = (try #require(SignalMap.decode(octets).map), try #require(SignalMap.decodeTree(octets).map))
        #expect(map.statistics == tree.statistics && map.statistics == plain.statistics)
        #expect(map.prints == tree.prints && map.prints == plain.prints && !map.prints.isEmpty)
        #expect(
            map.table.readingCount == tree.table.readingCount && map.table.readingCount == plain.table.readingCount)
        for index in map.prints.indices { #expect(map.table.vector(index) == tree.table.vector(index)) }
        #expect(map.text == tree.text && map.text == String(decoding: octets, as: UTF8.self))
    }

    /// What is not plain is read all the same, or refused, as if there were no plain form.
    @Test(arguments: [
        ("\"statistics\"", "\"Statistics\""), ("\"vectors\": [", "\"vectors\": null, \"more\": ["),
        ("\"evaluation\": null", "\"evaluation\": null,\n  \"vectors\": []"),
        ("\"field\": null", "\"field\": {\n  \"vectors\": [[0, 0, 0, 0, [0, -60]]]}"),
        ("\"surveys\": [", "\"surveys\": [{\n  \"statistics\": [[], []]}, "),
        ("\"heard\": ", "\"heard\": 1"), ("\"heard\": ", "\"heard\": 0"), ("\"beacon\": 0", "\"beacon\": 40"),
        ("\"mean\": -", "\"mean\": -2"), ("\"mean\": -", "\"mean\": - "), ("\"mean\": -", "\"mean\": -1e1, \"x\": -"),
        ("\"standardDeviation\": null", "\"standardDeviation\": 0.5e0"), ("\"maximum\": 20", "\"maximum\": 2.0E1"),
        ("-0.0625", "-0.06250000000000000001"), ("-0.0625", "-00.0625"), ("-0.0625", "-.0625"), ("-0.0625", "-0."),
        ("\"histogram\": [", "\"histogram\": [[5, 0], "), ("\"histogram\": [", "\"histogram\": [[\"a\"], "),
        ("\"vectors\": [", "\"vectors\": [[9, 0, 0, 0, []], "), ("\"vectors\": [", "\"vectors\": [[0, 0, 0, 0, [0]], "),
        ("\"vectors\": [", "\"vectors\": [[0, 0, -0, 1e3, [1, -60, 0, -70, 0, -72]], "),
        ("\"vectors\": [", "\"vectors\": [,"), ("\"statistics\": [", "\"statistics\": [[], "),
    ])
    func whatIsNotPlainTakesTheLongWay(from: String, to: String) throws {
        let text = try Self.text()
        let changed = text.replacing(from, with: to, maxReplacements: 1)
        #expect(changed != text)
        Self.compare(changed)
    }

    @Test func damageIsToldAsByTheTree() throws {
        let octets = Array(try Self.text().utf8)
        var random = SplitMix64(seed: 31)
        let others = Array("0123456789-.,:[]{}\"\nen ".utf8)
        for _ in 0..<80 {
            var damaged = octets
            for _ in 0...random.next(upTo: 1) {
                let place = random.next(upTo: UInt32(damaged.count - 1))
                switch random.next(upTo: 2) {
                case 0: damaged.remove(at: place)
                case 1: damaged.insert(others[random.next(upTo: UInt32(others.count - 1))], at: place)
                default: damaged[place] = others[random.next(upTo: UInt32(others.count - 1))]
                }
            }
            Self.compare(String(decoding: damaged, as: UTF8.self))
        }
    }

    private static func compare(_ text: String) {
        let octets = Array(text.utf8)
        let (found, expected) = (SignalMap.decode(octets), SignalMap.decodeTree(octets))
        #expect(found.problems == expected.problems)
        #expect(found.map?.text == expected.map?.text)
    }
}
