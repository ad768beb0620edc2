internal import ArgumentParser
internal import BeaconFrames
internal import BluetoothTypes
internal import EddystoneSecurity
internal import HCI
internal import LinuxHost

struct Decode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", abstract: "Tells what is in a payload or in a capture, frame by frame.",
        discussion: """
            pharos decode 0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5
            pharos decode capture.btsnoop --json
            echo 02 01 06 | pharos decode -
            """)

    @Argument(
        help: "Hexadecimal octets, a btsnoop file, or - for standard input (either of the two).", completion: .file())
    var input: [String]

    @Flag(help: "One JSON object, or one a line for each packet of a capture or line of input.")
    var json = false

    @Flag(help: "List every rule that is broken, with offset and section; exit 1 when there is one.")
    var lint = false

    @Flag(help: "Tell what each octet means.")
    var explain = false

    @OptionGroup var rotation: RotationOptions

    func validate() throws {
        if json && explain {
            throw ValidationError("--explain goes without --json: its table is meant for people.")
        }
        guard rotation.hasKey else { return }
        if rotation.rotationExponent == nil || rotation.timeS == nil {
            throw ValidationError("Decrypting needs --rotation-exponent and --time-s beside the identity key.")
        }
    }

    func run() throws {
        let printer = PayloadPrinter(json: json, lint: lint, explain: explain, opener: try opener())
        var isClean = true
        switch try DecodeInput(input) {
        case .payloads(let payloads):
            for (index, payload) in payloads.enumerated() where !Terminal.outputIsGone {
                if index > 0 && !json { Terminal.write("\n") }
                isClean = printer.print(payload) && isClean
            }
        case .capture(let octets, let name):
            isClean = try CapturePrinter(printer, name: name).print(octets)
        }
        if lint && !isClean { throw Failure(.failure) }
    }

    private func opener() throws -> TelemetryOpener? {
        guard let key = try rotation.key(), let time = rotation.timeS,
            let exponent = rotation.rotationExponent.flatMap(RotationExponent.init(rawValue:))
        else { return nil }
        return TelemetryOpener(key: key, exponent: exponent, time: time)
    }
}

/// What `decode` was given.
enum DecodeInput {
    case payloads([AdvertisingData])
    case capture([UInt8], name: String)

    init(_ arguments: [String]) throws {
        guard arguments.count == 1, let only = arguments.first else {
            if let file = arguments.first(where: Self.namesFile) {
                throw Failure(.usage, "\(file): decode takes one file at a time, and nothing beside it")
            }
            self = .payloads([try Self.payload(arguments.joined(separator: " "), place: "")])
            return
        }
        guard only != "-" else {
            self = try Self.contents(try InputFile.read("-"), of: "standard input")
            return
        }
        if Self.namesFile(only) {
            self = try Self.contents(try InputFile.read(only), of: only)
        } else {
            self = .payloads([try Self.payload(only, place: "")])
        }
    }

    /// Octets come first: a file called c0ffee must be named ./c0ffee.
    private static func namesFile(_ argument: String) -> Bool {
        if (try? Hexadecimal.octets(argument)) != nil { return false }
        return argument.contains("/") || argument.contains(".") || Files.exists(argument)
    }

    private static func contents(_ octets: [UInt8], of name: String) throws -> DecodeInput {
        if octets.starts(with: BTSnoopFormat.magic) { return .capture(octets, name: name) }
        guard octets.allSatisfy({ $0 < 0x80 }) else {
            throw Failure(.dataFormat, "\(name): this is neither a btsnoop file nor hexadecimal text")
        }
        // Empty lines count, so that the others keep their numbers.
        let lines = String(decoding: octets, as: UTF8.self)
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .enumerated().filter { !$0.element.allSatisfy(\.isWhitespace) }
        guard !lines.isEmpty else { throw Failure(.dataFormat, "\(name): nothing to decode: it is empty") }
        return .payloads(
            try lines.map { number, line in try payload(line, place: "\(name):\(number + 1): ") })
    }

    private static func payload(_ text: some StringProtocol, place: String) throws -> AdvertisingData {
        let octets: [UInt8]
        do {
            octets = try Hexadecimal.octets(text)
        } catch {
            throw Failure(.dataFormat, "\(place)\(error)")
        }
        guard !octets.isEmpty else { throw Failure(.dataFormat, "\(place)nothing to decode: there are no octets") }
        return AdvertisingData(octets: octets)
    }
}
