public import ArgumentParser
internal import BeaconFrames
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
    /// The assumed type of packet for payloads without a packet; `nil` to derive the type from the length of each
    /// payload.
    let container: AdvertisingContainer?

    /// Prints a payload that has no packet around it. Returns true if the payload breaks no rule of the specification.
    ///
    /// - Parameter sender: The sender of the payload; `nil` if it is not known.
    func print(_ data: AdvertisingData, sender: DeviceAddress?) -> Bool {
        print(
            PayloadDescription(
                data, in: container ?? AdvertisingContainer(count: data.octets.count), opener: opener(for: sender)))
    }

    /// Prints a payload of a captured packet, with facts about the packet. Returns true if the payload breaks no rule
    /// of the specification.
    func print(_ payload: CapturedPayload) -> Bool {
        if !json { Terminal.show(payload.headline + "\n") }
        return print(
            PayloadDescription(payload, opener: opener(for: payload.sender)), facts: payload.members, indent: "    ")
    }

    private func opener(for sender: DeviceAddress?) -> TelemetryOpener? {
        sender.flatMap { opener?.from($0) } ?? opener
    }

    private func print(
        _ description: PayloadDescription, facts: [(String, JSONValue)] = [], indent: String = ""
    ) -> Bool {
        if json {
            Terminal.write(JSONValue.record(facts + description.members).line + "\n")
        } else {
            Terminal.show(description.lines(lint: lint, explain: explain).map { indent + $0 + "\n" }.joined())
        }
        return description.isClean
    }
}

/// Prints the advertising data in a capture: received data in reports, and data to send in HCI commands.
struct CapturePrinter {
    private let printer: PayloadPrinter
    private let name: String

    /// - Parameter name: The name of the file, for error messages.
    init(_ printer: PayloadPrinter, name: String) {
        self.printer = printer
        self.name = name
    }

    /// Prints the payloads of the capture. Returns true if no payload breaks a rule of the specification.
    ///
    /// - Parameter start: The part of `pieces` that has already been read.
    /// - Throws: An error if the capture cannot be read to its end, after all payloads before the fault have been
    ///   printed.
    func print(_ start: [UInt8], _ pieces: InputPieces) throws -> Bool {
        var tally = CaptureTally()
        var isClean = true
        var reader = CaptureReader()
        var piece = start
        do {
            // Stop if the program that reads standard output has closed it.
            while !Terminal.outputIsGone {
                if piece.isEmpty { reader.finish() } else { reader.push(piece) }
                while let record = try reader.next(), !Terminal.outputIsGone {
                    for payload in tally.take(record) { isClean = printer.print(payload) && isClean }
                }
                if piece.isEmpty { break }
                piece = try pieces.next()
            }
        } catch let error as CaptureError {
            warn(tally)
            throw Failure(.dataFormat, "\(name): \(error)")
        }
        warn(tally)
        if tally.payloads == 0 && !printer.json { Terminal.show("no advertising data in this capture\n") }
        return isClean
    }

    private func warn(_ tally: CaptureTally) {
        for warning in tally.warnings { Terminal.writeMessage("\(name): \(warning)") }
    }
}

/// Prints the payloads and packets in a text, each as soon as it has been read.
struct LinePrinter {
    private let printer: PayloadPrinter
    private let name: String?
    private let sender: DeviceAddress?
    private var text = PastedText()
    private var tally = CaptureTally()
    /// False if a payload has broken a rule of the specification.
    private var isClean = true
    private var payloadCount = 0
    private var packetCount = 0
    private var invalidLineCount = 0
    /// The largest number of invalid lines that are reported one by one. Further lines are only counted, because a file
    /// of another kind has only invalid lines.
    private static let reportedLineLimit = 20

    /// - Parameters:
    ///   - name: The name of the file, for error messages; `nil` for a text on the command line.
    ///   - sender: The sender of payloads that come without their packet; `nil` if it is not known.
    init(_ printer: PayloadPrinter, name: String?, sender: DeviceAddress?) {
        self.printer = printer
        self.name = name
        self.sender = sender
    }

    /// Prints the payloads of the input. Returns true if no payload breaks a rule of the specification.
    ///
    /// - Parameter start: The part of `pieces` that has already been read.
    /// - Throws: An error at the end if a line was invalid. All valid lines are printed.
    mutating func print(_ start: [UInt8], _ pieces: InputPieces) throws -> Bool {
        var piece = start
        // Stop if the program that reads standard output has closed it.
        while !Terminal.outputIsGone {
            take(piece)
            if piece.isEmpty { break }
            piece = try pieces.next()
        }
        return try finish()
    }

    /// Prints the payloads of `text`. Returns true if no payload breaks a rule of the specification.
    ///
    /// - Throws: An error if a line was invalid. All valid lines are printed.
    mutating func print(_ text: String) throws -> Bool {
        take(Array(text.utf8))
        take([])
        return try finish()
    }

    /// Prints the payloads that are complete after this piece of the text. An empty piece is the end of the text.
    private mutating func take(_ piece: [UInt8]) {
        if piece.isEmpty { text.finish() } else { text.push(piece) }
        while let entry = text.next(), !Terminal.outputIsGone {
            switch entry.content {
            case .success(.payload(let data)):
                separate()
                isClean = printer.print(data, sender: sender) && isClean
            case .success(.packet(let record)):
                packetCount += 1
                for payload in tally.take(record) {
                    separate()
                    isClean = printer.print(payload) && isClean
                }
            case .failure(let fault):
                invalidLineCount += 1
                guard invalidLineCount <= Self.reportedLineLimit else { continue }
                let prefix = name.map { "\(TerminalText.line($0)):\(entry.line): " } ?? ""
                Terminal.writeMessage("\(prefix)\(fault)")
            }
        }
    }

    /// Prints an empty line between payloads.
    private mutating func separate() {
        if payloadCount > 0 && !printer.json { Terminal.write("\n") }
        payloadCount += 1
    }

    private func finish() throws -> Bool {
        let prefix = name.map { TerminalText.line($0) + ": " } ?? ""
        for warning in tally.warnings { Terminal.writeMessage("\(prefix)\(warning)") }
        if invalidLineCount > Self.reportedLineLimit {
            let unreportedCount = invalidLineCount - Self.reportedLineLimit
            Terminal.writeMessage("\(prefix)\(NumberFormat.count(unreportedCount, "more line")) could not be decoded")
        }
        if text.skippedLines > 0 {
            Terminal.writeMessage("\(prefix)\(NumberFormat.count(text.skippedLines, "other line")) left out")
        }
        // The failure has no message, because each fault has already been reported.
        if invalidLineCount > 0 { throw Failure(.dataFormat) }
        guard payloadCount > 0 || packetCount > 0 || Terminal.outputIsGone else {
            let reason = name == nil || text.skippedLines > 0 ? "there are no bytes" : "it is empty"
            throw Failure(.dataFormat, "\(prefix)nothing to decode: \(reason)")
        }
        if payloadCount == 0 && !printer.json { Terminal.show("no advertising data in these packets\n") }
        return isClean
    }
}
