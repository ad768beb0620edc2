internal import ArgumentParser
internal import BluetoothTypes
internal import Collector
internal import CommandSupport
internal import Configuration
internal import LinuxHost

struct WhereCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "where", abstract: "Show the rooms of all beacons, or the room of one beacon.",
        discussion: """
            pharos where
            pharos where key-peter
            pharos where --state-file museum.where.json --json

            Reads the state files of `pharos collect`. A state file that cannot be read is reported, and the beacons \
            of the other files are shown. Users other than root must be members of the group pharos. "unknown" means \
            that the beacon has not left, but that its room is not certain. The reason follows: the rooms that are \
            about equally likely, such as "stairs 46 %, entrance 41 %", or a receiver in range that does not work, \
            such as "receiver stairs silent since 10:01". If a collector that followed a broker does not run any more, \
            the table shows what was last known, and the exit status is 69.
            """)

    @Argument(help: ArgumentHelp("A beacon's name (default: all).", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp("The state file of a collector.", valueName: "file"), completion: .file())
    var stateFile: String?

    @Option(
        help: ArgumentHelp("Directory of state files (default: /run/pharos).", valueName: "directory"),
        completion: .directory)
    var runtimeDir: String?

    @Flag(help: "Show times in UTC (default: local times; JSON is always in UTC).")
    var utc = false

    @Flag(help: "Print one JSON object.")
    var json = false

    /// The time in seconds after which a collector that has not written its state file counts as stopped.
    private static let writeTimeout = 60
    /// The time in seconds for which a collector counts as running after it wrote its state file, even if its process
    /// is not visible, for example because it is in another container.
    private static let hiddenTimeout = 10

    func validate() throws {
        if stateFile != nil && runtimeDir != nil {
            throw ValidationError("--state-file names the file; --runtime-dir cannot be used with it.")
        }
    }

    func run() throws {
        let states = try states()
        let now = Int(WallClock.microseconds() / 1_000_000)
        let selectedBeacons = states.flatMap { selected(of: $0) }
        if let name, selectedBeacons.isEmpty { throw Failure(.usage, Self.advice(name, states)) }
        if json {
            let members: [(String, JSONValue)] = [
                ("beacons", .array(states.flatMap { beaconsJSON($0, now: now) })),
                ("receivers", .array(states.flatMap { Self.receiversJSON($0, now: now) })),
                ("written", .optional(states.compactMap { $0["written"]?.string }.min(), JSONValue.string)),
            ]
            Terminal.write(JSONValue.record(members).line + "\n")
        } else {
            Terminal.show(WhereTable.text(selectedBeacons, utc ? .utc : .local))
            for state in states where Self.endTime(of: state, now: now) == nil {
                Self.writeProblems(of: state, now: now)
            }
        }
        let endMessages = states.filter { name == nil || !selected(of: $0).isEmpty }
            .compactMap { endMessage(of: $0, now: now) }
        if !endMessages.isEmpty { throw Failure(.unavailable, endMessages) }
    }

    /// Returns the beacons of a state file that have the given name or identity; all beacons if no name is given.
    private func selected(of state: JSONNode) -> [JSONNode] {
        let beacons = state["beacons"]?.elements ?? []
        guard let name else { return beacons }
        return beacons.filter { $0["beacon"]?.string == name || $0["identity"]?.string == name }
    }

    // MARK: Collectors that have ended

    /// Returns the time of the last write of a state file, if the collector followed a broker and does not run any
    /// more; otherwise `nil`.
    private static func endTime(of state: JSONNode, now: Int) -> RFC3339Time? {
        guard let id = state["pid"]?.integer.flatMap({ Int32(exactly: $0) }),
            let written = state["written"]?.string.flatMap({ RFC3339Time($0) }),
            abs(now - written.secondsSince1970) > hiddenTimeout
        else { return nil }
        let startTicks = state["startTicks"]?.integer.flatMap { UInt64(exactly: $0) }
        return ProcessIdentity(id: id, startTicks: startTicks).isRunning ? nil : written
    }

    /// Returns the message about a collector that does not run any more; `nil` if it runs.
    private func endMessage(of state: JSONNode, now: Int) -> String? {
        guard let end = Self.endTime(of: state, now: now) else { return nil }
        let zone = utc || json ? TimeZoneChoice.utc : .local
        let time = zone.shortText(end.secondsSince1970, now: now)
        return "the collector \(state["collector"]?.string ?? "") has not run since \(time); "
            + (json ? "the present rooms of its beacons are not known" : "the table shows what was last known")
    }

    /// Returns the JSON of the selected beacons. If the collector does not run any more, their presence and their rooms
    /// are unknown.
    private func beaconsJSON(_ state: JSONNode, now: Int) -> [JSONValue] {
        let beacons = selected(of: state).map { JSONValue($0) }
        guard Self.endTime(of: state, now: now) != nil else { return beacons }
        return beacons.map { Self.replaced($0, ["present": .null, "known": false, "room": .null]) }
    }

    /// Returns the JSON of the receivers. Their states are unknown if the collector does not run any more.
    private static func receiversJSON(_ state: JSONNode, now: Int) -> [JSONValue] {
        let receivers = (state["receivers"]?.elements ?? []).map { JSONValue($0) }
        guard endTime(of: state, now: now) != nil else { return receivers }
        return receivers.map { replaced($0, ["state": "unknown"]) }
    }

    /// Returns an object in which the members with these keys have other values.
    private static func replaced(_ object: JSONValue, _ values: [String: JSONValue]) -> JSONValue {
        guard case .object(let members) = object else { return object }
        return .object(members.map { JSONValue.Member($0.key, values[$0.key] ?? $0.value) })
    }

    // MARK: Problems

    /// Prints on standard error why the positions in a state file may be wrong.
    private static func writeProblems(of state: JSONNode, now: Int) {
        let name = TerminalText.line(state["collector"]?.string ?? "")
        if let since = state["disconnectedSince"]?.string {
            Terminal.writeMessage("\(name): not connected to the broker since \(TerminalText.line(since))")
        } else {
            for receiver in state["receivers"]?.elements ?? [] {
                guard let reason = Self.reasonOfSilence(receiver["state"]?.string) else { continue }
                let receiver = TerminalText.line(receiver["name"]?.string ?? "")
                Terminal.writeMessage("\(name): the receiver \(receiver) is silent: \(reason)")
            }
        }
        if let time = state["written"]?.string.flatMap({ RFC3339Time($0) }),
            now - time.secondsSince1970 > Self.writeTimeout
        {
            Terminal.writeMessage(
                "\(name): the state is from \(time); no `pharos collect` is writing the state file")
        }
    }

    /// Returns why a receiver with this state is silent; `nil` if it works.
    private static func reasonOfSilence(_ state: String?) -> String? {
        switch state {
        case "alive": nil
        case "deaf": "it reports that it receives nothing"
        case "off": "it was stopped, or lost its connection to the broker"
        default: "it sends nothing"
        }
    }

    /// Returns the message for a name that is not the name of a received beacon.
    private static func advice(_ name: String, _ states: [JSONNode]) -> String {
        let beacons = states.flatMap { $0["beacons"]?.elements ?? [] }
        let receivers = states.flatMap { $0["receivers"]?.elements ?? [] }
        let quoted = ProblemText.quoted(name)
        if (beacons + receivers).contains(where: { $0["room"]?.string == name }) {
            return "\(quoted) is a room, not a beacon; `pharos where` without a name shows the room of each beacon"
        }
        if receivers.contains(where: { $0["name"]?.string == name }) { return "\(quoted) is a receiver, not a beacon" }
        let nearestName = NearestWord.find(name, among: beacons.compactMap { $0["beacon"]?.string })
        return "no receiver has received \(quoted) yet"
            + (nearestName.map { "; did you mean \(ProblemText.quoted($0))?" }
                ?? "; `pharos where` without a name lists all beacons")
    }

    /// Returns the contents of the state files. In a directory, files that cannot be used are reported, and the others
    /// are returned.
    private func states() throws -> [JSONNode] {
        if let stateFile { return [try Self.state(stateFile, InputFile.read(stateFile))] }
        let directory = runtimeDir ?? WhereFile.directory
        let names = Files.names(in: directory).filter { $0.hasSuffix(WhereFile.ending) }.sorted()
        guard !names.isEmpty else {
            throw Failure(
                .noInput, "\(directory): there is no state file of a collector; start `pharos collect`")
        }
        return try FoundFiles.usable(names.map { "\(directory)/\($0)" }) {
            try Self.state($0, Self.read(selectedBeacons: $0))
        }
    }

    private static func read(selectedBeacons path: String) throws -> [UInt8] {
        do throws(SystemError) {
            return try Files.read(path)
        } catch {
            guard error.errno == SystemError.accessDenied else { throw Failure(.noInput, "\(path): \(error.text)") }
            throw Failure(.notPermitted, "\(path): \(WhereFile.groupAdvice)")
        }
    }

    private static func state(_ path: String, _ octets: [UInt8]) throws -> JSONNode {
        let (root, problems) = JSONDocument.parse(octets)
        guard problems.isEmpty, let root, root["beacons"]?.elements != nil, root["collector"] != nil,
            root["version"]?.integer == 1
        else {
            throw Failure(.dataFormat, "\(path): this is not a state file of `pharos collect`")
        }
        return root
    }
}

