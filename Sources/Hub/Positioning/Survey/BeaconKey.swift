public import BluetoothTypes
public import Sightings

/// The name of one beacon in surveys and maps.
///
/// A key is an identity, or the name that a fleet gives the beacon. The name does not change when the hardware is
/// replaced. An identity has the usual form in Pharos: `ibeacon:UUID-MAJOR-MINOR`, `altbeacon:COMPANY-ID`,
/// `uid:NAMESPACE-INSTANCE` or `address:AA:BB:CC:DD:EE:FF`. It may contain `/` instead of `-`.
///
/// Several devices may send one identity at once. If their addresses are public or static random addresses, the key is
/// the identity followed by the address of the device: `ibeacon:…@AA:BB:CC:DD:EE:FF`.
public struct BeaconKey: Hashable, Sendable {
    /// The text of the key in files.
    public let text: String

    /// The maximum length of a key, in bytes.
    public static let longest = 256

    /// Creates a key from text. All spellings of an identity give the same key. Any other text is a name. `nil` if the
    /// text is empty, contains control characters or is longer than ``longest``.
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
        guard parts.count == 2 else {
            self.text = key.text
            return
        }
        self.text = key.text + "@" + (DeviceAddress(parts[1])?.description ?? String(parts[1]))
    }

    /// Creates the key of an identity.
    ///
    /// - Parameter address: The public or static random address of the device if several devices send the identity;
    ///   otherwise `nil`.
    public init(_ identity: BeaconIdentity, from address: DeviceAddress? = nil) {
        self.text = identity.description + (address.map { "@\($0)" } ?? "")
    }

    /// The identity without the address, if the key ends with an address because several devices send the identity.
    /// `nil` for all other keys.
    public var identityOfSeveral: BeaconKey? {
        guard let at = text.lastIndex(of: "@"), BeaconIdentity.kinds.contains(where: { text.hasPrefix($0 + ":") }),
            DeviceAddress(text[text.index(after: at)...]) != nil
        else { return nil }
        return BeaconKey(String(text[..<at]))
    }
}

extension BeaconKey: Comparable, CustomStringConvertible {
    /// Compares the bytes of the text.
    public static func < (left: Self, right: Self) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }

    public var description: String { text }
}

/// The numbers that are valid as received levels.
public enum ReceivedLevel {
    /// The range of levels that a controller may report, in dBm. The value 127, which is outside, means "not
    /// available".
    public static let range = -127.0...20.0
    /// The level in dBm that replaces "not received" in some algorithms.
    public static let notReceived = -100.0

    /// Returns the number if it is a valid level, otherwise `nil`. A level must be finite and in ``range``. The number
    /// 0 is a valid level only if `acceptsZeroLevel` is true.
    public static func level(_ value: Double, acceptsZeroLevel: Bool = false) -> Double? {
        guard value.isFinite, range.contains(value), acceptsZeroLevel || value != 0 else { return nil }
        return value
    }

    /// Returns a warning about readings that were left out.
    ///
    /// - Parameter advice: A command-line option that may help, with its purpose; `nil` for none.
    static func leftOut(_ count: Int, of value: Int, advice: String?) -> String {
        let text = "\(NumberFormat.count(count, "reading")) of \(value) dBm left out: not a level"
        let zero = value == 0 ? "--accept-zero if 0 dBm is a level" : nil
        let options = [advice, zero].compactMap(\.self)
        return options.isEmpty ? text : "\(text); use \(options.joined(separator: ", or "))"
    }
}
