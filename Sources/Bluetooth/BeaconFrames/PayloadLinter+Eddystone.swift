internal import BluetoothTypes

/// The facts about Eddystone that the rules for the whole payload need.
struct EddystoneSummary {
    /// Offset of the list of service UUIDs that holds 0xFEAA, and whether it is the complete one.
    var list: (offset: Int, isComplete: Bool)?
    /// Offset of the first structure with Eddystone service data.
    var firstFrame: Int?
    /// Offset of the first EID, and of the first frame that must not be combined with an EID.
    var firstEID: Int?
    var firstNotBesideEID: Int?
}

/// The rules of github google/eddystone.
extension PayloadLinter {
    mutating func noteEddystone(in list: ADElement) {
        if let known = eddystone.list, known.isComplete { return }
        for index in stride(from: list.data.lowerBound, to: list.data.upperBound - 1, by: 2)
        where octets.span.uint16LittleEndian(at: index) == Eddystone.serviceUUID {
            eddystone.list = (list.offset, list.type == .complete16BitUUIDs)
        }
    }

    /// `element` holds a 16-bit UUID at least.
    mutating func checkEddystone(_ element: ADElement) {
        guard octets.span.uint16LittleEndian(at: element.data.lowerBound) == Eddystone.serviceUUID else { return }
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
            if isLength(of: frame, EddystoneEID.frameLength, "EID", .eddystoneEIDLength, at: element.offset) {
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
        if eddystone.firstEID != nil, let other = eddystone.firstNotBesideEID {
            report(
                .eddystoneEIDMixed, at: other,
                "a frame of another type together with an EID reveals which beacon sends the ephemeral id")
        }
    }

    /// Only encrypted telemetry may be combined with an EID.
    private mutating func noteMixing(_ type: Eddystone.FrameType, frame: Range<Int>, at offset: Int) {
        let isEncrypted = type == .tlm && frame.count > 1 && octets[frame.lowerBound + 1] == 0x01
        if type == .eid {
            if eddystone.firstEID == nil { eddystone.firstEID = offset }
        } else if !isEncrypted, eddystone.firstNotBesideEID == nil {
            eddystone.firstNotBesideEID = offset
        }
    }

    private mutating func isLength(
        of frame: Range<Int>, _ length: Int, _ name: String, _ rule: LintRule, at offset: Int
    ) -> Bool {
        if frame.count == length { return true }
        let found = Hexadecimal.number(frame.count + 3, width: 2)
        report(
            rule, at: offset,
            "the structure of an Eddystone-\(name) has length \(Hexadecimal.number(length + 3, width: 2)), not \(found)"
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
        } else if isLength(of: frame, EddystoneUID.frameLength, "UID", .eddystoneUIDLength, at: offset) {
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
            return report(.eddystoneTLMLength, at: offset, "the Eddystone-TLM holds no version")
        }
        switch octets[frame.lowerBound + 1] {
        case 0x00:
            _ = isLength(of: frame, EddystoneTLM.frameLength, "TLM", .eddystoneTLMLength, at: offset)
        case 0x01:
            _ = isLength(
                of: frame, EddystoneEncryptedTLM.frameLength, "TLM, encrypted,", .eddystoneTLMLength, at: offset)
        case let version:
            report(
                .eddystoneTLMVersion, at: frame.lowerBound + 1,
                "Eddystone-TLM has versions 0 and 1 (encrypted), not \(version)")
        }
    }
}
