import BluetoothTypes
import HCI

extension VirtualController {
    /// The commands that a model knows; all others are answered with Unknown HCI Command.
    static func supportedCommands(of model: VirtualControllerModel) -> Set<HCIOpcode> {
        var commands: [any HCICommand.Type] = [
            SetEventMask.self, HCIReset.self, ReadLocalVersionInformation.self, ReadLocalSupportedCommands.self,
            ReadBDADDR.self, LESetEventMask.self, LEReadLocalSupportedFeatures.self, LESetRandomAddress.self,
            LESetAdvertisingParameters.self, LEReadAdvertisingPhysicalChannelTxPower.self, LESetAdvertisingData.self,
            LESetScanResponseData.self, LESetAdvertisingEnable.self, LESetScanParameters.self, LESetScanEnable.self,
        ]
        if model.isDualMode { commands.append(WriteLEHostSupported.self) }
        if model.hasExtendedAdvertising {
            commands += [
                LESetAdvertisingSetRandomAddress.self, LESetExtendedAdvertisingParameters.self,
                LESetExtendedAdvertisingData.self, LESetExtendedScanResponseData.self,
                LESetExtendedAdvertisingEnable.self, LEReadMaximumAdvertisingDataLength.self,
                LEReadNumberOfSupportedAdvertisingSets.self, LERemoveAdvertisingSet.self,
                LEClearAdvertisingSets.self, LESetExtendedScanParameters.self, LESetExtendedScanEnable.self,
            ]
        }
        if model.knowsReadTransmitPower { commands.append(LEReadTransmitPower.self) }
        switch model.vendor {
        case .none: break
        case .broadcom: commands.append(BroadcomSetTransmitPower.self)
        case .zephyr:
            commands += [
                ZephyrReadVersionInformation.self, ZephyrReadSupportedCommands.self, ZephyrWriteTxPowerLevel.self,
                ZephyrReadTxPowerLevel.self,
            ]
        }
        return Set(commands.map { $0.opcode }).union(HostSetupCommand.allCases.map { HCIOpcode(rawValue: $0.rawValue) })
    }

    /// Does what a command asks, and says how that went.
    func execute(_ opcode: HCIOpcode, _ octets: Span<UInt8>) -> CommandReply {
        if let command = HostSetupCommand(rawValue: opcode.rawValue) { return setUp(command, octets) }
        return switch opcode.group {
        case 0x08: executeLE(opcode, octets)
        case 0x3F: executeVendor(opcode, octets)
        default: executeBasic(opcode, octets)
        }
    }

    private func executeLE(_ opcode: HCIOpcode, _ octets: Span<UInt8>) -> CommandReply {
        switch opcode {
        case LESetEventMask.opcode: run(octets, setLEEventMask)
        case LEReadLocalSupportedFeatures.opcode: run(octets, readFeatures)
        case LESetRandomAddress.opcode: run(octets, setRandomAddress)
        case LESetAdvertisingParameters.opcode: run(octets, setAdvertisingParameters)
        case LEReadAdvertisingPhysicalChannelTxPower.opcode: run(octets, readAdvertisingPower)
        case LESetAdvertisingData.opcode: run(octets, setAdvertisingData)
        case LESetScanResponseData.opcode: run(octets, setScanResponseData)
        case LESetAdvertisingEnable.opcode: run(octets, setAdvertisingEnable)
        case LESetScanParameters.opcode: run(octets, setScanParameters)
        case LESetScanEnable.opcode: run(octets, setScanEnable)
        default: executeExtended(opcode, octets)
        }
    }

    private func executeExtended(_ opcode: HCIOpcode, _ octets: Span<UInt8>) -> CommandReply {
        switch opcode {
        case LESetAdvertisingSetRandomAddress.opcode: run(octets, setSetRandomAddress)
        case LESetExtendedAdvertisingParameters.opcode: run(octets, setExtendedParameters)
        case LESetExtendedAdvertisingData.opcode: run(octets, setExtendedData)
        case LESetExtendedScanResponseData.opcode: run(octets, setExtendedScanResponse)
        case LESetExtendedAdvertisingEnable.opcode: run(octets, setExtendedEnable)
        case LEReadMaximumAdvertisingDataLength.opcode: run(octets, readMaximumDataLength)
        case LEReadNumberOfSupportedAdvertisingSets.opcode: run(octets, readSetCount)
        case LERemoveAdvertisingSet.opcode: run(octets, removeSet)
        case LEClearAdvertisingSets.opcode: run(octets, clearSets)
        case LESetExtendedScanParameters.opcode: run(octets, setExtendedScanParameters)
        case LESetExtendedScanEnable.opcode: run(octets, setExtendedScanEnable)
        case LEReadTransmitPower.opcode: run(octets, readTransmitPower)
        default: CommandReply(status: .unknownCommand)
        }
    }

    /// Reads a command's parameters, holds the two families apart, does the command.
    func run<Command: HCICommand>(
        _ octets: Span<UInt8>, _ body: (Command) throws(HCIStatus) -> Command.ReturnParameters
    ) -> CommandReply {
        do throws(HCIStatus) {
            guard let command = Command(parameters: octets) else { throw HCIStatus.invalidParameters }
            if let family = CommandFamily(Command.opcode) {
                guard state.family ?? family == family else { throw HCIStatus.commandDisallowed }
                state.family = family
            }
            return CommandReply(status: .success, returned: try body(command).octets)
        } catch {
            // Zeros in place of what would be returned: hosts exist that drop shorter answers, status and all.
            let zeros = [UInt8](repeating: 0, count: 255)
            return CommandReply(
                status: error, returned: Command.ReturnParameters(octets: zeros.span, at: 0)?.octets ?? [])
        }
    }

    /// For commands that return nothing but their status.
    func run<Command: HCICommand>(
        _ octets: Span<UInt8>, _ body: (Command) throws(HCIStatus) -> Void
    ) -> CommandReply where Command.ReturnParameters == HCINoReturnParameters {
        run(octets) { (command: Command) throws(HCIStatus) -> HCINoReturnParameters in
            try body(command)
            return HCINoReturnParameters()
        }
    }
}

extension HCIStatus {
    /// For rules that read as a list of conditions.
    static func require(_ holds: Bool, else status: HCIStatus) throws(HCIStatus) {
        guard holds else { throw status }
    }
}
