public import BluetoothTypes
public import Sightings

/// What a survey and a map call one beacon.
///
/// Either an identity, `ibeacon:UUID/MAJOR/MINOR`, `altbeacon:COMPANY/ID`, `uid:NAMESPACE/INSTANCE`,
/// `address:AA:BB:CC:DD:EE:FF`, or the name that a fleet gives the box, which it keeps when the box is replaced. Where one
/// identity comes from several lasting addresses at once, the address follows it: `ibeacon:…@AA:BB:CC:DD:EE:FF`.
public struct BeaconKey: Hashable, Sendable {
    /// The key as files have it.
    public let text: String

    /// Longer keys are no keys, in octets.
    public static let longest = 256

    /// An identity in any of its written forms becomes the one form of keys; any other text is a name. Refuses an empty
    /// text, one with control characters, and one that is longer than ``longest``.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.longest, text.unicodeScalars.allSatisfy({ $0.value >= 0x20 })
        else { return nil }
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let dashed = String(parts[0].map { $0 == "/" ? "-" : $0 })
        guard BeaconIdentity.kinds.contains(where: { dashed.hasPrefix($0 + ":") }),
            let identity = BeaconIdentity(dashed)
        else {
            self.text = text
            return
        }
        let key = BeaconKey(identity)
        self.text = parts.count == 2 ? key.text + "@" + parts[1] : key.text
    }

    /// - Parameter address: Where one identity is that of several devices, the one that sent it: public or static random,
    ///   never one that changes.
    public init(_ identity: BeaconIdentity, from address: DeviceAddress? = nil) {
        let text =
            switch identity {
            case .iBeacon(let uuid, let major, let minor): "ibeacon:\(uuid.uuidText)/\(major)/\(minor)"
            case .eddystoneUID(let namespace, let instance): "uid:\(namespace)/\(instance)"
            case .altBeacon:
                String(identity.description.map { $0 == "-" ? "/" : $0 })
            case .eddystoneURL, .eddystoneEID, .address: identity.description
            }
        self.text = text + (address.map { "@\($0)" } ?? "")
    }
}

extension BeaconKey {
    /// The identity alone of a key that an address follows; `nil` for all other keys.
    public var identityOfSeveral: BeaconKey? {
        guard let at = text.lastIndex(of: "@"), BeaconIdentity.kinds.contains(where: { text.hasPrefix($0 + ":") }),
            DeviceAddress(text[text.index(after: at)...]) != nil
        else { return nil }
        return BeaconKey(String(text[..<at]))
    }
}

extension BeaconKey: Comparable, CustomStringConvertible {
    /// By the octets of the text.
    public static func < (left: Self, right: Self) -> Bool {
        var (left, right) = (left.text, right.text)
        // Keys of a site begin with the same forty octets: as plain memory they are passed faster.
        return left.withUTF8 { left in
            right.withUTF8 { right in unsafe left.lexicographicallyPrecedes(right) }
        }
    }

    public var description: String { text }
}

/// What a number must be to count as a level that was received.
public enum ReceivedLevel {
    /// What a controller may report, in dBm; 127 stands for "not available" and lies outside.
    public static let range = -127.0...20.0
    /// What stands in for "not heard" where a rule says so (F), in dBm. Nowhere else is absence a number.
    public static let floor = -100.0

    /// The level, or `nil` for what is none: no number, outside ``range``, and 0 unless the source says that its zeros
    /// are levels.
    public static func level(_ value: Double, acceptsZero: Bool = false) -> Double? {
        guard value.isFinite, range.contains(value), acceptsZero || value != 0 else { return nil }
        return value
    }

    /// What whoever gave such readings is told.
    ///
    /// - Parameter advice: What there is to do about it; `nil` for nothing.
    static func leftOut(_ count: Int, of value: Int, advice: String?) -> String {
        let text =
            count == 1
            ? "1 reading of \(value) dBm is none, and was left out"
            : "\(count) readings of \(value) dBm are none, and were left out"
        let zero = value == 0 ? "--accept-zero where it is a level" : nil
        let advice = [advice, zero].compactMap(\.self)
        return advice.isEmpty ? text : "\(text): say \(advice.joined(separator: ", or "))"
    }
}
