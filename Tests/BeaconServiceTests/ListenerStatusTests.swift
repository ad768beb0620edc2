import BeaconService
import Configuration
import LinuxHost
import TestSupport
import Testing

@Suite struct ListenerStatusTests {
    private static func status() -> ListenerStatus {
        var status = ListenerStatus(name: "hall", adapter: "hci0", state: .listening)
        status.since = RFC3339Time(secondsSince1970: 60)
        status.reportsPerThousandSeconds = 97_500
        status.known = 40
        status.heardNow = 12
        status.strangers = 31
        status.lost = 7
        status.spool = ListenerStatus.Spool(messages: 2, octets: 300, oldest: "1970-01-01T00:01:00.000000Z")
        status.broker = "down since 1970-01-01T00:01:00Z"
        status.process = .current
        return status
    }

    @Test func aFileIsReadAsItWasWritten() throws {
        let folder = try TemporaryFolder()
        try StatusFile.write(Self.status(), in: folder.path)
        let read = try StatusFile.all(in: folder.path)
        #expect(read.status == MachineStatus(listenerStatuses: [Self.status()]) && read.problems.isEmpty)
        #expect(read.status.isGood)
        #expect(StatusFile.listener("hall", in: folder.path) == Self.status())
        #expect(StatusFile.listener("wall", in: folder.path) == nil)
    }

    @Test func listenerIsOffIfItsProcessIsGone() throws {
        let folder = try TemporaryFolder()
        var status = Self.status()
        status.process = ProcessIdentity(id: ProcessIdentity.current.id, startTicks: 1)
        try StatusFile.write(status, in: folder.path)
        let read = try StatusFile.all(in: folder.path).status
        #expect(read.listenerStatuses.map(\.state) == [.off] && !read.isGood)
        let text = StatusText.lines(read.listenerStatuses[0], now: RFC3339Time(secondsSince1970: 90), color: false)
        #expect(text == "hall: off, hci0\n  see `systemctl status pharos-listen@hall` and its journal for the reason\n")
    }

    @Test func statusIsPrintedInLines() {
        let text = StatusText.lines(Self.status(), now: RFC3339Time(secondsSince1970: 90), color: false)
        #expect(
            text == """
                hall: listening since 1970-01-01T00:01:00Z (30 s), hci0, 97.5 reports/s
                  received now: 12 of 40 known beacons, 31 other devices
                  lost: 7 reports
                  broker: down since 1970-01-01T00:01:00Z
                  waiting: 2 messages, 300 bytes, the oldest from 1970-01-01T00:01:00.000000Z

                """)
    }

    @Test func controlCharactersAreNotPrinted() {
        var status = ListenerStatus(name: "a\u{1B}[2J\nb", adapter: "\u{1B}c", state: .deaf)
        status.broker = "\u{1B}]0;x\u{7}"
        let text = StatusText.lines(status, now: RFC3339Time(secondsSince1970: 0), color: false)
        #expect(!text.contains("\u{1B}") && !text.contains("\u{7}"))
    }

    @Test(arguments: ["{}", #"{"name":"x"}"#, #"{"name":"x","state":"on-air"}"#, "[]"])
    func refusesAnInvalidListenerStatus(_ text: String) throws {
        let root = try #require(JSONDocument.parse(Array(text.utf8)).0)
        #expect(throws: StatusFileError.self) { try ListenerStatus(root) }
    }
}
