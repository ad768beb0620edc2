internal import BluetoothTypes
internal import Configuration
internal import Glibc

/// A fleet as GeoJSON (RFC 7946), with one feature, usually a point, for each beacon.
public struct FleetMap {
    /// The latitude and longitude of a floor plan's origin, and the direction of the floor plan.
    public struct GlobeOrigin: Hashable, Sendable {
        public let latitude: Double
        public let longitude: Double
        /// The direction of the floor plan's y axis, in degrees clockwise from north.
        public let bearing: Double

        /// Returns `nil` for a latitude outside -85...85 degrees, a longitude outside -180...180 degrees, and a bearing
        /// that is not finite.
        public init?(latitude: Double, longitude: Double, bearing: Double = 0) {
            guard abs(latitude) <= 85, abs(longitude) <= 180, bearing.isFinite else { return nil }
            self.latitude = latitude
            self.longitude = longitude
            self.bearing = bearing
        }
    }

    private let manifest: FleetManifest
    private let defaultOrigin: GlobeOrigin?
    private let originsOfSites: [String: GlobeOrigin]

    /// - Parameters:
    ///   - defaultOrigin: The origin of sites that are not in `originsOfSites`.
    ///   - originsOfSites: The origins of sites, by the names of the sites.
    public init(
        _ manifest: FleetManifest, defaultOrigin: GlobeOrigin? = nil, originsOfSites: [String: GlobeOrigin] = [:]
    ) {
        self.manifest = manifest
        self.defaultOrigin = defaultOrigin
        self.originsOfSites = originsOfSites
    }

    /// The text of the file. A beacon whose latitude and longitude are unknown is a feature without a point.
    public var text: String {
        JSONValue.object([
            .init("type", "FeatureCollection"), .init("name", .string(manifest.fleet)),
            .init("features", .array(manifest.beacons.map(feature))),
        ])
        .pretty
    }

    /// The names of the beacons without a point.
    public var withoutPoint: [String] { manifest.beacons.filter { point($0) == nil }.map(\.name) }

    private func feature(_ beacon: FleetManifest.Beacon) -> JSONValue {
        var properties: [JSONValue.Member] = [.init("name", .string(beacon.name))]
        func add(_ key: String, _ text: String?) {
            if let text { properties.append(.init(key, .string(text))) }
        }
        add("title", beacon.title)
        add("site", beacon.site)
        add("floor", beacon.floor)
        add("room", beacon.room)
        add("host", beacon.host)
        add("address", beacon.address?.description)
        if case .plan(let x, let y, let z) = beacon.position {
            properties += [.init("x", .number(x)), .init("y", .number(y))]
            if let z { properties.append(.init("z", .number(z))) }
        }
        properties.append(.init("advertisements", .array(beacon.advertisements.map { .string($0.type) })))
        return .object([
            .init("type", "Feature"), .init("id", .string(beacon.name)), .init("geometry", point(beacon) ?? .null),
            .init("properties", .object(properties)),
        ])
    }

    private func point(_ beacon: FleetManifest.Beacon) -> JSONValue? {
        let coordinates: [JSONNumber?]
        switch beacon.position {
        case .geographic(let latitude, let longitude): coordinates = [longitude, latitude]
        case .plan(let x, let y, let z):
            guard let origin = beacon.site.flatMap({ originsOfSites[$0] }) ?? defaultOrigin,
                let x = Double(x.text), let y = Double(y.text), let position = origin.position(x, y)
            else { return nil }
            let height = z.map { [$0] } ?? []
            coordinates = [Self.degrees(position.longitude), Self.degrees(position.latitude)] + height
        case nil: return nil
        }
        let validCoordinates = coordinates.compactMap { $0 }
        guard validCoordinates.count == coordinates.count else { return nil }
        return .object([.init("type", "Point"), .init("coordinates", .array(validCoordinates.map(JSONValue.number)))])
    }

    /// Returns degrees with seven decimals, a resolution of about 1 cm.
    private static func degrees(_ value: Double) -> JSONNumber? {
        let tenMillionths = (value * 1e7).rounded()
        let digits = NumberFormat.padded(Int64(abs(tenMillionths)), to: 8)
        return JSONNumber("\(tenMillionths < 0 ? "-" : "")\(digits.dropLast(7)).\(digits.suffix(7))")
    }
}

extension FleetMap.GlobeOrigin {
    /// Converts metres on the floor plan to degrees with the curvature of the ellipsoid at the origin. Returns `nil` if
    /// `x` or `y` is beyond 100 km, where the conversion is not exact.
    fileprivate func position(_ x: Double, _ y: Double) -> (latitude: Double, longitude: Double)? {
        guard abs(x) <= 100_000, abs(y) <= 100_000 else { return nil }
        let degree = Double.pi / 180
        let (angle, phi) = (bearing * degree, latitude * degree)
        let (east, north) = (x * cos(angle) + y * sin(angle), y * cos(angle) - x * sin(angle))
        // The equatorial radius in metres and the squared eccentricity of WGS 84.
        let (radius, eccentricity) = (6_378_137.0, 6.694379990141e-3)
        let curvature = 1 - eccentricity * sin(phi) * sin(phi)
        let meridian = radius * (1 - eccentricity) / (curvature * curvature.squareRoot())
        let parallel = radius / curvature.squareRoot() * cos(phi)
        var longitude = longitude + east / parallel / degree
        if longitude > 180 { longitude -= 360 }
        if longitude < -180 { longitude += 360 }
        return (latitude + north / meridian / degree, longitude)
    }
}
