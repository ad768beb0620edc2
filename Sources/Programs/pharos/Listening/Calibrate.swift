internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import HCITransports
internal import LinuxHost
internal import Listener
internal import Planner
internal import Profiles
internal import Sightings

struct Calibrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate", abstract: "Measure a beacon's level at 1 m.",
        discussion: """
            pharos calibrate --strongest --turn
            pharos calibrate --beacon lobby --known lobby.json --turn --write lobby.json
            pharos calibrate --beacon uid:8b0ca750095477cb3e77-000000000002 --headings 8 --distance-m 1 --distance-m 4

            Turn the beacon, not the receiver: the level of a beacon differs by 4 to 19 dB between its sides. The \
            measured level is valid only for this receiver. Exits with 75 if fewer than 100 packets were received, or \
            fewer than 20 for one heading (a direction to which you turn the beacon).
            """)

    @Option(
        help: ArgumentHelp("An identity such as ibeacon:UUID-1-2, or the name of a known beacon.", valueName: "key"))
    var beacon: String?

    @Flag(help: "Take the strongest beacon that is received.")
    var strongest = false

    @OptionGroup var source: BeaconSourceOptions

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Distance between beacon and receiver (default: 1). Several distances also give the path-loss exponent.",
            valueName: "m"),
        transform: { try OptionValue.number($0, in: 0.1...100, "m") })
    var distanceM: [Double] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How long to listen at each distance (default: 60).", valueName: "s"),
        transform: OptionValue.duration)
    var seconds: Int = 60_000_000

    @Flag(help: "Measure four headings of the beacon, which you turn by 90 degrees after each.")
    var turn = false

    @Option(help: ArgumentHelp("Measure this many headings of the beacon, 2...16.", valueName: "n"))
    var headings: Int?

    @Flag(
        help: """
            Measure each channel separately. The beacon must send only on channel 37, then only on 38, then only on 39 \
            (`advertise --channels`).
            """)
    var channels = false

    @Option(
        help: ArgumentHelp("Path-loss exponent, 1...6, for a single distance other than 1 m.", valueName: "n"))
    var pathLossExponent: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Transmit power of the beacon (default: the power in the profile that --write names).", valueName: "dBm"),
        transform: { Int(try OptionValue.radioPower($0).dBm) })
    var radioPowerDbm: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "This receiver's levels minus those of a reference receiver, -40...40.", valueName: "dB"))
    var referenceOffsetDb: Double = 0

    @Option(
        help: ArgumentHelp("Write the value into the calibration of this profile.", valueName: "file"),
        completion: .file())
    var write: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard (beacon != nil) != strongest else {
            throw ValidationError("Give either --beacon or --strongest.")
        }
        if turn && headings != nil { throw ValidationError("--turn means --headings 4: give only one of them.") }
        if let headings { try OptionValue.check("--headings", headings, in: 2...16) }
        if let pathLossExponent { try OptionValue.check("--path-loss-exponent", pathLossExponent, in: 1...6) }
        if distanceM.count == 1, distanceM[0] != 1, pathLossExponent == nil {
            throw ValidationError(
                "A calibration is for 1 m: measure there, at several distances, or give --path-loss-exponent.")
        }
        if Set(distanceM).count < distanceM.count { throw ValidationError("The same --distance-m is given twice.") }
        if write != nil && !turn && headings == nil {
            throw ValidationError("--write needs --turn or --headings: one heading is not enough for a calibration.")
        }
        try OptionValue.check("--reference-offset-db", referenceOffsetDb, in: -40...40)
    }

    func run() throws {
        let profile = try write.map { path in (path: path, text: try InputFile.read(path)) }
        let power = try radioPowerDbm ?? profile.flatMap { try Self.radioPower($0.text, $0.path) }
        let known = try KnownBeacons(source.known)
        for warning in known.warnings { Terminal.writeMessage(warning) }
        let (measurement, tie) = try measure(known, power)
        if let shortage = measurement.shortage { throw Failure(.temporaryFailure, "\(name): \(shortage)") }
        guard let result = measurement.result else {
            throw Failure(.temporaryFailure, "\(name): the level at 1 m cannot be computed from these distances")
        }
        let warnings = result.warnings + [tie].compactMap(\.self)
        for warning in warnings { Terminal.writeMessage("warning: \(warning)") }
        let report = CalibrationReport(result, receiver: source.receiver, warnings)
        // Print the result first, so that it is not lost if the profile cannot be written.
        Terminal.show(report.text, or: report.json, asJSON: json)
        if let profile {
            let revision = try CalibrationRevision(
                of: profile.text, radioPower: power, measuredPower: result.powerAtOneMeter.value,
                receiver: source.receiver)
            do throws(SystemError) {
                try Files.replace(profile.path, with: revision.text, keepsRights: true)
            } catch {
                throw Failure(.osError, "\(profile.path): \(error.text)")
            }
            if !json {
                Terminal.writeLine("\(profile.path): calibration \(revision.key) is \(revision.dBm) dBm now")
            }
        }
    }

    private var name: String { beacon ?? "the strongest beacon" }

    private var legs: [CalibrationMeasurement.Leg] {
        let headings = headings ?? (turn ? 4 : 1)
        let channels: [Int?] = channels ? [37, 38, 39] : [nil]
        return (distanceM.isEmpty ? [1] : distanceM).flatMap { meters in
            channels.flatMap { channel in
                (0..<headings).map { .init(meters: meters, heading: $0 * 360 / headings, channel: channel) }
            }
        }
    }

    /// Returns the measurement. Without a chosen beacon, also returns a sentence if other beacons have the same level
    /// as the strongest beacon.
    private func measure(_ known: KnownBeacons, _ power: Int?) throws -> (CalibrationMeasurement, tie: String?) {
        let legs = legs
        let duration = max(1, seconds * (distanceM.isEmpty ? 1 : distanceM.count) / legs.count)
        var emptyMeasurement = CalibrationMeasurement(legs: legs)
        emptyMeasurement.exponent = pathLossExponent
        emptyMeasurement.referenceOffset = referenceOffsetDb
        emptyMeasurement.radioPower = power
        let signals = try SignalDescriptor()
        let firstSource = try source.open(known, duration: duration, signals: signals)
        let listener = CalibrationListener(
            try BeaconChoice(beacon, known, firstSource.clock), emptyMeasurement, legMicroseconds: duration,
            isRecording: source.replay != nil)
        if source.replay != nil {
            try firstSource.run(listener)
            return (listener.measurement, listener.tie)
        }
        for index in legs.indices where index == 0 || !listener.isSatisfied {
            let leg = legs[index]
            var text = "Measurement \(index + 1) of \(legs.count): put the beacon \(Self.meters(leg.meters)) m away"
            if legs.contains(where: { $0.heading > 0 }) { text += ", turned by \(leg.heading)°" }
            if let channel = leg.channel { text += ", sending on channel \(channel) alone" }
            BeaconSourceOptions.prompt(text)
            listener.begin(legIndex: index)
            try (index == 0 ? firstSource : source.open(known, duration: duration, signals: signals)).run(listener)
            if signals.takenAt != nil { break }
        }
        return (listener.measurement, listener.tie)
    }

    private static func meters(_ value: Double) -> String { NumberFormat.rounded(value, 3) }

    /// Returns the transmit power that the profile requests.
    private static func radioPower(_ text: [UInt8], _ path: String) throws -> Int? {
        let (profile, problems) = BeaconProfile.decode(text)
        guard let profile else {
            // The profile may still be incomplete, because this command adds its calibration. So read the power without
            // the other checks.
            guard JSONDocument.parse(text).problems.isEmpty, let root = JSONDocument.parse(text).root else {
                throw Failure(.dataFormat, problems.filter(\.isError).map { $0.text(file: path) })
            }
            if case .number(let number)? = root["radioPowerDbm"]?.value { return number.integer }
            return nil
        }
        return profile.radioPower.map { Int($0.dBm) }
    }
}

