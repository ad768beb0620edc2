public import BluetoothTypes
internal import Configuration
public import HCI

/// How a payload is written for programs and for other tools.
public enum PayloadFormat: String, CaseIterable, Sendable {
    /// Lower-case digits without separators.
    case hex
    /// One object, as ``PayloadJSON`` has it.
    case json
    /// Commands of BlueZ's hcitool that put the payload on the air.
    case hcitool
    /// An array in C.
    case c
    /// An array in Swift.
    case swift

    /// The payload in this format, without a line feed at its end.
    ///
    /// - Parameter data: At most 31 octets: what a legacy advertisement holds.
    /// - Throws: Where commands of hcitool are to set more octets.
    public func text(_ data: AdvertisingData) throws(HCIParameterError) -> String {
        let octets = data.octets
        switch self {
        case .hex: return Hexadecimal.text(octets)
        case .json: return PayloadJSON.describe(data).line
        case .hcitool: return try Self.commands(octets).map { Self.line($0) }.joined(separator: "\n")
        case .c: return "static const uint8_t advertising_data[\(octets.count)] = {\n" + Self.rows(octets) + "};"
        case .swift: return "let advertisingData: [UInt8] = [\n" + Self.rows(octets) + "]"
        }
    }

    /// Everything that puts the payload on the air, data before enable.
    private static func commands(_ octets: [UInt8]) throws(HCIParameterError) -> [any HCICommand] {
        [
            try LESetAdvertisingParameters(
                intervalMinimum: .nonconnectableMinimumBefore5, intervalMaximum: .nonconnectableMinimumBefore5,
                type: .nonconnectable,
                ownAddressType: .publicDevice),
            try LESetAdvertisingData(octets), LESetAdvertisingEnable(true),
        ]
    }

    private static func line(_ command: some HCICommand) -> String {
        let opcode = type(of: command).opcode
        let number = Hexadecimal.text([UInt8(opcode.command >> 8), UInt8(truncatingIfNeeded: opcode.command)])
        return "hcitool -i hci0 cmd 0x\(Hexadecimal.text([opcode.group])) 0x\(number) "
            + Hexadecimal.text(command.parameters, separator: " ")
    }

    private static func rows(_ octets: [UInt8]) -> String {
        stride(from: 0, to: octets.count, by: 8).map { start in
            let row = octets[start..<min(start + 8, octets.count)]
            return "    " + row.map { "0x" + Hexadecimal.text($0) }.joined(separator: ", ") + ",\n"
        }.joined()
    }
}
