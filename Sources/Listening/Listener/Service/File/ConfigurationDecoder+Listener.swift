internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import Sightings

/// The values that only listener files have.
extension ConfigurationDecoder {
    /// What tells a beacon from others.
    ///
    /// - Parameter key: One of `identityKeys`.
    mutating func identity(_ key: String, _ node: JSONNode) -> BeaconIdentity? {
        switch key {
        case "ibeacon":
            guard let object = object(node, keys: ["uuid", "major", "minor"]) else { return nil }
            let uuid = octets(required("uuid", in: object, "16 octets"), count: 16)
            let major = integer(required("major", in: object, "0...65535"), in: 0...65_535)
            let minor = integer(required("minor", in: object, "0...65535"), in: 0...65_535)
            guard let uuid = uuid.flatMap({ FixedOctets<16>($0) }), let major, let minor else { return nil }
            return .iBeacon(
                uuid: uuid, major: UInt16(truncatingIfNeeded: major), minor: UInt16(truncatingIfNeeded: minor))
        case "altbeacon":
            guard let object = object(node, keys: ["companyId", "id"]) else { return nil }
            let company = code(
                required("companyId", in: object, "0...65535"), in: 0...65_535, digits: 4)
            let id = octets(required("id", in: object, "20 octets"), count: 20)
            guard let company, let id = id.flatMap({ FixedOctets<20>($0) }) else { return nil }
            return .altBeacon(companyID: UInt16(truncatingIfNeeded: company), id: id)
        case "uid":
            guard let object = object(node, keys: ["namespace", "instance"]) else { return nil }
            let namespace = octets(required("namespace", in: object, "10 octets"), count: 10)
            let instance = octets(required("instance", in: object, "6 octets"), count: 6)
            guard let namespace = namespace.flatMap({ FixedOctets<10>($0) }),
                let instance = instance.flatMap({ FixedOctets<6>($0) })
            else { return nil }
            return .eddystoneUID(namespace: namespace, instance: instance)
        case "url":
            guard let text = self.text(node) else { return nil }
            do throws(URLEncodingError) {
                return .eddystoneURL(try CompressedURL(text))
            } catch {
                self.error(ProblemText.shortened(error.description, to: 400), at: node)
                return nil
            }
        default:
            guard let text = self.text(node) else { return nil }
            guard text.utf8.count == 17,
                text.utf8.enumerated().allSatisfy({ ($0 % 3 == 2) == ($1 == UInt8(ascii: ":")) }),
                let address = DeviceAddress(text)
            else {
                error("\(ProblemText.quoted(text)) is no address such as \"C0:01:02:03:04:05\"", at: node)
                return nil
            }
            return .address(address)
        }
    }
}
