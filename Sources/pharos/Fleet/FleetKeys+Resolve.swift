internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import Fleet
internal import FleetStore
internal import LinuxHost

struct FleetKeysResolve: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Print which beacon an ephemeral id belongs to; exit 1 when it is none of the fleet's.",
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
        help: ArgumentHelp("Seconds by which the beacon's clock may be off.", valueName: "s"), transform: Self.seconds)
    var driftS: Int?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let now = RFC3339Time(secondsSince1970: Int(WallClock.microseconds() / 1_000_000))
        let question = EphemeralIDQuestion(id, at: at ?? now, driftSeconds: driftS)
        let keys = options.fleetKeys
        let search = try EphemeralIDSearch(question, path: options.source.fleet, keys: keys)
        Terminal.write(json ? search.json.line + "\n" : search.text)
        if search.withoutKey > 0 {
            Terminal.writeError("pharos: \(search.withoutKey) beacons have no key in \(keys.directory.path)\n")
        }
        guard search.matches.isEmpty else { return }
        throw Failure(.failure, json ? "" : "\(id) belongs to none of \(search.tried) beacons at \(question.time)")
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
