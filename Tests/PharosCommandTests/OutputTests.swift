import Glibc
import LinuxHost
import TestSupport
import Testing

/// Outputs that accept no data, or stop accepting data.
@Suite struct OutputTests {
    private static let url = "advertise url --url http://a.info/x --measured-power-dbm 0 --adapter virtual"

    static let commands = [
        "encode raw --structure 01:06", "decode 020106", "decode 02010605ff --lint", "decode 020106 --json",
        "profile schema", "adapters --json", "advertise url --url http://a.info/x --measured-power-dbm 0 --dry-run",
    ]

    @Test(arguments: commands)
    func outputThatCannotBeWrittenIsAnError(_ command: String) throws {
        let full = try Program.shell("\"$0\" \(command) >/dev/full")
        #expect(full.code == 71 && full.errors == "pharos: standard output: write: No space left on device\n")
        let closed = try Program.shell("\"$0\" \(command) >&-")
        #expect(closed.code == 71 && closed.errors == "pharos: standard output: write: Bad file descriptor\n")
    }

    @Test func profileCheckFailsIfItsOutputCannotBeWritten() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("bad.json", Array("{}".utf8))
        #expect(try Program.shell("\"$0\" profile check \"$1\" >/dev/full", path).code == 71)
    }

    @Test func aReaderThatStopsEarlyIsNoError() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("lines", Array(String(repeating: "020106\n", count: 20_000).utf8))
        let result = try Program.shell("{ \"$0\" decode \"$1\"; echo $? >&2; } | head -n 1", path)
        #expect(result.output == "Flags: 06\n" && result.errors == "0\n")
    }

    /// The adapter's socket must not get the descriptor of standard output.
    @Test func doesNotPrintToTheAdapterIfStreamsAreClosed() throws {
        let result = try Program.shell("\"$0\" \(Self.url) --duration-s 0.3 <&- >&-")
        #expect(result.code == 71 && result.errors == "pharos: standard output: write: Bad file descriptor\n")
        let quiet = try Program.shell("\"$0\" \(Self.url) --duration-s 0.3 --quiet <&- >&- 2>&-")
        #expect(quiet.code == 0)
    }

    @Test func captureIntoAPipeWithoutReaderIsRefused() throws {
        let folder = try TemporaryFolder()
        let path = folder.place("pipe")
        let made = unsafe mkfifo(path, 0o600)
        try #require(made == 0)
        let result = try Program.shell("timeout 20 \"$0\" \(Self.url) --duration-s 0.3 --capture \"$1\"", path)
        #expect(result.code == 71)
        #expect(result.errors == "pharos: --capture \(path): it cannot be written: no program reads this pipe\n")
    }

    @Test func aFailedCaptureDoesNotEndTheBeacon() throws {
        let folder = try TemporaryFolder()
        let path = folder.place("pipe")
        let made = unsafe mkfifo(path, 0o600)
        try #require(made == 0)
        // The programs of other tests must not inherit the descriptor, because they would keep the pipe open.
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reader >= 0)
        let arguments = Self.url.split(separator: " ").map(String.init)
        let program = try RunningProgram(arguments + ["--json", "--capture", path])
        #expect(program.prints("\"on-air\""))
        close(reader)
        program.signal(SIGTERM)
        let result = program.end()
        #expect(result.code == 0 && result.output.contains("\"off-air\""))
        #expect(result.errors == "pharos: --capture \(path): the capture ends here: Broken pipe\n")
    }

    /// A full pipe acts like a terminal that was stopped with Ctrl-S.
    @Test func aFullOutputDoesNotDelayTheEnd() throws {
        let beacon = "timeout -s KILL 5 \"$0\" \(Self.url) --duration-s 0.3"
        let result = try Program.shell("{ head -c 65536 /dev/zero; \(beacon); echo $? >&2; } | sleep 6")
        #expect(result.errors == "0\n")
    }

    /// A file name may contain control sequences, which a terminal would execute.
    @Test func namesAreEscapedInMessages() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("a\u{1B}[31m\u{9B}2J\u{202E}\nb.txt", text: "zz\n02010\n")
        let result = try Program.run("decode", path)
        #expect(result.code == 65)
        #expect(result.errors.contains("a\\u001b[31m\\u009b2J\\u202e\\u000ab.txt"), "\(result.errors)")
        #expect(
            result.errors.unicodeScalars.allSatisfy {
                $0 == "\n" || $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value)
            })
        #expect(result.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("pharos: ") })
    }
}
