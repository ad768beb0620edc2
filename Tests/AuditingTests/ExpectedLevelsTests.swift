import Testing

@testable import Auditing

@Suite("Levels that a plan expects")
struct ExpectedLevelsTests {
    private let levels = ExpectedLevels(["hall": [-60, -70, nil, -65]], shadowing: 3)

    @Test("a beacon that is 10 dB weaker at three receivers is weak")
    func weak() {
        let reason = levels.weakness(of: "hall", received: [-70, -80, -90, -75], advertisements: 10)
        #expect(reason == "10 dB weaker than the plan expects, at 3 receivers")
    }

    @Test("5 dB, one receiver with shadowing of 3 dB, and an unknown beacon are not judged")
    func notWeak() {
        #expect(levels.weakness(of: "hall", received: [-65, -75, nil, -70], advertisements: 10) == nil)
        #expect(levels.weakness(of: "hall", received: [-70, nil, nil, nil], advertisements: 10) == nil)
        #expect(levels.weakness(of: "door", received: [-90, -90, -90, -90], advertisements: 10) == nil)
    }

    @Test("the lowest of 64 levels in a row counts")
    func lowest() {
        var level = LowestLevel()
        #expect(level.value == nil)
        for _ in 0..<64 { level.add(-60) }
        for _ in 0..<64 { level.add(-70) }
        for _ in 0..<64 { level.add(-50) }
        #expect(level.value == -70)
    }
}
