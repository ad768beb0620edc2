/// A fleet file to start from, with the table that it may need: the files of `profiles/fleets`, embedded as they are.
public enum FleetSample: String, CaseIterable, Sendable {
    /// Rooms on floors, iBeacon with Eddystone-URL and telemetry, Home Assistant among the listeners.
    case museum
    /// Several sites, Eddystone-UID under a namespace made from a domain.
    case shop
    /// A table from the facilities, with its own names for the columns.
    case carPark = "car-park"

    /// The fleet file. Without `$schema`, whose path holds for the sample's own directory only.
    public var text: String {
        let octets =
            switch self {
            case .museum: PackageResources.museum_json
            case .shop: PackageResources.shop_json
            case .carPark: PackageResources.car_park_json
            }
        let lines = String(decoding: octets, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.filter { !$0.hasPrefix("  \"$schema\":") }.joined(separator: "\n")
    }

    /// The table that the fleet file names, and its name there.
    public var table: (name: String, text: String)? {
        self == .carPark
            ? ("car-park.csv", String(decoding: PackageResources.car_park_csv, as: UTF8.self)) : nil
    }
}
