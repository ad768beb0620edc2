import Airtime
import Positioning
import TestSupport
import Testing

/// New surveys of a map's site.
@Suite struct MapUpdateTests {
    static func survey(_ text: String) -> Survey {
        var reader = SurveyReader()
        reader.take(text.utf8)
        reader.finish()
        return reader.survey
    }

    static func june(_ text: String) -> String {
        text.split(separator: "\n").drop { !$0.hasPrefix("{\"survey\":1,\"started\":\"2026-06") }
            .joined(separator: "\n") + "\n"
    }

    static func map() throws -> SignalMap { try SignalMap(survey(SurveyCheckTests.lines())) }

    static func update(_ text: String) throws -> MapUpdate { try MapUpdate(map(), with: survey(june(text))) }

    @Test func keepsPlacesThatAgreeWithTheNewSurvey() throws {
        let update = try Self.update(SurveyCheckTests.lines())
        #expect(update.changes.map(\.kind) == [MapUpdate.Kind](repeating: .placeKept, count: 6))
        #expect(update.changes.allSatisfy { ($0.difference ?? 9) < 1 })
        let fitted = try SignalMap(update.survey)
        #expect(fitted.places.map(\.name) == (0..<6).map { "P\($0)" })
        #expect(fitted.places.allSatisfy { $0.seconds == 72 && $0.headings == [0, 180] })
    }

    @Test func movedBeaconKeepsItsNewReadingsOnly() throws {
        let update = try Self.update(SurveyCheckTests.lines(shift: { $0 == 1 && $1 == "june" ? -25 : 0 }))
        let moved = update.changes.filter { $0.kind == .beaconMoved }
        #expect(moved.map(\.subject) == ["b1"] && moved.allSatisfy { ($0.difference ?? 0) > 12 })
        #expect(!update.changes.contains { $0.kind == .placeReplaced })
        let fitted = try SignalMap(update.survey)
        #expect(fitted.beacons.map(\.seconds) == [432, 144, 432, 432])
    }

    @Test func changedPlaceIsReplaced() throws {
        let update = try Self.update(
            SurveyCheckTests.lines { _, place, session in place == 0 && session == "june" ? 5 : place })
        #expect(update.changes.filter { $0.kind == .placeReplaced }.map(\.subject) == ["P0"])
        let fitted = try SignalMap(update.survey)
        #expect(Set(fitted.places.map { "\($0.name) \($0.seconds)" }).contains("P0 24"))
    }

    @Test func reportsMissingAndNewBeaconsAndNewPlaces() throws {
        let text = SurveyCheckTests.lines().replacing("\"b2\"", with: "\"new\"").replacing("\"P5\"", with: "\"Q\"")
            .replacing("[15,0]", with: "[15,9]")
        let update = try Self.update(text)
        let found = Dictionary(grouping: update.changes, by: \.kind).mapValues { $0.map(\.subject) }
        #expect(found[.beaconGone] == ["b2"] && found[.beaconNew] == ["new"] && found[.placeNew] == ["Q"])
        #expect(found[.placeKept]?.count == 5)
        #expect(try SignalMap(update.survey).places.count == 7)
    }

    @Test func surveyOfAnotherSiteIsRefused() throws {
        let text = "{\"survey\":1}\n{\"stay\":1,\"position\":[-1,2.5]}\n{\"t\":0,\"rssi\":{\"stranger\":[-60]}}\n"
        #expect(throws: PositioningError.otherSite) { try MapUpdate(Self.map(), with: Self.survey(text)) }
    }

    @Test func mergesPlacesWithoutANameByPosition() throws {
        let text = "{\"survey\":1}\n{\"stay\":1,\"position\":[-1,2.5]}\n{\"t\":0,\"rssi\":{\"a\":[-60]}}\n"
        let update = try MapUpdate(try SignalMap(Self.survey(text)), with: Self.survey(text))
        let fitted = try SignalMap(update.survey)
        #expect(fitted.places.map(\.seconds) == [2])
    }

    @Test(arguments: [("map", SignalMap.schema), ("survey", SurveyFormat.schema)])
    func schemaIsTheOneInTheRepository(name: String, text: String) {
        #expect(RepositoryFile("profiles/schema/\(name).schema.json").text == text)
    }
}
