import Airtime
import BluetoothTypes
import Configuration
import PositioningWorlds
import Testing

@testable import Positioning

/// The plain form of a map's file beside the tree of all its values.
@Suite struct PlainMapTests {
    /// Means of three packets have many digits, one second has no deviation, and one heard nothing.
    private static func text() throws -> String {
        var survey = SimulatedBuilding(seed: 4).survey.shortened(toPlaces: 2)
        let number = try #require(BeaconKey("rare").flatMap { survey.number(of: $0) })
        survey.append(seconds: 0.125, [(number, [-71, -72, -72])])
        survey.append(SignalVector(seconds: 3, readings: []))
        survey.append(
            SignalVector(seconds: 4, readings: [.init(beacon: 0, level: -0.0625), .init(beacon: 1, level: 20)]))
        var map = try SignalMap(survey)
        map.settings = LocatorSettings(.nn)
        return map.text
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
