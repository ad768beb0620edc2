internal import ArgumentParser
internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import LinuxHost
internal import Profiles

/// `profile init`: a first profile, asked for or by options.
struct ProfileInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a beacon profile to start from.",
        discussion: """
            Without --type it asks on the terminal. An iBeacon gets a new random UUID, an Eddystone-UID a new random \
            namespace. The measured power is a typical value, and the command says so: measure your own beacon \
            before you rely on distances.
            """)

    enum Frame: String, CaseIterable, ExpressibleByArgument {
        case iBeacon = "ibeacon"
        case eddystoneUID = "eddystone-uid"
        case eddystoneURL = "eddystone-url"
    }

    @Argument(help: "File to write (default: the beacon's name with .json).", completion: .file())
    var file: String?

    @Option(help: "Frame to send: ibeacon, eddystone-uid or eddystone-url.")
    var type: Frame?

    @Option(
        help: ArgumentHelp("Name of the beacon: letters, digits, \".\", \"_\" and \"-\".", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Web address that an eddystone-url sends.", valueName: "url"))
    var url: String?

    @Option(help: ArgumentHelp("Advertising interval, such as 100, 100ms or 1.28s.", valueName: "ms"))
    var intervalMs: String?

    func run() throws {
        let isAsking = type == nil
        guard !isAsking || Terminal.inputIsTerminal else {
            throw Failure(.usage, "there is no terminal to ask on; give --type ibeacon, eddystone-uid or eddystone-url")
        }
        let type =
            try type ?? ask("What to send (ibeacon, eddystone-uid, eddystone-url)", default: "ibeacon", Self.frame)
        let given = name ?? file.map(Self.stem)
        let name =
            try given.map(Self.beaconName)
            ?? (isAsking ? ask("Name of the beacon", default: "my-beacon", Self.beaconName) : "my-beacon")
        let interval =
            try intervalMs.map(Self.interval)
            ?? (isAsking ? ask("Advertising interval in ms", default: "100", Self.interval) : Self.interval("100"))
        var frame: [(String, JSONValue)] = [("type", .string(type.rawValue))]
        switch type {
        case .iBeacon:
            frame += [("uuid", .string(Self.randomUUID().uuidText)), ("major", 1), ("minor", 1)]
        case .eddystoneUID:
            let namespace = try EddystoneUID.namespace(fromUUID: Self.randomUUID())
            frame += [("namespace", .hex(namespace.octets)), ("instance", "000000000001")]
        case .eddystoneURL:
            let url = try self.url.map(Self.url) ?? (isAsking ? ask("Web address", default: nil, Self.url) : nil)
            guard let url else {
                throw Failure(.usage, "an eddystone-url needs its address: --url https://example.org")
            }
            frame.append(("url", .string(url)))
        }
        frame += [("intervalMs", interval), ("measuredPowerDbm", "typical")]
        let profile = JSONValue.record([
            ("version", 1), ("name", .string(name)), ("advertisements", .array([.record(frame)])),
        ])
        try write(Array(profile.pretty.utf8), to: file ?? name + ".json")
    }

    private func write(_ octets: [UInt8], to path: String) throws {
        do throws(SystemError) {
            try Files.create(path, with: octets, mode: 0o644)
        } catch  where error.errno == SystemError.alreadyThere {
            throw Failure(.usage, "\(path): this file exists; name another")
        } catch {
            throw Failure(error.errno == SystemError.noEntry ? .noInput : .osError, "\(path): \(error.text)")
        }
        Terminal.write(
            """
            Made \(path). Its measured power is typical (\(BeaconProfile.typicalMeasuredPower)), not measured.
            Next: pharos advertise \(path) --adapter virtual

            """)
    }

    /// Asks until the answer is a good one. An empty line takes the default.
    private func ask<Value>(
        _ question: String, default preset: String?, _ read: (String) throws -> Value
    ) throws -> Value {
        while true {
            Terminal.writeError(question + (preset.map { " [\($0)]" } ?? "") + ": ")
            guard let line = readLine() else { throw Failure(.usage, "the input ended early; no file was written") }
            let answer = line.filter { !$0.isWhitespace }
            do {
                if answer.isEmpty, preset == nil { continue }
                return try read(answer.isEmpty ? preset ?? "" : answer)
            } catch {
                Terminal.writeError("\(error)\n")
            }
        }
    }

    private static func frame(_ text: String) throws -> Frame {
        if let frame = Frame(rawValue: text) { return frame }
        throw Mistake("there are " + Frame.allCases.map(\.rawValue).joined(separator: ", "))
    }

    private static func beaconName(_ text: String) throws -> String {
        var decoder = ConfigurationDecoder()
        let node = JSONNode(.string(text), at: JSONPosition(line: 1, column: 1), path: .root)
        guard let name = decoder.name(node) else { throw Mistake(decoder.problems.first?.message ?? "no name") }
        return name
    }

    /// The number as it will stand in the file.
    private static func interval(_ text: String) throws -> JSONValue {
        .decimal(DecimalText.thousandths(try OptionValue.interval(text).microseconds))
    }

    private static func url(_ text: String) throws -> String {
        do { _ = try CompressedURL(text) } catch { throw Mistake("\(error)") }
        return text
    }

    private static func stem(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.hasSuffix(".json") ? String(name.dropLast(5)) : name
    }

    /// Version 4, variant 1 (RFC 9562, section 5.4).
    static func randomUUID() -> FixedOctets<16> {
        var uuid = FixedOctets<16>()
        for index in 0..<16 { uuid[index] = .random(in: 0...255) }
        uuid[6] = uuid[6] & 0x0F | 0x40
        uuid[8] = uuid[8] & 0x3F | 0x80
        return uuid
    }
}
