internal import ArgumentParser
internal import Auditing
internal import BluetoothTypes
internal import CommandSupport
internal import LinuxHost
internal import Listener
internal import Sightings

struct Qualify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qualify", abstract: "Measure how many packets a radio delivers.",
        discussion: """
            pharos qualify --sender virtual --duration-s 5
            pharos qualify --sender hci0 --receiver hci1
            pharos qualify --receiver hci0 --hears lobby-north --known museum.json

            One radio sends a beacon every 100 ms and the other receives it, then they exchange roles. They do so with \
            legacy advertising, with extended advertising, while both send, and with the controller's filter for \
            duplicates. Grades: good (90 % delivered, no silence over 2 s), usable (50 % delivered, no silence over \
            10 s), unfit. Exits with 1 if a radio is unfit, and with 75 after Ctrl-C.
            """)

    @Option(
        help: ArgumentHelp(
            "The radio that sends first: hci0, hci0:user, tcp:HOST:PORT, unix:PATH, serial:PATH@RATE or virtual.",
            valueName: "name"),
        completion: .adapters, transform: OptionValue.adapter)
    var sender: AdapterName?

    @Option(
        help: ArgumentHelp("The radio that receives first. It must differ from the sender.", valueName: "name"),
        completion: .adapters,
        transform: OptionValue.adapter)
    var receiver: AdapterName?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("How long each phase takes (default: 60).", valueName: "seconds"),
        transform: OptionValue.duration)
    var durationS: Int = 60_000_000

    @Option(
        help: ArgumentHelp(
            "Test one radio only: whether it receives this beacon, which must be near and in a --known file.",
            valueName: "beacon"))
    var hears: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Profile, fleet, or output of `pharos fleet generate` that names beacons. May be repeated.",
            valueName: "file"), completion: .file())
    var known: [String] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if hears != nil && known.isEmpty {
            throw ValidationError("--hears needs --known, which contains the interval of the beacon.")
        }
        if hears == nil && !known.isEmpty { throw ValidationError("--known needs --hears.") }
        if hears != nil && sender != nil {
            throw ValidationError("--hears tests a single radio: name it with --receiver, and leave out --sender.")
        }
        guard durationS >= 1_000_000 else { throw ValidationError("--duration-s is at least 1.") }
    }

    func run() throws {
        var options = QualificationRun.Options()
        (options.sender, options.receiver) = (sender, receiver)
        options.phaseMicroseconds = durationS
        if let hears {
            let known = try KnownBeacons(known)
            for warning in known.warnings { Terminal.writeMessage(warning) }
            options.heard = try beacon(hears, known)
            options.virtualBeacons = known.virtualBeacons
        }
        let progressLine = ProgressLine()
        let seconds = durationS / 1_000_000
        let outcome = try QualificationRun(options).run { progress in
            progressLine.report {
                "phase \(progress.phase) of \(progress.phases), \(progress.what): \(progress.seconds) of \(seconds) s"
            }
        }
        progressLine.finish()
        if !outcome.report.deliveries.isEmpty || outcome.failure == nil {
            Terminal.show(outcome.report.text, or: outcome.report.json, asJSON: json)
        }
        if let failure = outcome.failure { throw failure }
        if outcome.isInterrupted { throw Failure(.temporaryFailure) }
        if !outcome.report.isFit { throw Failure(.failure) }
    }

    private func beacon(_ name: String, _ known: KnownBeacons) throws -> KnownBeacon {
        let candidates = known.beacons.filter { $0.name == name }
        guard !candidates.isEmpty else {
            throw Failure(.usage, "--hears \(name): no beacon in --known has this name")
        }
        let identified = candidates.filter { $0.identity != nil }
        guard !identified.isEmpty else {
            throw Failure(
                .usage,
                "--hears \(name): "
                    + (candidates.contains { $0.region != nil }
                        ? "several devices may match it; name a beacon with an identity"
                        : "its identity changes, so it cannot be used"))
        }
        // A listener file has no intervals, so skip its beacons and use the first beacon of a profile or a fleet.
        guard let beacon = identified.first(where: { $0.intervalMicroseconds != nil }) else {
            throw Failure(
                .usage, "--hears \(name): its interval is not known; name its profile or its fleet with --known")
        }
        return beacon
    }
}
