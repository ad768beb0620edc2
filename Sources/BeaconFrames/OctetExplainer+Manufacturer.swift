internal import BluetoothTypes

/// iBeacon, AltBeacon, and manufacturer data of any other layout.
extension OctetExplainer {
    mutating func explainManufacturerData() {
        let isApple = peek() == 0x4C && peek(1) == 0x00
        number16("company id", bigEndian: false, AssignedNames.company)
        if isApple, peek() == 0x02, peek(1) == 0x15 {
            explainIBeacon()
        } else if peek() == 0xBE, peek(1) == 0xAC {
            explainAltBeacon()
        } else {
            restAsData("manufacturer data")
        }
    }

    private mutating func explainIBeacon() {
        note("Apple type", "iBeacon")
        note("Apple length", "21 octets follow")
        let uuid = peek(count: 16).flatMap { FixedOctets<16>($0) }
        row("UUID", count: 16, value: uuid?.uuidText ?? "")
        number16("major", bigEndian: true) { "\($0)" }
        number16("minor", bigEndian: true) { "\($0)" }
        explainPowerAtOneMeter("measured power")
    }

    private mutating func explainAltBeacon() {
        note("beacon code", "AltBeacon, most significant octet")
        note("beacon code", "AltBeacon, least significant octet")
        row("beacon id", count: 20, value: peek(count: 20).map { Hexadecimal.text($0) } ?? "")
        explainPowerAtOneMeter("reference RSSI")
        note("manufacturer reserved", "\(Hexadecimal.number(peek() ?? 0, width: 2)), free for the manufacturer")
    }

    private mutating func explainPowerAtOneMeter(_ field: String) {
        guard let octet = peek() else { return }
        let power = MeasuredPowerAtOneMeter(octet: octet)
        note(field, power.isInRange ? power.description : "\(power), out of range -127...0 dBm")
    }
}
