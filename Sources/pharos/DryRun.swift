internal import Advertiser
internal import BluetoothTypes
internal import HCI
internal import LinuxHost
internal import Profiles
internal import VirtualController

/// `--dry-run`: the real sequence against a virtual controller under a hand-moved clock, printed and sent nowhere.
struct DryRun {
    let source: PayloadSource
    let model: VirtualControllerModel
    let json: Bool
    /// Whether the adapter that is meant would be ours alone, and so be reset.
    let isExclusive: Bool

    func run() throws {
        let host = HCIHost(channel: VirtualChannel(model, on: VirtualAir()))
        let json = json
        if !json {
            Terminal.write("# sent to a controller like \(model.name) (choose with --like); nothing leaves this box\n")
        }
        host.observer = { packet, isFromController, _ in
            guard !isFromController, let command = HCICommandDescription.describe(packet) else { return }
            Terminal.write(json ? Self.jsonLine(packet, command) : Self.lines(packet, command))
        }
        let capabilities = try ControllerCapabilities.read(from: host, isExclusive: isExclusive)
        let plan = try AdvertisingPlan(source.advertisement, on: capabilities, isExclusive: isExclusive)
        let session = AdvertisingSession(host: host, plan: plan, source: source, isExclusive: isExclusive)
        try session.start()
        if !json { Terminal.write("# on the air; and to take it off again:\n") }
        try session.stop()
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