/// The table of `pharos where`, with the room and the position of each beacon.
enum WhereTable {
    /// - Parameter beacons: The beacons of the state files, as JSON.
    static func text(_ beacons: [JSONNode], _ zone: TimeZoneChoice) -> String {
        guard !beacons.isEmpty else { return "No beacon was received.\n" }
        var table = Table(["beacon", "room", "place", "within", "last heard"])
        for beacon in beacons {
            func number(_ node: JSONNode?) -> String? { node?.thousandths.map(DecimalText.thousandths) }
            let position = beacon["position"]
            let place = [number(position?["x"]), number(position?["y"])].compactMap(\.self).joined(separator: ", ")
            let lastHeard = beacon["lastHeard"]?.string ?? ""
            table.add(
                [
                    beacon["beacon"]?.string ?? "", answer(beacon, zone), place,
                    number(beacon["radiusM"]).map { $0 + " m" } ?? "",
                    RFC3339Time(lastHeard).map { zone.text($0.secondsSince1970) } ?? lastHeard,
                ].map { TerminalText.line(TerminalText.shortened($0, to: 60)) })
        }
        return table.text
    }

    /// Returns the floor and the room of a beacon, or why they are not known.
    private static func answer(_ beacon: JSONNode, _ zone: TimeZoneChoice) -> String {
        let isKnown = if case .boolean(true)? = beacon["known"]?.value { true } else { false }
        if isKnown {
            guard beacon["present"]?.string == "ON" else { return "away" }
            return [beacon["floor"]?.string, beacon["room"]?.string].compactMap(\.self).joined(separator: ", ")
        }
        guard let reason = UnknownReason(beacon) else { return "unknown: no receiver works that could receive it" }
        let now = Int(WallClock.microseconds() / 1000)
        return "unknown: \(reason.text(zone, now: now))"
    }
}