/// Receives one beacon, leg by leg. A leg is the part of a calibration at one distance, in one direction, and on one
/// channel or all channels.
private final class CalibrationListener: SightingConsumer {
    private var table: SightingTable
    /// The indices of the beacon's tracks in the table; `nil` to choose the beacon with the highest level.
    private let trackIndices: Set<Int>?
    /// The measurement from which each beacon starts: the legs, without packets.
    private let emptyMeasurement: CalibrationMeasurement
    /// The measurement of each beacon, by its track index. If the user has chosen a beacon, only the index 0 is used.
    private var measurements: [Int: CalibrationMeasurement] = [:]
    private let legMicroseconds: Int
    private let isRecording: Bool
    private let progressLine = ProgressLine()
    /// The index of the current leg.
    private var legIndex = 0
    /// The start of the current leg.
    private var start: HeardInstant?
    /// The total duration of the earlier legs, in microseconds.
    private var earlierLegsMicroseconds = 0
    private var latest = HeardInstant(nanoseconds: 0)

    /// The largest number of beacons among which the beacon with the highest level is chosen.
    private static let candidateLimit = 256

    init(
        _ choice: BeaconChoice, _ emptyMeasurement: CalibrationMeasurement, legMicroseconds: Int, isRecording: Bool
    ) {
        table = choice.table
        trackIndices = choice.trackIndices
        self.emptyMeasurement = emptyMeasurement
        self.legMicroseconds = legMicroseconds
        self.isRecording = isRecording
    }

