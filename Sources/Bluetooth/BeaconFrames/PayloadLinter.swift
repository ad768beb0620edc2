public import BluetoothTypes

extension AdvertisingData {
    /// The rules that the bytes break, in the order of their offsets.
    ///
    /// - Parameter limit: How many bytes the advertisement may hold: 31 for the legacy PDUs.
    public func lint(limit: Int = AdvertisingData.legacyLimit) -> [LintProblem] {
        var linter = PayloadLinter(octets)
        linter.checkStructures(limit: limit)
        return linter.sortedProblems
    }
}

/// Checks the AD structures one after the other and collects the problems.
struct PayloadLinter {
    let octets: [UInt8]
    private var problems: [LintProblem] = []
    /// The types that may appear only once and have appeared.
    private var seenOnce: Set<ADType> = []
    var eddystone = EddystoneSummary()

    init(_ octets: [UInt8]) {
        self.octets = octets
    }

    var sortedProblems: [LintProblem] { problems.sorted { $0.offset < $1.offset } }

    mutating func report(_ rule: LintRule, at offset: Int, _ message: String) {
        problems.append(LintProblem(rule, at: offset, message))
    }

    mutating func checkStructures(limit: Int) {
        if octets.count > limit {
            report(.dataTooLong, at: max(limit, 0), "\(octets.count) bytes, \(octets.count - limit) over \(limit)")
        }
        var cursor = ADStructureCursor(octets.indices)
        while let element = cursor.next(in: octets.span) { check(element) }
        if cursor.isTruncated {
            report(
                .truncatedStructure, at: cursor.offset,
                "the structure claims \(octets[cursor.offset]) bytes, but \(octets.count - cursor.offset - 1) are left"
            )
        } else if let stray = octets[cursor.offset...].firstIndex(where: { $0 != 0 }) {
            report(.nonzeroAfterTermination, at: stray, "a byte after the early termination is not zero")
        }
        checkEddystoneAsAWhole()
    }

    private mutating func check(_ element: ADElement) {
        let data = element.data
        checkDuplicates(element)
        switch element.type {
        case .flags: checkFlags(element)
        case .incomplete16BitUUIDs, .complete16BitUUIDs:
            checkUUIDList(element, size: 2)
            noteEddystone(in: element)
        case .incomplete32BitUUIDs, .complete32BitUUIDs: checkUUIDList(element, size: 4)
        case .incomplete128BitUUIDs, .complete128BitUUIDs: checkUUIDList(element, size: 16)
        case .shortenedLocalName, .completeLocalName:
            if String(validating: octets[data], as: UTF8.self) == nil {
                report(.localNameEncoding, at: data.lowerBound, "the local name is not UTF-8")
            }
        case .txPowerLevel: checkRadioPower(element)
        case .appearance:
            if data.count != 2 {
                report(.appearanceLength, at: element.offset, "an appearance has 2 bytes, not \(data.count)")
            }
        case .serviceData16:
            if !isShort(element, minimum: 2, rule: .serviceDataLength) {
                checkEddystone(element)
                checkBTHome(element)
            }
        case .serviceData32: _ = isShort(element, minimum: 4, rule: .serviceDataLength)
        case .serviceData128: _ = isShort(element, minimum: 16, rule: .serviceDataLength)
        case .manufacturerData:
            if !isShort(element, minimum: 2, rule: .manufacturerDataLength) { checkManufacturerData(data) }
        default: break
        }
    }

    private mutating func isShort(_ element: ADElement, minimum: Int, rule: LintRule) -> Bool {
        guard element.data.count < minimum else { return false }
        report(
            rule, at: element.offset,
            "\(element.type.name) starts with \(minimum) bytes of identifier, and only \(element.data.count) are there"
        )
        return true
    }

    /// Types that may appear only once; the two kinds of local name count as one.
    private mutating func checkDuplicates(_ element: ADElement) {
        let type = element.type == .shortenedLocalName ? .completeLocalName : element.type
        guard type == .flags || type == .completeLocalName || type == .appearance else { return }
        guard !seenOnce.insert(type).inserted else { return }
        report(
            type == .flags ? .flagsDuplicated : .dataTypeDuplicated, at: element.offset,
            "\(element.type.name) may appear only once, and there is one before")
    }

