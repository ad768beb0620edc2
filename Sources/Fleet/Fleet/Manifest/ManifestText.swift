internal import BluetoothTypes
public import Configuration
internal import Profiles

extension FleetManifest {
    /// The text of `manifest.json`: one line for each beacon.
    public var json: String {
        var text = Self.jsonStart(fleet)
        for (index, beacon) in beacons.enumerated() { text += (index > 0 ? ",\n" : "") + beacon.json.line }
        return text + Self.jsonEnd(isEmpty: beacons.isEmpty)
    }

    /// The text before the first beacon of `manifest.json`.
    public static func jsonStart(_ fleet: String) -> String {
        "{\"version\":\(version),\"fleet\":\(JSONValue.string(fleet).line),\"beacons\":[\n"
    }

    /// The text after the last beacon of `manifest.json`.
    public static func jsonEnd(isEmpty: Bool) -> String { (isEmpty ? "" : "\n") + "]}\n" }

    /// The first bytes of every `manifest.json` that `fleet generate` writes. They distinguish it from other files.
    public static let firstOctets = Array("{\"version\":\(version),\"fleet\":\"".utf8)

    /// The fleet's name in a `manifest.json` that begins with ``firstOctets``, without decoding the rest.
    public static func fleetName(in octets: [UInt8]) -> String? {
        let nameOctets = octets.dropFirst(firstOctets.count).prefix { $0 != UInt8(ascii: "\"") }
        let name = String(decoding: nameOctets, as: UTF8.self)
        return NameRule.fault(name) == nil ? name : nil
    }

    /// The lines of the beacons in a `manifest.json` that `fleet generate` wrote, including damaged lines.
    public static func beaconLines(in octets: [UInt8]) -> [ArraySlice<UInt8>] {
        octets.split(separator: 0x0A).dropFirst().filter { !$0.elementsEqual("]}".utf8) }
    }

    /// The name at the beginning of a beacon's line, without decoding the rest.
    public static func beaconName(inLine line: ArraySlice<UInt8>) -> String? {
        let start = "{\"name\":\"".utf8
        guard line.starts(with: start) else { return nil }
        let nameOctets = line.dropFirst(start.count).prefix { $0 != UInt8(ascii: "\"") }
        let name = String(decoding: nameOctets, as: UTF8.self)
        return NameRule.fault(name) == nil ? name : nil
    }

    /// The columns of `manifest.csv`, in order.
    public static let columns = ManifestColumn.allCases.map { "\($0)" }

    /// The header of `manifest.csv`.
    public static let csvStart = columns.joined(separator: ",") + "\r\n"

    /// The text of `manifest.csv`: one line for each advertisement.
    public var csv: String { Self.csvStart + beacons.map(\.csv).joined() }

    /// The text of a cell of a CSV file. If a spreadsheet would compute the text as a formula, an apostrophe is put in
    /// front of it.
    static func cell(_ text: String) -> String {
        guard let first = text.utf8.first else { return "" }
        var text = text
        switch first {
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "@"), 0x09, 0x0D, UInt8(ascii: "'"):
            text = "'" + text
        case UInt8(ascii: "-") where JSONNumber(text) == nil: text = "'" + text
        default: break
        }
        guard text.utf8.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 < 0x20 }) else {
            return text
        }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

/// The columns of `manifest.csv`, in order. The values have the same keys in `manifest.json`.
enum ManifestColumn: Int, CaseIterable {
    case name, site, floor, room, host, serial, controller, adapter, address
    case x, y, z, latitude, longitude
    case profileHash, eidEpoch
    case advertisement, type, uuid, major, minor, companyId, id, namespace, instance
    case url, intervalMs, radioPowerDbm, measuredPowerDbm, identityKeyFile, rotationExponent, payloadOctets

    var key: String { "\(self)" }

    var isNumber: Bool {
        switch self {
        case .x, .y, .z, .latitude, .longitude, .major, .minor, .intervalMs, .radioPowerDbm, .measuredPowerDbm,
            .rotationExponent, .payloadOctets:
            true
        default: false
        }
    }
}

