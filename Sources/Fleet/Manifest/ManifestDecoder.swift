internal import BluetoothTypes
internal import Configuration

/// Reads the values of a manifest.
struct ManifestDecoder {
    var decoder = ConfigurationDecoder()

    static let keys = ["version", "fleet", "beacons"]
    static let beaconKeys = [
        "name", "group", "host", "serial", "controller", "adapter", "address", "position", "profileHash", "eidEpoch",
        "advertisements",
    ]
    static let advertisementKeys = [
        "type", "uuid", "major", "minor", "companyId", "id", "namespace", "instance", "url", "intervalMs",
        "radioPowerDbm", "measuredPowerDbm", "identityKeyFile", "rotationExponent", "payloadOctets",
    ]
    static let types = [
        "ibeacon", "altbeacon", "eddystone-uid", "eddystone-url", "eddystone-tlm", "eddystone-eid", "raw",
    ]

    mutating func manifest(_ node: JSONNode) -> FleetManifest? {
        guard let root = decoder.object(node, keys: Self.keys) else { return nil }
        decoder.version(decoder.required("version", in: root, "\(FleetManifest.version)"))
        let fleet = decoder.name(decoder.required("fleet", in: root, "the fleet's name"))
        guard let list = decoder.required("beacons", in: root, "the beacons") else { return nil }
        guard case .array(let elements) = list.value else {
            decoder.wrongKind(list, expected: "a list of beacons")
            return nil
        }
        var names: Set<String> = []
        let beacons = elements.compactMap { beacon($0) }
        for (element, beacon) in zip(elements, beacons) where !names.insert(beacon.name).inserted {
            decoder.error("the beacon \"\(beacon.name)\" is there twice", at: element)
        }
        return fleet.map { FleetManifest(fleet: $0, beacons: beacons) }
    }

    mutating func beacon(_ node: JSONNode) -> FleetManifest.Beacon? {
        guard let object = decoder.object(node, keys: Self.beaconKeys) else { return nil }
        let name = decoder.name(decoder.required("name", in: object, "the beacon's name"))
        let group =
            decoder.text(object["group"]).map { $0.split(separator: "/", omittingEmptySubsequences: false) } ?? []
        for part in group where NameRule.fault(String(part)) != nil || group.count > Fleet.depthLimit {
            decoder.error("this is no path of a group", at: object["group"] ?? object)
            break
        }
        let hash = decoder.text(decoder.required("profileHash", in: object, "the profile's fingerprint"))
        let list = decoder.list(
            decoder.required("advertisements", in: object, "what the beacon sends"), of: "advertisements")
        let host = word(object["host"])
        let serial = word(object["serial"])
        let controller = decoder.text(object["controller"])
        let adapter = decoder.text(object["adapter"])
        let address = address(object["address"])
        let position = position(object["position"])
        let epoch = time(object["eidEpoch"])
        let advertisements = list?.compactMap { advertisement($0) } ?? []
        guard let name, let hash else { return nil }
        return FleetManifest.Beacon(
            name: name, group: group.map(String.init), host: host, serial: serial, controller: controller,
            adapter: adapter, address: address, position: position, profileHash: hash, eidEpoch: epoch,
            advertisements: advertisements)
    }

    mutating func word(_ node: JSONNode?) -> String? {
        guard let node, let text = decoder.text(node) else { return nil }
        if NameRule.isWord(Array(text.utf8), 0..<text.utf8.count) { return text }
        decoder.error("\(ProblemText.quoted(text)) is no host and no serial number", at: node)
        return nil
    }

    mutating func address(_ node: JSONNode?) -> DeviceAddress? {
        guard let node, let text = decoder.text(node) else { return nil }
        if let address = DeviceAddress(text) { return address }
        decoder.error("\(ProblemText.quoted(text)) is no address", at: node)
        return nil
    }

