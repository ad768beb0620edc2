public import BluetoothTypes
public import Configuration
public import HCI

/// Advertising data in a record of a capture.
public struct CapturedPayload: Sendable {
    /// The origin of advertising data in a capture.
    public enum Source: Hashable, Sendable {
        /// A controller reported it.
        case report(AdvertisingReport)
        /// A sniffer received it.
        case received(AdvertisingReport)
        /// A host set it with the command of this name.
        case command(String)
    }

    public let source: Source
    public let data: AdvertisingData
    private let record: CaptureRecord

    private init(_ source: Source, _ data: AdvertisingData, _ record: CaptureRecord) {
        self.source = source
        self.data = data
        self.record = record
    }

    /// Returns all advertising data in a record, in order. Most records contain none.
    public static func all(in record: CaptureRecord) -> [CapturedPayload] {
        switch record.content {
        case .hci(let packet): all(in: packet, record)
        case .advertisement(let report): [CapturedPayload(.received(report), report.data, record)]
        case .unsupported, .other: []
        }
    }

    private static func all(in packet: HCIPacket, _ record: CaptureRecord) -> [CapturedPayload] {
        switch packet.kind {
        case .event:
            switch try? HCIEvent(octets: packet.octets.span) {
            case .advertisingReports(let reports), .extendedAdvertisingReports(let reports):
                return reports.map { CapturedPayload(.report($0), $0.data, record) }
            default: return []
            }
        case .command:
            guard let (name, octets) = setData(packet) else { return [] }
            return [CapturedPayload(.command(name), AdvertisingData(octets: octets), record)]
        case .acl, .sco, .iso: return []
        }
    }

    /// Returns the name of the command and the data that it sets; `nil` for other packets.
    private static func setData(_ packet: HCIPacket) -> (name: String, data: [UInt8])? {
        if let command = LESetAdvertisingData(packet) { return (LESetAdvertisingData.name, command.data) }
        if let command = LESetScanResponseData(packet) { return (LESetScanResponseData.name, command.data) }
        if let command = LESetExtendedAdvertisingData(packet) {
            return (LESetExtendedAdvertisingData.name, command.data)
        }
        if let command = LESetExtendedScanResponseData(packet) {
            return (LESetExtendedScanResponseData.name, command.data)
        }
        return nil
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
        let time = time ?? "time unknown"
        switch source {
        case .report(let report), .received(let report):
            let strength = report.rssi.map { "\($0) dBm" } ?? "strength unknown"
            return "\(time)  \(report.address) (\(report.addressType))  \(strength)  \(report.type)"
        case .command(let name): return "\(time)  \(name)"
        }
    }

    /// The origin as members of a JSON object, which precede those of the payload.
    public var members: [(String, JSONValue)] {
        let place: [(String, JSONValue)] = [
            ("record", .integer(record.index)), ("time", .optional(time) { .string($0) }),
            ("adapter", .optional(record.adapter) { .string("hci\($0)") }),
        ]
        switch source {
        case .report(let report): return place + [("source", "report")] + Self.members(report)
        case .received(let report): return place + [("source", "pdu")] + Self.members(report)
        case .command(let name): return place + [("source", "command"), ("command", .string(name))]
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
        record.unixMicroseconds.map { microseconds in
            let (seconds, rest) = Int(microseconds).quotientAndRemainder(dividingBy: 1_000_000)
            let fraction = rest < 0 ? rest + 1_000_000 : rest
            let whole = RFC3339Time(secondsSince1970: rest < 0 ? seconds - 1 : seconds).description
            return whole.dropLast() + "." + String(1_000_000 + fraction).dropFirst() + "Z"
        }
    }
}

extension HCICommand {
    /// Decodes the command in `packet`; `nil` if it is another command or malformed.
    fileprivate init?(_ packet: HCIPacket) {
        guard let header = packet.commandHeader, header.opcode == Self.opcode else { return nil }
        self.init(parameters: Array(packet.octets[header.parameters]).span)
    }
}

/// Counts the contents of a capture.
public struct CaptureTally: Hashable, Sendable {
    /// The number of advertising data found.
    public private(set) var payloads = 0
    private var shortened = 0
    /// The number of packets of interfaces whose link type cannot be read, and the first such type.
    private var unsupported = 0
    private var link: UInt32 = 0

    /// A tally of an empty capture.
    public init() {}

    /// Counts a record and returns the advertising data in it.
    public mutating func take(_ record: CaptureRecord) -> [CapturedPayload] {
        if record.isShortened { shortened += 1 }
        if case .unsupported(let link) = record.content {
            if unsupported == 0 { self.link = link }
            unsupported += 1
        }
        let found = CapturedPayload.all(in: record)
        payloads += found.count
        return found
    }

    /// The contents that could not be decoded, one sentence each: truncated packets and unsupported link types.
    public var warnings: [String] {
        var warnings: [String] = []
        if shortened > 0 {
            let what = shortened == 1 ? "1 record was" : "\(shortened) records were"
            warnings.append("\(what) shortened by the capturing program")
        }
        if unsupported > 0 {
            let what = unsupported == 1 ? "1 packet is" : "\(unsupported) packets are"
            warnings.append("\(what) of a link type that is not read, such as \(link)")
        }
        return warnings
    }
}
