internal import BluetoothTypes
public import Configuration

extension FleetManifest {
    /// The text of `manifest.json`: one beacon a line.
    public var json: String {
        let lines = beacons.map(\.json.line)
        return Self.jsonStart(fleet) + lines.joined(separator: ",\n") + (lines.isEmpty ? "" : "\n") + Self.jsonEnd
    }

    static func jsonStart(_ fleet: String) -> String {
        "{\"version\":\(version),\"fleet\":\(JSONValue.string(fleet).line),\"beacons\":[\n"
    }

    static let jsonEnd = "]}\n"

    /// How `manifest.json` begins, by which it is told from other files.
    public static let firstOctets = Array("{\"version\":\(version),\"fleet\":\"".utf8)
}

extension FleetManifest.Beacon {
    /// The beacon's line.
    public var json: JSONValue {
        var members: [JSONValue.Member] = [.init("name", .string(name))]
        func add(_ key: String, _ text: String?) {
            if let text { members.append(.init(key, .string(text))) }
        }
        add("group", group.isEmpty ? nil : group.joined(separator: "/"))
        add("host", host)
        add("serial", serial)
        add("controller", controller)
        add("adapter", adapter)
        add("address", address?.description)
        switch position {
        case .plan(let x, let y, let z):
            let parts = [("x", x), ("y", y)] + (z.map { [("z", $0)] } ?? [])
            members.append(.init("position", .object(parts.map { .init($0.0, .number($0.1)) })))
        case .globe(let latitude, let longitude):
            members.append(.init("position", ["latitude": .number(latitude), "longitude": .number(longitude)]))
        case nil: break
        }
        add("profileHash", profileHash)
        add("eidEpoch", eidEpoch?.description)
        members.append(.init("advertisements", .array(advertisements.map(\.json))))
        return .object(members)
    }
}

extension FleetManifest.Advertisement {
    public var json: JSONValue {
        var members: [JSONValue.Member] = [.init("type", .string(type))]
        switch identity {
        case .iBeacon(let uuid, let major, let minor):
            members += [
                .init("uuid", .string(uuid.uuidText)), .init("major", .integer(major)), .init("minor", .integer(minor)),
            ]
        case .altBeacon(let companyID, let id):
            members += [
                .init("companyId", .string(Hexadecimal.number(companyID, width: 4))),
                .init("id", .string(id.description)),
            ]
        case .eddystoneUID(let namespace, let instance):
            members += [
                .init("namespace", .string(namespace.description)), .init("instance", .string(instance.description)),
            ]
        case .eddystoneURL(let url): members.append(.init("url", .string(url)))
        case .none: break
        }
        members.append(.init("intervalMs", .number(JSONNumber(thousandths: intervalMicroseconds))))
        if let radioPower { members.append(.init("radioPowerDbm", .integer(radioPower))) }
        if let measuredPower { members.append(.init("measuredPowerDbm", .integer(measuredPower))) }
        if let identityKeyFile { members.append(.init("identityKeyFile", .string(identityKeyFile))) }
        if let rotationExponent { members.append(.init("rotationExponent", .integer(rotationExponent))) }
        if let payloadOctets { members.append(.init("payloadOctets", .integer(payloadOctets))) }
        return .object(members)
    }
}
