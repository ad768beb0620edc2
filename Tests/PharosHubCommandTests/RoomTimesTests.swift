import Store
import Testing

@testable import pharos_hub

/// The time in each room and zone.
@Suite struct RoomTimesTests {
    /// Returns an event of a collector; with a receiver, an event of one of its zones.
    private func event(_ kind: String, _ place: String, at second: Int64, by receiver: String? = nil)
        -> EventStore.Event
    {
        let json =
            receiver.map {
                #"{"event":"\#(kind)","zone":"\#(place)","receiver":"\#($0)","attachments":{"room":"12"}}"#
            } ?? #"{"event":"\#(kind)","room":"\#(place)"}"#
        return EventStore.Event(
            id: "\(second)", time: second * 1_000_000, kind: kind, zone: place, beacon: "peter", json: json)
    }

    private func rows(_ times: RoomTimes, at second: Int64) -> [String] {
        times.totals(of: "peter", at: second * 1_000_000).map(\.csv)
    }

    @Test func zonesOfDifferentReceiversAndRoomsDoNotEndEachOther() {
        var times = RoomTimes()
        times.take(event("enter", "desk", at: 0, by: "east"), from: 0)
        #expect(times.take(event("enter", "east", at: 1), from: 2) == nil)
        times.take(event("enter", "desk", at: 8, by: "middle"), from: 1)
        #expect(times.take(event("room", "middle", at: 9), from: 2) == 8_000_000)
        times.take(event("enter", "door", at: 10, by: "east"), from: 0)
        #expect(times.take(event("exit", "desk", at: 25, by: "east"), from: 0) == 25_000_000)
        #expect(
            rows(times, at: 26) == [
                #""peter","desk",25,1,false,"east""#, #""peter","desk",18,1,true,"middle""#,
                #""peter","middle",17,1,true,"""#, #""peter","door",16,1,true,"east""#,
                #""peter","east",8,1,false,"""#,
            ])
    }

    /// Several beacons share the zone: its events are stored without a beacon.
    @Test func theStayOfASharedZoneIsNotThatOfABeacon() {
        func shared(_ kind: String, at second: Int64) -> EventStore.Event {
            var event = event(kind, "lab", at: second, by: "east")
            event.beacon = nil
            return event
        }
        var times = RoomTimes()
        times.take(shared("enter", at: 0), from: 0)
        times.take(shared("unknown", at: 3), from: 0)
        #expect(times.take(shared("exit", at: 10), from: 0) == 10_000_000)
        #expect(rows(times, at: 20) == [])
        #expect(times.totals(of: "lab", at: 20_000_000).map(\.csv) == [#""","lab",10,1,false,"east""#])
    }

    @Test func aStayWithoutTimeInTheTimeSpanHasNoRow() {
        let second: Int64 = 1_000_000
        var times = RoomTimes(pauses: [[nil: [.init(start: 337 * second, end: .max)]]])
        times.take(event("enter", "desk", at: 300, by: "east"), from: 0)
        times.begin(at: 400 * second)
        #expect(rows(times, at: 1000) == [])
        times.begin(at: 2000 * second)
        #expect(rows(times, at: 1000) == [])
    }

    @Test func timeInWhichTheListenerDidNotRunDoesNotCount() {
        let second: Int64 = 1_000_000
        var times = RoomTimes(pauses: [
            [nil: [.init(start: 25 * second, end: 325 * second), .init(start: 337 * second, end: .max)]]
        ])
        times.take(event("enter", "desk", at: 0, by: "east"), from: 0)
        #expect(rows(times, at: 330) == [#""peter","desk",30,1,true,"east""#])
        #expect(rows(times, at: 1000) == [#""peter","desk",37,1,false,"east""#])
        #expect(times.take(event("exit", "desk", at: 330, by: "east"), from: 0) == 30 * second)
    }

    /// A database of several sites: a stay at one site does not end at another one, and only the pauses of its own site
    /// are left out.
    @Test func sitesOfADatabaseAreIndependent() {
        let second: Int64 = 1_000_000
        func at(_ site: String, _ event: EventStore.Event) -> EventStore.Event {
            var event = event
            event.site = site
            return event
        }
        var times = RoomTimes(pauses: [["museum": [.init(start: 10 * second, end: 30 * second)]]])
        times.take(at("museum", event("enter", "hall", at: 0)), from: 0)
        #expect(times.take(at("depot", event("enter", "gate", at: 20)), from: 0) == nil)
        #expect(times.take(at("museum", event("exit", "hall", at: 40)), from: 0) == 20 * second)
        #expect(rows(times, at: 50) == [#""peter","gate",30,1,true,"""#, #""peter","hall",20,1,false,"""#])
        // Rooms of one name have one total.
        times.take(at("depot", event("room", "hall", at: 60)), from: 0)
        #expect(rows(times, at: 65) == [#""peter","gate",40,1,false,"""#, #""peter","hall",25,2,true,"""#])
    }
}
