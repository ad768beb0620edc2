internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Listener
internal import Positioning
internal import Sightings

/// `pharos find` with `--map`. The program pharos passes this command to pharos-hub.
struct FindOnMap: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "Guide you to one beacon.",
        discussion: """
            pharos find lobby-north --known museum.json --map map.json
            pharos find ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-2 --map map.json --json

            Besides warmer and colder, it prints the distance and direction to the beacon on the map. It also reports \
            if the beacon is on another floor. If the map does not have the beacon, the beacon is assumed to be where \
            its level was highest so far.
            """, shouldDisplay: false)

    @Argument(help: ArgumentHelp("The name of a known beacon, or an identity.", valueName: "beacon"))
    var name: String

    @OptionGroup var source: BeaconSourceOptions

    @Option(
        help: ArgumentHelp("A map, for the distance and direction to the beacon.", valueName: "file"),
        completion: .file())
    var map: String

    @Flag(help: .hidden)
    var turn = false

    @OptionGroup var options: FindOptions

    func validate() throws {
        if turn { throw ValidationError("Give --turn or --map, not both: a turn finds a direction without a map.") }
        try options.check(with: source)
        if map == "-", source.replay == "-" {
            throw ValidationError("Standard input is either the map or the recording.")
        }
    }

    func run() throws {
        let map = try MapFile.read(map)
        let known = try KnownBeacons(source.known)
        for warning in known.warnings { Terminal.writeMessage(warning) }
        let feed = try source.open(known, duration: options.durationS)
        // In maps, identities are written with slashes instead of hyphens.
        let isName = known.names.contains(name) || BeaconIdentity(name) != nil
        let query = isName ? name : String(name.map { $0 == "/" ? "-" : $0 })
        let listener = FindListener(
            try BeaconChoice(query, known, feed.clock), feed.clock, name: name, json: options.json,
            sound: options.sound)
        listener.guide.exponent = options.pathLossExponent
        // The key of a beacon in the map is its key in the survey: its name or one of its identities. So search the map
        // for all of these.
        let identity = BeaconQuery.identity(query)
        let matches = known.beacons.filter { $0.name == name || identity != nil && $0.identity == identity }
        let keys = ([name] + matches.map(\.name)).compactMap { BeaconKey($0) }
        let directions = BeaconDirections(map, to: keys + matches.compactMap(\.identity).map { BeaconKey($0) })
        let gatherer = SecondGatherer(known, feed.clock, shared: map.sharedIdentities)
        let walk = GuidedWalk(listener, gatherer, try RunLocator(map, settings: map.settings), directions)
        gatherer.passSeconds(to: walk.steps, feed.clock, of: feed)
        try feed.run(walk)
        if let problem = listener.problem { throw Failure(.temporaryFailure, "\(name): \(problem)") }
    }
}

/// Locates the receiver second by second, for the directions to the beacon.
private final class GuidedSteps: RunConsumer {
    var guide: BeaconDirections
    private var locator: RunLocator

    init(_ locator: RunLocator, _ guide: BeaconDirections) {
        self.locator = locator
        self.guide = guide
    }

    var isSatisfied: Bool { false }
    func begin(session: String?) { locator.begin(session: session) }
    func say(_ sentence: String, isWarning: Bool) {}

    func take(seconds: Double, _ heard: [HeardBeacon]) {
        guide.update(locator.locate(seconds: seconds, heard).answer)
    }

    func directions(_ level: Double?) -> (text: String, json: JSONValue) {
        if let level { guide.update(level: level) }
        return (guide.text, guide.json)
    }
}

/// Passes all sightings to the listener of the target beacon, and to the gatherer that locates the receiver.
private final class GuidedWalk: SightingConsumer {
    let steps: GuidedSteps
    private let listener: FindListener
    private let gatherer: SecondGatherer

    init(_ listener: FindListener, _ gatherer: SecondGatherer, _ locator: RunLocator, _ guide: BeaconDirections) {
        let steps = GuidedSteps(locator, guide)
        listener.mapDirections = { state in steps.directions(state.silentMicroseconds == nil ? state.level : nil) }
        self.steps = steps
        self.listener = listener
        self.gatherer = gatherer
    }

    var isSatisfied: Bool { listener.isSatisfied }
    var nextWakeUp: HeardInstant? { [listener.nextWakeUp, gatherer.nextWakeUp].compactMap { $0 }.min() }

    func begin(at now: HeardInstant) {
        gatherer.begin(at: now)
        listener.begin(at: now)
    }

    func advance(to now: HeardInstant) {
        gatherer.advance(to: now)
        listener.advance(to: now)
    }

    func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        gatherer.receive(report, octets, range)
        listener.receive(report, octets, range)
    }

    func change(_ state: ListeningState, at now: HeardInstant) {
        gatherer.change(state, at: now)
        listener.change(state, at: now)
    }

    func say(_ sentence: String, isWarning: Bool) { listener.say(sentence, isWarning: isWarning) }

    func finish(at now: HeardInstant) {
        gatherer.finish(at: now)
        listener.finish(at: now)
    }
}
