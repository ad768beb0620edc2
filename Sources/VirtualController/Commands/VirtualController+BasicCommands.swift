import BluetoothTypes
import HCI

/// Controller & Baseband and informational commands, and the LE ones of no family (Core Specification 5.4, Vol 4
/// Part E 7.3, 7.4, 7.8).
extension VirtualController {
    func executeBasic(_ opcode: HCIOpcode, _ octets: Span<UInt8>) -> CommandReply {
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
        var octets = SupportedCommands(HCICommands.all.filter { supported.contains($0.opcode) }).octets
        for command in HostSetupCommand.allCases { octets[command.supportedOctet] |= 1 << command.supportedBit }
        return ReadLocalSupportedCommands.ReturnParameters(SupportedCommands(octets: octets))
    }

    func setLEEventMask(_ command: LESetEventMask) throws(HCIStatus) { state.leEventMask = command.mask }

    func readFeatures(
        _: LEReadLocalSupportedFeatures
    ) throws(HCIStatus) -> LEReadLocalSupportedFeatures.ReturnParameters {
        LEReadLocalSupportedFeatures.ReturnParameters(model.features)
    }

    func setRandomAddress(_ command: LESetRandomAddress) throws(HCIStatus) {
        let isInUse = state.sets[.legacy]?.isEnabled == true || state.scanner != nil
        try HCIStatus.require(!isInUse, else: .commandDisallowed)
        state.randomAddress = command.address
    }

    func readTransmitPower(_: LEReadTransmitPower) throws(HCIStatus) -> LEReadTransmitPower.ReturnParameters {
        LEReadTransmitPower.ReturnParameters(
            minimum: model.powerLevels.first ?? model.defaultPower,
            maximum: model.powerLevels.last ?? model.defaultPower)
    }

    /// With which address something is sent. There is no resolving list, so that resolvable means its alternative.
    ///
    /// - Throws: Invalid HCI Command Parameters where that address is not set: all zero is no address.
    func identity(_ type: OwnAddressType, random: DeviceAddress?) throws(HCIStatus) -> DeviceIdentity {
        let usesRandom = type.rawValue & 1 == 1
        guard let address = usesRandom ? random : self.address, address != DeviceAddress(FixedOctets()) else {
            throw HCIStatus.invalidParameters
        }
        return DeviceIdentity(usesRandom ? .random : .publicDevice, address)
    }
}