extension FleetManifest.Beacon {
    /// The beacon's object in `manifest.json`. Unknown values are left out.
    public var json: JSONValue {
        var members: [JSONValue.Member] = [.init("name", .string(name))]
        func add(_ key: String, _ text: String?) {
            if let text { members.append(.init(key, .string(text))) }
        }
        add("title", title)
        add("group", group.isEmpty ? nil : group.joined(separator: "/"))
        add("host", host)
        add("serial", serial)
        add("controller", controller)
        add("adapter", adapter)
        add("address", address?.description)
        if let position {
            let columns = position.columnValues
            members.append(.init("position", .object(columns.map { .init($0.column.key, .number($0.value)) })))
        }
        add("profileHash", profileHash)
        add("eidEpoch", eidEpoch?.description)
        if !tags.isEmpty { members.append(.init("tags", .array(tags.map(JSONValue.string)))) }
        if !attachments.isEmpty {
            members.append(.init("attachments", .object(attachments.map { .init($0.key, .string($0.text)) })))
        }
        members.append(.init("advertisements", .array(advertisements.map(\.json))))
        return .object(members)
    }

    /// The beacon's lines in `manifest.csv`: one for each advertisement.
    public var csv: String {
        var beaconCells: [ManifestColumn: String] = [.name: name, .profileHash: profileHash]
        for (column, name) in zip([ManifestColumn.site, .floor, .room], group) { beaconCells[column] = name }
        beaconCells[.host] = host
        beaconCells[.serial] = serial
        beaconCells[.controller] = controller
        beaconCells[.adapter] = adapter
        beaconCells[.address] = address?.description
        for (column, value) in position?.columnValues ?? [] { beaconCells[column] = value.text }
        beaconCells[.eidEpoch] = eidEpoch?.description
        var lines = ""
        for (index, advertisement) in advertisements.enumerated() {
            var cells = beaconCells
            cells[.advertisement] = "\(index + 1)"
            for (column, value) in advertisement.columnValues {
                if case .string(let text) = value { cells[column] = text } else { cells[column] = value.line }
            }
            let line = ManifestColumn.allCases.map { FleetManifest.cell(cells[$0] ?? "") }.joined(separator: ",")
            lines += line + "\r\n"
        }
        return lines
    }
}

extension FleetManifest.Position {
    fileprivate var columnValues: [(column: ManifestColumn, value: JSONNumber)] {
        switch self {
        case .plan(let x, let y, let z): [(.x, x), (.y, y)] + (z.map { [(.z, $0)] } ?? [])
        case .geographic(let latitude, let longitude): [(.latitude, latitude), (.longitude, longitude)]
        }
    }
}

extension FleetManifest.Advertisement {
    fileprivate var json: JSONValue {
        .object(
            columnValues.map { .init($0.column.key, $0.value) } + (pattern.map { [.init("pattern", $0.json)] } ?? [])
                + (phy.map { [.init("phy", .string($0.rawValue))] } ?? []))
    }

    /// The known values, in the order of the manifest.
    fileprivate var columnValues: [(column: ManifestColumn, value: JSONValue)] {
        var values: [(column: ManifestColumn, value: JSONValue)] = [(.type, .string(type))]
        switch identity {
        case .iBeacon(let uuid, let major, let minor):
            values += [(.uuid, .string(uuid.uuidText)), (.major, .integer(major)), (.minor, .integer(minor))]
        case .altBeacon(let company, let id):
            values += [
                (.companyId, .string(Hexadecimal.number(company, width: 4))), (.id, .string(id.description)),
            ]
        case .eddystoneUID(let namespace, let instance):
            values += [(.namespace, .string(namespace.description)), (.instance, .string(instance.description))]
        case .eddystoneURL(let url): values.append((.url, .string(url)))
        case .none: break
        }
        values.append((.intervalMs, .thousandths(intervalMicroseconds)))
        if let radioPower { values.append((.radioPowerDbm, .integer(radioPower))) }
        if let measuredPower { values.append((.measuredPowerDbm, .integer(measuredPower))) }
        if let identityKeyFile { values.append((.identityKeyFile, .string(identityKeyFile))) }
        if let rotationExponent { values.append((.rotationExponent, .integer(rotationExponent))) }
        if let payloadOctets { values.append((.payloadOctets, .integer(payloadOctets))) }
        return values
    }
}
