import Configuration
import Sightings
import Testing

@testable import Zones

/// The `zones` of a listener file, and the JSON of an event.
@Suite struct ZoneSectionTests {
    static let beacons = [
        ZoneBeacon(name: "key-peter", tags: ["desk"], attachments: [.init(key: "desk-owner", text: "Peter")]),
        ZoneBeacon(name: "key-alex", tags: ["desk"]), ZoneBeacon(name: "lamp"),
    ]

    private static func read(_ zones: String, beacons: [ZoneBeacon]? = beacons) -> ZoneSection {
        ZoneSection(JSONDocument.parse(Array(zones.utf8)).root, beacons: beacons)
    }

    @Test("missing keys get their defaults")
    func defaults() throws {
        let section = Self.read(#"[{"name": "desk", "tag": "desk"}, {"name": "all", "beacons": ["lamp"]}]"#)
        #expect(section.problems.isEmpty)
        let zone = try #require(section.rules.first)
        #expect(zone.scope == .beacon && zone.bound == .distance(within: 1000, leaveBeyond: 1500))
        #expect(zone.reports == 2 && zone.window == nil && zone.leaveAfter == 5_000_000 && zone.silentAfter == nil)
        #expect(zone.dwellSeconds.isEmpty && zone.exclusive == nil && zone.proof == .none && zone.onEnter == nil)
        #expect(zone.exclusiveDecibels == 3)
        #expect(section.rules[1].scope == .zone)
    }

    @Test("every key is read into its property")
    func everything() throws {
        let section = Self.read(
            """
            [{"name": "desk-peter", "beacons": ["key-peter"], "per": "beacon", "aboveDbm": -65, "leaveBelowDbm": -72,
            "reports": 3, "windowS": 2.5, "leaveAfterS": 8, "silentAfterS": "auto", "dwellS": [60, 600],
            "exclusive": "desks", "exclusiveDb": 6, "proof": "eid", "onEnter": {"title": "Hello ${desk-owner}"}, "onExit": {"body": ""}}]
            """)
        #expect(section.problems.isEmpty)
        let zone = try #require(section.rules.first)
        #expect(zone.scope == .beacon && zone.bound == .level(above: -65, leaveBelow: -72))
        #expect(zone.reports == 3 && zone.window == 2_500_000 && zone.leaveAfter == 8_000_000)
        #expect(zone.dwellSeconds == [60, 600] && zone.exclusive == "desks" && zone.proof == .eid)
        #expect(zone.exclusiveDecibels == 6)
        #expect(zone.onEnter?.title == "Hello ${desk-owner}" && zone.onExit?.body == "")
    }

    @Test(
        "a fault is reported with its place and a correction",
        arguments: [
            (#"[]"#, "the list is empty"),
            (#"{}"#, "a list of zones is expected"),
            (#"[{"tag": "desk"}]"#, "the key \"name\" is missing"),
            (#"[{"name": "a"}]"#, "this zone has no beacons: give the \"tag\""),
            (#"[{"name": "a", "tag": "desk", "beacons": ["lamp"]}]"#, "not both"),
            (#"[{"name": "a", "tag": "desks"}]"#, "no beacon has the tag \"desks\"; did you mean \"desk\"?"),
            (#"[{"name": "a", "beacons": ["key-piter"]}]"#, "did you mean \"key-peter\"?"),
            (#"[{"name": "a", "beacons": ["lamp", "lamp"]}]"#, "is in the list twice"),
            (#"[{"name": "a", "tag": "desk"}, {"name": "a", "tag": "desk"}]"#, "has the same name"),
            (#"[{"name": "a", "tag": "desk", "withinM": 1, "aboveDbm": -60}]"#, "not both"),
            (#"[{"name": "a", "tag": "desk", "withinM": 0}]"#, "out of range 0.01...1000 m"),
            (#"[{"name": "a", "tag": "desk", "leaveBeyondM": 0.5}]"#, "leave as soon as it enters"),
            (#"[{"name": "a", "tag": "desk", "aboveDbm": -60, "leaveBelowDbm": -50}]"#, "leave as soon as it enters"),
            (#"[{"name": "a", "tag": "desk", "leaveBelowDbm": -50}]"#, "this key needs \"aboveDbm\""),
            (#"[{"name": "a", "tag": "desk", "aboveDbm": -60, "leaveBeyondM": 2}]"#, "this key needs \"withinM\""),
            (#"[{"name": "a", "tag": "desk", "reports": 0}]"#, "out of range 1...64"),
            (#"[{"name": "a", "tag": "desk", "windowS": "automatic"}]"#, "one of auto"),
            (#"[{"name": "a", "tag": "desk", "leaveAfterS": "auto"}]"#, "a number is expected"),
            (#"[{"name": "a", "tag": "desk", "dwellS": [60, 60]}]"#, "in ascending order"),
            (#"[{"name": "a", "tag": "desk", "dwellS": 60}]"#, "a list of seconds is expected"),
            (#"[{"name": "a", "tag": "desk", "proof": "yes"}]"#, "one of none, eid"),
            (#"[{"name": "a", "tag": "desk", "exclusiveDb": 6}]"#, "this key needs \"exclusive\""),
            (#"[{"name": "a", "tag": "desk", "exclusive": "x", "exclusiveDb": -1}]"#, "out of range 0...40 dB"),
            (#"[{"name": "a", "tag": "desk", "per": "room"}]"#, "one of beacon, zone"),
            (#"[{"name": "a", "tag": "desk", "widthinM": 1}]"#, "did you mean \"withinM\"?"),
            (#"[{"name": "a", "tag": "desk", "onEnter": "hi"}]"#, "an object is expected"),
        ])
    func faults(_ zones: String, _ sentence: String) {
        let problems = Self.read(zones).problems
        #expect(problems.filter(\.isError).count == 1, "\(problems)")
        #expect(problems.contains { $0.message.contains(sentence) }, "\(problems)")
    }

    @Test("a missing attachment of a beacon gets a warning")
    func missingAttachment() throws {
        let section = Self.read(#"[{"name": "a", "tag": "desk", "onEnter": {"title": "${desk-owner} ${post}"}}]"#)
        #expect(section.problems.count == 2 && section.problems.allSatisfy { !$0.isError })
        #expect(
            section.problems[0].message == #"key-alex has no attachment "desk-owner": an empty text is used instead"#)
        #expect(section.problems[1].message.hasPrefix(#"key-peter and 1 more have no attachment "post""#))
    }

    @Test("unknown names and tags are not reported if the known beacons could not be read")
    func withoutBeacons() {
        #expect(Self.read(#"[{"name": "a", "tag": "x"}]"#, beacons: nil).problems.isEmpty)
    }

    @Test("the JSON line of an event has the documented keys in their order")
    func line() throws {
        var rule = ZoneRule(name: "desk", members: .tag("desk"))
        rule.onEnter = ZoneRule.Content(title: "You are in ${owner}'s Desk", body: "${post}")
        var stage = ZoneStage([rule])
        _ = stage.becomeHearing(0)
        _ = stage.receive("a", 1, -55)
        var events = stage.receive("a", 2, -55)
        for second in 3..<60 { events += stage.receive("c", Double(second), -90) }
        let context = ZoneEvent.Context(
            receiver: "hall", boot: "8f01", clock: "synchronized", unixMicroseconds: { Int64($0.nanoseconds / 1000) })
        var row = JSONWriter()
        events[0].write(context, into: &row)
        #expect(
            String(decoding: row.octets, as: UTF8.self) == """
                {"event":"enter","id":"8f01-1","zone":"desk","beacon":"a","receiver":"hall",\
                "at":"1970-01-01T00:00:02.000000Z","since":"1970-01-01T00:00:02.000000Z","dwellS":0,"cause":null,\
                "provenBy":null,"rssiDbm":-55,"distanceM":0.63,"clock":"synchronized","proof":"none","cloned":false,\
                "content":{"title":"You are in Peter's Desk","body":""},"attachments":{"owner":"Peter"}}
                """)
        row.removeAll()
        events[1].write(context, into: &row)
        let text = String(decoding: row.octets, as: UTF8.self)
        #expect(
            text.contains(#""dwellS":32,"cause":"silence","provenBy":"report","rssiDbm":null,"distanceM":null"#),
            "\(text)")
    }

    @Test("times before 1970 are formatted correctly")
    func times() {
        #expect(ZoneEvent.time(0) == "1970-01-01T00:00:00.000000Z")
        #expect(ZoneEvent.time(-1) == "1969-12-31T23:59:59.999999Z")
        #expect(ZoneEvent.time(1_700_000_000_123_456) == "2023-11-14T22:13:20.123456Z")
    }
}
