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
        commandName: "decode", abstract: "Show what is in a payload or a capture, frame by frame.",
        discussion: """
            A capture is a btsnoop, pcap or pcapng file of HCI packets, or of advertisements that a sniffer received.
            pharos decode 0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5
            pharos decode capture.btsnoop --json
            echo 02 01 06 | pharos decode -
            """)

    @Argument(
        help: "Hexadecimal bytes, a capture, a file with one payload per line, or - for standard input.",
        completion: .file())
    var input: [String]

    @Flag(help: "Print one JSON object, or one per packet of a capture or line of input.")
    var json = false

    @Flag(help: "List every broken rule with its offset and section; exit 1 when there is one.")
    var lint = false

    @Flag(help: "Explain each byte.")
    var explain = false

    @OptionGroup var rotation: RotationOptions
    @OptionGroup var encryption: EncryptionOptions

    func validate() throws {
        if json && explain {
            throw ValidationError("--explain cannot be combined with --json: its table is meant for people.")
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
        let printer = PayloadPrinter(json: json, lint: lint, explain: explain, opener: try opener())
        let isClean =
            switch try DecodeInput(input) {
            case .payload(let payload): printer.print(payload, sender: try encryption.sender())
            case .pieces(let pieces): try decode(pieces, printer)
            }
        if lint && !isClean { throw Failure(.failure) }
    }

    /// Prints a capture or a text, and returns whether no rule is broken.
    private func decode(_ pieces: InputPieces, _ printer: PayloadPrinter) throws -> Bool {
        var start: [UInt8] = []
        // Only a capture needs more than the first piece, so a typed line is decoded at once.
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
        guard HexadecimalLines.looksLikeText(start) else {
            throw Failure(
                .dataFormat,
                "\(pieces.name): this is neither a capture (btsnoop, pcap, pcapng) nor hexadecimal text")
        }
        return try LinePrinter(printer, name: pieces.name).print(start, pieces)
    }

    private func opener() throws -> TelemetryOpener? {
        if let key = try encryption.key() { return TelemetryOpener(btHomeKey: key, address: encryption.deviceAddress) }
        guard let key = try rotation.key(), let time = rotation.timeS,
            let exponent = rotation.rotationExponent.flatMap(RotationExponent.init(rawValue:))
        else { return nil }
        return TelemetryOpener(key: key, exponent: exponent, time: time)
    }
}

/// The input of `decode`.
enum DecodeInput {
    case payload(AdvertisingData)
    case pieces(InputPieces)

    init(_ arguments: [String]) throws {
        guard arguments.count == 1, let only = arguments.first else {
            if let file = arguments.first(where: Self.namesFile) {
                throw Failure(.usage, "\(file): decode takes one file and no other arguments")
            }
            self = .payload(try Self.payload(arguments.joined(separator: " ")))
            return
        }
        self =
            only == "-" || Self.namesFile(only)
            ? .pieces(try InputPieces(only)) : .payload(try Self.payload(only))
    }

    /// Hexadecimal digits are bytes, not a file: a file with the name c0ffee must be written ./c0ffee.
    private static func namesFile(_ argument: String) -> Bool {
        if (try? HexadecimalLines.octets(Array(argument.utf8))) != nil { return false }
        return argument.contains("/") || argument.contains(".") || Files.exists(argument)
    }

    private static func payload(_ text: String) throws -> AdvertisingData {
        do throws(HexadecimalLines.Fault) {
            return AdvertisingData(octets: try HexadecimalLines.octets(Array(text.utf8)))
        } catch {
            throw Failure(.dataFormat, error.description)
        }
    }
}
