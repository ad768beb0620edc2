import BluetoothTypes

/// Any command in words, for dry runs and captures.
public struct HCICommandDescription: Hashable, Sendable {
    public let opcode: HCIOpcode
    /// The specification's name; opcode, group and number for commands that are not known here.
    public let name: String
    public let fields: [HCIField]
    /// Whether the parameters fit the command's layout. Where they do not they are shown as octets.
    public let isWellFormed: Bool

    /// Describes a command and its parameter octets, whatever they are.
    public static func describe(_ opcode: HCIOpcode, parameters: Span<UInt8>) -> HCICommandDescription {
        guard let type = HCICommands.type(opcode) else {
            return HCICommandDescription(
                opcode: opcode, name: "\(opcode.isVendorSpecific ? "vendor command" : "command") \(opcode)",
                fields: raw(parameters), isWellFormed: true)
        }
        return describe(type, parameters)
    }

    /// Describes a command packet; `nil` when it is none, or its length octet is wrong.
    public static func describe(_ packet: HCIPacket) -> HCICommandDescription? {
        guard let header = packet.commandHeader else { return nil }
        return describe(header.opcode, parameters: Array(packet.octets[header.parameters]).span)
    }

    private static func describe<C: HCICommand>(_ type: C.Type, _ parameters: Span<UInt8>) -> HCICommandDescription {
        let command = C(parameters: parameters)
        return HCICommandDescription(
            opcode: C.opcode, name: C.name, fields: command?.fields ?? raw(parameters), isWellFormed: command != nil)
    }

    private static func raw(_ parameters: Span<UInt8>) -> [HCIField] {
        parameters.isEmpty ? [] : [HCIField("parameters", octets: parameters.array(0..<parameters.count))]
    }
}

/// Every command that is declared in this module.
public enum HCICommands {
    public static let all: [any HCICommand.Type] = [
        SetEventMask.self, HCIReset.self, WriteLEHostSupported.self,
        ReadLocalVersionInformation.self, ReadLocalSupportedCommands.self, ReadBDADDR.self,
        LESetEventMask.self, LEReadLocalSupportedFeatures.self, LESetRandomAddress.self,
        LESetAdvertisingParameters.self, LEReadAdvertisingPhysicalChannelTxPower.self, LESetAdvertisingData.self,
        LESetScanResponseData.self, LESetAdvertisingEnable.self,
        LESetScanParameters.self, LESetScanEnable.self,
        LESetAdvertisingSetRandomAddress.self, LESetExtendedAdvertisingParameters.self,
        LESetExtendedAdvertisingData.self, LESetExtendedScanResponseData.self, LESetExtendedAdvertisingEnable.self,
        LEReadMaximumAdvertisingDataLength.self, LEReadNumberOfSupportedAdvertisingSets.self,
        LERemoveAdvertisingSet.self, LEClearAdvertisingSets.self,
        LESetExtendedScanParameters.self, LESetExtendedScanEnable.self,
        LEReadTransmitPower.self,
        BroadcomSetTransmitPower.self,
        ZephyrReadVersionInformation.self, ZephyrReadSupportedCommands.self, ZephyrWriteTxPowerLevel.self,
        ZephyrReadTxPowerLevel.self,
    ]

    /// The declaration of a command; `nil` for those that are not declared here.
    public static func type(_ opcode: HCIOpcode) -> (any HCICommand.Type)? { byOpcode[opcode] }

    private static let byOpcode: [HCIOpcode: any HCICommand.Type] = {
        var result: [HCIOpcode: any HCICommand.Type] = [:]
        for type in all { result[type.opcode] = type }
        return result
    }()
}
