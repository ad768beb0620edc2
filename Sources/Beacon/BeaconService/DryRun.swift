internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import HCI
internal import VirtualController

/// `--dry-run`: prints the commands that a session sends to a virtual controller. Nothing leaves the process.
struct DryRun {
    let job: ServiceJob
    let options: ForegroundOptions
    let output: any AdvertisingOutput

    func run() throws {
        if case .managed(let index) = job.adapter {
            return try ManagedDryRun(job: job, options: options, output: output, index: index).run()
        }
        let host = HCIHost(channel: VirtualChannel(options.like, on: VirtualAir()))
        let record = Record()
        host.observer = { packet, isFromController, _ in
            if !isFromController { record.packets.append(packet) }
        }
        writeComment(
            "# sent to a controller like \(options.like.name) (choose with --like); nothing leaves this machine")
        let capabilities: ControllerCapabilities
        let session: BeaconSession
        do {
            defer { print(record) }
            capabilities = try ControllerCapabilities.read(from: host, isExclusive: isExclusive)
            let allocation = try SetAllocation(job.sources, on: capabilities, isExclusive: isExclusive)
            // The session has no sensors, so that the same options always print the same commands.
            session = BeaconSession(
                host: host, allocation: allocation, clock: EIDClock(saved: job.memory?.eidCounter, at: host.now),
                countersAtStart: job.counters)
            try session.start()
            for warning in session.transmitPowerWarnings {
                if options.json { output.warn("warning: \(warning)") } else { writeComment("# warning: \(warning)") }
            }
        }
        let rotation = RotationTable(session, job.frames.map(\.interval))
        if !rotation.isEmpty { try rotate(session, record, rotation) }
        try followPatterns(session, record)
        writeComment("# on the air now; these commands take it off again:")
        defer { print(record) }
        try session.stop()
    }

    /// `true` if the session would have the controller to itself, and would therefore reset it. A job without an
    /// adapter uses a raw hciN, which is shared.
    private var isExclusive: Bool {
        switch job.adapter {
        case nil, .raw: false
        default: true
        }
    }

    /// The packets that were sent and are not printed yet.
    private final class Record {
        var packets: [HCIPacket] = []
    }

    /// Advances the clock until each advertisement of a shared set has been sent, and prints the commands for each.
    private func rotate(_ session: BeaconSession, _ record: Record, _ rotation: RotationTable) throws {
        var unsentIndices = Set(session.advertisements.indices.filter { !session.advertisements[$0].isItsTurn })
        writeComment("# then, at these times, without turning advertising off:")
        // Each advertisement is sent at least once within its mean period, or because of rounding within two mean
        // periods.
        let longestPeriod = session.advertisements.reduce(0) { max($0, $1.meanPeriodMicroseconds) }
        let end = session.onAirSince?.advanced(byMicroseconds: 2 * longestPeriod) ?? .distantFuture
        while !unsentIndices.isEmpty, let wakeUp = session.nextWakeUp, wakeUp <= end {
            try session.run(until: wakeUp)
            let sentIndices = unsentIndices.filter { session.advertisements[$0].isItsTurn }
            unsentIndices.subtract(sentIndices)
            if sentIndices.isEmpty { record.packets = [] } else { print(record) }
        }
        record.packets = []
        output.write(options.json ? rotation.jsonLines : rotation.text)
    }

    /// Advances the clock by one cycle of the longest pattern, and prints the commands at the end of each part.
    private func followPatterns(_ session: BeaconSession, _ record: Record) throws {
        let patterns = session.advertisements.compactMap(\.pattern)
        let cycle = patterns.map(\.pattern.cycleMicroseconds).max() ?? 0
        let remainder = patterns.map { cycle - $0.elapsed % cycle }.max() ?? 0
        guard cycle > 0 else { return }
        guard cycle <= Self.longestCycle else {
            return writeComment(
                "# then, at the end of each part of a pattern, the interval changes: a cycle is longer than an hour")
        }
        writeComment("# then, at the end of each part of a pattern:")
        let end = session.now.advanced(byMicroseconds: remainder)
        while let wakeUp = session.nextWakeUp, wakeUp <= end {
            let partsBefore = session.advertisements.map(\.pattern?.part)
            try session.run(until: wakeUp)
            let hasChanged = session.advertisements.map(\.pattern?.part) != partsBefore
            if hasChanged { print(record) } else { record.packets = [] }
        }
        record.packets = []
    }

