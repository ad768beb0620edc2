internal import ArgumentParser
internal import BeaconFrames
internal import BluetoothTypes
internal import CommandSupport
internal import EddystoneSecurity
internal import HCI
internal import LinuxHost
internal import Listener

struct Decode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", abstract: "Show the contents of a payload or a capture, frame by frame.",
        discussion: """
            A capture is a btsnoop, pcap or pcapng file of HCI packets, or of
            advertisements that a sniffer (such as the nRF Sniffer) received.
            A text has one payload or HCI packet per line in hexadecimal digits, or
            it is the output of `hcidump --raw` or of `pharos advertise --dry-run`,
            an array of bytes in C or Swift, or commands of `hcitool cmd`, also in a
            shell script. Put such commands in quotes on the command line.
            pharos decode 0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5
            pharos decode capture.btsnoop --json
            hcidump --raw | pharos decode -
            pharos decode "hcitool cmd 0x08 0x0037 00 03 01 03 02 01 06"
            pharos encode raw --structure 01:06 --format c | pharos decode -
            """)

    @Argument(
        help: "Hexadecimal bytes, a capture, a text with payloads or packets, or - for standard input.",
        completion: .file())
    var input: [String]

    @Flag(help: "Print each payload as one line of JSON.")
    var json = false

    @Flag(
        help: "List every broken rule with its offset and the section of the specification; exit 1 if a rule is broken."
    )
    var lint = false

    @Flag(help: "Explain each byte.")
    var explain = false

    @Option(
        help: ArgumentHelp(
            "The type of packet that contained the payload, for input without packets.",
            discussion:
                "The type limits the length of a payload. By default, a payload of 62 bytes is an Android scan record, "
                + "a longer one an extended advertisement, a shorter one a legacy advertisement.",
            valueName: "kind"))
    var packet: PayloadOrigin?

    @OptionGroup var rotation: RotationOptions
    @OptionGroup var encryption: EncryptionOptions

    func validate() throws {
        if json && explain {
            throw ValidationError("--explain prints a table for people: leave it out with --json.")
        }
        guard rotation.hasKey else { return }
        if encryption.hasKey {
            throw ValidationError("Give the key of Eddystone frames or that of BTHome, not both.")
        }
        if rotation.rotationExponent == nil || rotation.timeS == nil {
            throw ValidationError("Decrypting needs --rotation-exponent and --time-s as well as the identity key.")
        }
    }

    func run() throws {
        let printer = PayloadPrinter(
            json: json, lint: lint, explain: explain, opener: try opener(),
            container: packet?.container)
        let isClean =
            switch try DecodeInput(input) {
            case .text(let text): try print(text, printer)
            case .pieces(let pieces): try decode(pieces, printer)
            }
        if lint && !isClean { throw Failure(.failure) }
    }

    private func print(_ text: String, _ printer: PayloadPrinter) throws -> Bool {
        var lines = LinePrinter(printer, name: nil, sender: try encryption.sender())
        return try lines.print(text)
    }

    /// Prints the payloads of a capture or a text. Returns true if no payload breaks a rule of the specification.
    private func decode(_ pieces: InputPieces, _ printer: PayloadPrinter) throws -> Bool {
        var start: [UInt8] = []
        // Read only as many bytes as needed to recognize a capture, so that a typed line is decoded immediately.
        while start.count < CaptureFormat.magicLength, CaptureFormat.canStart(with: start) {
            let piece = try pieces.next()
            if piece.isEmpty { break }
            start += piece
        }
        if CaptureFormat(startingWith: start.span) != nil {
            return try CapturePrinter(printer, name: pieces.name).print(start, pieces)
        }
        guard !start.isEmpty else {
            throw Failure(.dataFormat, "\(pieces.name): nothing to decode: it is empty")
        }
        if Self.isJSON(start) {
            throw Failure(
                .dataFormat,
                "\(pieces.name): this is JSON, not a payload; for a profile, `pharos profile show` prints its values and "
                    + "`pharos advertise --adapter virtual --dry-run` its bytes")
        }
        guard HexadecimalLines.looksLikeText(start) else {
            throw Failure(
                .dataFormat,
                "\(pieces.name): this is neither a capture (btsnoop, pcap, pcapng) nor hexadecimal text")
        }
        var lines = LinePrinter(printer, name: pieces.name, sender: nil)
        return try lines.print(start, pieces)
    }

    /// Returns true if a text begins like JSON: with a brace, or with a bracket and the start of a JSON value. Other
    /// text after a bracket is not JSON: lines that bluetoothctl prints begin with a bracket, too.
    private static func isJSON(_ start: [UInt8]) -> Bool {
        let text = start.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard let first = text.first, "{[".utf8.contains(first) else { return false }
        let next = text.dropFirst().first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return first == UInt8(ascii: "{") || next.map { "{[]\"-0123456789tfn".utf8.contains($0) } ?? false
    }

    private func opener() throws -> TelemetryOpener? {
        if let key = try encryption.key() { return TelemetryOpener(btHomeKey: key, address: encryption.deviceAddress) }
        guard let key = try rotation.key(), let time = rotation.timeS,
            let exponent = rotation.rotationExponent.flatMap(RotationExponent.init(rawValue:))
        else { return nil }
        return TelemetryOpener(key: key, exponent: exponent, time: time)
    }
}

/// The kind of packet that contains a payload, as the user names it.
enum PayloadOrigin: String, CaseIterable, ExpressibleByArgument {
    case legacy
    case scanRecord = "scan-record"
    case extended

    var container: AdvertisingContainer {
        switch self {
        case .legacy: .legacyPDU
        case .scanRecord: .androidScanRecord
        case .extended: .extendedChain
        }
    }
}

/// The input of `decode`.
enum DecodeInput {
    case text(String)
    case pieces(InputPieces)

    init(_ arguments: [String]) throws {
        guard arguments.count == 1, let argument = arguments.first else {
            if let file = arguments.first(where: Self.namesFile) {
                throw Failure(.usage, "\(file): decode takes one file and no other arguments")
            }
            self = .text(arguments.joined(separator: " "))
            return
        }
        self =
            argument == "-" || Self.namesFile(argument)
            ? .pieces(try InputPieces(argument)) : .text(Self.joined(argument))
    }

    /// Returns true if an argument is the name of a file. Hexadecimal digits are bytes: a file with the name c0ffee
    /// must be written ./c0ffee.
    private static func namesFile(_ argument: String) -> Bool {
        if (try? HexadecimalLines.octets(Array(argument.utf8))) != nil { return false }
        if Files.exists(argument) { return true }
        // A dot does not prove that a text is the name of a file: `hcidump --raw --ts` prints a time with a dot in
        // front of each packet.
        let isText = argument.contains { $0.isWhitespace } && argument.contains { "<>\n".contains($0) }
        return !isText && !argument.contains("hcitool") && (argument.contains("/") || argument.contains("."))
    }

    /// Joins several lines of hexadecimal digits into one payload, if they fit into one legacy payload. Returns any
    /// other text unchanged.
    private static func joined(_ text: String) -> String {
        guard text.contains(where: \.isNewline), let octets = try? HexadecimalLines.octets(Array(text.utf8)),
            octets.count <= AdvertisingData.legacyLimit
        else { return text }
        return Hexadecimal.text(octets)
    }
}
