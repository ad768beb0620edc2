import BeaconFrames
internal import BluetoothTypes
public import Configuration

extension BeaconProfile {
    /// The profile as JSON with all defaults filled in: a valid profile again, equal to this one when it is read.
    public var json: JSONValue {
        var members: [JSONValue.Member] = []
        func add(_ key: String, _ value: JSONValue?) {
            if let value { members.append(.init(key, value)) }
        }
        add("$schema", schema.map { .string($0) })
        add("version", .integer(Self.version))
        add("name", .string(name))
        add("adapter", adapter.map { .string($0) })
        add("address", address.json)
        add("radioPowerDbm", radioPower.map { .integer($0.dBm) })
        add("channels", channels.json)
        add("pdu", .string(pdu.rawValue))
        add("calibration", calibration?.json)
        add("eidEpoch", eidEpoch.map { .string($0.description) })
        add("advertisements", .array(advertisements.map(\.json)))
        add("scanResponse", scanResponse?.json)
        return .object(members)
    }
}

extension BeaconProfile.ScanResponse {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = []
        if let localName { members.append(.init("localName", .string(localName))) }
        if !structures.isEmpty { members.append(.init("structures", .array(structures.map(\.json)))) }
        return .object(members)
    }
}

extension ProfileAddress {
    fileprivate var json: JSONValue {
        switch self {
        case .public: "public"
        case .randomStatic: "random-static"
        case .explicit(let address): .string(address.description)
        }
    }
}

extension AdvertisingChannels {
    fileprivate var json: JSONValue { .array(numbers.map { .integer($0) }) }
}

extension PowerCalibration {
    fileprivate var json: JSONValue {
        var members = points.map { JSONValue.Member(String($0.radioPower.dBm), .integer($0.measuredPower.dBm)) }
        if let fallback { members.append(.init("default", .integer(fallback.dBm))) }
        if let receiver { members.append(.init("receiver", .string(receiver))) }
        return .object(members)
    }
}

extension ProfileAdvertisement {
    fileprivate var json: JSONValue {
        var values = contentValues
        values["type"] = .string(kind.rawValue)
        switch measuredPower {
        case .none, .calibrated: break
        case .typical: values["measuredPowerDbm"] = "typical"
        case .atOneMeter(let power):
            values[kind.isEddystone ? "measuredPower1mDbm" : "measuredPowerDbm"] = .integer(power.dBm)
        case .atZeroMeters(let power): values["measuredPowerDbm"] = .integer(power.dBm)
        }
        values["intervalMs"] = .number(JSONNumber(thousandths: requestedMicroseconds))
        values["radioPowerDbm"] = radioPower.map { .integer($0.dBm) }
        values["channels"] = channels?.json
        values["pdu"] = pdu.map { .string($0.rawValue) }
        values["address"] = address?.json
        return .object(kind.keys.compactMap { key in values[key].map { .init(key, $0) } })
    }

    /// The keys that belong to the type.
    private var contentValues: [String: JSONValue] {
        switch content {
        case .iBeacon(let uuid, let major, let minor, let flags):
            return [
                "uuid": .string(uuid.uuidText), "major": .integer(major), "minor": .integer(minor), "flags": flags.json,
            ]
        case .altBeacon(let companyID, let beaconID, let reserved, let flags):
            return [
                "companyId": .string(Hexadecimal.number(companyID, width: 4)),
                "id": .string(beaconID.description), "reserved": .integer(reserved), "flags": flags.json,
            ]
        case .eddystoneUID(let namespace, let instance):
            return ["namespace": .string(namespace.description), "instance": .string(instance.description)]
        case .eddystoneURL(let url): return ["url": .string(url.text)]
        case .eddystoneTLM(let source, let encryption):
            let values: [String: JSONValue] = [
                "temperature": source.temperature.json, "battery": source.battery.json,
                "encrypted": .boolean(encryption != nil),
            ]
            return values.merging(encryption?.values ?? [:]) { $1 }
        case .eddystoneEID(let key): return key.values
        case .raw(let data): return ["structures": .array(data.structures.map(\.json))]
        }
    }
}

extension ADFlags? {
    fileprivate var json: JSONValue { map { .string(Hexadecimal.number($0.rawValue, width: 2)) } ?? .null }
}

extension Advertisement.RotatingKey {
    fileprivate var values: [String: JSONValue] {
        var values: [String: JSONValue] = ["rotationExponent": .integer(rotationExponent)]
        values["identityKeyFile"] = identityKeyFile.map { .string($0) }
        return values
    }
}

extension Advertisement.TelemetrySource.Reading {
    /// A profile names sensors; fixed values come from elsewhere and have no form here.
    fileprivate var json: JSONValue {
        switch self {
        case .sensor(let name): .string(name)
        case .unknown, .fixed: .null
        }
    }
}

extension ADStructure {
    /// Field by field where that says everything, else as octets.
    fileprivate var json: JSONValue {
        if let kind = StructureKind(type), let fields = fields(of: kind) {
            let values = [("type", .string(kind.rawValue))] + fields
            return .object(values.map { JSONValue.Member($0.0, $0.1) })
        }
        return ["type": .string(Hexadecimal.number(type.rawValue, width: 2)), "data": .string(Hexadecimal.text(data))]
    }

    private func fields(of kind: StructureKind) -> [(String, JSONValue)]? {
        switch kind.fields {
        case .flags:
            guard data.count == 1 else { return nil }
            return [("flags", .string(Hexadecimal.number(data[0], width: 2)))]
        case .uuids(let width):
            guard !data.isEmpty, data.count % width == 0 else { return nil }
            let starts = stride(from: 0, to: data.count, by: width)
            return [("uuids", .array(starts.map { Self.uuid(data[$0..<$0 + width]) }))]
        case .name:
            guard !data.isEmpty, let name = String(validating: data, as: UTF8.self) else { return nil }
            return [("name", .string(name))]
        case .power:
            guard data.count == 1, data[0] != 0x80 else { return nil }
            return [("powerDbm", .integer(Int8(bitPattern: data[0])))]
        case .serviceData(let width):
            guard data.count >= width else { return nil }
            return [
                ("uuid", Self.uuid(data[..<width])), ("data", .string(Hexadecimal.text(data[width...]))),
            ]
        case .manufacturerData:
            guard data.count >= 2 else { return nil }
            let companyID = data.span.uint16LittleEndian(at: 0)
            return [
                ("companyId", .string(Hexadecimal.number(companyID, width: 4))),
                ("data", .string(Hexadecimal.text(data[2...]))),
            ]
        }
    }

    private static func uuid(_ littleEndian: ArraySlice<UInt8>) -> JSONValue {
        let octets = Array(littleEndian.reversed())
        return .string(BluetoothUUID(bigEndian: octets)?.description ?? Hexadecimal.text(octets))
    }
}
