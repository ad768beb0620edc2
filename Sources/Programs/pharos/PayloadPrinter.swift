public import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import HCI
internal import LinuxHost
public import Listener

extension PayloadFormat: ExpressibleByArgument {
    public static var allValueStrings: [String] { allCases.map { $0.rawValue } }
    public static var allValueDescriptions: [String: String] { [:] }
    public var defaultValueDescription: String { rawValue }
}

/// Prints payloads as text or JSON.
struct PayloadPrinter {
    let json: Bool
    let lint: Bool
    let explain: Bool
    let opener: TelemetryOpener?

    /// Prints a payload, and returns whether it breaks no rule.
    ///
    /// - Parameters:
    ///   - facts: Members about the packet with the payload, for JSON.
    ///   - sender: The sender of the packet, if known.
    func print(
        _ data: AdvertisingData, facts: [(String, JSONValue)] = [], sender: DeviceAddress? = nil, indent: String = ""
    ) -> Bool {
        let description = PayloadDescription(data, opener: sender.flatMap { opener?.from($0) } ?? opener)
        Terminal.write(
            json
                ? JSONValue.record(facts + description.members).line + "\n"
                : description.lines(lint: lint, explain: explain).map { indent + $0 + "\n" }.joined())
        return description.isClean
    }
}

/// Prints the advertising data in a capture: data of reports, and data that a host has set.
struct CapturePrinter {
    private let printer: PayloadPrinter
    private let name: String

    /// - Parameter name: The name of the file, for errors.
    init(_ printer: PayloadPrinter, name: String) {
        self.printer = printer
        self.name = name
    }

    /// Prints the capture, and returns whether no payload breaks a rule.
    ///
    /// - Parameter start: The part of `pieces` that is already read.
    /// - Throws: if the capture cannot be read to its end. All payloads before that place are printed.
    func print(_ start: [UInt8], _ pieces: InputPieces) throws -> Bool {
        var tally = CaptureTally()
        var isClean = true
        var reader = CaptureReader()
        var piece = start
        do {
            // The reader of the output may have closed it.
            while !Terminal.outputIsGone {
                if piece.isEmpty { reader.finish() } else { reader.push(piece) }
                while let record = try reader.next(), !Terminal.outputIsGone {
                    for payload in tally.take(record) { isClean = show(payload) && isClean }
                }
                if piece.isEmpty { break }
                piece = try pieces.next()
            }
        } catch let error as CaptureError {
            warn(tally)
            throw Failure(.dataFormat, "\(name): \(error)")
        }
        warn(tally)
        if tally.payloads == 0 && !printer.json { Terminal.write("no advertising data in this capture\n") }
        return isClean
    }

    private func warn(_ tally: CaptureTally) {
        for warning in tally.warnings { Terminal.writeError("pharos: \(name): \(warning)\n") }
    }

    private func show(_ payload: CapturedPayload) -> Bool {
        if !printer.json { Terminal.write(payload.headline + "\n") }
        return printer.print(
            payload.data, facts: printer.json ? payload.members : [], sender: payload.sender, indent: "    ")
    }
}

/// Prints the payloads in the lines of a text, each as soon as it is read.
struct LinePrinter {
    private let printer: PayloadPrinter
    private let name: String
    /// The number of invalid lines that are reported one by one. A file of another kind has only invalid lines.
    private static let reportedFaultLimit = 20

    /// - Parameter name: The name of the file, for errors.
    init(_ printer: PayloadPrinter, name: String) {
        self.printer = printer
        self.name = name
    }

    /// Prints the payloads, and returns whether no payload breaks a rule.
    ///
    /// - Parameter start: The part of `pieces` that is already read.
    /// - Throws: at the end, if a line is invalid. All valid lines are printed.
    func print(_ start: [UInt8], _ pieces: InputPieces) throws -> Bool {
        var lines = HexadecimalLines()
        var isClean = true
        var payloads = 0
        var faults = 0
        var piece = start
        // The reader of the output may have closed it.
        while !Terminal.outputIsGone {
            if piece.isEmpty { lines.finish() } else { lines.push(piece) }
            while let line = lines.next(), !Terminal.outputIsGone {
                switch line.octets {
                case .success(let octets):
                    if payloads > 0 && !printer.json { Terminal.write("\n") }
                    isClean = printer.print(AdvertisingData(octets: octets)) && isClean
                    payloads += 1
                case .failure(let fault):
                    faults += 1
                    guard faults <= Self.reportedFaultLimit else { continue }
                    Terminal.writeError("pharos: \(name):\(line.number): \(fault)\n")
                }
            }
            if piece.isEmpty { break }
            piece = try pieces.next()
        }
        if faults > Self.reportedFaultLimit {
            let more = faults - Self.reportedFaultLimit
            Terminal.writeError(
                "pharos: \(name): \(more) more \(more == 1 ? "line" : "lines") could not be decoded\n")
        }
        // Each fault has been reported.
        if faults > 0 { throw Failure(.dataFormat) }
        guard payloads > 0 || Terminal.outputIsGone else {
            throw Failure(.dataFormat, "\(name): nothing to decode: it is empty")
        }
        return isClean
    }
}
