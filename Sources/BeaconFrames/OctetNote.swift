public import BluetoothTypes

/// What one octet of a payload means.
public struct OctetNote: Hashable, Sendable, CustomStringConvertible {
    /// Position in the advertising data, from 0.
    public let offset: Int
    public let octet: UInt8
    /// The field's name, such as `measured power`.
    public let field: String
    /// The field's value and the octet's part in it, such as `-59 dBm at 1 m`.
    public let meaning: String

    public init(offset: Int, octet: UInt8, field: String, meaning: String) {
        self.offset = offset
        self.octet = octet
        self.field = field
        self.meaning = meaning
    }

    public var description: String { "\(offset): \(Hexadecimal.text(octet)) \(field): \(meaning)" }
}

extension AdvertisingData {
    /// One note for every octet, in their order, for any octets, valid or not.
    public func explained() -> [OctetNote] {
        var explainer = OctetExplainer(octets)
        explainer.explainStructures()
        return explainer.notes
    }
}
