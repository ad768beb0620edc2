internal import BluetoothTypes

/// The address that the code of a label leads to, as a URI template (RFC 6570, level 1): in
/// `https://example.org/b/{name}` what stands in braces is replaced by what the manifest has for each beacon.
public struct LabelURL: Hashable, Sendable {
    private enum Part: Hashable, Sendable {
        case text(String)
        case variable(String)
    }

    private let parts: [Part]

    /// What can stand in braces. The identities are those of a beacon's first advertisement that has them.
    public static let variables = [
        "name", "site", "floor", "room", "host", "serial", "address", "uuid", "major", "minor", "namespace", "instance",
    ]

    /// Octets of an address in a code: with more of them the squares get too small for a phone held at arm's length.
    public static let limit = 300

    /// - Throws: ``LabelURLError`` for a text that is no URL, and for braces with anything but one of ``variables``.
    public init(_ template: String) throws(LabelURLError) {
        guard let colon = template.firstIndex(of: ":"), template.first?.isLetter == true,
            template[..<colon].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }),
            template.unicodeScalars.allSatisfy({ (0x21...0x7E).contains($0.value) })
        else { throw .noURL }
        var parts: [Part] = []
        var rest = template[...]
        while let open = rest.firstIndex(where: { "{}".contains($0) }) {
            guard rest[open] == "{", let close = rest[open...].firstIndex(of: "}") else { throw .unpairedBrace }
            let name = String(rest[rest.index(after: open)..<close])
            guard Self.variables.contains(name) else { throw .unknownVariable(name) }
            parts += [.text(String(rest[..<open])), .variable(name)]
            rest = rest[rest.index(after: close)...]
        }
        self.parts = parts + [.text(String(rest))]
    }

    /// The address for one beacon.
    ///
    /// - Throws: ``LabelURLError`` where the beacon lacks something that stands in the template, or the address gets
    ///   longer than ``limit``.
    public func text(for beacon: FleetManifest.Beacon) throws(LabelURLError) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .text(let plain): text += plain
            case .variable(let name):
                guard let value = Self.value(name, of: beacon) else { throw .missing(name, beacon: beacon.name) }
                text += Self.escaped(value)
            }
        }
        guard text.utf8.count <= Self.limit else { throw .tooLong(text.utf8.count, beacon: beacon.name) }
        return text
    }

    private static func value(_ name: String, of beacon: FleetManifest.Beacon) -> String? {
        switch name {
        case "name": return beacon.name
        case "site": return beacon.site
        case "floor": return beacon.floor
        case "room": return beacon.room
        case "host": return beacon.host
        case "serial": return beacon.serial
        case "address": return beacon.address?.description
        default: break
        }
        for advertisement in beacon.advertisements {
            switch (advertisement.identity, name) {
            case (.iBeacon(let uuid, _, _), "uuid"): return uuid.uuidText
            case (.iBeacon(_, let major, _), "major"): return String(major)
            case (.iBeacon(_, _, let minor), "minor"): return String(minor)
            case (.eddystoneUID(let namespace, _), "namespace"): return namespace.description
            case (.eddystoneUID(_, let instance), "instance"): return instance.description
            default: break
            }
        }
        return nil
    }

    /// Everything but RFC 3986's unreserved letters as `%` and two digits.
    private static func escaped(_ text: String) -> String {
        text.utf8.map { octet in
            let scalar = Unicode.Scalar(octet)
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isPlain || "-._~".unicodeScalars.contains(scalar)
                ? String(scalar) : "%" + Hexadecimal.text([octet]).uppercased()
        }
        .joined()
    }
}

/// Why a text cannot be the address on labels.
public enum LabelURLError: Error, Hashable, Sendable, CustomStringConvertible {
    case noURL
    case unpairedBrace
    case unknownVariable(String)
    case missing(String, beacon: String)
    /// Octets of the address that one beacon would get.
    case tooLong(Int, beacon: String)

    public var description: String {
        switch self {
        case .noURL: "write a URL such as https://example.org/b/{name}, without spaces or letters beyond ASCII"
        case .unpairedBrace: "every { needs a } behind it"
        case .unknownVariable(let name):
            "there is no {\(name)}; write one of " + LabelURL.variables.map { "{\($0)}" }.joined(separator: ", ")
        case .missing(let name, let beacon): "the beacon \(beacon) has nothing for {\(name)}"
        case .tooLong(let count, let beacon):
            "the address of the beacon \(beacon) has \(count) octets, more than the \(LabelURL.limit) of a code that "
                + "phones read"
        }
    }
}
