import Airtime
import BluetoothTypes
import Testing

@testable import Positioning

/// A moving receiver has a heading, and a standing receiver has none.
@Suite struct RunHeadingTests {
    /// Returns the headings of a run. The errors of its positions last for some seconds, as with a window.
    private static func headings(
        seed: UInt64, seconds: Int = 120, error: Double = 1, _ way: (Double) -> FloorPosition
    ) -> [Heading?] {
        var random = SplitMix64(seed: seed)
        var heading = RunHeading(window: 5)
        var recent: [(x: Double, y: Double)] = []
        return (0..<seconds).map { second in
            recent.append((ModelTests.normal(&random), ModelTests.normal(&random)))
            recent = recent.suffix(5)
            // The mean of the last five independent errors. Successive seconds share most of them.
            let scale = error * 5.0.squareRoot() / Double(recent.count)
            let place = way(Double(second))
            var answer = LocatorAnswer(.fix, heard: 5, used: 5)
            answer.position = FloorPosition(
                x: place.x + scale * recent.reduce(0) { $0 + $1.x }, y: place.y + scale * recent.reduce(0) { $0 + $1.y }
            )
            return heading.add(answer, seconds: Double(second))
        }
    }

    @Test func standingReceiverHasNoHeading() {
        var claims = 0
        for seed in 1...20 as ClosedRange<UInt64> {
            claims += Self.headings(seed: seed) { _ in FloorPosition(x: 4, y: 6) }.count { $0 != nil }
        }
        #expect(claims < 24, "\(claims) of 2400 seconds")
    }

    @Test(arguments: [(1.0, 0.0, 90.0, "east"), (-0.6, 0.6, 315, "north-west"), (0, -1.2, 180, "south")])
    func walkingReceiverHasTheHeadingOfItsWalk(east: Double, north: Double, degrees: Double, compass: String) throws {
        var (known, right, all) = (0, 0, 0)
        for seed in 1...20 as ClosedRange<UInt64> {
            let headings = Self.headings(seed: seed, seconds: 60) { FloorPosition(x: east * $0, y: north * $0) }
            for heading in headings.dropFirst(12) {
                all += 1
                guard let heading else { continue }
                known += 1
                let off = abs(heading.degrees - degrees)
                right += min(off, 360 - off) <= heading.uncertainty ? 1 : 0
            }
        }
        #expect(Double(known) > 0.5 * Double(all), "\(known) of \(all)")
        #expect(Double(right) > 0.9 * Double(known), "\(right) of \(known)")
        let exact = try #require(
            Self.headings(seed: 1, seconds: 20, error: 0) { FloorPosition(x: east * $0, y: north * $0) }.last ?? nil)
        #expect(abs(exact.degrees - degrees) < 0.001 && exact.compass == compass)
        #expect(abs(exact.speed - (east * east + north * north).squareRoot()) < 0.001)
        #expect(exact.text.hasPrefix("heading \(compass) (\(Int(degrees)) ± "))
    }

    @Test func anotherFloorOrRunResetsTheHeading() {
        var heading = RunHeading(window: 5)
        func add(_ second: Int, floor: String?) -> Heading? {
            var answer = LocatorAnswer(.fix, heard: 5, used: 5)
            answer.position = FloorPosition(x: Double(second), y: 0)
            answer.floor = floor
            return heading.add(answer, seconds: Double(second))
        }
        let first = (0..<10).map { add($0, floor: "ground") }
        #expect(first.last != .some(nil))
        #expect(add(10, floor: "upper") == nil && heading.add(.none(.nothingHeard), seconds: 11) == nil)
        heading.begin()
        #expect(add(12, floor: "upper") == nil)
    }
}