    mutating func time(_ node: JSONNode?) -> RFC3339Time? {
        guard let node, let text = decoder.text(node) else { return nil }
        if let time = RFC3339Time(text) { return time }
        decoder.error("\(ProblemText.quoted(text)) is no time (RFC 3339)", at: node)
        return nil
    }

    private mutating func position(_ node: JSONNode?) -> FleetManifest.Position? {
        guard let node else { return nil }
        if node["latitude"] != nil || node["longitude"] != nil {
            guard let object = decoder.object(node, keys: ["latitude", "longitude"]) else { return nil }
            let latitude = decoder.number(decoder.required("latitude", in: object, "degrees north"))
            let longitude = decoder.number(decoder.required("longitude", in: object, "degrees east"))
            guard let latitude, let longitude else { return nil }
            return .globe(latitude: latitude, longitude: longitude)
        }
        guard let object = decoder.object(node, keys: ["x", "y", "z"]) else { return nil }
        let x = decoder.number(decoder.required("x", in: object, "metres east"))
        let y = decoder.number(decoder.required("y", in: object, "metres north"))
        let z = decoder.number(object["z"])
        guard let x, let y else { return nil }
        return .plan(x: x, y: y, z: z)
    }

    mutating func advertisement(_ node: JSONNode) -> FleetManifest.Advertisement? {
        guard let object = decoder.object(node, keys: Self.advertisementKeys) else { return nil }
        let type = decoder.text(decoder.required("type", in: object, "which frame is sent"))
        if let type, !Self.types.contains(type) { decoder.notAWord(type, Self.types, at: object["type"] ?? object) }
        let identity = identity(type ?? "", object)
        let interval = decoder.number(decoder.required("intervalMs", in: object, "milliseconds"))?.thousandths
        let power = decoder.integer(object["radioPowerDbm"], in: RadioPower.range)
        let measured = decoder.integer(object["measuredPowerDbm"], in: -127...20)
        let keyFile = decoder.text(object["identityKeyFile"])
        let exponent = decoder.integer(object["rotationExponent"], in: 0...15)
        let octets = decoder.integer(object["payloadOctets"], in: PayloadLength.range)
        guard let type, let identity, let interval else { return nil }
        return FleetManifest.Advertisement(
            type: type, identity: identity, intervalMicroseconds: interval, radioPower: power, measuredPower: measured,
            identityKeyFile: keyFile, rotationExponent: exponent, payloadOctets: octets)
    }

    private mutating func identity(_ type: String, _ object: JSONNode) -> FleetManifest.Identity? {
        func required(_ key: String) -> JSONNode? { decoder.required(key, in: object, "part of what the beacon is") }
        switch type {
        case "ibeacon":
            let uuid = decoder.octets(required("uuid"), count: 16).flatMap { FixedOctets<16>($0) }
            let major = decoder.integer(required("major"), in: AllocationRules.numberRange)
            let minor = decoder.integer(required("minor"), in: AllocationRules.numberRange)
            guard let uuid, let major, let minor else { return nil }
            return .iBeacon(
                uuid: uuid, major: UInt16(truncatingIfNeeded: major), minor: UInt16(truncatingIfNeeded: minor))
        case "altbeacon":
            let company = decoder.code(required("companyId"), in: AllocationRules.numberRange, digits: 4)
            let id = decoder.octets(required("id"), count: 20).flatMap { FixedOctets<20>($0) }
            guard let company, let id else { return nil }
            return .altBeacon(companyID: UInt16(truncatingIfNeeded: company), id: id)
        case "eddystone-uid":
            let namespace = decoder.octets(required("namespace"), count: 10).flatMap { FixedOctets<10>($0) }
            let instance = decoder.octets(required("instance"), count: 6).flatMap { FixedOctets<6>($0) }
            guard let namespace, let instance else { return nil }
            return .eddystoneUID(namespace: namespace, instance: instance)
        case "eddystone-url": return decoder.text(required("url")).map { .eddystoneURL($0) }
        default: return FleetManifest.Identity.none
        }
    }
}
