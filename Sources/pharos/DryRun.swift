internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import HCI
internal import LinuxHost
internal import VirtualController

/// `--dry-run`: the real sequence against a virtual controller under a hand-moved clock, printed and sent nowhere.
struct DryRun {
    let job: AdvertisingJob
    let model: VirtualControllerModel
    let json: Bool
    /// Whether the adapter that is meant would be ours alone, and so be reset.
    let isExclusive: Bool

    func run() throws {
        let host = HCIHost(channel: VirtualChannel(model, on: VirtualAir()))
        let record = Record()
        host.observer = { packet, isFromController, _ in
            if !isFromController { record.packets.append(packet) }
        }
        say("# sent to a controller like \(model.name) (choose with --like); nothing leaves this box")
        let capabilities: ControllerCapabilities
        let session: BeaconSession
        do {
            defer { print(record) }
            capabilities = try ControllerCapabilities.read(from: host, isExclusive: isExclusive)
            session = try job.makeSession(host, capabilities, isExclusive: isExclusive)
            try session.start()
        }
        let rotation = RotationTable(session, job.frames.map(\.interval))
        if !rotation.isEmpty { try rotate(session, record, rotation) }
        say("# on the air; and to take it off again:")
        defer { print(record) }
        try session.stop()
    }

    /// The packets that were sent and are not printed yet.
    private final class Record {
        var packets: [HCIPacket] = []
    }

    /// Lets time pass until everybody who shares a set has been on the air, and prints how each one gets there.
    private func rotate(_ session: BeaconSession, _ record: Record, _ rotation: RotationTable) throws {
        var waiting = Set(session.advertisements.indices.filter { !session.advertisements[$0].isItsTurn })
        say("# then, by time and in place, so that there is never a gap:")
        // Everybody's turn comes within one of its periods; rounding may make it one more.
        let longest = session.advertisements.reduce(0) { max($0, $1.meanPeriodMicroseconds) }
        let end = session.onAirSince?.advanced(byMicroseconds: 2 * longest) ?? .distantFuture
        while !waiting.isEmpty, let next = session.nextWakeUp, next <= end {
            try session.run(until: next)
            let arrived = waiting.filter { session.advertisements[$0].isItsTurn }
            waiting.subtract(arrived)
            if arrived.isEmpty { record.packets = [] } else { print(record) }
        }
        record.packets = []
        Terminal.write(json ? rotation.jsonLines : rotation.text)
    }

    private func say(_ line: String) {
        if !json { Terminal.write(line + "\n") }
    }

    private func print(_ record: Record) {
        for packet in record.packets {
            guard let command = HCICommandDescription.describe(packet) else { continue }
            Terminal.write(json ? Self.jsonLine(packet, command) : Self.lines(packet, command))
        }
        record.packets = []
    }

    private static func lines(_ packet: HCIPacket, _ command: HCICommandDescription) -> String {
        var text = Hexadecimal.text(packet.h4, separator: " ") + "\n"
        text += "    \(command.name) (\(command.opcode))\n"
        for field in command.fields { text += "    \(field.name): \(field.value)\n" }
        return text
    }

    private static func jsonLine(_ packet: HCIPacket, _ command: HCICommandDescription) -> String {
        return JSONValue.record([
            ("opcode", .string(command.opcode.description)), ("name", .string(command.name)),
            ("hex", .hex(packet.h4)),
            ("fields", .record(command.fields.map { ($0.name, .string($0.value)) })),
        ]).line + "\n"
    }
}