    /// The measurement of the chosen beacon, or of the ``strongest`` beacon if none is chosen.
    var measurement: CalibrationMeasurement {
        if trackIndices != nil { return measurements[0] ?? emptyMeasurement }
        return strongest.flatMap { measurements[$0] } ?? emptyMeasurement
    }

    /// The track index of the beacon with the highest level, among the beacons with enough packets. If no beacon has
    /// enough packets, the track index of the beacon with the most packets. Among beacons with equal levels, the beacon
    /// with the most packets comes first, and among these the first by name.
    private var strongest: Int? {
        let neededPackets = CalibrationMeasurement.neededPacketsOfHeading
        let judgeable = measurements.filter { $0.value.packets >= neededPackets }
        let candidates =
            judgeable.isEmpty ? measurements.mapValues { (0.0, $0.packets) } : judgeable.mapValues(Self.rank)
        return candidates.max { $0.value != $1.value ? $0.value < $1.value : title($0.key) > title($1.key) }?.key
    }

    /// Returns the mean level, rounded to a tenth of a dB, and the number of packets.
    private static func rank(_ measurement: CalibrationMeasurement) -> (Double, Int) {
        (((measurement.mean ?? -200) * 10).rounded() / 10, measurement.packets)
    }

    private func title(_ trackIndex: Int) -> String {
        let track = table.tracks[trackIndex]
        return track.known?.name ?? track.identity?.description ?? track.sender?.address.description ?? ""
    }

    /// A sentence if other beacons have the same level as the strongest beacon; `nil` if there are none, or if the
    /// user has chosen a beacon.
    var tie: String? {
        guard trackIndices == nil, let strongest, let measured = measurements[strongest], measured.mean != nil else {
            return nil
        }
        let level = Self.rank(measured).0
        let others = measurements.filter {
            $0.key != strongest && $0.value.packets >= CalibrationMeasurement.neededPacketsOfHeading
                && Self.rank($0.value).0 == level
        }
        guard let other = others.keys.map(title).min() else { return nil }
        let more = others.count > 1 ? " and \(others.count - 1) more" : ""
        return TerminalText.line(
            "\(title(strongest)) was measured, but \(other)\(more) is equally strong "
                + "(\(NumberFormat.rounded(level, 1)) dBm): name the beacon with --beacon, or move the others away")
    }

    private var elapsedOfLeg: Int { start.map { latest.microseconds(since: $0) } ?? 0 }

    func begin(legIndex: Int) {
        earlierLegsMicroseconds += elapsedOfLeg
        self.legIndex = legIndex
        start = nil
    }

    var isSatisfied: Bool {
        let seconds = Double(earlierLegsMicroseconds + elapsedOfLeg) / 1_000_000
        return legIndex == emptyMeasurement.legs.count - 1 && measurement.isEnough(afterSeconds: seconds)
    }

    func advance(to now: HeardInstant) {
        if start == nil { start = now }
        latest = now
        if isRecording { legIndex = elapsedOfLeg / legMicroseconds }
    }

