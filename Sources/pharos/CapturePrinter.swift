internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import HCI
internal import LinuxHost
internal import ListenerService

/// Prints what a capture holds of advertising: reports that were heard, and data that was set.
struct CapturePrinter {
    private let printer: PayloadPrinter
    private let name: String

    /// - Parameter name: the file's, for errors.
    init(_ printer: PayloadPrinter, name: String) {
        self.printer = printer
        self.name = name
    }

    /// Returns whether no payload breaks a rule.
    ///
    /// - Parameter start: what has been read of `pieces` already.
    /// - Throws: when the capture cannot be followed to its end; what came before has been printed.
    func print(_ start: [UInt8], _ pieces: InputPieces) throws -> Bool {
        var tally = Tally()
        var reader = CaptureReader()
        var piece = start
        do {
            // Whoever reads this has perhaps seen enough.
            while !Terminal.outputIsGone {
                if piece.isEmpty { reader.finish() } else { reader.push(piece) }
                while let record = try reader.next(), !Terminal.outputIsGone { show(record, &tally) }
                if piece.isEmpty { break }
                piece = try pieces.next()
            }
        } catch let error as CaptureError {
            warn(tally)
            throw Failure(.dataFormat, "\(name): \(error)")
        }
        warn(tally)
        if tally.payloads == 0 && !printer.json { Terminal.write("no advertising data in this capture\n") }
        return tally.isClean
    }

    /// What was found so far.
    private struct Tally {
        var payloads = 0
        var isClean = true
        var shortened = 0
        /// Packets of interfaces whose link type is not read, and the first such type.
        var unsupported = 0
        var link: UInt32 = 0
    }

    private func show(_ record: CaptureRecord, _ tally: inout Tally) {
        if record.isShortened { tally.shortened += 1 }
        if case .unsupported(let link) = record.content {
            if tally.unsupported == 0 { tally.link = link }
            tally.unsupported += 1
        }
        for payload in advertisingData(in: record) {
            tally.payloads += 1
            tally.isClean = show(payload, record) && tally.isClean
        }
    }

    /// Tells of what could not be decoded: packets cut off by a capturing program, and packets of other kinds.
    private func warn(_ tally: Tally) {
        if tally.shortened > 0 {
            let what = tally.shortened == 1 ? "1 record was" : "\(tally.shortened) records were"
            Terminal.writeError("pharos: \(name): \(what) shortened by the capturing program\n")
        }
        if tally.unsupported > 0 {
            let what = tally.unsupported == 1 ? "1 packet is" : "\(tally.unsupported) packets are"
            Terminal.writeError(
                "pharos: \(name): \(what) of a link type that is not read, such as \(tally.link)\n")
        }
    }

    /// Advertising data on its way to or from a controller.
    private enum Payload {
        case report(AdvertisingReport)
        /// As a sniffer received it, without a controller between.
        case received(AdvertisingReport)
        case command(String, AdvertisingData)
    }

    private func advertisingData(in record: CaptureRecord) -> [Payload] {
        switch record.content {
        case .hci(let packet): advertisingData(in: packet)
        case .advertisement(let report): [.received(report)]
        case .unsupported, .other: []
        }
    }

    private func advertisingData(in packet: HCIPacket) -> [Payload] {
        switch packet.kind {
        case .event:
            switch try? HCIEvent(octets: packet.octets.span) {
            case .advertisingReports(let reports), .extendedAdvertisingReports(let reports):
                return reports.map(Payload.report)
            default: return []
            }
        case .command:
            return command(packet).map { [$0] } ?? []
        case .acl, .sco, .iso:
            return []
        }
    }

    private func command(_ packet: HCIPacket) -> Payload? {
        if let command = LESetAdvertisingData(packet) {
            return .command(LESetAdvertisingData.name, AdvertisingData(octets: command.data))
        }
        if let command = LESetScanResponseData(packet) {
            return .command(LESetScanResponseData.name, AdvertisingData(octets: command.data))
        }
        if let command = LESetExtendedAdvertisingData(packet) {
            return .command(LESetExtendedAdvertisingData.name, AdvertisingData(octets: command.data))
        }
        if let command = LESetExtendedScanResponseData(packet) {
            return .command(LESetExtendedScanResponseData.name, AdvertisingData(octets: command.data))
        }
        return nil
    }

    private func show(_ payload: Payload, _ record: CaptureRecord) -> Bool {
        let time = record.unixMicroseconds.map(Self.time)
        let place: [(String, JSONValue)] = [
            ("record", .integer(record.index)), ("time", .optional(time) { .string($0) }),
            ("adapter", .optional(record.adapter) { .string("hci\($0)") }),
        ]
        switch payload {
        case .report(let report): return show(report, "report", time, place)
        case .received(let report): return show(report, "pdu", time, place)
        case .command(let name, let data):
            if !printer.json { Terminal.write("\(time ?? Self.noTime)  \(name)\n") }
            return printer.print(
                data, facts: place + [("source", .string("command")), ("command", .string(name))], indent: "    ")
        }
    }

    private func show(
        _ report: AdvertisingReport, _ source: String, _ time: String?, _ place: [(String, JSONValue)]
    ) -> Bool {
        if !printer.json {
            let strength = report.rssi.map { "\($0) dBm" } ?? "strength unknown"
            let sender = "\(report.address) (\(report.addressType))"
            Terminal.write("\(time ?? Self.noTime)  \(sender)  \(strength)  \(report.type)\n")
        }
        return printer.print(
            report.data,
            facts: place + [
                ("source", .string(source)), ("address", .string(report.address.description)),
                ("addressType", .string(report.addressType.description)),
                ("reportType", .string(report.type.description)),
                ("rssi", .optional(report.rssi) { .integer(Int($0)) }),
            ], indent: "    ")
    }

    private static let noTime = "time unknown"

    /// RFC 3339 with microseconds.
    private static func time(_ microseconds: Int64) -> String {
        let (seconds, rest) = Int(microseconds).quotientAndRemainder(dividingBy: 1_000_000)
        let fraction = rest < 0 ? rest + 1_000_000 : rest
        let whole = RFC3339Time(secondsSince1970: rest < 0 ? seconds - 1 : seconds).description
        return whole.dropLast() + "." + String(1_000_000 + fraction).dropFirst() + "Z"
    }
}

extension HCICommand {
    /// The command in `packet`; `nil` when it is another one, or malformed.
    fileprivate init?(_ packet: HCIPacket) {
        guard let header = packet.commandHeader, header.opcode == Self.opcode else { return nil }
        self.init(parameters: Array(packet.octets[header.parameters]).span)
    }
}
