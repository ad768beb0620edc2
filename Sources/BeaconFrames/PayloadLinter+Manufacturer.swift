internal import BluetoothTypes

/// The rules of iBeacon and AltBeacon.
extension PayloadLinter {
    /// `data` holds the company identifier at least.
    mutating func checkManufacturerData(_ data: Range<Int>) {
        let content = data.dropFirst(2)
        guard let first = content.first else { return }
        let company = octets.span.uint16LittleEndian(at: data.lowerBound)
        let second = content.count > 1 ? octets[first + 1] : nil
        if company == IBeacon.companyID, octets[first] == 0x02 {
            checkIBeacon(data)
        } else if octets[first] == 0xBE, second == 0xAC {
            checkAltBeacon(data)
        }
    }

    private mutating func checkIBeacon(_ data: Range<Int>) {
        let length = data.lowerBound + 3
        if data.contains(length), octets[length] != 0x15 {
            report(
                .iBeaconLength, at: length,
                "an iBeacon says length 0x15, not \(Hexadecimal.number(octets[length], width: 2))")
        } else if data.count != IBeacon.manufacturerDataLength {
            report(
                .iBeaconLength, at: data.lowerBound - 2,
                "an iBeacon's structure has length 0x1A, not \(Hexadecimal.number(data.count + 1, width: 2))")
        } else {
            checkPowerAtOneMeter(at: data.upperBound - 1)
        }
    }

    private mutating func checkAltBeacon(_ data: Range<Int>) {
        if data.count != AltBeacon.manufacturerDataLength {
            report(
                .altBeaconLength, at: data.lowerBound - 2,
                "an AltBeacon's structure has length 0x1B, not \(Hexadecimal.number(data.count + 1, width: 2))")
        } else {
            checkPowerAtOneMeter(at: data.upperBound - 2)
        }
    }

    private mutating func checkPowerAtOneMeter(at offset: Int) {
        let power = MeasuredPowerAtOneMeter(octet: octets[offset])
        guard !power.isInRange else { return }
        report(.measuredPowerRange, at: offset, "a measured power of \(power) is out of range -127...0 dBm")
    }
}
