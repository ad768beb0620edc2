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
            return Self.hcitoolLines(octets)
        case .c:
            return "static const uint8_t advertising_data[\(octets.count)] = {\n" + Self.rows(octets) + "};"
        case .swift:
            return "let advertisingData: [UInt8] = [\n" + Self.rows(octets) + "]"
        }
    }

    /// Everything that puts the payload on the air, data before enable: parameters (100 ms, ADV_NONCONN_IND, public
    /// address, all channels), data, on. Core specification, Vol 4, Part E, 7.8.5, 7.8.7 and 7.8.9.
    private static func hcitoolLines(_ octets: [UInt8]) -> String {
        let interval = AdvertisingInterval.defaultForCommandLine.rawValue
        let units = [UInt8(truncatingIfNeeded: interval), UInt8(truncatingIfNeeded: interval >> 8)]
        let parameters = units + units + [0x03, 0x00, 0x00] + [UInt8](repeating: 0, count: 6) + [0x07, 0x00]
        let padded = [UInt8(octets.count)] + octets + [UInt8](repeating: 0, count: 31 - octets.count)
        let commands: [(command: String, parameters: [UInt8])] = [
            ("0x0006", parameters), ("0x0008", padded), ("0x000a", [0x01]),
        ]
        return commands.map {
            "hcitool -i hci0 cmd 0x08 \($0.command) " + Hexadecimal.text($0.parameters, separator: " ")
        }
        .joined(separator: "\n")
    }

    private static func rows(_ octets: [UInt8]) -> String {
        stride(from: 0, to: octets.count, by: 8).map { start in
            let row = octets[start..<min(start + 8, octets.count)]
            return "    " + row.map { "0x" + Hexadecimal.text($0) }.joined(separator: ", ") + ",\n"
        }.joined()
    }
}
