import BluetoothTypes
import HCITransports
import TestSupport
import Testing

@testable import BeaconService

/// The clock of ephemeral identifiers, the machine's clock, and whether the latter can be trusted.
@Suite struct ServiceClockTests {
    /// The instant at which the profile's clock was 65280, in seconds since 1970.
    private static let epoch = 1_767_225_600
    private static let day = 86_400
    private static let tenYears = 3650 * day

    private func service(saved: Int? = nil) throws -> TestService {
        let box = try TestService(TestService.ephemeral(epoch: "2026-01-01T00:00:00Z"))
        try box.writeKey()
        if let saved {
            try box.folder.file("lobby.state.json", text: #"{"version": 1, "eidCounter": \#(saved), "turns": []}"#)
        }
        return box
    }

    private func counter(_ box: TestService) throws -> Int {
        let text = box.text("lobby.state.json")
        let digits = try #require(text.split(separator: "eidCounter\":").last).prefix { $0.isNumber }
        return try #require(Int(digits))
    }

    /// The machine's time is the only source, and it is not synchronised.
    @Test func firstStartAcceptsTheMachinesClock() throws {
        let box = try service()
        box.wall = (Self.epoch + 100 * Self.day, false)
        try box.start()
        try box.stop()
        #expect((0...5).contains(try counter(box) - 65_280 - 100 * Self.day))
        #expect(box.status.contains("\"eidClockAheadS\":null"))
    }

    @Test func doubtsAWallClockJumpWithoutSynchronization() throws {
        let box = try service(saved: 65_280 + 100 * Self.day)
        box.wall = (Self.epoch + 100 * Self.day + Self.tenYears + 60, false)
        try box.start()
        #expect(
            box.says("the clock of ephemeral ids is 3650 days (3153600"))
        #expect(box.status.contains("\"eidClockAheadS\":-3153600"))
        #expect(box.text("lobby.prom").contains("pharos_eid_clock_ahead_seconds{profile=\"lobby\"} -3153600"))
        try box.stop()
        #expect((0...5).contains(try counter(box) - 65_280 - 100 * Self.day))
    }

    /// The saved counter is ten years ahead, because the machine's clock was ten years ahead once.
    @Test func aCounterFarAheadComesBackWhenTheClockIsRight() throws {
        let box = try service(saved: 65_280 + Self.tenYears)
        box.wall = (Self.epoch + 10 * Self.day, false)
        try box.start()
        #expect(
            box.says(
                "the clock of ephemeral ids is 3640 days (314496000 s) ahead of the wall clock, and it is not known"))
        #expect(box.status.contains("\"eidClockAheadS\":31449600"))
        let address = try #require(box.text("lobby.state.json").split(separator: "\"address\":\"").last).prefix(17)
        box.wall.isTrusted = true
        try box.lookAtTheClock()
        #expect(
            box.says(
                "days (314496000 s) ahead of the wall clock, which is synchronised: the clock of ephemeral ids is set "
                    + "back"))
        try box.runOnce()
        #expect(box.status.contains("\"eidClockAheadS\":null"))
        try box.stop()
        #expect((0...5).contains(try counter(box) - 65_280 - 10 * Self.day))
        #expect(!box.text("lobby.state.json").contains(address))
    }

    @Test func doctorReportsAClockThatIsFarAhead() throws {
        let box = try service(saved: 65_280 + Self.tenYears)
        box.wall = (Self.epoch + 10 * Self.day, false)
        try box.start()
        try box.folder.file("root/run/pharos/lobby.status.json", text: box.status)
        let found = DoctorReport(.virtual, root: box.folder.place("root")).findings.filter { $0.topic == "clock" }
        #expect(
            found.last?.message
                == "lobby: the clock of ephemeral ids is 3640 days (314496000 s) ahead of the wall clock, so receivers "
                + "cannot resolve its ids")
        #expect(found.last?.remedy?.contains("remove /var/lib/pharos/lobby.state.json") == true)
        #expect(found.last?.mark == .warn)
        try box.stop()
    }
}
