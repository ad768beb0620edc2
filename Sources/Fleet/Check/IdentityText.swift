/// The identity of one advertisement as octets that are the same only where it is.
enum IdentityText {
    /// Everything that tells the advertisement from others.
    static func key(_ advertisement: ShapeAdvertisement, _ reader: BeaconReader, into key: inout [UInt8]) {
        key.removeAll(keepingCapacity: true)
        key.append(contentsOf: advertisement.type.utf8)
        for (name, value, _) in advertisement.identity {
            key.append(0)
            append(value, isUUID: name == "uuid", reader, to: &key)
        }
    }

    /// Appends a value in the manifest's form: hexadecimal digits in lower case, a UUID with its dashes.
    static func append(_ source: Shape.Source, isUUID: Bool, _ reader: BeaconReader, to text: inout [UInt8]) {
        switch source {
        case .constant(let octets): text.append(contentsOf: octets)
        case .slot(let slot):
            let isHexadecimal = reader.fleet.template.slots[slot].kind == .hexadecimal
            let form: ManifestSegment.Form = isHexadecimal ? isUUID ? .uuid : .hexadecimal : .plain
            ManifestSegment.append(slot, form, reader, to: &text)
        }
    }
}
