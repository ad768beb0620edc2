import Airtime
import BluetoothTypes
import Testing

@testable import Sites

@Suite struct CoverTableTests {
    /// Returns the smallest number of sets that cover the union of all sets, by trying all choices.
    private func least(_ sets: [[Int32]]) -> Int {
        let all = Set(sets.flatMap(\.self))
        return (0..<1 << sets.count).filter { choice in
            let covered = sets.indices.filter { choice >> $0 & 1 == 1 }.flatMap { sets[$0] }
            return Set(covered) == all
        }.map(\.nonzeroBitCount).min() ?? 0
    }

    @Test(arguments: 1...60)
    func choosesFewSetsAndGivesALowerBound(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let places = Int(6 + random.next() % 20)
        let sets = (0..<10).map { _ in (0..<Int32(places)).filter { _ in random.next() % 4 == 0 } }
        let (chosen, bound) = CoverTable(places: sets, placeCount: places).fewest()
        let least = least(sets)
        #expect(Set(chosen.flatMap { sets[$0] }) == Set(sets.flatMap(\.self)))
        #expect(chosen.count >= least && chosen.count <= least + 1, "chosen: \(chosen.count), but \(least) are enough")
        #expect(bound <= least && bound >= least - 1, "bound \(bound) of \(least)")
    }

    @Test("few sets are chosen if places need several candidates", arguments: 1...40)
    func choosesFewSetsIfPlacesNeedSeveral(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let places = Int(5 + random.next() % 12)
        let sets = (0..<10).map { _ in (0..<Int32(places)).filter { _ in random.next() % 3 == 0 } }
        let needs = (0..<places).map { _ in Int(1 + random.next() % 4) }
        let table = CoverTable(places: sets, placeCount: places, needs: needs)
        let (chosen, bound) = table.fewest()
        // The sets that cover each place, as bits.
        let covering = (0..<places).map { place in
            sets.indices.filter { sets[$0].contains(Int32(place)) }.reduce(0) { $0 | 1 << $1 }
        }
        let most = covering.map(\.nonzeroBitCount)
        func isEnough(_ choice: Int) -> Bool {
            (0..<places).allSatisfy { (choice & covering[$0]).nonzeroBitCount >= min(needs[$0], most[$0]) }
        }
        let least = (0..<1 << sets.count).filter(isEnough).map(\.nonzeroBitCount).min() ?? 0
        #expect(isEnough(chosen.reduce(0) { $0 | 1 << $1 }) && Set(chosen).count == chosen.count)
        #expect(chosen.count >= least && chosen.count <= least + 1, "chosen: \(chosen.count), but \(least) are enough")
        #expect(bound <= least && bound >= least - 1, "bound \(bound) of \(least)")
        #expect(table.satisfiable == (0..<places).filter { most[$0] > 0 && most[$0] >= needs[$0] })
    }

    @Test func exchangeImprovesTheGreedyChoice() {
        // The greedy algorithm takes the wide set in the middle first, and then needs both others.
        let sets: [[Int32]] = [[0, 1, 2], [3, 4, 5], [1, 2, 3, 4]]
        #expect(CoverTable(places: sets, placeCount: 6).fewest() == (chosen: [0, 1], least: 2))
    }

    @Test func choosesNothingIfNothingIsToBeCovered() {
        #expect(CoverTable(places: [[], []], placeCount: 3).fewest() == (chosen: [], least: 0))
    }
}

