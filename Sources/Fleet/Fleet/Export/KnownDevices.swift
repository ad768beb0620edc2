internal import BluetoothTypes
internal import Configuration

/// `known_devices.yaml` of Home Assistant, by which its bluetooth_le_tracker knows beacons by their addresses and calls
/// them by their names.
public enum KnownDevices {
    /// The file, and the names of the beacons that are not in it: those that send from their controller's own address,
    /// which the fleet does not know, and those whose address turns over.
    public static func text(_ manifest: FleetManifest) -> (text: String, left: [String]) {
        var text = ""
        var left: [String] = []
        var count: [String: Int] = [:]
        for beacon in manifest.beacons { count[identifier(beacon.name), default: 0] += 1 }
        for beacon in manifest.beacons {
            guard let address = beacon.address, beacon.advertisements.contains(where: { $0.type != "eddystone-eid" })
            else {
                left.append(beacon.name)
                continue
            }
            var identifier = identifier(beacon.name)
            // Names that differ in their signs alone are told apart by what cannot be the same.
            if count[identifier] != 1 { identifier += "_" + Hexadecimal.text(address.octets.octets) }
            let place = beacon.group.joined(separator: " / ")
            text += """
                \(YAMLText.quoted(identifier)):
                  name: \(YAMLText.quoted(place.isEmpty ? beacon.name : "\(beacon.name) (\(place))"))
                  mac: \(YAMLText.quoted("BLE_\(address)"))
                  icon: "mdi:bluetooth"
                  picture:
                  track: true

                """
        }
        return (text.isEmpty ? "{}\n" : text, left)
    }

    /// What Home Assistant makes of a name: lower-case letters, digits and low lines.
    private static func identifier(_ name: String) -> String {
        var result = "beacon_"
        for scalar in name.unicodeScalars {
            switch scalar {
            case "a"..."z", "0"..."9": result.unicodeScalars.append(scalar)
            case "A"..."Z": result += String(scalar).lowercased()
            default: result += result.hasSuffix("_") ? "" : "_"
            }
        }
        while result.hasSuffix("_") { result.removeLast() }
        return result
    }
}