    /// The longest cycle that the dry run simulates: one hour, in microseconds. The simulation takes a step for each
    /// event.
    private static let longestCycle = 3_600_000_000

    /// Writes a line that begins with `#`, unless the output is JSON.
    private func writeComment(_ line: String) {
        if !options.json { output.write(line + "\n") }
    }

    private func print(_ record: Record) {
        for packet in record.packets {
            guard let command = HCICommandDescription.describe(packet) else { continue }
            output.write(options.json ? Self.jsonLine(packet, command) : Self.lines(packet, command))
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

/// `--dry-run` with `hciN:mgmt`: prints the messages that a session sends to the kernel.
private struct ManagedDryRun {
    let job: ServiceJob
    let options: ForegroundOptions
    let output: any AdvertisingOutput
    /// The N in the adapter's name hciN.
    let index: UInt16

    func run() throws {
        let model = options.like
        let layout = try InstanceLayout(job.frames.map(\.source.advertisement), on: capabilities(model))
        if options.json {
            for warning in layout.warnings { output.warn("warning: \(warning)") }
        } else {
            output.write(
                "# sent to the kernel for a controller like \(model.name) (choose with --like); "
                    + "nothing leaves this machine\n"
            )
            for warning in layout.warnings { output.write("# warning: \(warning)\n") }
        }
        for (instance, frame) in zip(layout.instances, job.frames) {
            if let parameters = try layout.parameters(instance) { show(parameters.packet(layout.index)) }
            let salt = frame.source.firstSalt ?? UInt16.random(in: 0...UInt16.max)
            let payload = try frame.source.payload(
                PayloadSource.Moment(
                    counters: job.counters, eidTime: job.memory?.eidCounter ?? IdentityKey.firstCounter, salt: salt,
                    packet: frame.source.firstPacket))
            show(try layout.data(instance, payload))
        }
        if !options.json { output.write("# on the air now; these commands take it off again:\n") }
        for instance in layout.instances { show(try layout.removal(instance).packet(layout.index)) }
    }

    /// The capabilities of a current kernel on a controller of this model, without advertisements of other programs.
    private func capabilities(_ model: VirtualControllerModel) -> ManagedCapabilities {
        var flags: ManagementAdvertisingFlags = [
            .connectable, .discoverable, .limitedDiscoverable, .addFlags, .useDuration, .useTimeout, .useIntervals,
            .useTxPower, .scanResponse,
        ]
        if model.hasExtendedAdvertising { flags.formUnion([.secondaryChannel1M, .canSetTxPower]) }
        let settings: ManagementSettings = model.isDualMode ? [.powered, .lowEnergy, .bredr] : [.powered, .lowEnergy]
        return ManagedCapabilities(
            index: index, address: DeviceAddress(FixedOctets()), version: model.version, current: settings,
            hasExtendedForm: true,
            features: ReadAdvertisingFeatures.ReturnParameters(
                supportedFlags: flags, maximumDataLength: 31, maximumScanResponseLength: 31,
                // If the controller has no sets, Linux sends up to five instances in turn.
                maximumInstances: model.hasExtendedAdvertising ? UInt8(clamping: model.advertisingSets) : 5,
                instances: []))
    }

    private func show(_ packet: ManagementPacket) {
        let (name, fields) = ManagementCommands.describe(packet)
        if options.json {
            output.write(
                JSONValue.record([
                    ("opcode", .string(Hexadecimal.number(packet.code, width: 4))), ("name", .string(name)),
                    ("hex", .hex(packet.octets)),
                    ("fields", .record(fields.map { ($0.name, .string($0.value)) })),
                ]).line + "\n")
            return
        }
        output.write(Hexadecimal.text(packet.octets, separator: " ") + "\n")
        output.write("    \(name) (\(Hexadecimal.number(packet.code, width: 4)))\n")
        for field in fields { output.write("    \(field.name): \(field.value)\n") }
    }
}
