public import BeaconFrames
public import BluetoothTypes
public import Configuration
public import HCI
internal import Sightings

/// Advertising data from one record of a capture, or from several records that contain its pieces.
public struct CapturedPayload: Sendable {
    /// The origin of advertising data in a capture.
    public enum Source: Hashable, Sendable {
        /// A controller reported the data.
        case report(AdvertisingReport)
        /// A sniffer received the data.
        case received(AdvertisingReport)
        /// A host sent the command of this name. A malformed command may have no data; the payload is then empty.
        case command(String)
    }

    public let source: Source
    public let data: AdvertisingData
    /// The kind of packet with the data.
    public let container: AdvertisingContainer
    /// True if the receiver lost the end of the data.
    public let isCut: Bool
    /// The fault of the command with the data; `nil` if its length is right.
    public let commandFault: String?
    private let record: CaptureRecord

    fileprivate init(
        _ source: Source, _ data: AdvertisingData, in container: AdvertisingContainer, _ record: CaptureRecord,
        isCut: Bool = false, commandFault: String? = nil
    ) {
        self.source = source
        self.data = data
        self.container = container
        self.isCut = isCut
        self.commandFault = commandFault
        self.record = record
    }

    /// The address of the sender; `nil` for data that a host set.
    public var sender: DeviceAddress? {
        switch source {
        case .report(let report), .received(let report): report.address
        case .command: nil
        }
    }

    /// A line for the user: time, sender and level, or the command.
    public var headline: String {
        let time = time.map { "\($0)  " } ?? ""
        switch source {
        case .report(let report), .received(let report):
            let strength = report.rssi.map { "\($0) dBm" } ?? "strength unknown"
            return "\(time)\(report.address) (\(report.addressType))  \(strength)  \(report.type)"
                + (isCut ? ", the end of its data was lost" : "")
        case .command(let name): return "\(time)\(name)"
        }
    }

    /// The origin as members of a JSON object. They come before the members of the payload.
    public var members: [(String, JSONValue)] {
        let origin: [(String, JSONValue)] = [
            ("record", .integer(record.index + 1)), ("time", .optional(time) { .string($0) }),
            ("adapter", .optional(record.adapter) { .string("hci\($0)") }),
        ]
        switch source {
        case .report(let report): return origin + [("source", "report")] + Self.members(report)
        case .received(let report): return origin + [("source", "pdu")] + Self.members(report)
        case .command(let name): return origin + [("source", "command"), ("command", .string(name))]
        }
    }

    private static func members(_ report: AdvertisingReport) -> [(String, JSONValue)] {
        [
            ("address", .string(report.address.description)),
            ("addressType", .string(report.addressType.description)),
            ("reportType", .string(report.type.description)),
            ("rssi", .optional(report.rssi) { .integer(Int($0)) }),
        ]
    }

    /// The time as RFC 3339 text with microseconds; `nil` if the record has no time.
    private var time: String? {
        record.unixMicroseconds.map { RFC3339Time.text(microseconds: Int($0)) }
    }
}

/// Collects the advertising data of a capture, assembles data that arrived in pieces, and counts the records that could
/// not be decoded.
public struct CaptureTally: Sendable {
    /// The number of payloads so far.
    public private(set) var payloads = 0
    /// The number of records that the capturing program has shortened.
    private var shortenedRecords = 0
    private var malformedEvents = 0
    private var clock = RecordingClock()
    private var assembler = FragmentAssembler()
    /// The advertising sets that send legacy PDUs.
    private var legacySets: Set<SetKey> = []
    /// The data of commands whose last piece has not arrived.
    private var pieces: [PieceKey: [UInt8]] = [:]

    /// An advertising set of an adapter.
    private struct SetKey: Hashable {
        let adapter: UInt16?
        let handle: UInt8
    }

    private struct PieceKey: Hashable {
        let set: SetKey
        let opcode: HCIOpcode
    }

    /// Creates the tally of an empty capture.
    public init() {}

    /// Counts a record and returns the advertising data in it. If the record has the last piece of data, returns the
    /// whole data.
    public mutating func take(_ record: CaptureRecord) -> [CapturedPayload] {
        if record.isShortened { shortenedRecords += 1 }
        let collected = collect(record)
        payloads += collected.count
        return collected
    }

    private mutating func collect(_ record: CaptureRecord) -> [CapturedPayload] {
        switch record.content {
        case .advertisement(let report): collect([report], record) { .received($0) }
        case .hci(let packet) where packet.kind == .event: collect(event: packet, record)
        case .hci(let packet) where packet.kind == .command: command(packet, record).map { [$0] } ?? []
        case .hci, .unsupported, .other: []
        }
    }

    private mutating func collect(event packet: HCIPacket, _ record: CaptureRecord) -> [CapturedPayload] {
        do throws(HCIEventError) {
            switch try HCIEvent(octets: packet.octets.span) {
            case .advertisingReports(let reports), .extendedAdvertisingReports(let reports):
                return collect(reports, record) { .report($0) }
            default: return []
            }
        } catch {
            if packet.isAdvertisingReport, !record.isShortened { malformedEvents += 1 }
            return []
        }
    }

