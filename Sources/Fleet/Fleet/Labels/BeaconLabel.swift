internal import BluetoothTypes

/// What stands on the label of one box: for the person on the ladder in a few lines, and for a telephone in full.
struct BeaconLabel {
    let name: String
    /// Where it belongs: `museum / ground / hall`; empty when nothing is known.
    let place: String
    /// The identity that tells it from its neighbors, one line an advertisement that has one, and the address.
    let lines: [String]
    /// What the QR code says: lines of text that any telephone shows as they are.
    let codeText: String

    /// - Parameter url: What the code says instead of names and identities.
    init(_ beacon: FleetManifest.Beacon, url: String? = nil) {
        name = beacon.name
        place = beacon.group.joined(separator: " / ")
        let identities = beacon.advertisements.compactMap { advertisement -> (short: String, full: String)? in
            switch advertisement.identity {
            case .none: nil
            case let identity: (Self.short(identity), Self.full(identity))
            }
        }
        let address = beacon.address.map { [$0.description] } ?? []
        let rotates = beacon.advertisements.contains { $0.rotationExponent != nil } ? ["id rotates"] : []
        let more = identities.count - Self.identityLimit
        lines =
            identities.prefix(Self.identityLimit).map(\.short) + (more > 0 ? ["and \(more) more"] : []) + rotates
            + address
        var text = [beacon.name]
        if !place.isEmpty { text.append(Self.cut(place, to: Self.placeLimit)) }
        text += address
        var size = text.reduce(0) { $0 + $1.utf8.count + 1 }
        for identity in identities {
            size += identity.full.utf8.count + 1
            guard size <= Self.codeLimit else {
                text.append("…")
                break
            }
            text.append(identity.full)
        }
        codeText = url ?? text.joined(separator: "\n")
    }

    /// Octets of text in a code: with more of them the squares get too small for a telephone held at arm's length.
    private static let codeLimit = 300
    private static let placeLimit = 80
    /// Lines that fit beside a code.
    private static let identityLimit = 3

    private static func short(_ identity: FleetManifest.Identity) -> String {
        switch identity {
        case .iBeacon(_, let major, let minor): "major \(major) minor \(minor)"
        case .altBeacon(_, let id): "…" + id.description.suffix(12)
        case .eddystoneUID(_, let instance): instance.description
        case .eddystoneURL(let url): url
        case .none: ""
        }
    }

    private static func full(_ identity: FleetManifest.Identity) -> String {
        switch identity {
        case .iBeacon(let uuid, let major, let minor): "ibeacon \(uuid.uuidText) \(major) \(minor)"
        case .altBeacon(_, let id): "altbeacon \(id)"
        case .eddystoneUID(let namespace, let instance): "eddystone \(namespace) \(instance)"
        case .eddystoneURL(let url): url
        case .none: ""
        }
    }

    private static func cut(_ text: String, to limit: Int) -> String {
        text.unicodeScalars.count <= limit
            ? text : String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit - 1))) + "…"
    }
}

/// A text set into a box of a label: as large as it fits, in several lines when it has to.
///
/// Fonts are not measured: whoever prints has others. A letter of a sans-serif font is taken as 0.62 of its size
/// wide, which few texts exceed.
struct LabelText {
    let lines: [String]
    /// Hundredths of a millimeter.
    let size: Int

    /// - Parameters:
    ///   - width: What it may be wide, in hundredths of a millimeter.
    ///   - sizes: The smallest and the largest letters.
    ///   - lineLimit: What does not fit into so many lines of the smallest letters is left out, with an ellipsis.
    init(_ text: String, width: Int, sizes: ClosedRange<Int>, lineLimit: Int) {
        let length = max(1, text.count)
        let fitting = width * 100 / (Self.letterWidth * length)
        size = min(max(fitting, sizes.lowerBound), sizes.upperBound)
        lines = Self.broken(text, after: max(2, width * 100 / (Self.letterWidth * size)), lineLimit)
    }

    /// Percent of the size.
    private static let letterWidth = 62

    /// Breaks behind a separator where one stands in the second half of the line, else anywhere.
    private static func broken(_ text: String, after length: Int, _ lineLimit: Int) -> [String] {
        var lines: [String] = []
        var rest = text[...]
        while rest.count > length, lines.count + 1 < lineLimit {
            let line = rest.prefix(length)
            let separator = line.lastIndex { "-_./ ".contains($0) }
            let cut = separator.map { line[...$0] }.flatMap { 2 * $0.count > length ? $0 : nil } ?? line
            lines.append(String(cut))
            rest = rest.dropFirst(cut.count)
        }
        lines.append(rest.count > length ? rest.prefix(length - 1) + "…" : String(rest))
        return lines
    }
}

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
            "the address of the beacon \(beacon) has \(count) bytes, more than the \(LabelURL.limit) of a code that "
                + "phones read"
        }
    }
}
