import BluetoothTypes
import CommandSupport
import Configuration
import Glibc
import HCI
import Synchronization
import TestSupport
import Testing

@testable import LinuxHost
@testable import pharos_hub

/// Runs commands of pharos-hub in this process.
enum HubProgram {
    /// The output and the exit status of a command.
    struct Result: Equatable {
        var code: Int32
        var output: String
        var errors: String

        /// The output as JSON, line by line.
        var lines: [JSONNode] {
            output.split(separator: "\n").compactMap { JSONDocument.parse(Array($0.utf8)).root }
        }
    }

    /// Commands write to the standard streams of the process, so they must run one after the other.
    private static let turn = Mutex<Void>(())

    static func run(_ arguments: [String]) throws -> Result {
        let folder = try TemporaryFolder()
        return try turn.withLock { _ in
            let code = try redirected(Descriptor.standardOutput.number, to: folder.place("out")) {
                try redirected(Descriptor.standardError.number, to: folder.place("err")) {
                    CommandProgram.run(PharosHub.self, arguments, slowCommands: [], programErrors: PharosHub.classify)
                }
            }
            func text(_ name: String) throws -> String {
                String(decoding: try Files.read(folder.place(name)), as: UTF8.self)
            }
            return Result(code: code, output: try text("out"), errors: try text("err"))
        }
    }

    static func run(_ arguments: String...) throws -> Result { try run(arguments) }

    /// Runs `body` while a stream of ``Terminal`` is redirected to a file. The stream is a duplicate of a standard
    /// stream, so the output of the test runner is not redirected.
    private static func redirected(_ stream: Int32, to path: String, _ body: () throws -> Int32) throws -> Int32 {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        let former = dup(stream)
        try #require(file >= 0 && former >= 0)
        dup2(file, stream)
        defer {
            dup2(former, stream)
            close(former)
            close(file)
        }
        return try body()
    }
}

/// The files of a small site.
struct HubFolder {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.file(
            "museum.json",
            text: """
                {"version": 1, "name": "museum",
                 "receivers": [{"name": "west", "room": "hall"}, {"name": "east", "room": "shop"}],
                 "beacons": [{"name": "key-ana", "identity": "address:C0:01:02:03:04:05"}],
                 "history": {"file": "museum.db"}}
                """)
        try folder.file(
            "desk.json",
            text: """
                {"version": 1, "name": "desk",
                 "known": [{"name": "key-peter", "ibeacon": {"uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206",
                   "major": 1, "minor": 7}}],
                 "zones": [{"name": "near", "beacons": ["key-peter"], "withinM": 2}]}
                """)
    }

    func path(_ name: String) -> String { folder.place(name) }

    /// Returns the lines of a receiver that receives the beacon once per second.
    func lines(_ receiver: String, seconds: Int, level: Int) throws -> String {
        let text = (0..<seconds).map { second in
            let time = RFC3339Time(secondsSince1970: 1_790_000_000 + second)
            return """
                {"event":"beacons","at":"\(time)","listener":"\(receiver)","state":"listening","beacons":\
                [{"identity":"address:C0:01:02:03:04:05","beacon":"key-ana","heard":5,"rssiDbm":{"mean":\(level)}}]}

                """
        }
        try folder.file("\(receiver).jsonl", text: text.joined())
        return path("\(receiver).jsonl")
    }

    /// Writes a recording of the beacon of `desk.json`, which sends ten times per second.
    func recording(seconds: Int, level: Int8 = -55) throws -> String {
        let identity: [UInt8] = [
            0xFB, 0x0B, 0x57, 0xA2, 0x82, 0x28, 0x44, 0xCD, 0x91, 0x3A, 0x94, 0xA1, 0x22, 0xBA, 0x12, 0x06, 0, 1, 0, 7,
        ]
        let data: [UInt8] = [2, 1, 6, 0x1A, 0xFF, 0x4C, 0, 2, 0x15] + identity + [0xC5]
        var octets = BTSnoopWriter.header
        for event in 0..<seconds * 10 {
            let report = AdvertisingReport(
                type: .legacy(3), addressType: .random, address: DeviceAddress(FixedOctets(repeating: 0xC1)),
                rssi: level, data: AdvertisingData(octets: data))
            octets += BTSnoopWriter.record(
                HCIEvent.advertisingReports([report]).packet, isFromController: true,
                unixMicroseconds: 1_790_000_000_000_000 + Int64(event) * 100_000)
        }
        return try folder.file("walk.btsnoop", octets)
    }
}