    func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        let heard = table.receive(report.sighting, octets, range)
        let tracksOfReport = [heard].compactMap(\.self) + (trackIndices == nil ? [] : table.groupsOfReport)
        guard let trackIndex = tracksOfReport.first(where: { trackIndices?.contains($0) ?? true }),
            !report.sighting.isScanResponse
        else { return }
        let key = trackIndices == nil ? trackIndex : 0
        guard measurements[key] != nil || measurements.count < Self.candidateLimit else { return }
        measurements[key, default: emptyMeasurement].receive(report.sighting, leg: legIndex)
    }

    func handleIdle(at now: HeardInstant) {
        progressLine.report {
            "\((earlierLegsMicroseconds + elapsedOfLeg) / 1_000_000) s: \(measurement.packets) packets"
        }
    }

    func say(_ sentence: String, isWarning: Bool) {
        if isWarning { Terminal.writeMessage(sentence) }
    }

    func finish(at now: HeardInstant) {
        latest = max(latest, now)
        progressLine.finish()
    }
}

/// The result of a calibration as text and JSON.
private struct CalibrationReport {
    private let result: CalibrationMeasurement.Result
    private let receiver: String
    private let warnings: [String]

    init(_ result: CalibrationMeasurement.Result, receiver: String, _ warnings: [String]) {
        self.result = result
        self.receiver = receiver
        self.warnings = warnings
    }

    private static func tenths(_ value: Double?) -> String { NumberFormat.rounded(value, 1) }

    private var estimator: String { "trimmed mean, \(Int(result.trim * 100)) %" }

    var text: String {
        var lines = [
            "\(Self.tenths(result.powerAtOneMeter.value)) dBm at 1 m"
                + (result.powerAtOneMeter.interval.map {
                    ", \(Self.tenths($0.lowerBound))...\(Self.tenths($0.upperBound)) with 95 %"
                } ?? "") + "; Eddystone sends it as \(Self.tenths(result.powerAtOneMeter.value + 41)) dBm at 0 m",
            "measured by \(receiver); other receivers may measure other values",
        ]
        lines.append(
            "\(result.packets) packets, standard deviation \(Self.tenths(result.packetDeviation)) dB; standard "
                + "error over headings \(Self.tenths(result.standardError)) dB; \(estimator)")
        lines += result.headings.map { "heading \($0.number)°: \(Self.tenths($0.level)) dBm, \($0.packets) packets" }
        lines += result.channels.map { "channel \($0.number): \(Self.tenths($0.level)) dBm, \($0.packets) packets" }
        if let exponent = result.exponent {
            let interval = exponent.interval.map {
                ", \(Self.tenths($0.lowerBound))...\(Self.tenths($0.upperBound)) with 95 %"
            }
            lines.append("exponent \(Self.tenths(exponent.value))\(interval ?? "")")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    var json: JSONValue {
        .record([
            ("measuredPowerAt1mDbm", .rounded(result.powerAtOneMeter.value)),
            ("measuredPowerAt1mLowDbm", .rounded(result.powerAtOneMeter.interval?.lowerBound)),
            ("measuredPowerAt1mHighDbm", .rounded(result.powerAtOneMeter.interval?.upperBound)),
            ("measuredPowerAt0mDbm", .rounded(result.powerAtOneMeter.value + 41)),
            ("standardErrorDb", .rounded(result.standardError)), ("packets", .integer(result.packets)),
            ("packetSdDb", .rounded(result.packetDeviation)),
            ("headings", .array(result.headings.map { Self.level("heading", $0) })),
            ("channels", .array(result.channels.map { Self.level("channel", $0) })),
            ("estimator", .string(estimator)), ("exponent", .rounded(result.exponent?.value)),
            ("exponentLow", .rounded(result.exponent?.interval?.lowerBound)),
            ("exponentHigh", .rounded(result.exponent?.interval?.upperBound)), ("receiver", .string(receiver)),
            ("warnings", .array(warnings.map(JSONValue.string))),
        ])
    }

    private static func level(_ key: String, _ level: CalibrationMeasurement.Level) -> JSONValue {
        .record([(key, .integer(level.number)), ("dBm", .rounded(level.level)), ("packets", .integer(level.packets))])
    }
}