@Suite struct SitePlacementTests {
    private static func site(
        beacons: [(Double, Double)] = [], mounts: [(Double, Double)] = [], walls: [Wall] = [], seconds: Double = 5,
        sensitivity: Double = -68, wanted: Int = 1
    ) throws -> Site {
        let corners = [(0.0, 0.0), (40, 0), (40, 20), (0, 20)].map { FloorPosition(x: $0.0, y: $0.1) }
        return Site(
            name: "hall", outline: try FloorOutline(corners: corners), walls: walls,
            beacons: try beacons.enumerated().map {
                try SiteBeacon(
                    name: "b\($0.offset)", position: .init(x: $0.element.0, y: $0.element.1),
                    intervalMicroseconds: 500_000, airtimeMicroseconds: 376, radioPower: 0)
            }, fleet: nil, paths: [], mounts: mounts.map { .init(x: $0.0, y: $0.1) },
            radio: try SiteModelTests.radio(sensitivity: sensitivity), backgroundLoad: .none,
            scanners: ScannerMix(try #require(ScannerPreset(named: "android-low-latency"))),
            target: try .init(seconds: seconds, probability: 0.9, beacons: wanted), defaults: .init())
    }

    private static func search(_ site: Site, anew: Bool = false) throws -> SitePlacementSearch? {
        let (places, spacing) = SiteCoverage.grid(over: try #require(site.bounds), outline: site.outline, limit: 120)
        return try SitePlacementSearch(site, startsAnew: anew, places: places, spacing: spacing)
    }

    private static func placement(_ site: Site, anew: Bool = false) throws -> SitePlacement {
        try #require(try search(site, anew: anew)?.placement())
    }

    /// Returns the share of places on a finer grid than the search's that reach the target.
    private static func holds(_ site: Site, with positions: [FloorPosition]) throws -> Double {
        var beacons = site.beacons
        for (index, position) in positions.enumerated() {
            beacons.append(
                try SiteBeacon(
                    name: "n\(index)", position: position, intervalMicroseconds: 500_000, airtimeMicroseconds: 376,
                    radioPower: 0))
        }
        let model = SiteModel(beacons: beacons, walls: site.walls, radio: site.radio)
        var survey = SiteCoverage(model: model, scanners: site.scanners, target: site.target)
        let places = SiteCoverage.grid(over: try #require(site.bounds), outline: site.outline, limit: 300).positions
        let shares = try places.map { try survey.point(at: $0).detectedShare }
        return Double(shares.count { $0 >= site.target.probability }) / Double(shares.count)
    }

    @Test func placesFewBeaconsAndGivesALowerBound() throws {
        let site = try Self.site()
        let found = try Self.placement(site)
        #expect(found.shortfall == nil && found.holdingShare == 1 && found.weakestShare >= 0.9)
        #expect(found.least >= 1 && found.least <= found.positions.count)
        #expect(found.positions.count <= found.least + 1, "\(found.positions.count) of at least \(found.least)")
        #expect(try Self.holds(site, with: found.positions) > 0.97)
        // A second search gives the same result.
        #expect(try Self.placement(site) == found)
    }

    @Test func keepsExistingBeaconsByDefault() throws {
        let found = try Self.placement(Self.site())
        let places = found.positions.dropLast().map { ($0.x, $0.y) }
        let site = try Self.site(beacons: places)
        let more = try Self.placement(site)
        #expect(more.kept == places.count && more.positions.count == 1 && more.least == 1)
        #expect(more.shortfall == nil)
        let anew = try Self.placement(site, anew: true)
        #expect(anew.kept == 0 && anew.positions == found.positions)
        let whole = try Self.site(beacons: found.positions.map { ($0.x, $0.y) })
        #expect(try Self.placement(whole).positions.isEmpty)
    }

    @Test("a target of several beacons for each place gets enough beacons")
    func placesSeveralBeaconsForEachPlace() throws {
        let wanted = 3
        let site = try Self.site(wanted: wanted)
        let found = try Self.placement(site)
        let one = try Self.placement(Self.site()).positions.count
        #expect(found.shortfall == nil && found.holdingShare == 1 && found.weakestShare >= 0.9)
        #expect(found.least <= found.positions.count && found.positions.count <= found.least + 2)
        #expect(found.positions.count >= one + wanted - 1 && found.positions.count <= one * wanted)
        #expect(Set(found.positions).count == found.positions.count)
        #expect(try Self.holds(site, with: found.positions) > 0.95)
        // Existing beacons count, and only the missing ones are added.
        let kept = found.positions.dropLast().map { ($0.x, $0.y) }
        let more = try Self.placement(Self.site(beacons: kept, wanted: wanted))
        #expect(more.kept == kept.count && more.positions.count == 1 && more.least == 1 && more.shortfall == nil)
        let whole = try Self.site(beacons: found.positions.map { ($0.x, $0.y) }, wanted: wanted)
        #expect(try Self.placement(whole).positions.isEmpty)
    }

    @Test func reportsTooFewMountsForSeveralBeacons() throws {
        let found = try Self.placement(Self.site(mounts: [(10, 10), (30, 10)], sensitivity: -90, wanted: 3))
        #expect(found.shortfall == .mounts && found.holdingShare == 0 && found.positions.count == 2)
    }

    @Test func wallsRequireMoreBeacons() throws {
        let wall = Wall(from: .init(x: 20, y: 0), to: .init(x: 20, y: 20), attenuation: 30)
        let across = Wall(from: .init(x: 0, y: 10), to: .init(x: 40, y: 10), attenuation: 30)
        let open = try Self.placement(Self.site(sensitivity: -76))
        let walled = try Self.placement(Self.site(walls: [wall, across], sensitivity: -76))
        #expect(walled.positions.count > open.positions.count && walled.least >= 4)
        #expect(walled.shortfall == nil)
    }

    @Test func usesOnlyTheGivenMounts() throws {
        let mounts = [(1.0, 1.0), (10, 10), (20, 10), (30, 10), (39, 19), (10, 19), (30, 1)]
        let found = try Self.placement(Self.site(mounts: mounts))
        #expect(found.positions.allSatisfy { place in mounts.contains { $0 == (place.x, place.y) } })
        let few = try Self.placement(Self.site(mounts: [(1, 1)]))
        #expect(few.shortfall == .mounts && few.positions.count == 1 && few.holdingShare < 0.5)
    }

    @Test func reportsATargetThatNoBeaconCanReach() throws {
        let found = try Self.placement(Self.site(seconds: 0.05))
        #expect(found.shortfall == .beacon && found.positions.isEmpty)
    }

    @Test func reportsARangeThatIsTooShort() throws {
        let found = try Self.placement(Self.site(sensitivity: -20))
        #expect(found.shortfall == .range && found.positions.isEmpty && found.holdingShare == 0)
        let search = try #require(try Self.search(Self.site(sensitivity: -20)))
        #expect(found.places == search.places.count)
    }

    @Test func stopsIfTheProgressCallbackReturnsFalse() throws {
        let search = try #require(try Self.search(Self.site()))
        #expect(try search.placement { _, _, _ in false } == nil)
        var calls = 0
        _ = try search.placement { what, done, total in
            calls += 1
            if what == "places" { #expect(total == search.places.count && done < search.places.count) }
            return true
        }
        #expect(calls > search.places.count)
    }

    @Test func refusesAreasThatAreTooLarge() throws {
        var site = try Self.site()
        let corners = [(0.0, 0.0), (90_000, 0), (90_000, 90_000), (0, 90_000)].map { FloorPosition(x: $0.0, y: $0.1) }
        site.outline = try FloorOutline(corners: corners)
        #expect(try Self.search(site) == nil)
    }
}
