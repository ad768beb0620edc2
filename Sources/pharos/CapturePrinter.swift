internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import HCI
internal import LinuxHost

/// Prints what a btsnoop file holds of advertising: reports that were heard, and data that was set.
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
    /// - Throws: when the file cannot be followed to its end; what came before has been printed.
    func print(_ file: [UInt8]) throws -> Bool {
        var isClean = true
        var payloads = 0
        var shortened = 0
        do {
            var cursor = try BTSnoopCursor(file.span)
            // Whoever reads this has perhaps seen enough.
            while !Terminal.outputIsGone, let record = try cursor.next(in: file.span) {
                if record.isShortened { shortened += 1 }
                guard let packet = record.packet(in: file.span) else { continue }
                for payload in advertisingData(in: packet) {
                    payloads += 1
                    isClean = show(payload, record) && isClean
                }
            }
        } catch {
            warn(ofShortened: shortened)
            throw Failure(.dataFormat, "\(name): \(error)")
        }
        warn(ofShortened: shortened)
        if payloads == 0 && !printer.json { Terminal.write("no advertising data in this capture\n") }
        return isClean
    }

    /// What a capturing program has cut off cannot be decoded.
    private func warn(ofShortened count: Int) {
        guard count > 0 else { return }
        let what = count == 1 ? "1 record was" : "\(count) records were"
        Terminal.writeError("pharos: \(name): \(what) shortened by the capturing program\n")
    }

    /// Advertising data on its way to or from a controller.
    private enum Payload {
        case report(AdvertisingReport)
        case command(String, AdvertisingData)
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

    private func show(_ payload: Payload, _ record: BTSnoopRecord) -> Bool {
        let time = Self.time(record.unixMicroseconds)
        let place: [(String, JSONValue)] = [
            ("record", .integer(record.index)), ("time", .string(time)),
            ("adapter", .optional(record.adapter) { .string("hci\($0)") }),
        ]
        switch payload {
        case .report(let report):
            if !printer.json {
                Terminal.write(
                    "\(time)  \(report.address) (\(report.addressType))  \(report.rssi) dBm  \(report.type)\n")
            }
            return printer.print(
                AdvertisingData(octets: report.data),
                facts: place + [
                    ("source", .string("report")), ("address", .string(report.address.description)),
                    ("addressType", .string(report.addressType.description)),
                    ("reportType", .string(report.type.description)), ("rssi", .integer(Int(report.rssi))),
                ], indent: "    ")
        case .command(let name, let data):
            if !printer.json { Terminal.write("\(time)  \(name)\n") }
            return printer.print(
                data, facts: place + [("source", .string("command")), ("command", .string(name))], indent: "    ")
        }
    }

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
