internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Listener
internal import Positioning
internal import Sites

struct MapRecord: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Record the levels at a place, and append them to a survey.",
        discussion: """
            pharos map record survey.jsonl --place A3 --position 4,6 --turn
            pharos map record survey.jsonl --place A3 --heading 90 --session june
            pharos map record survey.jsonl --walk "A3 B3 B7" --site museum-site.json
            pharos map record survey.jsonl --place A3 --position 4,6 --from a3.btsnoop
            pharos map record survey.jsonl
            pharos map record survey.jsonl --move 3 --place A3 --position 4,6
            pharos map record survey.jsonl --drop 3

            Without --place and --position, the command asks for the place at the end, if it runs on a terminal. \
            --move can also name the place later. A place needs only its name if the survey has its position, or if it \
            is a beacon of the site. The survey only grows: --drop and --move append a line.
            """)

    @Argument(help: "The survey, which is created if it does not exist, or - for standard output.", completion: .file())
    var survey: String

    @Option(help: ArgumentHelp("The name of the place.", valueName: "name"))
    var place: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The position of the place in metres east and north, such as 4,6.", valueName: "x,y"),
        transform: MapValue.position)
    var position: FloorPosition?

    @Option(help: ArgumentHelp("The name of the floor, on sites with several floors.", valueName: "name"))
    var floor: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The direction of the receiver in degrees clockwise from north, or unknown (default: unknown).",
            valueName: "degrees"), transform: MapValue.heading)
    var heading: MapValue.Heading?

    @Option(
        help: ArgumentHelp("The time to record, 1...86400 s (default: 40).", valueName: "s"),
        transform: { try OptionValue.seconds($0, in: 1...86_400) })
    var seconds: Int = 40

    @Flag(help: "Record four headings, each for a quarter of the time, with a bell between them.")
    var turn = false

    @Option(
        help: ArgumentHelp(
            """
            Walk straight from place to place, and press Enter at each place. With --from, give the time at each place \
            in seconds, such as "A3@0 B3@12 B7@25".
            """, valueName: "places"), transform: MapValue.walk)
    var walk: [MapValue.Mark]?

    @Option(
        help: ArgumentHelp(
            "The name of the session: everything that is recorded together (default: the day).", valueName: "name"))
    var session: String?

    @Option(
        help: ArgumentHelp(
            "A site file, for the name of the site and the positions of its beacons.", valueName: "file"),
        completion: .file())
    var site: String?

    @Flag(help: "Record only the beacons of --fleet.")
    var onlyKnown = false

    @OptionGroup var source: RunSourceOptions

    @Option(
        help: ArgumentHelp("Drop the stay (the recording at one place) with this number.", valueName: "stay"),
        transform: { try OptionValue.integer($0) })
    var drop: Int?

    @Option(
        help: ArgumentHelp(
            "Give the stay with this number, or stays such as 3-6, another --place, --position or --floor.",
            valueName: "stay"), transform: MapValue.stays)
    var move: ClosedRange<Int>?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if drop != nil, move != nil { throw ValidationError("Give --drop or --move, not both.") }
        if drop != nil || move != nil {
            if source.from != nil || source.adapter != nil || turn || walk != nil || survey == "-" {
                throw ValidationError("--drop and --move record nothing: leave out the options for recording.")
            }
            if move != nil, place == nil, position == nil, floor == nil {
                throw ValidationError("--move needs a --place, a --position or a --floor.")
            }
            return
        }
        if walk != nil, place != nil || position != nil || turn || heading != nil {
            throw ValidationError("--walk cannot be used with --place, --position, --heading or --turn.")
        }
        if turn, seconds < 4 { throw ValidationError("--turn needs at least 4 seconds.") }
        if let walk {
            if walk.count < 2 { throw ValidationError("--walk needs at least two places.") }
            let times = walk.compactMap(\.seconds)
            guard times.isEmpty || times.count == walk.count else {
                throw ValidationError("--walk needs a time at every place or at none.")
            }
            if (source.from != nil) != !times.isEmpty {
                throw ValidationError(
                    times.isEmpty
                        ? "With --from, --walk needs the time at each place, such as A3@0 B3@12."
                        : "Without --from, --walk takes no times: press Enter at each place.")
            }
            if zip(times, times.dropFirst()).contains(where: { $0 >= $1 }) {
                throw ValidationError("--walk: the times must increase.")
            }
        }
        if onlyKnown, source.fleet == nil { throw ValidationError("--only-known needs a --fleet.") }
        if survey == "-", json { throw ValidationError("Only one of the survey and --json can go to standard output.") }
    }

    func run() throws {
        if drop != nil || move != nil, !Files.exists(survey) {
            throw Failure(.noInput, "\(survey): there is no such file, so it has no stay to correct")
        }
        let file = try GrowingSurvey(survey)
        let site = try site.map { path in try MapFile.site(path) }
        if drop != nil || move != nil { return try correct(file, site) }
        if let siteFloor = site?.fleet?.floor, let floor, siteFloor != floor {
            Terminal.writeMessage("the site file is for the floor \(siteFloor), not \(floor)")
        }
        let recording = Survey.Recording(site: site?.name, receiver: receiver)
        let stays: [Int]
        if let walk {
            stays = try record(walk, in: file, site, recording)
        } else {
            let spot = try spot(place, position, file.survey, site)
            stays = try record(at: spot, in: file, recording)
        }
        try file.finish()
        guard !stays.isEmpty else {
            throw Failure(
                source.from == nil ? .unavailable : .dataFormat,
                "\(source.from ?? "the adapter"): nothing was recorded, because the recording is shorter than a second")
        }
        if walk == nil, place == nil, position == nil, try !askForPlace(of: stays, in: file, site) {
            Terminal.writeMessage(
                "\(Self.subject(stays)) no place yet, so maps leave \(stays.count == 1 ? "it" : "them") out: name the place "
                    + "with " + command(stays, "--place NAME --position X,Y"))
        } else if let place, file.survey.stays.last?.position == nil {
            Terminal.writeMessage(
                "\(MapText.line(place)) has no position yet, which most algorithms need: add it with "
                    + command(stays, "--position X,Y"))
        }
        let judgement = StayJudgement(file.survey, stays: stays)
        for warning in judgement.warnings { Terminal.writeMessage(warning) }
        if json { return Terminal.write(judgement.json.line + "\n") }
        if survey == "-" { return Terminal.writeError(judgement.text) }
        Terminal.show(judgement.text)
    }

    /// The name of the receiver: the path of the recording, otherwise the name of this machine.
    private var receiver: String? {
        source.from.flatMap { $0 == "-" ? nil : $0 } ?? Files.firstLine("/proc/sys/kernel/hostname")
    }

    // MARK: Places

    /// Returns the place with the given name. If no position is given, it comes from the survey or the site. Without a
    /// name, returns the place at the given position.
    private func spot(
        _ name: String?, _ position: FloorPosition?, _ survey: Survey, _ site: Site?
    ) throws -> SurveySpot {
        var spot = SurveySpot(place: name, position: position, floor: floor)
        let earlierStays = survey.stays.filter { !$0.isCancelled && (floor == nil || $0.floor == floor) }
        guard let name else {
            // Use the name and the floor that the survey already has for the position.
            if let position {
                let nearbyStay = earlierStays.last { $0.position.map { $0.distance(to: position) <= 0.5 } ?? false }
                spot.place = nearbyStay?.place
                if spot.floor == nil { spot.floor = nearbyStay?.floor }
            }
            return spot
        }
        let lastStay = earlierStays.last { $0.place == name }
        if spot.floor == nil { spot.floor = lastStay?.floor }
        if position == nil {
            spot.position = lastStay?.position ?? site?.beacons.first { $0.name == name }?.position
            if spot.position == nil, lastStay == nil, walk != nil {
                throw Failure(
                    .usage,
                    "--walk \(MapText.line(name)): the position of this place is neither in the survey nor in a site: record "
                        + "the place first, or give a --site that has it")
            }
        } else if let position, let oldPosition = lastStay?.position, oldPosition.distance(to: position) > 0.5 {
            Terminal.writeMessage(
                "\(MapText.line(name)) was at \(MapText.metres(oldPosition.x)), \(MapText.metres(oldPosition.y)) m before"
            )
        }
        return spot
    }

    // MARK: Recording

    private var legs: [SurveyRecorder.Leg] {
        guard turn else { return [.init(heading: heading?.degrees, seconds: seconds)] }
        let firstHeading = heading?.degrees ?? 0
        return (0..<4).map {
            let degrees = firstHeading + Double($0) * 90
            return .init(heading: degrees >= 360 ? degrees - 360 : degrees, seconds: seconds / 4)
        }
    }

    private func record(at spot: SurveySpot, in file: GrowingSurvey, _ recording: Survey.Recording) throws -> [Int] {
        let legs = legs
        let recorder = SurveyRecorder(file, at: spot, legs: legs, recording, session: session)
        recorder.onSentence = Self.warn
        let progress = ProgressLine()
        recorder.onSecond = { secondsLeft, heard in
            progress.report { "\(secondsLeft) s left, " + Self.status(heard) }
        }
        if source.from != nil {
            try source.run(
                recorder, shared: file.survey.sharedIdentities, isOnlyKnown: onlyKnown, purpose: Self.purpose)
            recorder.finish()
            progress.finish()
            let wantedSeconds = legs.reduce(0) { $0 + $1.seconds }
            if !recorder.stays.isEmpty, !recorder.isSatisfied {
                Terminal.writeMessage("the recording is shorter than \(wantedSeconds) s")
            }
            return recorder.stays
        }
        recorder.waits = true
        for index in legs.indices {
            if index > 0 {
                recorder.turn()
                Self.announce("Turn right by 90°: \(Int(legs[index].heading ?? 0))°, \(legs[index].seconds) s")
            }
            try source.run(
                recorder, shared: file.survey.sharedIdentities, isOnlyKnown: onlyKnown, purpose: Self.purpose)
            // The source ended before the recording at this heading was complete, for example because the user pressed
            // Ctrl-C.
            if !recorder.isLegComplete { break }
        }
        recorder.finish()
        progress.finish()
        return recorder.stays
    }

    private func record(
        _ marks: [MapValue.Mark], in file: GrowingSurvey, _ site: Site?, _ recording: Survey.Recording
    ) throws -> [Int] {
        let spots = try marks.map { mark in
            let spot = try spot(mark.place, nil, file.survey, site)
            guard spot.position != nil else {
                throw Failure(.usage, "--walk \(MapText.line(mark.place)): the position of this place is unknown")
            }
            return spot
        }
        let walk = SurveyWalk(file, spots, marks: marks.compactMap(\.seconds), recording, session: session)
        let progress = ProgressLine()
        walk.onSentence = Self.warn
        if source.from == nil {
            let keys = EnterKeys()
            Self.announce("Stand at \(spots[0].place ?? "") and press Enter, then press Enter at each following place")
            try keys.wait()
            let start = MonotonicClock.nanoseconds()
            walk.onNext = { Self.announce("Next: \($0.place ?? "")") }
            walk.onNext(spots[1])
            walk.onSecond = { heard in progress.report { Self.status(heard) } }
            walk.isPassing = {
                walk.pass(seconds: Double(MonotonicClock.nanoseconds() - start) / 1e9)
                return keys.isPressed
            }
        }
        try source.run(walk, shared: file.survey.sharedIdentities, isOnlyKnown: onlyKnown, purpose: Self.purpose)
        progress.finish()
        if walk.left > 0 {
            Terminal.writeMessage("the walk ended with \(NumberFormat.count(walk.left, "place")) left")
        }
        return walk.stays
    }

    private static let purpose = "pharos map record"

    private static func warn(_ sentence: String, _ isWarning: Bool) {
        if isWarning { Terminal.writeMessage(sentence) }
    }

    /// Prints a line for the user, with a bell on a terminal.
    private static func announce(_ text: String) {
        Terminal.writeError(text + "\n")
        Terminal.ringBell()
    }

    private static func status(_ heard: [HeardBeacon]) -> String {
        let packets = heard.reduce(0) { $0 + $1.levels.count }
        let rate = heard.isEmpty ? "-" : MapText.metres(Double(packets) / Double(heard.count))
        let spans = heard.compactMap { beacon in beacon.levels.max().map { $0 - (beacon.levels.min() ?? $0) } }
        return "\(NumberFormat.count(heard.count, "beacon")), \(rate) packets per second and beacon, "
            + "spread \(MapText.metres(Percentiles(spans).mean)) dB"
    }

    // MARK: Corrections

    private func correct(_ file: GrowingSurvey, _ site: Site?) throws {
        let stayNumbers = move.map(Array.init) ?? [drop ?? 0]
        for number in stayNumbers where !file.survey.stays.contains(where: { $0.number == number }) {
            throw Failure(.usage, "\(survey): there is no stay \(number)")
        }
        if move != nil {
            // The position of a named place is taken from its other stays, or from the site.
            let otherStays = file.survey.filtered { !stayNumbers.contains($0.number) }
            let spot = SurveySpot(place: place, position: position, floor: floor)
            self.move(
                stayNumbers, to: place == nil ? spot : try self.spot(place, position, otherStays, site), in: file)
        } else {
            for number in stayNumbers { file.append(SurveyWriter.drop(stay: number)) }
        }
        try file.finish()
    }

    private func move(_ stays: [Int], to spot: SurveySpot, in file: GrowingSurvey) {
        for stay in stays { file.append(SurveyWriter.move(stay: stay, to: spot)) }
    }

    // MARK: Naming the place afterwards

    /// Asks the user for the name and the position of stays that have just been recorded.
    ///
    /// - Returns: False if there is no terminal, or if the user gives neither a name nor a position.
    private func askForPlace(of stays: [Int], in file: GrowingSurvey, _ site: Site?) throws -> Bool {
        guard Terminal.inputIsTerminal, Terminal.errorIsTerminal, survey != "-" else { return false }
        Self.announce("Recorded. Where was that?")
        Terminal.writeError("name of the place (Enter for none): ")
        let name = BeaconSourceOptions.answer().flatMap { $0.isEmpty ? nil : $0 }
        var spot = try spot(name, nil, file.survey, site)
        while spot.position == nil {
            Terminal.writeError("its position in metres east and north, such as 4,6 (Enter for unknown): ")
            guard let line = BeaconSourceOptions.answer(), !line.isEmpty else { break }
            do { spot.position = try MapValue.position(line) } catch { Terminal.writeMessage("\(error)") }
        }
        guard spot.place != nil || spot.position != nil else { return false }
        move(stays, to: spot, in: file)
        try file.finish()
        return true
    }

    private static func subject(_ stays: [Int]) -> String {
        stays.count == 1 ? "stay \(stays[0]) has" : "stays \(stays[0]) to \(stays[stays.count - 1]) have"
    }

    private func command(_ stays: [Int], _ options: String) -> String {
        let numbers = stays.count == 1 ? "\(stays[0])" : "\(stays[0])-\(stays[stays.count - 1])"
        return "`pharos map record \(ShellText.line([survey])) --move \(numbers) \(options)`"
    }
}

/// Counts presses of Enter while other code runs.
private final class EnterKeys {
    private let input = Descriptor.standardInput
    private var presses = 0
    private var inputHasEnded = false

    /// True if Enter was pressed since the last press that was returned. Each press is returned once.
    var isPressed: Bool {
        readPresses(milliseconds: 0)
        guard presses > 0 else { return false }
        presses -= 1
        return true
    }

    /// Waits until Enter is pressed.
    func wait() throws {
        while presses == 0 {
            readPresses(milliseconds: 1000)
            if inputHasEnded { throw Failure(.usage, "--walk: standard input has ended, so Enter cannot be pressed") }
        }
        presses -= 1
    }

    private func readPresses(milliseconds: Int) {
        guard !inputHasEnded, presses == 0 else { return }
        guard (try? Poller.wait([.init(input, .read)], milliseconds: milliseconds)) == [true] else { return }
        let octets = (try? input.read(upTo: 256)) ?? []
        inputHasEnded = octets.isEmpty
        presses += octets.count { $0 == UInt8(ascii: "\n") }
    }
}
