public import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import HCI
internal import LinuxHost
public import Listener

extension PayloadFormat: ExpressibleByArgument {
    // What the parser makes of a CaseIterable by itself takes as long as the other options of `encode` together.
    public static var allValueStrings: [String] { allCases.map { $0.rawValue } }
    public static var allValueDescriptions: [String: String] { [:] }
    public var defaultValueDescription: String { rawValue }
}

/// Prints payloads in the way that was asked for.
struct PayloadPrinter {
    let json: Bool
    let lint: Bool
    let explain: Bool
    let opener: TelemetryOpener?

    /// Returns whether no rule is broken.
    ///
    /// - Parameters:
    ///   - facts: what is known of the packet that it came in, for JSON.
    ///   - sender: who sent that packet, as far as it tells.
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
        var tally = CaptureTally()
        var isClean = true
        var reader = CaptureReader()
        var piece = start
        do {
            // Whoever reads this has perhaps seen enough.
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

/// Prints what the lines of a text spell, each as soon as it has been read.
struct LinePrinter {
    private let printer: PayloadPrinter
    private let name: String
    /// Bad lines that are told one by one. A file of another kind has nothing but bad lines.
    private static let toldFaults = 20

    /// - Parameter name: the file's, for errors.
    init(_ printer: PayloadPrinter, name: String) {
        self.printer = printer
        self.name = name
    }

    /// Returns whether no payload breaks a rule.
    ///
    /// - Parameter start: what has been read of `pieces` already.
    /// - Throws: at the end, when a line could not be decoded; those that could have been printed.
    func print(_ start: [UInt8], _ pieces: InputPieces) throws -> Bool {
        var lines = HexadecimalLines()
        var isClean = true
        var payloads = 0
        var faults = 0
        var piece = start
        // Whoever reads this has perhaps seen enough.
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
                    guard faults <= Self.toldFaults else { continue }
                    Terminal.writeError("pharos: \(name):\(line.number): \(fault)\n")
                }
            }
            if piece.isEmpty { break }
            piece = try pieces.next()
        }
        if faults > Self.toldFaults {
            let more = faults - Self.toldFaults
            Terminal.writeError(
                "pharos: \(name): \(more) more \(more == 1 ? "line" : "lines") could not be decoded\n")
        }
        // Each has been told.
        if faults > 0 { throw Failure(.dataFormat) }
        guard payloads > 0 || Terminal.outputIsGone else {
            throw Failure(.dataFormat, "\(name): nothing to decode: it is empty")
        }
        return isClean
    }
}