    private mutating func collect(
        _ reports: [AdvertisingReport], _ record: CaptureRecord, _ source: (AdvertisingReport) -> CapturedPayload.Source
    ) -> [CapturedPayload] {
        let now = clock.instant(unixMicroseconds: record.unixMicroseconds)
        var collected: [CapturedPayload] = []
        for report in reports {
            let sender =
                report.addressType == .anonymous
                ? nil : Sender(report.address, isRandom: report.addressType != .publicDevice)
            let octets = report.data.octets
            let outcome = assembler.take(
                .init(
                    sender: sender, isScanResponse: report.type.isScanResponse, setIdentifier: report.setIdentifier),
                .init(report.type.dataStatus), octets.span, octets.indices, at: now)
            guard outcome != .pending else { continue }
            let isWhole = outcome == .whole
            var container = AdvertisingContainer.extendedChain
            if report.type.isLegacyPDU {
                container = .legacyPDU
            } else if isWhole, case .received = source(report) {
                container = .extendedPDU
            }
            collected.append(
                CapturedPayload(
                    source(report), isWhole ? report.data : AdvertisingData(octets: assembler.assembled), in: container,
                    record, isCut: report.type.dataStatus != .complete))
        }
        return collected
    }

    /// Returns the data that a command sets; `nil` for commands of the right length that set no data, and for data
    /// whose last piece has not arrived.
    private mutating func command(_ packet: HCIPacket, _ record: CaptureRecord) -> CapturedPayload? {
        guard packet.octets.count >= 3, !record.isShortened else { return nil }
        let opcode = HCIOpcode(rawValue: packet.octets.span.uint16LittleEndian(at: 0))
        let parameters = Array(packet.octets.dropFirst(3))
        let description = HCICommandDescription.describe(opcode, parameters: parameters.span)
        var fault: String?
        if packet.octets[2] != UInt8(clamping: parameters.count) {
            fault =
                "the header of \(description.name) announces \(packet.octets[2]) bytes of parameters, "
                + "and \(parameters.count) follow"
        }
        func payload(_ data: [UInt8], _ container: AdvertisingContainer) -> CapturedPayload {
            CapturedPayload(
                .command(description.name), AdvertisingData(octets: data), in: container, record, commandFault: fault)
        }
        switch opcode {
        case LESetAdvertisingData.opcode, LESetScanResponseData.opcode:
            let length = Int(parameters.first ?? 0)
            if parameters.count != 32 {
                fault =
                    "\(description.name) has 32 bytes of parameters (the length and 31 bytes), not \(parameters.count)"
            } else if length > AdvertisingData.legacyLimit {
                fault = "the length byte of \(description.name) is \(length); it is at most 31"
            }
            return payload(Array(parameters.dropFirst().prefix(length)), .legacyPDU)
        case LESetExtendedAdvertisingData.opcode, LESetExtendedScanResponseData.opcode:
            let statedLength = parameters.count > 3 ? Int(parameters[3]) : 0
            if parameters.count != 4 + statedLength {
                fault =
                    "\(description.name) announces \(statedLength) bytes of data, so it has \(4 + statedLength) bytes "
                    + "of parameters, not \(parameters.count)"
            }
            guard parameters.count > 4 || fault != nil else { return nil }
            let set = SetKey(adapter: record.adapter, handle: parameters.first ?? 0)
            let key = PieceKey(set: set, opcode: opcode)
            let operation = AdvertisingDataOperation(rawValue: parameters.count > 1 ? parameters[1] : 0)
            let earlierPieces = operation == .firstFragment || operation == .complete ? [] : pieces[key] ?? []
            let data = earlierPieces + parameters.dropFirst(4).prefix(statedLength)
            pieces[key] = nil
            if operation == .firstFragment || operation == .intermediateFragment, fault == nil {
                // Longer data is dropped, so that a host that never sends the last piece cannot fill the memory.
                if data.count <= AdvertisingData.extendedLimit { pieces[key] = data }
                return nil
            }
            return payload(data, legacySets.contains(set) ? .legacyPDU : .extendedChain)
        case LESetExtendedAdvertisingParameters.opcode:
            if let command = LESetExtendedAdvertisingParameters(parameters: parameters.span) {
                let set = SetKey(adapter: record.adapter, handle: command.handle)
                if command.properties.contains(.legacyPDU) { legacySets.insert(set) } else { legacySets.remove(set) }
            }
        case LESetExtendedAdvertisingParametersV2.opcode:
            if let handle = parameters.first { legacySets.remove(SetKey(adapter: record.adapter, handle: handle)) }
        default: break
        }
        if fault == nil, !description.isWellFormed {
            fault = "\(parameters.count) bytes of parameters do not fit \(description.name)"
        }
        return fault == nil ? nil : payload([], .legacyPDU)
    }

    /// The contents of the capture that could not be decoded, one sentence for each kind: truncated packets, malformed
    /// events, and advertisements of which pieces are missing.
    public var warnings: [String] {
        var warnings: [String] = []
        if shortenedRecords > 0 {
            let what = shortenedRecords == 1 ? "1 record was" : "\(shortenedRecords) records were"
            warnings.append("\(what) shortened by the capturing program")
        }
        if malformedEvents > 0 {
            let what = malformedEvents == 1 ? "1 event has" : "\(malformedEvents) events have"
            warnings.append("\(what) a wrong length and could not be read")
        }
        let missing = assembler.incomplete + assembler.openCount + pieces.count
        if missing > 0 {
            let what = NumberFormat.count(missing, "extended advertisement")
            warnings.append("the last piece of \(what) is missing")
        }
        return warnings
    }
}
