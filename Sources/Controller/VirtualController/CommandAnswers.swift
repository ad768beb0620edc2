import BluetoothTypes
import HCI

extension VirtualController {
    /// Returns the opcodes of the commands that a model supports. All other commands are answered with Unknown HCI
    /// Command.
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
        if model.features.contains(.advertisingCodingSelection) {
            commands += [LESetExtendedAdvertisingParametersV2.self, LESetHostFeature.self]
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

    /// Executes a command and returns the answer.
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
        case LESetExtendedAdvertisingParametersV2.opcode: run(octets, setExtendedParametersV2)
        case LESetHostFeature.opcode: run(octets, setHostFeature)
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

    /// Decodes the parameters of a command and executes it. The command is refused if the host has used the other
    /// command family since the last reset.
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
            // After an error, the return parameters are zeros. They are not left out, because some hosts ignore an
            // answer that is too short, and then do not see the status.
            let zeros = [UInt8](repeating: 0, count: 255)
            return CommandReply(
                status: error, returned: Command.ReturnParameters(octets: zeros.span, at: 0)?.octets ?? [])
        }
    }

    /// Executes a command that returns only its status.
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
    /// Throws `status` if the condition is false.
    static func require(_ condition: Bool, else status: HCIStatus) throws(HCIStatus) {
        guard condition else { throw status }
    }
}

/// Controller & Baseband commands, informational commands, and the LE commands that belong neither to the legacy nor to
/// the extended family (Core Specification 5.4, Vol 4 Part E 7.3, 7.4, 7.8).
extension VirtualController {
    private func executeBasic(_ opcode: HCIOpcode, _ octets: Span<UInt8>) -> CommandReply {
        switch opcode {
        case HCIReset.opcode: run(octets) { (_: HCIReset) throws(HCIStatus) in reset() }
        case SetEventMask.opcode:
            run(octets) { (command: SetEventMask) throws(HCIStatus) in
                state.eventMask = command.mask
            }
        case WriteLEHostSupported.opcode: run(octets, writeLEHostSupported)
        case ReadLocalVersionInformation.opcode: run(octets, readVersion)
        case ReadLocalSupportedCommands.opcode: run(octets, readSupportedCommands)
        case ReadBDADDR.opcode:
            run(octets) { (_: ReadBDADDR) throws(HCIStatus) in
                ReadBDADDR.ReturnParameters(address)
            }
        default: CommandReply(status: .unknownCommand)
        }
    }

    private func writeLEHostSupported(_ command: WriteLEHostSupported) throws(HCIStatus) {
        try HCIStatus.require(command.supported <= 1, else: .invalidParameters)
    }

    private func readVersion(
        _: ReadLocalVersionInformation
    ) throws(HCIStatus) -> ReadLocalVersionInformation.ReturnParameters {
        ReadLocalVersionInformation.ReturnParameters(
            version: model.version, revision: model.revision, lmpVersion: model.version, company: model.company,
            lmpSubversion: model.revision)
    }

    private func readSupportedCommands(
        _: ReadLocalSupportedCommands
    ) throws(HCIStatus) -> ReadLocalSupportedCommands.ReturnParameters {
        var octets = SupportedCommands(HCICommands.all.filter { supportedOpcodes.contains($0.opcode) }).octets
        for command in HostSetupCommand.allCases { octets[command.supportedOctet] |= 1 << command.supportedBit }
        return ReadLocalSupportedCommands.ReturnParameters(SupportedCommands(octets: octets))
    }

    private func setLEEventMask(_ command: LESetEventMask) throws(HCIStatus) { state.leEventMask = command.mask }

    private func readFeatures(
        _: LEReadLocalSupportedFeatures
    ) throws(HCIStatus) -> LEReadLocalSupportedFeatures.ReturnParameters {
        LEReadLocalSupportedFeatures.ReturnParameters(model.features)
    }

    /// Sets a feature of the host. Only the feature Advertising Coding Selection has an effect in this controller.
    private func setHostFeature(_ command: LESetHostFeature) throws(HCIStatus) {
        try HCIStatus.require(command.value <= 1, else: .invalidParameters)
        try HCIStatus.require(
            command.bit == LESetHostFeature.codingInReports.bit, else: .unsupportedFeatureOrParameterValue)
        state.reportsCoding = command.value == 1
    }

    private func setRandomAddress(_ command: LESetRandomAddress) throws(HCIStatus) {
        let isInUse = state.sets[.legacy]?.isEnabled == true || state.scanner != nil
        try HCIStatus.require(!isInUse, else: .commandDisallowed)
        state.randomAddress = command.address
    }

    private func readTransmitPower(_: LEReadTransmitPower) throws(HCIStatus) -> LEReadTransmitPower.ReturnParameters {
        LEReadTransmitPower.ReturnParameters(
            minimum: model.powerLevels.first ?? model.defaultPower,
            maximum: model.powerLevels.last ?? model.defaultPower)
    }

    /// Returns the address for an own address type. This controller has no resolving list, so a resolvable type gives
    /// the public or random address, as the specification requires in this case.
    ///
    /// - Throws: Invalid HCI Command Parameters if that address is not set or is all zero.
    func identity(_ type: OwnAddressType, random: DeviceAddress?) throws(HCIStatus) -> DeviceIdentity {
        let usesRandom = type.rawValue & 1 == 1
        guard let address = usesRandom ? random : self.address, address != DeviceAddress(FixedOctets()) else {
            throw HCIStatus.invalidParameters
        }
        return DeviceIdentity(usesRandom ? .random : .publicDevice, address)
    }
}

/// The vendor commands for the transmit power.
extension VirtualController {
    private func executeVendor(_ opcode: HCIOpcode, _ octets: Span<UInt8>) -> CommandReply {
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
        // The values mean: Nordic Semiconductor's nRF52, a standard controller, version 3.7.
        ZephyrReadVersionInformation.ReturnParameters(
            hardwarePlatform: 2, hardwareVariant: 2, firmwareVariant: 0, firmwareVersion: 3, firmwareRevision: 7,
            firmwareBuild: 0)
    }

    private func readZephyrCommands(
        _: ZephyrReadSupportedCommands
    ) throws(HCIStatus) -> ZephyrReadSupportedCommands.ReturnParameters {
        // Bits 0 and 1 are Read Version Information and Read Supported Commands. Bits 13 and 14 are the two power
        // commands.
        var bitmap = FixedOctets<64>()
        bitmap[0] = 0x03
        bitmap[1] = 0x60
        return ZephyrReadSupportedCommands.ReturnParameters(bitmap: bitmap)
    }

    private func writeZephyrPower(_ command: ZephyrWriteTxPowerLevel) throws(HCIStatus) -> ZephyrTxPowerLevel {
        let id = try advertisingSetID(command.handleType, command.handle)
        let level = model.level(for: command.power)
        state.sets[id]?.power = level
        return ZephyrTxPowerLevel(handleType: command.handleType, handle: command.handle, power: level)
    }

    private func readZephyrPower(_ command: ZephyrReadTxPowerLevel) throws(HCIStatus) -> ZephyrTxPowerLevel {
        let id = try advertisingSetID(command.handleType, command.handle)
        return ZephyrTxPowerLevel(
            handleType: command.handleType, handle: command.handle,
            power: state.sets[id]?.power ?? model.defaultPower)
    }

    /// Returns the advertising set for a handle. If the host does not use the extended commands, it is the legacy
    /// advertiser.
    private func advertisingSetID(_ type: ZephyrHandleType, _ handle: UInt16) throws(HCIStatus) -> AdvertisingSetID {
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
