internal import BeaconFrames
internal import BluetoothTypes
package import Listener
package import Sightings

/// A query from the command line that selects one or several beacons.
package enum BeaconQuery {
    /// The name of a known beacon.
    case known(String)
    case identity(BeaconIdentity)
    /// All beacons with a UUID or a namespace.
    case pattern(RegionPattern)
    /// The known beacons with these names, such as the beacons of a file.
    case names(Set<String>)
    /// A device with this local name.
    case localName(String)
    /// Every beacon.
    case all

    /// Reads a text in the first of these forms that fits: a name of `known`, an identity with or without its kind, a
    /// web address, a device address (with colons, with dashes, or with neither), a UUID or namespace alone, a local
    /// name.
    package init(_ text: String, _ known: KnownBeacons) {
        if known.names.contains(text) {
            self = .known(text)
        } else if let identity = Self.identity(text) {
            self = .identity(identity)
        } else if let pattern = ["", "ibeacon:", "uid:"].lazy.compactMap({ RegionPattern($0 + text) }).first {
            self = .pattern(pattern)
        } else {
            self = .localName(text)
        }
    }

    /// Returns the identity that a text means; `nil` for any other text.
    package static func identity(_ text: String) -> BeaconIdentity? {
        if let identity = ["", "ibeacon:", "uid:", "url:"].lazy.compactMap({ BeaconIdentity($0 + text) }).first {
            return identity
        }
        let addressText = text.hasPrefix("address:") ? text.dropFirst(8) : text[...]
        let digits = addressText.filter { $0 != ":" && $0 != "-" }
        let isSeparated = [17, 12].contains(addressText.count)
        guard isSeparated, digits.count == 12, let octets = try? FixedOctets<6>(hexadecimal: digits) else { return nil }
        return .address(DeviceAddress(octets))
    }

    /// Returns true if the query selects this beacon.
    package func matches(_ track: BeaconTrack) -> Bool {
        switch self {
        case .known(let name): track.known?.name == name
        case .identity(let identity): track.identity == identity
        case .pattern(let pattern): track.identity.map(pattern.contains) ?? false
        case .names(let names): track.known.map { names.contains($0.name) } ?? false
        case .localName(let name): String(decoding: track.nameOctets, as: UTF8.self) == name
        case .all: true
        }
    }
}
