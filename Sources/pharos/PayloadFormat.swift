internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration

/// How `encode` writes a payload.
enum PayloadFormat: String, ExpressibleByArgument, CaseIterable {
    case hex
    case json
    case hcitool
    case c
    case swift

    func text(_ data: AdvertisingData) -> String {
        let octets = data.octets
        switch self {
        case .hex:
            return Hexadecimal.text(octets)
        case .json:
            return PayloadJSON.describe(data).line
        case .hcitool:
            // LE Set Advertising Data: group 0x08, command 0x0008; length, then always 31 octets.
            let padded = [UInt8(octets.count)] + octets + [UInt8](repeating: 0, count: 31 - octets.count)
            return "hcitool -i hci0 cmd 0x08 0x0008 " + Hexadecimal.text(padded, separator: " ")
        case .c:
            return "static const uint8_t advertising_data[\(octets.count)] = {\n" + Self.rows(octets) + "};"
        case .swift:
            return "let advertisingData: [UInt8] = [\n" + Self.rows(octets) + "]"
        }
    }

    private static func rows(_ octets: [UInt8]) -> String {
        stride(from: 0, to: octets.count, by: 8).map { start in
            let row = octets[start..<min(start + 8, octets.count)]
            return "    " + row.map { "0x" + Hexadecimal.text($0) }.joined(separator: ", ") + ",\n"
        }.joined()
    }
}
