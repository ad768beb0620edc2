public import BluetoothTypes

extension AdvertisingData {
    /// Returns the rules that the bytes break, in the order of the offsets of the wrong bytes.
    ///
    /// - Parameter container: The kind of packet that contained the data.
    public func lint(in container: AdvertisingContainer = .legacyPDU) -> [LintProblem] {
        var linter = PayloadLinter(octets, container)
        linter.checkStructures()
        return linter.sortedProblems
    }
}

/// Checks the AD structures one after the other and collects the problems.
struct PayloadLinter {
    let octets: [UInt8]
    private let container: AdvertisingContainer
    private var problems: [LintProblem] = []
    /// The AD types that may appear only once and have appeared already.
    private var seenTypes: Set<ADType> = []
    var eddystone = EddystoneSummary()

    init(_ octets: [UInt8], _ container: AdvertisingContainer = .legacyPDU) {
        self.octets = octets
        self.container = container
    }

    var sortedProblems: [LintProblem] { problems.sorted { $0.offset < $1.offset } }

    mutating func report(_ rule: LintRule, at offset: Int, _ message: String) {
        problems.append(LintProblem(rule, at: offset, message))
    }

    mutating func checkStructures() {
        let limit = container.limit
        if octets.count > limit {
            report(
                .dataTooLong, at: limit,
                "\(octets.count) bytes, \(octets.count - limit) over the \(limit) of \(container.name)")
        }
        var cursor = ADStructureCursor(octets.indices)
        while let element = cursor.next(in: octets.span) { check(element) }
        if cursor.isTruncated {
            report(
                .truncatedStructure, at: cursor.offset,
                "the length byte is \(octets[cursor.offset]), but the number of bytes after it is "
                    + "\(octets.count - cursor.offset - 1)"
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
            if !reportIfShort(element, minimum: 2, rule: .serviceDataLength) {
                checkEddystone(element)
                checkBTHome(element)
            }
        case .serviceData32: _ = reportIfShort(element, minimum: 4, rule: .serviceDataLength)
        case .serviceData128: _ = reportIfShort(element, minimum: 16, rule: .serviceDataLength)
        case .manufacturerData:
            if !reportIfShort(element, minimum: 2, rule: .manufacturerDataLength) { checkManufacturerData(data) }
        default: break
        }
    }

    /// Reports a structure that is too short for its identifier. Returns true if it is too short.
    private mutating func reportIfShort(_ element: ADElement, minimum: Int, rule: LintRule) -> Bool {
        guard element.data.count < minimum else { return false }
        report(
            rule, at: element.offset,
            "\(element.type.name) needs \(minimum) bytes for its identifier, but has only \(element.data.count)"
        )
        return true
    }

    /// Reports a type that appears again although it may appear only once. The two types of local name count as one
    /// type.
    private mutating func checkDuplicates(_ element: ADElement) {
        let type = element.type == .shortenedLocalName ? .completeLocalName : element.type
        guard type == .flags || type == .completeLocalName || type == .appearance else { return }
        // A scan record contains two packets: each may contain a name and an appearance, but only the first may contain
        // Flags.
        guard type == .flags || container != .androidScanRecord else { return }
        guard !seenTypes.insert(type).inserted else { return }
        report(
            type == .flags ? .flagsDuplicated : .dataTypeDuplicated, at: element.offset,
            "\(element.type.name) may appear only once, and the data contains one already")
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
                "limited and general discoverable mode are both set, but only one is allowed")
        }
    }

    private mutating func checkUUIDList(_ element: ADElement, size: Int) {
        guard !element.data.count.isMultiple(of: size) else { return }
        report(
            .uuidListLength, at: element.offset,
            "\(element.data.count) bytes are not a whole number of \(8 * size)-bit UUIDs")
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

/// Checks the rules of iBeacon and AltBeacon.
extension PayloadLinter {
    /// Checks manufacturer data. `data` must contain at least the company identifier.
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
        let lengthOffset = data.lowerBound + 3
        if data.contains(lengthOffset), octets[lengthOffset] != 0x15 {
            report(
                .iBeaconLength, at: lengthOffset,
                "an iBeacon's length field is 0x15, not \(Hexadecimal.number(octets[lengthOffset], width: 2))")
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

/// A rule that a payload breaks, and the offset of the byte that breaks it.
public struct LintProblem: Hashable, Sendable, CustomStringConvertible {
    public let rule: LintRule
    /// The position of the first wrong byte in the advertising data, from 0; the length of the data if bytes are
    /// missing at the end.
    public let offset: Int
    /// One sentence about what the payload contains and what it should contain.
    public let message: String

    /// A problem at an offset in the advertising data, from 0, with its message.
    public init(_ rule: LintRule, at offset: Int, _ message: String) {
        self.rule = rule
        self.offset = offset
        self.message = message
    }

    /// The source of the rule.
    public var source: String { rule.source }

    /// The offset, the message and the source on one line.
    public var description: String { "byte \(offset): \(message) (\(source))" }
}

/// The rules that `AdvertisingData.lint(in:)` checks, and ``hciCommandLength``, which applies to an HCI command that
/// contains advertising data. The raw value is the name in JSON.
public enum LintRule: String, Hashable, Sendable, CaseIterable {
    case dataTooLong = "data-too-long"
    case truncatedStructure = "truncated-structure"
    case nonzeroAfterTermination = "nonzero-after-termination"

    case hciCommandLength = "hci-command-length"

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
        case .hciCommandLength: "Core Specification 5.4, Vol 4 Part E 7.8"
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

/// Offsets of Eddystone structures, for the rules that concern the whole payload and not a single structure.
struct EddystoneSummary {
    /// The list of service UUIDs that contains 0xFEAA: its offset, and true if it has the type for a complete list.
    var list: (offset: Int, isComplete: Bool)?
    /// The offset of the first structure with Eddystone service data.
    var firstFrame: Int?
    /// The offset of the first structure with an Eddystone-EID.
    var firstEID: Int?
    /// The offset of the first structure with a frame that must not be combined with an Eddystone-EID.
    var firstIncompatibleWithEID: Int?
}

/// Checks the rules of Eddystone (github google/eddystone).
extension PayloadLinter {
    mutating func noteEddystone(in list: ADElement) {
        if let known = eddystone.list, known.isComplete { return }
        for index in stride(from: list.data.lowerBound, to: list.data.upperBound - 1, by: 2)
        where octets.span.uint16LittleEndian(at: index) == Eddystone.serviceUUID {
            eddystone.list = (list.offset, list.type == .complete16BitUUIDs)
        }
    }

    /// Checks service data. `element` must contain at least a 16-bit UUID.
    mutating func checkEddystone(_ element: ADElement) {
        guard octets.span.uint16LittleEndian(at: element.data.lowerBound) == Eddystone.serviceUUID else { return }
        if let type = element.data.dropFirst(2).first, FindHub.FrameType(rawValue: octets[type]) != nil { return }
        if eddystone.firstFrame == nil { eddystone.firstFrame = element.offset }
        let frame = element.data.lowerBound + 2..<element.data.upperBound
        guard let octet = frame.first.map({ octets[$0] }) else {
            return report(.eddystoneFrameEmpty, at: element.offset, "the Eddystone service data contains no frame")
        }
        guard let type = Eddystone.FrameType(rawValue: octet & 0xF0) else {
            return report(
                .eddystoneFrameType, at: frame.lowerBound,
                "Eddystone has no frame type \(Hexadecimal.number(octet, width: 2))")
        }
        if octet & 0x0F != 0 {
            report(
                .eddystoneFrameTypeLowBits, at: frame.lowerBound,
                "the low four bits of frame type \(Hexadecimal.number(octet, width: 2)) must be 0")
        }
        noteMixing(type, frame: frame, at: element.offset)
        switch type {
        case .uid: checkUID(frame, at: element.offset)
        case .url: checkURL(frame, at: element.offset)
        case .tlm: checkTLM(frame, at: element.offset)
        case .eid:
            if checkLength(of: frame, EddystoneEID.frameLength, "EID", .eddystoneEIDLength, at: element.offset) {
                checkPowerAtZeroMeters(at: frame.lowerBound + 1)
            }
        }
    }

    mutating func checkEddystoneAsAWhole() {
        if let frame = eddystone.firstFrame {
            if let list = eddystone.list {
                if !list.isComplete {
                    report(
                        .eddystoneUUIDListIncomplete, at: list.offset,
                        "Eddystone requires the complete list of 16-bit UUIDs (03); this list is incomplete (02)")
                }
            } else {
                report(
                    .eddystoneUUIDListMissing, at: frame,
                    "Eddystone service data needs a list of 16-bit UUIDs with 0xFEAA (03 03 AA FE) before it")
            }
        }
        if eddystone.firstEID != nil, let other = eddystone.firstIncompatibleWithEID {
            report(
                .eddystoneEIDMixed, at: other,
                "a frame of another type together with an EID reveals which beacon sends the ephemeral id")
        }
    }

    /// Stores the offsets of the first EID and of the first frame that must not be combined with an EID. Encrypted
    /// telemetry may be combined with an EID, all other frames may not.
    private mutating func noteMixing(_ type: Eddystone.FrameType, frame: Range<Int>, at offset: Int) {
        let isEncrypted = type == .tlm && frame.count > 1 && octets[frame.lowerBound + 1] == 0x01
        if type == .eid {
            if eddystone.firstEID == nil { eddystone.firstEID = offset }
        } else if !isEncrypted, eddystone.firstIncompatibleWithEID == nil {
            eddystone.firstIncompatibleWithEID = offset
        }
    }

    /// Reports a frame that does not have `length` bytes. Returns true if the frame has this length.
    private mutating func checkLength(
        of frame: Range<Int>, _ length: Int, _ name: String, _ rule: LintRule, at offset: Int
    ) -> Bool {
        if frame.count == length { return true }
        let actual = Hexadecimal.number(frame.count + 3, width: 2)
        report(
            rule, at: offset,
            "the structure of an Eddystone-\(name) has length \(Hexadecimal.number(length + 3, width: 2)), not \(actual)"
        )
        return false
    }

    private mutating func checkPowerAtZeroMeters(at offset: Int) {
        let power = MeasuredPowerAtZeroMeters(octet: octets[offset])
        guard !power.isInRange else { return }
        report(.measuredPowerRange, at: offset, "a measured power of \(power) is out of range -100...20 dBm")
    }

    private mutating func checkUID(_ frame: Range<Int>, at offset: Int) {
        if frame.count == EddystoneUID.frameLengthWithoutReserved {
            report(.eddystoneUIDLength, at: offset, "the two reserved bytes that end an Eddystone-UID are missing")
            checkPowerAtZeroMeters(at: frame.lowerBound + 1)
        } else if checkLength(of: frame, EddystoneUID.frameLength, "UID", .eddystoneUIDLength, at: offset) {
            checkPowerAtZeroMeters(at: frame.lowerBound + 1)
            for index in frame.suffix(2) where octets[index] != 0 {
                report(.eddystoneUIDReserved, at: index, "the byte is reserved for future use and must be 0")
            }
        }
    }

    private mutating func checkURL(_ frame: Range<Int>, at offset: Int) {
        guard frame.count >= EddystoneURL.headerLength else {
            return report(
                .eddystoneURLLength, at: offset,
                "an Eddystone-URL contains a measured power, a scheme and a URL; this one has only "
                    + "\(frame.count) bytes")
        }
        checkPowerAtZeroMeters(at: frame.lowerBound + 1)
        let scheme = octets[frame.lowerBound + 2]
        if Int(scheme) >= CompressedURL.schemes.count {
            report(
                .eddystoneURLScheme, at: frame.lowerBound + 2,
                "URL scheme \(Hexadecimal.number(scheme, width: 2)) is reserved")
        }
        let url = frame.dropFirst(EddystoneURL.headerLength)
        if url.isEmpty {
            report(.eddystoneURLEmpty, at: frame.upperBound, "nothing follows the URL's scheme")
        }
        if url.count > CompressedURL.limit {
            report(
                .eddystoneURLLength, at: url.startIndex + CompressedURL.limit,
                "the encoded URL has \(url.count) bytes, \(url.count - CompressedURL.limit) more than "
                    + "\(CompressedURL.limit)")
        }
        for index in url where CompressedURL.text(of: octets[index]) == nil {
            report(
                .eddystoneURLReservedCode, at: index,
                "URL code \(Hexadecimal.number(octets[index], width: 2)) is reserved")
        }
    }

    private mutating func checkTLM(_ frame: Range<Int>, at offset: Int) {
        guard frame.count > 1 else {
            return report(.eddystoneTLMLength, at: offset, "the Eddystone-TLM contains no version")
        }
        switch octets[frame.lowerBound + 1] {
        case 0x00:
            _ = checkLength(of: frame, EddystoneTLM.frameLength, "TLM", .eddystoneTLMLength, at: offset)
        case 0x01:
            _ = checkLength(
                of: frame, EddystoneEncryptedTLM.frameLength, "TLM, encrypted,", .eddystoneTLMLength, at: offset)
        case let version:
            report(
                .eddystoneTLMVersion, at: frame.lowerBound + 1,
                "Eddystone-TLM has versions 0 and 1 (encrypted), not \(version)")
        }
    }
}
