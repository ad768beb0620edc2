import BluetoothTypes
import QRCodes

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
