/// The identity of one advertisement as it stands in the manifest, written octet by octet.
enum IdentityText {
    /// Appends a value in the manifest's form: hexadecimal digits in lower case, a UUID with its dashes.
    static func append(_ source: Shape.Source, _ name: StaticString, _ reader: BeaconReader, to text: inout [UInt8]) {
        switch source {
        case .constant(let octets): text.append(contentsOf: octets)
        case .slot(let slot):
            let range = reader.range(slot)
            guard reader.fleet.template.slots[slot].kind == .hexadecimal else {
                text.append(contentsOf: reader.values[range])
                return
            }
            let isUUID = name.utf8CodeUnitCount == 4
            var digits = 0
            for octet in reader.values[range] where octet != UInt8(ascii: "-") {
                if isUUID, digits == 8 || digits == 12 || digits == 16 || digits == 20 { text.append(UInt8(ascii: "-")) }
                text.append(octet >= UInt8(ascii: "A") && octet <= UInt8(ascii: "F") ? octet | 0x20 : octet)
                digits += 1
            }
        }
    }

    /// Everything that tells the advertisement from others, as octets that are the same only where it is.
    static func key(_ advertisement: ShapeAdvertisement, _ reader: BeaconReader, into key: inout [UInt8]) {
        key.removeAll(keepingCapacity: true)
        key.append(contentsOf: advertisement.type.utf8)
        for (name, value, _) in advertisement.identity {
            key.append(0)
            append(value, name, reader, to: &key)
        }
    }
}
