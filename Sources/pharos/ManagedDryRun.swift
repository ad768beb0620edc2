internal import Advertiser
internal import BluetoothTypes
internal import Configuration
internal import HCI
internal import LinuxHost
internal import VirtualController

/// `--dry-run` with `hciN:mgmt`: the messages that would go to the kernel, for a controller like the one that is named.
struct ManagedDryRun {
    let job: ManagedJob

    func run() throws {
        let model = job.options.like
        let plan = try ManagedPlan(job.frames.map(\.source.advertisement), on: capabilities(model))
        if job.options.json {
            for warning in plan.warnings { Terminal.writeError("pharos: warning: \(warning)\n") }
        } else {
            Terminal.write(
                "# sent to the kernel for a controller like \(model.name) (choose with --like); nothing leaves this box\n"
            )
            for warning in plan.warnings { Terminal.write("# warning: \(warning)\n") }
        }
        for (instance, frame) in zip(plan.instances, job.frames) {
            if let parameters = try plan.parameters(instance) { show(parameters.packet(plan.index)) }
            let salt = frame.source.firstSalt ?? UInt16.random(in: 0...UInt16.max)
            let payload = try frame.source.payload(
                PayloadSource.Moment(counters: job.counters, eidTime: job.eidTime, salt: salt))
            show(try plan.data(instance, payload))
        }
        if !job.options.json { Terminal.write("# on the air; and to take it off again:\n") }
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
            index: job.index, address: DeviceAddress(FixedOctets()), version: model.version, supported: settings,
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
            Terminal.write(
                JSONValue.record([
                    ("opcode", .string(Hexadecimal.number(packet.code, width: 4))), ("name", .string(name)),
                    ("hex", .hex(packet.octets)),
                    ("fields", .record(fields.map { ($0.name, .string($0.value)) })),
                ]).line + "\n")
            return
        }
        Terminal.write(Hexadecimal.text(packet.octets, separator: " ") + "\n")
        Terminal.write("    \(name) (\(Hexadecimal.number(packet.code, width: 4)))\n")
        for field in fields { Terminal.write("    \(field.name): \(field.value)\n") }
    }
}
