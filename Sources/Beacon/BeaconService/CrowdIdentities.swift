public import Advertiser
public import BeaconFrames
public import BluetoothTypes
internal import EddystoneSecurity
internal import Profiles

/// The format of the generated identities of a crowd.
public enum CrowdFormat: String, CaseIterable, Sendable {
    case iBeacon = "ibeacon"
    case altBeacon = "altbeacon"
    case eddystoneUID = "uid"
}

/// A generated crowd: numbered identities. The address of an identity depends only on the seed and its number.
public struct GeneratedCrowd: Sendable {
    /// The largest crowd.
    public static let largest = 100_000
    /// The default of ``seed``.
    public static let defaultSeed = "crowd"

    public var format = CrowdFormat.iBeacon
    /// The number of identities.
    public var count: Int
    /// The UUID of iBeacon, and the first 16 bytes of the id of AltBeacon; `nil` for a UUID that depends on the seed.
    public var uuid: FixedOctets<16>?
    /// The namespace of Eddystone-UID; `nil` for a namespace that depends on the seed.
    public var namespace: FixedOctets<10>?
    /// The seed from which addresses, UUID and namespace are computed.
    public var seed = defaultSeed

    /// The company identifier in AltBeacon frames. The Bluetooth SIG reserves it for tests.
    private static let companyID: UInt16 = 0xFFFF

    /// A crowd of `count` iBeacons.
    public init(count: Int) {
        self.count = count
    }

    /// The identities. The minor number of iBeacon and AltBeacon and the instance of Eddystone-UID count up from 1.
    /// After 65,535 identities the minor number starts at 1 again, and the major number, which starts at 1, increases
    /// by 1.
    public var identities: [CrowdIdentity] {
        let digits = String(count).count
        return (0..<count).map { index in
            let name = "crowd-" + NumberFormat.padded(index + 1, to: digits)
            return CrowdIdentity(
                name: name,
                advertisement: Advertisement(
                    content: content(index), interval: .nonconnectableMinimumBefore5,
                    measuredPower: .atOneMeter(BeaconProfile.typicalMeasuredPower), address: .public),
                address: .crowd(seed: seed, name: String(index + 1)))
        }
    }

    private func content(_ index: Int) -> Advertisement.Content {
        let (major, minor) = (
            UInt16(truncatingIfNeeded: 1 + index / 65_535), UInt16(truncatingIfNeeded: 1 + index % 65_535)
        )
        let majorAndMinor = [major, minor].flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        let id = uuid ?? FixedOctets<16>(seedHash(16)) ?? FixedOctets()
        switch format {
        case .iBeacon: return .iBeacon(uuid: id, major: major, minor: minor, flags: .beacon)
        case .altBeacon:
            return .altBeacon(
                companyID: Self.companyID, beaconID: FixedOctets<20>(id.octets + majorAndMinor) ?? FixedOctets(),
                reserved: 0, flags: .beacon)
        case .eddystoneUID:
            let instance = (0..<6).map { UInt8(truncatingIfNeeded: (index + 1) >> (8 * (5 - $0))) }
            return .eddystoneUID(
                namespace: namespace ?? FixedOctets<10>(seedHash(10)) ?? FixedOctets(),
                instance: FixedOctets<6>(instance) ?? FixedOctets())
        }
    }

    /// Returns the first `count` bytes of a hash of the seed, at most 32.
    private func seedHash(_ count: Int) -> [UInt8] {
        var digest = IncrementalDigest()
        digest.update(Array("pharos crowd \(format.rawValue)\n\(seed)".utf8))
        return Array(((try? Hexadecimal.octets(digest.text)) ?? []).prefix(count))
    }
}

extension DeviceAddress {
    /// The static random address of an identity of a crowd: 46 bits of a hash of seed and name.
    static func crowd(seed: String, name: String) -> DeviceAddress {
        .staticRandom(machineID: "pharos crowd " + seed, name: name)
    }
}

/// The advertisements of profiles and fleets as a crowd.
public struct DescribedCrowd: Sendable {
    public private(set) var identities: [CrowdIdentity] = []
    /// The number of advertisements that are left out because their content changes.
    public private(set) var changingCount = 0
    private let seed: String

    /// - Parameter seed: Determines the addresses of beacons that have no static random address of their own.
    public init(seed: String) {
        self.seed = seed
    }

    /// Adds a beacon with its advertisements. Each advertisement is an identity of the crowd.
    public mutating func add(_ name: String, _ advertisements: [Advertisement]) {
        let constantAdvertisements = advertisements.filter { !$0.content.isChanging }
        changingCount += advertisements.count - constantAdvertisements.count
        for (index, advertisement) in constantAdvertisements.enumerated() {
            let address: DeviceAddress =
                switch advertisement.address {
                case .staticRandom(let address): address
                case .public, .random: .crowd(seed: seed, name: name)
                }
            let typeName = advertisement.content.typeName
            let suffix = constantAdvertisements.count > 1 ? " (\(typeName))" : ""
            let isOnlyOneOfItsType = constantAdvertisements.count { $0.content.typeName == typeName } < 2
            identities.append(
                CrowdIdentity(
                    name: name + (isOnlyOneOfItsType ? suffix : " (\(typeName) \(index + 1))"),
                    advertisement: advertisement, address: address))
        }
    }
}

extension Advertisement.Content {
    /// `true` if the payload changes while it is on the air.
    fileprivate var isChanging: Bool {
        switch self {
        case .iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL, .raw: false
        case .eddystoneTLM, .eddystoneEID, .btHome: true
        }
    }
}