    private mutating func checkFlags(_ element: ADElement) {
        if element.data.count != 1 {
            report(.flagsLength, at: element.offset, "Flags have 1 byte, not \(element.data.count)")
        }
        guard let offset = element.data.first else { return }
        if octets[offset] & 0xE0 != 0 {
            report(.flagsReservedBits, at: offset, "bits 5...7 of the Flags are reserved and must be 0")
        }
        if octets[offset] & 0x03 == 0x03 {
            report(
                .flagsBothDiscoverableModes, at: offset,
                "limited and general discoverable mode exclude each other, and both are set")
        }
    }

    private mutating func checkUUIDList(_ element: ADElement, size: Int) {
        guard !element.data.count.isMultiple(of: size) else { return }
        report(
            .uuidListLength, at: element.offset,
            "\(element.data.count) bytes are no whole number of \(8 * size)-bit UUIDs")
    }

    private mutating func checkRadioPower(_ element: ADElement) {
        guard element.data.count == 1, let offset = element.data.first else {
            return report(
                .txPowerLevelLength, at: element.offset,
                "a TX power level has 1 byte, not \(element.data.count)")
        }
        if octets[offset] == 0x80 {
            report(.txPowerLevelRange, at: offset, "a TX power level of -128 dBm is out of range -127...127 dBm")
        }
    }
}

/// The rules of iBeacon and AltBeacon.
extension PayloadLinter {
    /// `data` holds the company identifier at least.
    mutating func checkManufacturerData(_ data: Range<Int>) {
        let content = data.dropFirst(2)
        guard let first = content.first else { return }
        let company = octets.span.uint16LittleEndian(at: data.lowerBound)
        let second = content.count > 1 ? octets[first + 1] : nil
        if company == IBeacon.companyID, octets[first] == 0x02 {
            checkIBeacon(data)
        } else if octets[first] == 0xBE, second == 0xAC {
            checkAltBeacon(data)
        }
    }

    private mutating func checkIBeacon(_ data: Range<Int>) {
        let length = data.lowerBound + 3
        if data.contains(length), octets[length] != 0x15 {
            report(
                .iBeaconLength, at: length,
                "an iBeacon's length field is 0x15, not \(Hexadecimal.number(octets[length], width: 2))")
        } else if data.count != IBeacon.manufacturerDataLength {
            report(
                .iBeaconLength, at: data.lowerBound - 2,
                "an iBeacon's structure has length 0x1A, not \(Hexadecimal.number(data.count + 1, width: 2))")
        } else {
            checkPowerAtOneMeter(at: data.upperBound - 1)
        }
    }

    private mutating func checkAltBeacon(_ data: Range<Int>) {
        if data.count != AltBeacon.manufacturerDataLength {
            report(
                .altBeaconLength, at: data.lowerBound - 2,
                "an AltBeacon's structure has length 0x1B, not \(Hexadecimal.number(data.count + 1, width: 2))")
        } else {
            checkPowerAtOneMeter(at: data.upperBound - 2)
        }
    }

    private mutating func checkPowerAtOneMeter(at offset: Int) {
        let power = MeasuredPowerAtOneMeter(octet: octets[offset])
        guard !power.isInRange else { return }
        report(.measuredPowerRange, at: offset, "a measured power of \(power) is out of range -127...0 dBm")
    }
}

/// A rule that a payload breaks, and where.
public struct LintProblem: Hashable, Sendable, CustomStringConvertible {
    public let rule: LintRule
    /// Position of the first wrong byte in the advertising data, from 0; the length of the data if something is missing
    /// at the end.
    public let offset: Int
    /// One sentence: what is there and what should be.
    public let message: String

    /// A problem at an offset in the advertising data, from 0, with its sentence.
    public init(_ rule: LintRule, at offset: Int, _ message: String) {
        self.rule = rule
        self.offset = offset
        self.message = message
    }

    /// The source of the rule.
    public var source: String { rule.source }

    /// Offset, sentence and source on one line.
    public var description: String { "byte \(offset): \(message) (\(source))" }
}

/// The rules that `AdvertisingData.lint(limit:)` checks. The raw value is the name in JSON.
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

    case btHomeInformation = "bthome-device-information"
    case btHomeLength = "bthome-length"
    case btHomeObject = "bthome-object"
    case btHomeOrder = "bthome-order"
    case btHomeValue = "bthome-value"

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
        case .btHomeInformation, .btHomeLength, .btHomeObject, .btHomeOrder, .btHomeValue: "bthome.io/format"
        }
    }
}
