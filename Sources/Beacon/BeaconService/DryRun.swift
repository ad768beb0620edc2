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
    /// Whether the adapter that is meant would be ours alone, and so be reset.
    let isExclusive: Bool

    func run() throws {
        let host = HCIHost(channel: VirtualChannel(job.options.like, on: VirtualAir()))
        let record = Record()
        host.observer = { packet, isFromController, _ in
            if !isFromController { record.packets.append(packet) }
        }
        say("# sent to a controller like \(job.options.like.name) (choose with --like); nothing leaves this machine")
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
        job.output.write(job.options.json ? rotation.jsonLines : rotation.text)
    }

    private func say(_ line: String) {
        if !job.options.json { job.output.write(line + "\n") }
    }

    private func print(_ record: Record) {
        for packet in record.packets {
            guard let command = HCICommandDescription.describe(packet) else { continue }
            job.output.write(job.options.json ? Self.jsonLine(packet, command) : Self.lines(packet, command))
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

/// `--dry-run` with `hciN:mgmt`: the messages that would go to the kernel, for a controller like the one that is named.
struct ManagedDryRun {
    let job: AdvertisingJob
    /// N of hciN.
    let index: UInt16

    func run() throws {
        let model = job.options.like
        let plan = try ManagedPlan(job.frames.map(\.source.advertisement), on: capabilities(model))
        if job.options.json {
            for warning in plan.warnings { job.output.warn("warning: \(warning)") }
        } else {
            job.output.write(
                "# sent to the kernel for a controller like \(model.name) (choose with --like); "
                    + "nothing leaves this machine\n"
            )
            for warning in plan.warnings { job.output.write("# warning: \(warning)\n") }
        }
        for (instance, frame) in zip(plan.instances, job.frames) {
            if let parameters = try plan.parameters(instance) { show(parameters.packet(plan.index)) }
            let salt = frame.source.firstSalt ?? UInt16.random(in: 0...UInt16.max)
            let payload = try frame.source.payload(
                PayloadSource.Moment(
                    counters: job.counters, eidTime: job.eidTime, salt: salt, packet: frame.source.firstPacket))
            show(try plan.data(instance, payload))
        }
        if !job.options.json { job.output.write("# on the air; and to take it off again:\n") }
        for instance in plan.instances { show(try plan.removal(instance).packet(plan.index)) }
    }

    /// What today's kernel offers on such a controller, where nobody else advertises.
    private func capabilities(_ model: VirtualControllerModel) -> ManagedCapabilities {
        var flags: ManagementAdvertisingFlags = [
            .connectable, .discoverable, .limitedDiscoverable, .addFlags, .useDuration, .useTimeout, .useIntervals,
            .useTxPower, .scanResponse,
        ]
        if model.hasExtendedAdvertising { flags.formUnion([.secondaryChannel1M, .canSetTxPower]) }
        let settings: ManagementSettings = model.isDualMode ? [.powered, .lowEnergy, .bredr] : [.powered, .lowEnergy]
        return ManagedCapabilities(
            index: index, address: DeviceAddress(FixedOctets()), version: model.version, supported: settings,
            current: settings, hasExtendedForm: true,
            features: ReadAdvertisingFeatures.ReturnParameters(
                supportedFlags: flags, maximumDataLength: 31, maximumScanResponseLength: 31,
                // Linux turns five over in software where the controller has no sets.
                maximumInstances: model.hasExtendedAdvertising ? UInt8(clamping: model.advertisingSets) : 5,
                instances: []))
    }

    private func show(_ packet: ManagementPacket) {
        let (name, fields) = ManagementCommands.describe(packet)
        if job.options.json {
            job.output.write(
                JSONValue.record([
                    ("opcode", .string(Hexadecimal.number(packet.code, width: 4))), ("name", .string(name)),
                    ("hex", .hex(packet.octets)),
                    ("fields", .record(fields.map { ($0.name, .string($0.value)) })),
                ]).line + "\n")
            return
        }
        job.output.write(Hexadecimal.text(packet.octets, separator: " ") + "\n")
        job.output.write("    \(name) (\(Hexadecimal.number(packet.code, width: 4)))\n")
        for field in fields { job.output.write("    \(field.name): \(field.value)\n") }
    }
}
