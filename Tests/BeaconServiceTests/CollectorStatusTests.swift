import Configuration
import LinuxHost
import TestSupport
import Testing

@testable import BeaconService

@Suite struct CollectorStatusTests {
    private static func status(_ state: CollectorStatus.State = .collecting) -> CollectorStatus {
        var status = CollectorStatus(name: "museum", state: state)
        status.since = RFC3339Time(secondsSince1970: 60)
        status.receivers = 3
        status.silentReceivers = ["east"]
        status.present = 14
        status.broker = "connected"
        status.process = .current
        return status
    }

    private static func text(_ status: CollectorStatus) -> String {
        StatusText.lines(status, now: RFC3339Time(secondsSince1970: 90), color: false)
    }

    @Test func aFileIsReadAsItWasWritten() throws {
        let folder = try TemporaryFolder()
        try StatusFile.write(Self.status(), in: folder.path)
        let read = try StatusFile.all(in: folder.path)
        #expect(read.problems.isEmpty)
        #expect(read.status == MachineStatus(collectors: [Self.status()]))
    }

    @Test func collectorIsOffIfItsProcessIsGone() throws {
        let folder = try TemporaryFolder()
        var status = Self.status()
        status.process = ProcessIdentity(id: ProcessIdentity.current.id, startTicks: 1)
        try StatusFile.write(status, in: folder.path)
        let read = try StatusFile.all(in: folder.path).status
        #expect(read.collectors.map(\.state) == [.off])
        #expect(!read.isGood)
        #expect(
            Self.text(read.collectors[0])
                == "museum: off\n  see `systemctl status pharos-collect@museum` and its journal for the reason\n")
    }

    @Test(arguments: CollectorStatus.State.allCases)
    func onlyACollectorThatWorksOrStandsByIsGood(_ state: CollectorStatus.State) {
        let status = MachineStatus(collectors: [Self.status(state)])
        #expect(status.isGood == [.collecting, .standby].contains(state))
    }

    @Test func statusIsPrintedInLines() {
        #expect(
            Self.text(Self.status()) == """
                museum: collecting since 1970-01-01T00:01:00Z (30 s)
                  2 of 3 receivers work, 14 beacons present
                  silent receivers: east
                  broker: connected

                """)
        #expect(
            Self.text(Self.status(.standby))
                == "museum: standby since 1970-01-01T00:01:00Z (30 s); another collector is active for this site\n")
    }

    @Test func controlCharactersAreNotPrinted() {
        var status = Self.status(.deaf)
        status.name = "a\u{1B}[2J\nb"
        status.silentReceivers = ["\u{1B}c"]
        status.broker = "\u{1B}]0;x\u{7}"
        let text = Self.text(status)
        #expect(!text.contains("\u{1B}"))
        #expect(!text.contains("\u{7}"))
    }

    /// A damaged file may contain any number.
    @Test func negativeNumbersAreZero() throws {
        let text = #"{"name":"x","state":"deaf","receivers":-9223372036854775808,"silentReceivers":["a"],"present":-1}"#
        let status = try CollectorStatus(try #require(JSONDocument.parse(Array(text.utf8)).0))
        #expect(Self.text(status).contains("0 of 0 receivers work, 0 beacons present"))
    }

    @Test(arguments: ["{}", #"{"name":"x"}"#, #"{"name":"x","state":"listening"}"#, "[]"])
    func refusesAnInvalidCollectorStatus(_ text: String) throws {
        let root = try #require(JSONDocument.parse(Array(text.utf8)).0)
        #expect(throws: StatusFileError.self) { try CollectorStatus(root) }
    }
}
