public import BeaconFrames
public import BluetoothTypes

/// The part of an advertisement that distinguishes one beacon from another.
///
/// As text: `ibeacon:UUID-MAJOR-MINOR`, `altbeacon:COMPANY-ID`, `uid:NAMESPACE-INSTANCE`, `url:TEXT`, `eid:HEX`,
/// `address:AA:BB:CC:DD:EE:FF`.
public enum BeaconIdentity: Hashable, Sendable {
    case iBeacon(uuid: FixedOctets<16>, major: UInt16, minor: UInt16)
    case altBeacon(companyID: UInt16, id: FixedOctets<20>)
    case eddystoneUID(namespace: FixedOctets<10>, instance: FixedOctets<6>)
    case eddystoneURL(CompressedURL)
    /// An ephemeral id that no known key can resolve. The beacon changes it regularly.
    case eddystoneEID(FixedOctets<8>)
    /// The address of a device that sends no known frame.
    case address(DeviceAddress)

    /// Returns the identity in `frame`; `nil` for telemetry and BTHome, which have no identity.
    public init?(_ frame: BeaconFrame) {
        switch frame {
        case .iBeacon(let frame): self = .iBeacon(uuid: frame.uuid.expanded, major: frame.major, minor: frame.minor)
        case .altBeacon(let frame): self = .altBeacon(companyID: frame.companyID, id: frame.beaconID)
        case .eddystoneUID(let frame): self = .eddystoneUID(namespace: frame.namespace, instance: frame.instance)
        case .eddystoneURL(let frame): self = .eddystoneURL(frame.url)
        case .eddystoneEID(let frame): self = .eddystoneEID(frame.id)
        case .eddystoneTLM, .eddystoneEncryptedTLM, .btHome: return nil
        }
    }

    /// The word before the colon in ``description``.
    public var kind: String {
        switch self {
        case .iBeacon: "ibeacon"
        case .altBeacon: "altbeacon"
        case .eddystoneUID: "uid"
        case .eddystoneURL: "url"
        case .eddystoneEID: "eid"
        case .address: "address"
        }
    }

    /// All values of ``kind``.
    public static let kinds = ["ibeacon", "altbeacon", "uid", "url", "eid", "address"]
}

extension BeaconIdentity: CustomStringConvertible {
    /// The identity as text, in printable ASCII.
    public var description: String {
        switch self {
        case .iBeacon(let uuid, let major, let minor): "ibeacon:\(uuid.uuidText)-\(major)-\(minor)"
        case .altBeacon(let company, let id): "altbeacon:\(Self.hex(company))-\(id)"
        case .eddystoneUID(let namespace, let instance): "uid:\(namespace)-\(instance)"
        case .eddystoneURL(let url): "url:\(url.text)"
        case .eddystoneEID(let id): "eid:\(id)"
        case .address(let address): "address:\(address)"
        }
    }

    private static func hex(_ number: UInt16) -> String {
        Hexadecimal.text([UInt8(number >> 8), UInt8(truncatingIfNeeded: number)])
    }

    /// Reads the text of ``description``, with hexadecimal digits in either case. Returns `nil` for any other text.
    public init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let value = text[text.index(after: colon)...]
        switch text[..<colon] {
        case "ibeacon":
            guard case .iBeacon(let uuid, let major?, let minor?)? = RegionPattern(text) else { return nil }
            self = .iBeacon(uuid: uuid, major: major, minor: minor)
        case "altbeacon":
            let parts = value.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, let company = try? FixedOctets<2>(hexadecimal: parts[0]),
                let id = try? FixedOctets<20>(hexadecimal: parts[1])
            else { return nil }
            self = .altBeacon(companyID: UInt16(company[0]) << 8 | UInt16(company[1]), id: id)
        case "uid":
            guard case .eddystoneUID(let namespace, let instance?)? = RegionPattern(text) else { return nil }
            self = .eddystoneUID(namespace: namespace, instance: instance)
        case "url":
            guard let url = try? CompressedURL(String(value)) else { return nil }
            self = .eddystoneURL(url)
        case "eid":
            guard let id = try? FixedOctets<8>(hexadecimal: value) else { return nil }
            self = .eddystoneEID(id)
        case "address":
            guard let address = DeviceAddress(value) else { return nil }
            self = .address(address)
        default: return nil
        }
    }
}

