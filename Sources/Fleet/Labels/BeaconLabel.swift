internal import BluetoothTypes
internal import QRCodes

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

    /// The code, which text of this size always fits into.
    func code() throws(QRCodeError) -> QRCode { try QRCode(codeText, level: .medium) }

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
