internal import BluetoothTypes

/// The texts on the label of a machine: a few lines to read, and a QR code.
struct BeaconLabel {
    let name: String
    /// The group, such as `museum / ground / hall`; empty for a beacon without a group.
    let place: String
    /// A line for each advertisement with an identity, and the address.
    let lines: [String]
    /// The text of the QR code.
    let codeText: String

    /// - Parameter url: The text of the QR code in place of the name and the identities.
    init(_ beacon: FleetManifest.Beacon, url: String? = nil) {
        name = beacon.title ?? beacon.name
        place = beacon.group.joined(separator: " / ")
        let identities = beacon.advertisements.compactMap { advertisement -> (short: String, full: String)? in
            switch advertisement.identity {
            case .none: nil
            case let identity: (Self.short(identity), Self.full(identity))
            }
        }
        let address = beacon.address.map { [$0.description] } ?? []
        let rotationLine = beacon.advertisements.contains { $0.rotationExponent != nil } ? ["id rotates"] : []
        let omitted = identities.count - Self.identityLimit
        lines =
            (beacon.title == nil ? [] : [beacon.name]) + identities.prefix(Self.identityLimit).map(\.short)
            + (omitted > 0 ? ["and \(omitted) more"] : []) + rotationLine
            + address
        var text = [beacon.name]
        if !place.isEmpty { text.append(Self.truncated(place, to: Self.placeLimit)) }
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

    /// The maximum length of the text in a QR code, in bytes. With more text, the modules of the code are too small for
    /// a phone at arm's length.
    private static let codeLimit = 300
    /// The maximum number of characters of the group's path in a QR code.
    private static let placeLimit = 80
    /// The maximum number of identities next to a QR code.
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

    /// The identity as commands read it. A URL stands alone, so that phones open it.
    private static func full(_ identity: FleetManifest.Identity) -> String {
        if case .eddystoneURL(let url) = identity { return url }
        return identity.text
    }

    private static func truncated(_ text: String, to limit: Int) -> String {
        text.unicodeScalars.count <= limit
            ? text : String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit - 1))) + "…"
    }
}

/// A text in a rectangle of a label, with the largest letters that fit, in several lines if necessary.
///
/// The font of the printer is unknown. The width of each letter is assumed to be 0.62 times its size; few texts are
/// wider.
struct LabelText {
    let lines: [String]
    /// The size of the letters in hundredths of a millimetre.
    let size: Int

    /// - Parameters:
    ///   - width: The width of the rectangle in hundredths of a millimetre.
    ///   - sizes: The smallest and the largest size of the letters, in hundredths of a millimetre.
    ///   - lineLimit: The largest number of lines. Text that does not fit is replaced by an ellipsis.
    init(_ text: String, width: Int, sizes: ClosedRange<Int>, lineLimit: Int) {
        let length = max(1, text.count)
        let fittingSize = width * 100 / (Self.letterWidth * length)
        size = min(max(fittingSize, sizes.lowerBound), sizes.upperBound)
        lines = Self.broken(text, after: max(2, width * 100 / (Self.letterWidth * size)), lineLimit)
    }

    /// The width of a letter in percent of its size.
    private static let letterWidth = 62

    /// Breaks a text into lines of at most `length` characters: after a separator in the second half of the line, or at
    /// the end of the line if there is none.
    private static func broken(_ text: String, after length: Int, _ lineLimit: Int) -> [String] {
        var lines: [String] = []
        var remainder = text[...]
        while remainder.count > length, lines.count + 1 < lineLimit {
            let longestLine = remainder.prefix(length)
            let separator = longestLine.lastIndex { "-_./ ".contains($0) }
            let line =
                separator.map { longestLine[...$0] }.flatMap { 2 * $0.count > length ? $0 : nil } ?? longestLine
            lines.append(String(line))
            remainder = remainder.dropFirst(line.count)
        }
        lines.append(remainder.count > length ? remainder.prefix(length - 1) + "…" : String(remainder))
        return lines
    }
}

/// The URL in the code of a label, as a URI template (RFC 6570, level 1) such as `https://example.org/b/{name}`. The
/// names in braces are replaced by values of the manifest.
public struct LabelURL: Hashable, Sendable {
    private enum Part: Hashable, Sendable {
        case text(String)
        case variable(String)
    }

    private let parts: [Part]

    /// The names that may be in braces. A value of an identity, such as `major`, comes from the first advertisement
    /// that has this value.
    public static let variables = [
        "name", "title", "site", "floor", "room", "host", "serial", "address", "uuid", "major", "minor", "namespace",
        "instance",
    ]

    /// The longest URL in bytes. With more bytes the modules of the code are too small for a phone at arm's length.
    public static let limit = 300

    /// - Throws: ``LabelURLError`` for a text that is not a URL, and for braces without one of ``variables``.
    public init(_ template: String) throws(LabelURLError) {
        guard let colon = template.firstIndex(of: ":"), template.first?.isLetter == true,
            template[..<colon].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }),
            template.unicodeScalars.allSatisfy({ (0x21...0x7E).contains($0.value) })
        else { throw .noURL }
        var parts: [Part] = []
        var remainder = template[...]
        while let open = remainder.firstIndex(where: { "{}".contains($0) }) {
            guard remainder[open] == "{", let close = remainder[open...].firstIndex(of: "}") else {
                throw .unpairedBrace
            }
            let name = String(remainder[remainder.index(after: open)..<close])
            guard Self.variables.contains(name) else { throw .unknownVariable(name) }
            parts += [.text(String(remainder[..<open])), .variable(name)]
            remainder = remainder[remainder.index(after: close)...]
        }
        self.parts = parts + [.text(String(remainder))]
    }

    /// The URL of a beacon.
    ///
    /// - Throws: ``LabelURLError`` when the beacon has no value for a name, or the URL is longer than ``limit``.
    public func text(for beacon: FleetManifest.Beacon) throws(LabelURLError) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .text(let literal): text += literal
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
        case "title": return beacon.title ?? beacon.name
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

    /// The text with all bytes percent-encoded, except the unreserved characters of RFC 3986.
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

/// The reason why a text cannot be the URL on labels.
public enum LabelURLError: Error, Hashable, Sendable, CustomStringConvertible {
    case noURL
    case unpairedBrace
    case unknownVariable(String)
    case missing(String, beacon: String)
    /// The length of the URL of a beacon in bytes.
    case tooLong(Int, beacon: String)

    public var description: String {
        switch self {
        case .noURL: "write a URL such as https://example.org/b/{name}, without spaces or letters beyond ASCII"
        case .unpairedBrace: "every { needs a } after it"
        case .unknownVariable(let name):
            "there is no {\(name)}; write one of " + LabelURL.variables.map { "{\($0)}" }.joined(separator: ", ")
        case .missing(let name, let beacon): "the beacon \(beacon) has no value for {\(name)}"
        case .tooLong(let count, let beacon):
            "the URL of the beacon \(beacon) has \(count) bytes; the QR code of a label has at most \(LabelURL.limit), "
                + "so that phones can read it"
        }
    }
}