/// A pattern that matches a single beacon, or all devices with a common property: a UUID, a major number, a namespace,
/// a service, or a local name.
public enum RegionPattern: Hashable, Sendable {
    case iBeacon(uuid: FixedOctets<16>, major: UInt16?, minor: UInt16?)
    case eddystoneUID(namespace: FixedOctets<10>, instance: FixedOctets<6>?)
    /// The beacon with this identity.
    case identity(BeaconIdentity)
    /// The device that sends this local name, complete or shortened.
    case localName(String)
    /// The devices that advertise this service, in a list of services or with data. A short UUID is expanded.
    case service(FixedOctets<16>)

    /// Reads `ibeacon:UUID[-MAJOR[-MINOR]]`, `uid:NAMESPACE[-INSTANCE]` or any complete identity. Returns `nil` for
    /// any other text.
    public init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let value = text[text.index(after: colon)...]
        switch text[..<colon] {
        case "ibeacon":
            guard let pattern = Self.iBeacon(String(value)) else { return nil }
            self = pattern
        case "uid":
            let parts = value.split(separator: "-", omittingEmptySubsequences: false)
            guard (1...2).contains(parts.count), let namespace = try? FixedOctets<10>(hexadecimal: parts[0]) else {
                return nil
            }
            if parts.count == 1 {
                self = .eddystoneUID(namespace: namespace, instance: nil)
            } else if let instance = try? FixedOctets<6>(hexadecimal: parts[1]) {
                self = .eddystoneUID(namespace: namespace, instance: instance)
            } else {
                return nil
            }
        default:
            guard let identity = BeaconIdentity(text) else { return nil }
            self = .identity(identity)
        }
    }

    /// Reads a UUID, written with four dashes or without dashes, and the major and minor numbers after it.
    private static func iBeacon(_ text: String) -> RegionPattern? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let uuidParts = parts.first?.count == 32 ? 1 : 5
        guard (uuidParts...uuidParts + 2).contains(parts.count),
            let uuid = try? FixedOctets<16>(hexadecimal: parts[..<uuidParts].joined())
        else { return nil }
        let majorAndMinor = parts[uuidParts...].map { UInt16($0) }
        guard !majorAndMinor.contains(nil) else { return nil }
        return .iBeacon(
            uuid: uuid, major: majorAndMinor.isEmpty ? nil : majorAndMinor[0],
            minor: majorAndMinor.count < 2 ? nil : majorAndMinor[1])
    }

    /// Returns whether the pattern matches `identity`. A local name and a service are not part of an identity, so a
    /// pattern of these kinds matches no identity.
    public func contains(_ identity: BeaconIdentity) -> Bool {
        switch (self, identity) {
        case (.iBeacon(let uuid, let major, let minor), .iBeacon(let ofUUID, let ofMajor, let ofMinor)):
            uuid == ofUUID && major ?? ofMajor == ofMajor && minor ?? ofMinor == ofMinor
        case (.eddystoneUID(let namespace, let instance), .eddystoneUID(let ofNamespace, let ofInstance)):
            namespace == ofNamespace && instance ?? ofInstance == ofInstance
        case (.identity(let ownIdentity), _): ownIdentity == identity
        default: false
        }
    }
}

extension RegionPattern: CustomStringConvertible {
    /// The pattern as text: an identity, `ibeacon:UUID[-MAJOR[-MINOR]]`, `uid:NAMESPACE`, `name:TEXT` or
    /// `service:0xFFF6`.
    public var description: String {
        switch self {
        case .iBeacon(let uuid, let major, let minor):
            "ibeacon:" + ([uuid.uuidText] + [major, minor].compactMap { $0.map(String.init) }).joined(separator: "-")
        case .eddystoneUID(let namespace, let instance):
            "uid:\(namespace)" + (instance.map { "-\($0)" } ?? "")
        case .identity(let identity): identity.description
        case .localName(let name): "name:\(name)"
        case .service(let uuid): "service:\(AdvertisedService(uuid))"
        }
    }
}
