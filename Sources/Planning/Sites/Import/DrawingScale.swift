internal import Airtime

/// The conversion from the numbers of a drawing to metres on the floor.
enum DrawingScale {
    /// The numbers are lengths. `meters` is the length of one unit; `origin` is the point in m that becomes the origin.
    case lengths(meters: Double, origin: FloorPosition)
    /// The numbers are longitude and latitude in degrees. They are projected to the plane that touches the earth at a
    /// reference point.
    case degrees(TangentPlane)

    /// Returns the position on the floor, rounded to mm; nil for degrees out of range.
    func position(_ point: DrawnPoint) -> FloorPosition? {
        let position: FloorPosition
        switch self {
        case .lengths(let meters, let origin):
            position = FloorPosition(x: point.x * meters - origin.x, y: point.y * meters - origin.y)
        case .degrees(let plane):
            guard let positionOnPlane = plane.position(longitude: point.x, latitude: point.y) else { return nil }
            position = positionOnPlane
        }
        return FloorPosition(x: (position.x * 1000).rounded() / 1000, y: (position.y * 1000).rounded() / 1000)
    }
}

/// The plane that touches the ellipsoid of WGS 84 at a reference point: x to the east, y to the north, in m.
///
/// A point of the earth is projected perpendicularly to the plane, so lengths within 1 km of the reference are exact to
/// 0.01 mm.
struct TangentPlane {
    private let sinLongitude: Double
    private let cosLongitude: Double
    private let sinLatitude: Double
    private let cosLatitude: Double
    private let reference: (x: Double, y: Double, z: Double)

    /// The semi-major axis in m (NIMA TR8350.2).
    private static let semiMajorAxis = 6_378_137.0
    /// The square of the first eccentricity (NIMA TR8350.2).
    private static let eccentricitySquared = 0.006_694_379_990_14

    /// Returns nil for a longitude outside -180...180 degrees or a latitude outside -90...90 degrees.
    init?(longitude: Double, latitude: Double) {
        guard let reference = Self.earthPosition(longitude, latitude) else { return nil }
        self.reference = reference
        let (east, north) = (longitude * .pi / 180, latitude * .pi / 180)
        (sinLongitude, cosLongitude) = (sin(east), cos(east))
        (sinLatitude, cosLatitude) = (sin(north), cos(north))
    }

    func position(longitude: Double, latitude: Double) -> FloorPosition? {
        guard let earth = Self.earthPosition(longitude, latitude) else { return nil }
        let (dx, dy, dz) = (earth.x - reference.x, earth.y - reference.y, earth.z - reference.z)
        return FloorPosition(
            x: -sinLongitude * dx + cosLongitude * dy,
            y: -sinLatitude * cosLongitude * dx - sinLatitude * sinLongitude * dy + cosLatitude * dz)
    }

    /// Returns the coordinates in m from the center of the earth; nil for degrees out of range.
    private static func earthPosition(_ longitude: Double, _ latitude: Double) -> (x: Double, y: Double, z: Double)? {
        guard abs(longitude) <= 180, abs(latitude) <= 90 else { return nil }
        let (east, north) = (longitude * .pi / 180, latitude * .pi / 180)
        let radius = semiMajorAxis / (1 - eccentricitySquared * sin(north) * sin(north)).squareRoot()
        return (
            radius * cos(north) * cos(east), radius * cos(north) * sin(east),
            radius * (1 - eccentricitySquared) * sin(north)
        )
    }
}

/// The coordinate reference system that a GeoJSON file names in `crs` (GeoJSON of 2008, section 3).
enum NamedCoordinates {
    case degrees
    /// A projection in which lengths are nearly exact.
    case lengths
    /// Web Mercator, which stretches lengths.
    case stretched

    init(_ name: String) {
        let name = name.uppercased()
        let code = name.contains("EPSG") ? name.split { !$0.isNumber }.last.flatMap { Int($0) } : nil
        switch code {
        // Geographic systems; 4978 counts metres from the center of the earth.
        case let code? where (4000...4999).contains(code) && code != 4978: self = .degrees
        case 3857, 3785, 900_913: self = .stretched
        default: self = name.contains("CRS84") || name.contains("CRS:84") ? .degrees : .lengths
        }
    }
}
