/// A rule that a payload breaks, and where.
public struct LintProblem: Hashable, Sendable, CustomStringConvertible {
    public let rule: LintRule
    /// Position of the first octet at fault in the advertising data, from 0; its length where something is missing at
    /// the end.
    public let offset: Int
    /// One sentence: what is there and what should be.
    public let message: String

    /// A problem at an offset in the advertising data, from 0, with its sentence.
    public init(_ rule: LintRule, at offset: Int, _ message: String) {
        self.rule = rule
        self.offset = offset
        self.message = message
    }

    /// Where the rule is written down.
    public var source: String { rule.source }

    /// Offset, sentence and source on one line.
    public var description: String { "octet \(offset): \(message) (\(source))" }
}

/// The rules that `AdvertisingData.lint(limit:)` knows. The raw value is the name for machines.
public enum LintRule: String, Hashable, Sendable, CaseIterable {
    case dataTooLong = "data-too-long"
    case truncatedStructure = "truncated-structure"
    case nonzeroAfterTermination = "nonzero-after-termination"

    case dataTypeDuplicated = "data-type-duplicated"
    case flagsLength = "flags-length"
    case flagsDuplicated = "flags-duplicated"
    case flagsReservedBits = "flags-reserved-bits"
    case flagsBothDiscoverableModes = "flags-both-discoverable-modes"
    case uuidListLength = "uuid-list-length"
    case localNameEncoding = "local-name-encoding"
    case txPowerLevelLength = "tx-power-level-length"
    case txPowerLevelRange = "tx-power-level-range"
    case appearanceLength = "appearance-length"
    case serviceDataLength = "service-data-length"
    case manufacturerDataLength = "manufacturer-data-length"

    case iBeaconLength = "ibeacon-length"
    case altBeaconLength = "altbeacon-length"
    case measuredPowerRange = "measured-power-range"

    case eddystoneUUIDListMissing = "eddystone-uuid-list-missing"
    case eddystoneUUIDListIncomplete = "eddystone-uuid-list-incomplete"
    case eddystoneFrameEmpty = "eddystone-frame-empty"
    case eddystoneFrameType = "eddystone-frame-type"
    case eddystoneFrameTypeLowBits = "eddystone-frame-type-low-bits"
    case eddystoneUIDLength = "eddystone-uid-length"
    case eddystoneUIDReserved = "eddystone-uid-reserved"
    case eddystoneURLLength = "eddystone-url-length"
    case eddystoneURLEmpty = "eddystone-url-empty"
    case eddystoneURLScheme = "eddystone-url-scheme"
    case eddystoneURLReservedCode = "eddystone-url-reserved-code"
    case eddystoneTLMVersion = "eddystone-tlm-version"
    case eddystoneTLMLength = "eddystone-tlm-length"
    case eddystoneEIDLength = "eddystone-eid-length"
    case eddystoneEIDMixed = "eddystone-eid-mixed"

    /// The document and section that the rule comes from.
    public var source: String {
        switch self {
        case .dataTooLong: "Core Specification 5.4, Vol 6 Part B 2.3.1"
        case .truncatedStructure, .nonzeroAfterTermination: "Core Specification 5.4, Vol 3 Part C 11"
        case .flagsDuplicated, .dataTypeDuplicated: "Core Specification Supplement, Part A 1, Table 1.1"
        case .flagsLength, .flagsReservedBits: "Core Specification Supplement, Part A 1.3"
        case .flagsBothDiscoverableModes: "Core Specification 5.4, Vol 3 Part C 9.2"
        case .uuidListLength: "Core Specification Supplement, Part A 1.1"
        case .localNameEncoding: "Core Specification Supplement, Part A 1.2"
        case .txPowerLevelLength, .txPowerLevelRange: "Core Specification Supplement, Part A 1.5"
        case .appearanceLength: "Core Specification Supplement, Part A 1.12"
        case .serviceDataLength: "Core Specification Supplement, Part A 1.11"
        case .manufacturerDataLength: "Core Specification Supplement, Part A 1.4"
        case .iBeaconLength: "Apple, Proximity Beacon Specification"
        case .altBeaconLength: "github AltBeacon/spec"
        case .measuredPowerRange:
            "Apple, Proximity Beacon Specification; github AltBeacon/spec; google/eddystone, tx power"
        case .eddystoneUUIDListMissing, .eddystoneUUIDListIncomplete, .eddystoneFrameEmpty, .eddystoneFrameType,
            .eddystoneFrameTypeLowBits:
            "github google/eddystone, protocol-specification.md"
        case .eddystoneUIDLength, .eddystoneUIDReserved: "github google/eddystone, eddystone-uid"
        case .eddystoneURLLength, .eddystoneURLEmpty, .eddystoneURLScheme, .eddystoneURLReservedCode:
            "github google/eddystone, eddystone-url"
        case .eddystoneTLMVersion, .eddystoneTLMLength: "github google/eddystone, eddystone-tlm"
        case .eddystoneEIDLength, .eddystoneEIDMixed: "github google/eddystone, eddystone-eid"
        }
    }
}
