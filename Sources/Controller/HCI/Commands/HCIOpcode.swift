import BluetoothTypes

/// The number of an HCI command. The upper six bits are the group (OGF), and the lower ten bits are the command in the
/// group (OCF).
///
/// Core Specification 5.4, Vol 4 Part E 5.4.1.
public struct HCIOpcode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt16

    /// An opcode with any number, including numbers that no command has.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    public var group: UInt8 { UInt8(rawValue >> 10) }
    public var command: UInt16 { rawValue & 0x3FF }

    /// `true` for group 0x3F, whose commands depend on the controller's manufacturer.
    public var isVendorSpecific: Bool { group == 0x3F }

    /// 0x0000, which is not a command. Controllers use it in events that only report how many commands they accept.
    public static let noOperation = HCIOpcode(rawValue: 0)

    /// The number in hexadecimal, such as `0x2006`.
    public var description: String { Hexadecimal.number(rawValue, width: 4) }
}

/// The header of a command packet: the opcode, and the offsets of the parameters.
///
/// Core Specification 5.4, Vol 4 Part E 5.4.1.
public struct HCICommandHeader: Hashable, Sendable {
    public let opcode: HCIOpcode
    /// Offsets of the parameters in the packet's bytes.
    public let parameters: Range<Int>

    /// Reads the bytes of a command packet (without the H4 type byte); `nil` if the length byte does not match the
    /// number of bytes.
    public init?(_ octets: Span<UInt8>) {
        guard octets.count >= 3, octets.count == 3 + Int(octets[2]) else { return nil }
        opcode = HCIOpcode(rawValue: octets.uint16LittleEndian(at: 0))
        parameters = 3..<octets.count
    }
}

extension HCIPacket {
    /// A command packet. Parameters after the first 255 bytes are omitted, because the length byte cannot count them.
    public static func command(_ opcode: HCIOpcode, _ parameters: [UInt8]) -> HCIPacket {
        let parameters = parameters.count > 255 ? Array(parameters.prefix(255)) : parameters
        var octets: [UInt8] = []
        octets.reserveCapacity(3 + parameters.count)
        octets.append(UInt8(truncatingIfNeeded: opcode.rawValue))
        octets.append(UInt8(truncatingIfNeeded: opcode.rawValue >> 8))
        octets.append(UInt8(parameters.count))
        octets += parameters
        return HCIPacket(.command, octets)
    }

    /// The header of a command packet; `nil` if this packet is not a command or its length is wrong.
    public var commandHeader: HCICommandHeader? {
        kind == .command ? HCICommandHeader(octets.span) : nil
    }
}

/// The description of a command in words, for dry runs and captures. The command may be unknown or invalid.
public struct HCICommandDescription: Hashable, Sendable {
    public let opcode: HCIOpcode
    /// The name in the specification. For a command that this module does not declare, the name contains the opcode.
    public let name: String
    public let fields: [HCIField]
    /// `false` if the parameters do not fit the command's layout. ``fields`` then contains only the raw bytes. For a
    /// command that this module does not declare, the value is `true`, and ``fields`` contains the raw bytes too.
    public let isWellFormed: Bool

    /// Describes a command and its parameter bytes, which may be invalid.
    public static func describe(_ opcode: HCIOpcode, parameters: Span<UInt8>) -> HCICommandDescription {
        guard let type = HCICommands.type(opcode) else {
            return HCICommandDescription(
                opcode: opcode, name: "\(opcode.isVendorSpecific ? "vendor command" : "command") \(opcode)",
                fields: raw(parameters), isWellFormed: true)
        }
        return describe(type, parameters)
    }

    /// Describes a command packet; `nil` for other packets, and if the length byte is wrong.
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
        LESetEventMask.self, LEReadLocalSupportedFeatures.self, LEReadSupportedStates.self,
        LESetRandomAddress.self,
        LESetAdvertisingParameters.self, LEReadAdvertisingPhysicalChannelTxPower.self, LESetAdvertisingData.self,
        LESetScanResponseData.self, LESetAdvertisingEnable.self,
        LESetScanParameters.self, LESetScanEnable.self,
        LESetAdvertisingSetRandomAddress.self, LESetExtendedAdvertisingParameters.self,
        LESetExtendedAdvertisingParametersV2.self, LESetHostFeature.self,
        LESetExtendedAdvertisingData.self, LESetExtendedScanResponseData.self, LESetExtendedAdvertisingEnable.self,
        LEReadMaximumAdvertisingDataLength.self, LEReadNumberOfSupportedAdvertisingSets.self,
        LERemoveAdvertisingSet.self, LEClearAdvertisingSets.self,
        LESetExtendedScanParameters.self, LESetExtendedScanEnable.self,
        LEReadTransmitPower.self,
        BroadcomSetTransmitPower.self,
        ZephyrReadVersionInformation.self, ZephyrReadSupportedCommands.self, ZephyrWriteTxPowerLevel.self,
        ZephyrReadTxPowerLevel.self,
    ]

    /// The type that declares the command with this opcode; `nil` if this module declares no such command.
    public static func type(_ opcode: HCIOpcode) -> (any HCICommand.Type)? { byOpcode[opcode] }

    private static let byOpcode: [HCIOpcode: any HCICommand.Type] = {
        var result: [HCIOpcode: any HCICommand.Type] = [:]
        for type in all { result[type.opcode] = type }
        return result
    }()
}
