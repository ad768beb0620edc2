internal import BluetoothTypes
internal import Configuration

/// The file `known_devices.yaml`. Home Assistant's bluetooth_le_tracker reads the names of beacons from it, by their
/// addresses.
public enum KnownDevices {
    /// The text of the file, and the names of the beacons that are not in it. Beacons are omitted if they use the
    /// public address of their controller, which is unknown here, or if their address changes.
    public static func text(_ manifest: FleetManifest) -> (text: String, omitted: [String]) {
        var text = ""
        var omitted: [String] = []
        var identifierCounts: [String: Int] = [:]
        for beacon in manifest.beacons { identifierCounts[identifier(beacon.name), default: 0] += 1 }
        for beacon in manifest.beacons {
            guard let address = beacon.address, beacon.advertisements.contains(where: { $0.type != "eddystone-eid" })
            else {
                omitted.append(beacon.name)
                continue
            }
            var identifier = identifier(beacon.name)
            // If several names become equal in Home Assistant, the address, which is unique, is appended.
            if identifierCounts[identifier] != 1 { identifier += "_" + Hexadecimal.text(address.octets.octets) }
            let group = beacon.group.joined(separator: " / ")
            let title = beacon.title ?? beacon.name
            text += """
                \(YAMLText.quoted(identifier)):
                  name: \(YAMLText.quoted(group.isEmpty ? title : "\(title) (\(group))"))
                  mac: \(YAMLText.quoted("BLE_\(address)"))
                  icon: "mdi:bluetooth"
                  picture:
                  track: true

                """
        }
        return (text.isEmpty ? "{}\n" : text, omitted)
    }

    /// Returns the name in Home Assistant: lower-case letters, digits and underscores.
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
