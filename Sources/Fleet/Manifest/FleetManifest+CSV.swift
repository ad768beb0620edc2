internal import BluetoothTypes
internal import Configuration

extension FleetManifest {
    /// The columns of `manifest.csv`, in order.
    public static let columns = [
        "name", "site", "floor", "room", "host", "serial", "controller", "adapter", "address", "x", "y", "z",
        "latitude",
        "longitude", "profileHash", "eidEpoch", "advertisement", "type", "uuid", "major", "minor", "companyId", "id",
        "namespace", "instance", "url", "intervalMs", "radioPowerDbm", "measuredPowerDbm", "identityKeyFile",
        "rotationExponent", "payloadOctets",
    ]
    /// How many of them are the same in all lines of a beacon.
    static let beaconColumnCount = 16

    /// The text of `manifest.csv`: one line an advertisement. A cell that a spreadsheet would take for a formula has
    /// an apostrophe before it.
    public var csv: String {
        var text = Self.columns.joined(separator: ",") + "\r\n"
        for beacon in beacons {
            let start = beacon.csvCells
            for (index, advertisement) in beacon.advertisements.enumerated() {
                let cells = start + ["\(index + 1)"] + advertisement.csvCells
                text += cells.map(Self.cell).joined(separator: ",") + "\r\n"
            }
        }
        return text
    }

    /// A cell as CSV and spreadsheets take it.
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

extension FleetManifest.Beacon {
    /// The columns that do not depend on the advertisement.
    fileprivate var csvCells: [String] {
        var place = ["", "", "", "", ""]
        switch position {
        case .plan(let x, let y, let z): place = [x.text, y.text, z?.text ?? "", "", ""]
        case .globe(let latitude, let longitude): place = ["", "", "", latitude.text, longitude.text]
        case nil: break
        }
        return [
            name, site ?? "", floor ?? "", room ?? "", host ?? "", serial ?? "", controller ?? "", adapter ?? "",
            address?.description ?? "",
        ] + place + [profileHash, eidEpoch?.description ?? ""]
    }
}

extension FleetManifest.Advertisement {
    fileprivate var csvCells: [String] {
        var identity = [String](repeating: "", count: 8)
        switch self.identity {
        case .iBeacon(let uuid, let major, let minor): identity[0...2] = [uuid.uuidText, "\(major)", "\(minor)"]
        case .altBeacon(let company, let id):
            identity[3...4] = [Hexadecimal.number(company, width: 4), id.description]
        case .eddystoneUID(let namespace, let instance):
            identity[5...6] = [namespace.description, instance.description]
        case .eddystoneURL(let url): identity[7] = url
        case .none: break
        }
        return [type] + identity + [
            DecimalText.thousandths(intervalMicroseconds), radioPower.map { "\($0)" } ?? "",
            measuredPower.map { "\($0)" } ?? "", identityKeyFile ?? "", rotationExponent.map { "\($0)" } ?? "",
            payloadOctets.map { "\($0)" } ?? "",
        ]
    }
}
