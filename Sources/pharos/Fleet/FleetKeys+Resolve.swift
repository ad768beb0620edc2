internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import Fleet
internal import LinuxHost

struct FleetKeysResolve: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Says which beacon an ephemeral id belongs to; exit 1 when it is none of the fleet's.",
        discussion: """
            Looks into the window of the given time and into one more on each side, by each beacon's epoch; \
            --drift-s looks as far as its clock may be off. Of a large fleet name the ring that `pharos fleet keys \
            collect` makes: it is read much faster than one file a beacon.
            """)

    @Argument(help: "The ephemeral id: 16 hexadecimal digits.", transform: Self.identifier)
    var id: FixedOctets<8>

    @OptionGroup var options: FleetKeyOptions

    @Option(
        help: ArgumentHelp("When it was heard, such as 2026-03-01T12:00:00Z (default: now).", valueName: "time"),
        transform: Self.time)
    var at: RFC3339Time?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How many seconds the beacon's clock may be off.", valueName: "s"), transform: Self.seconds)
    var driftS: Int?

    @Flag(help: "One JSON object.")
    var json = false

    func run() throws {
        let now = RFC3339Time(secondsSince1970: Int(WallClock.microseconds() / 1_000_000))
        let question = EphemeralIDQuestion(id, at: at ?? now, driftSeconds: driftS)
        let outcome = try KeyRingFile.octets(options.source.fleet).map { try search($0, question) } ?? search(question)
        let (found, tried, withoutKey) = (outcome.found, outcome.tried, outcome.withoutKey)
        if json {
            Terminal.write(Self.json(found, id, question.time, tried: tried, withoutKey: withoutKey).line + "\n")
        } else {
            for each in found { Terminal.write(Self.text(each)) }
        }
        if withoutKey > 0 {
            Terminal.writeError("pharos: \(withoutKey) beacons have no key in \(options.directory.path)\n")
        }
        guard found.isEmpty else { return }
        throw Failure(.failure, json ? "" : "\(id) belongs to none of \(tried) beacons at \(question.time)")
    }

    private struct Outcome {
        var found: [(name: String, group: [String], answer: EphemeralIDQuestion.Answer)] = []
        var (tried, withoutKey) = (0, 0)
    }

    /// Among keys in files of their own.
    private func search(_ question: EphemeralIDQuestion) throws -> Outcome {
        var outcome = Outcome()
        try options.forEachKey { beacon, rotation, key in
            guard !rotation.exponents.isEmpty else { return }
            guard let key else {
                outcome.withoutKey += 1
                return
            }
            outcome.tried += 1
            guard let answer = try question.answer(rotation, key: key) else { return }
            outcome.found.append((beacon.name, beacon.group, answer))
        }
        return outcome
    }

    /// Among the keys of a ring.
    private func search(_ ring: [UInt8], _ question: EphemeralIDQuestion) throws -> Outcome {
        var outcome = Outcome()
        do {
            var reader = try KeyRingReader(ring)
            while let entry = try reader.next() {
                outcome.tried += 1
                guard let answer = try question.answer(entry) else { continue }
                outcome.found.append((entry.name, entry.group, answer))
            }
        } catch let problem as FileProblem {
            throw Failure(.dataFormat, problem.text(file: options.source.fleet))
        }
        return outcome
    }

    private static func text(
        _ found: (name: String, group: [String], answer: EphemeralIDQuestion.Answer)
    ) -> String {
        let place = found.group.isEmpty ? "" : " (\(found.group.joined(separator: " / ")))"
        return "\(found.name)\(place), from \(found.answer.from) to \(found.answer.to)\n"
    }

    private static func json(
        _ found: [(name: String, group: [String], answer: EphemeralIDQuestion.Answer)], _ id: FixedOctets<8>,
        _ time: RFC3339Time, tried: Int, withoutKey: Int
    ) -> JSONValue {
        let beacons = found.map { name, group, answer in
            JSONValue.record([
                ("name", .string(name)), ("group", .array(group.map(JSONValue.string))),
                ("counter", .integer(answer.counter)), ("rotationExponent", .integer(answer.exponent.rawValue)),
                ("from", .string(answer.from.description)), ("to", .string(answer.to.description)),
            ])
        }
        return .record([
            ("id", .string(id.description)), ("at", .string(time.description)), ("beacons", .array(beacons)),
            ("tried", .integer(tried)), ("withoutKey", .integer(withoutKey)),
        ])
    }

    private static func identifier(_ text: String) throws -> FixedOctets<8> {
        do {
            return try FixedOctets<8>(hexadecimal: text)
        } catch {
            throw Mistake("an ephemeral id has 16 hexadecimal digits: \(error)")
        }
    }

    private static func time(_ text: String) throws -> RFC3339Time {
        guard let time = RFC3339Time(text) else { throw Mistake("write a time as 2026-03-01T12:00:00Z") }
        return time
    }

    private static func seconds(_ text: String) throws -> Int {
        let value = try OptionValue.integer(text)
        guard value >= 0 else { throw Mistake("\(value) is below 0") }
        return value
    }
}
