import BluetoothTypes
import HCI

/// What the makers added: ways to set the radio's power.
extension VirtualController {
    func executeVendor(_ opcode: HCIOpcode, _ octets: Span<UInt8>) -> CommandReply {
        switch opcode {
        case BroadcomSetTransmitPower.opcode: run(octets, setBroadcomPower)
        case ZephyrReadVersionInformation.opcode: run(octets, readZephyrVersion)
        case ZephyrReadSupportedCommands.opcode: run(octets, readZephyrCommands)
        case ZephyrWriteTxPowerLevel.opcode: run(octets, writeZephyrPower)
        case ZephyrReadTxPowerLevel.opcode: run(octets, readZephyrPower)
        default: CommandReply(status: .unknownCommand)
        }
    }

    private func setBroadcomPower(_ command: BroadcomSetTransmitPower) throws(HCIStatus) {
        try HCIStatus.require(
            command.handle == BroadcomSetTransmitPower.advertisingHandle, else: .unknownConnectionIdentifier)
        let lowest = model.powerLevels.first ?? model.defaultPower
        let highest = model.powerLevels.last ?? model.defaultPower
        try HCIStatus.require(
            lowest <= command.power && command.power <= highest, else: .parameterOutOfMandatoryRange)
        state.sets[.legacy]?.power = model.level(for: command.power)
    }

    private func readZephyrVersion(
        _: ZephyrReadVersionInformation
    ) throws(HCIStatus) -> ZephyrReadVersionInformation.ReturnParameters {
        // Nordic Semiconductor's nRF52, a standard controller, version 3.7.
        ZephyrReadVersionInformation.ReturnParameters(
            hardwarePlatform: 2, hardwareVariant: 2, firmwareVariant: 0, firmwareVersion: 3, firmwareRevision: 7,
            firmwareBuild: 0)
    }

    private func readZephyrCommands(
        _: ZephyrReadSupportedCommands
    ) throws(HCIStatus) -> ZephyrReadSupportedCommands.ReturnParameters {
        // Bits 0 and 1: the two that tell; 13 and 14: the two of the power.
        var bitmap = FixedOctets<64>()
        bitmap[0] = 0x03
        bitmap[1] = 0x60
        return ZephyrReadSupportedCommands.ReturnParameters(bitmap: bitmap)
    }

    private func writeZephyrPower(_ command: ZephyrWriteTxPowerLevel) throws(HCIStatus) -> ZephyrTxPowerLevel {
        let id = try powered(command.handleType, command.handle)
        let level = model.level(for: command.power)
        state.sets[id]?.power = level
        return ZephyrTxPowerLevel(handleType: command.handleType, handle: command.handle, power: level)
    }

    private func readZephyrPower(_ command: ZephyrReadTxPowerLevel) throws(HCIStatus) -> ZephyrTxPowerLevel {
        let id = try powered(command.handleType, command.handle)
        return ZephyrTxPowerLevel(
            handleType: command.handleType, handle: command.handle,
            power: state.sets[id]?.power ?? model.defaultPower)
    }

    /// The set that a handle names: the legacy advertiser, unless the host uses the extended family.
    private func powered(_ type: ZephyrHandleType, _ handle: UInt16) throws(HCIStatus) -> AdvertisingSetID {
        guard type == .advertising, let handle = UInt8(exactly: handle) else {
            throw HCIStatus.unknownConnectionIdentifier
        }
        let id = state.family == .extended ? AdvertisingSetID(handle: handle) : .legacy
        guard state.sets[id] != nil, state.family == .extended || handle == 0 else {
            throw HCIStatus.unknownConnectionIdentifier
        }
        return id
    }
}
