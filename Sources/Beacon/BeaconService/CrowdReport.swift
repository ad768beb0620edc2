public import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
public import Configuration
internal import HCI

/// The properties of a crowd that are known before its first turn.
public struct CrowdFacts: Sendable {
    /// The adapter as the user named it.
    public let adapter: String
    public let identities: [CrowdIdentity]
    public let timing: CrowdTiming
    /// The number of advertising sets that send at the same time, if the kernel leaves all of them free.
    public let sets: Int
    /// The time that a set needs for each identity, in microseconds: the time on the air (dwell time) and four
    /// commands.
    public let expectedTurnMicroseconds: Int
    /// The time of a round, in which every identity has one turn, in microseconds; `nil` if every identity has a set of
    /// its own.
    public let expectedRoundMicroseconds: Int?
    private let controller: String

    /// The commands of a turn: disable, address, data, enable.
    private static let commandsInATurn = 4

    /// - Parameter commandMicroseconds: The time in which the controller answers a command, in microseconds.
    init(adapter: String, _ session: CrowdSession, commandMicroseconds: Int) {
        self.adapter = adapter
        identities = session.identities
        timing = session.timing
        sets = session.rotation.sets
        let commands = Self.commandsInATurn * max(0, commandMicroseconds)
        // The controller carries out one command at a time, so a turn takes at least the time of the commands of all
        // sets.
        expectedTurnMicroseconds = max(timing.dwellMicroseconds + commands, commands * sets)
        expectedRoundMicroseconds =
            session.rotation.isConstant ? nil : expectedTurnMicroseconds * identities.count / sets
        let capabilities = session.capabilities
        controller =
            "\(capabilities.version), \(capabilities.manufacturer), "
            + (capabilities.hasExtendedAdvertising ? "extended advertising" : "legacy advertising")
    }

    /// Checks a duration in microseconds.
    ///
    /// - Returns: A warning if the duration is shorter than the expected time of a round; otherwise `nil`.
    /// - Throws: `refused` if the duration always ends before every identity has had a turn.
    @discardableResult
    public func check(_ duration: Int) throws(BeaconServiceError) -> String? {
        guard let expectedRound = expectedRoundMicroseconds, duration < expectedRound else { return nil }
        let option = "--duration-s \(DecimalText.thousandths(duration / 1000))"
        // The shortest possible time of a round: the time of the commands is left out.
        let shortestRound = timing.dwellMicroseconds * identities.count / sets
        guard duration < shortestRound else {
            return
                "\(option): one round is expected to take \(CrowdReport.seconds(expectedRound)) s, so some identities "
                + "may never be sent"
        }
        let sentCount = (duration / timing.dwellMicroseconds + 1) * sets
        throw .refused(
            .request,
            "\(option): one round of \(identities.count) identities takes at least "
                + "\(CrowdReport.seconds(shortestRound)) s, so \(max(1, identities.count - sentCount)) or more of them "
                + "would never be sent; choose a longer duration, fewer identities or a shorter dwell time")
    }

    /// The lines that are printed before the start.
    public var lines: [String] {
        let count = identities.count
        let dwell = DecimalText.thousandths(timing.dwellMicroseconds)
        var lines = [
            "\(count) \(count == 1 ? "identity" : "identities") on \(adapter) (\(controller), "
                + "\(NumberFormat.count(sets, "advertising set")) in use)"
        ]
        guard let round = expectedRoundMicroseconds else {
            return lines + ["all identities at the same time, each with an event every \(meanPeriod) ms on average"]
        }
        lines.append(
            "\(sets == 1 ? "one after the other" : "\(sets) identities at the same time"), each for \(dwell) ms: "
                + "at least \(NumberFormat.count(timing.leastEvents, "advertising event")) at an interval of "
                + "\(timing.interval)")
        lines.append(
            "expected: \(CrowdReport.milliseconds(expectedTurnMicroseconds)) ms for each turn, so each identity has a turn "
                + "every \(CrowdReport.seconds(round)) s")
        return lines
    }

    /// The mean time between two events of a set that stays on the air, in milliseconds.
    private var meanPeriod: String { DecimalText.thousandths(timing.interval.meanPeriodMicroseconds) }

    /// The expected reception of a crowd by a receiver that pauses between its scan windows.
    public struct Reception: Sendable {
        /// The share of turns in which the receiver gets at least one event, from 0 to 1.
        public let share: Double
        /// The time after which the receiver has received a given identity with a probability of 95 %, in microseconds;
        /// `nil` for never, and if all identities stay on the air.
        public let likelyMicroseconds: Int?
        /// The estimate in one sentence. It is a warning if ``share`` is below 1.
        public let sentence: String
    }

    /// Estimates the reception by a receiver whose scan windows are not synchronised with the turns.
    ///
    /// - Parameters:
    ///   - window: The scan window of the receiver, in microseconds.
    ///   - scanInterval: The scan interval of the receiver, in microseconds.
    public func reception(window: Int, scanInterval: Int) -> Reception {
        let scanner = "\(DecimalText.thousandths(window)) ms in every \(DecimalText.thousandths(scanInterval)) ms"
        guard let round = expectedRoundMicroseconds else {
            return Reception(
                share: 1, likelyMicroseconds: nil,
                sentence:
                    "a receiver that listens \(scanner): `pharos plan latency` computes when it finds each identity")
        }
        let share = timing.reception(window: window, scanInterval: scanInterval)
        guard share > 0 else {
            return Reception(
                share: 0, likelyMicroseconds: nil,
                sentence: "a receiver that listens \(scanner) receives nothing: its window is shorter than a packet")
        }
        guard share < 1 else {
            return Reception(
                share: 1, likelyMicroseconds: round,
                sentence: "a receiver that listens \(scanner) can receive every turn")
        }
        var (rounds, probabilityOfMiss) = (0, 1.0)
        while probabilityOfMiss > 0.05 { (rounds, probabilityOfMiss) = (rounds + 1, probabilityOfMiss * (1 - share)) }
        // With this number of events, a turn lasts longer than the pause between two scan windows, so at least one
        // event falls into a scan window.
        let events = 2 + (scanInterval - window) / max(1, min(window, timing.interval.microseconds))
        let sufficientDwell = events * (timing.interval.microseconds + CrowdTiming.largestDelay)
        return Reception(
            share: share, likelyMicroseconds: rounds * round,
            sentence:
                "a receiver that listens \(scanner) receives only about \(CrowdReport.percent(share)) % of the turns: "
                + "it has received an identity with a probability of 95 % after \(rounds) rounds "
                + "(\(CrowdReport.seconds(rounds * round)) s); with --dwell-ms "
                + "\(DecimalText.thousandths((sufficientDwell + 999) / 1000 * 1000)) or more it receives every turn")
    }

    /// The line that `--json` prints before the start.
    ///
    /// - Parameter reception: The estimate for the receiver that the options describe; `nil` if they describe none.
    public func json(_ reception: Reception?) -> JSONValue {
        .record([
            ("event", "start"), ("adapter", .string(adapter)), ("sets", .integer(sets)),
            ("intervalMs", .thousandths(timing.interval.microseconds)),
            ("dwellMs", .thousandths(timing.dwellMicroseconds)),
            ("leastEventsPerTurn", .integer(timing.leastEvents)),
            ("expectedTurnMs", .thousandths(expectedTurnMicroseconds)),
            ("expectedRoundS", .seconds(expectedRoundMicroseconds)),
            ("receivedShare", .rounded(reception?.share)),
            ("receivedWithinS", .seconds(reception?.likelyMicroseconds)),
            (
                "identities",
                .array(
                    identities.map { identity in
                        .record([
                            ("name", .string(identity.name)),
                            ("type", .string(identity.advertisement.content.typeName)),
                            ("address", .string(identity.address.description)),
                            // The measured power may depend on the radio power, which is not known yet.
                            ("octets", .optional(try? identity.payload(nil)) { .hex($0.octets) }),
                        ])
                    })
            ),
        ])
    }
}

/// The counts of a crowd at a moment.
public struct CrowdReport: Sendable {
    public let rotation: CrowdRotation
    public let identities: [CrowdIdentity]
    /// The time since the first turn began, in microseconds.
    public let elapsedMicroseconds: Int
    /// The possible numbers of advertising events in a turn, from the shortest to the longest time on the air; `nil`
    /// before the first turn has ended.
    public let events: ClosedRange<Int>?
    /// `true` while the controller refuses the next address.
    public let isWaiting: Bool
    private let timing: CrowdTiming

    init(_ session: CrowdSession) {
        rotation = session.rotation
        identities = session.identities
        elapsedMicroseconds = session.elapsedMicroseconds
        timing = session.timing
        events = session.rotation.airtimes.map(timing.events)
        isWaiting = session.isWaiting
    }

    /// The lines that are printed while the crowd is sent, and after its end.
    public var lines: [String] {
        let count = rotation.identities
        var lines = [
            "\(Self.seconds(elapsedMicroseconds)) s: \(rotation.turns) turns, \(rotation.rounds) "
                + "round\(rotation.rounds == 1 ? "" : "s")"
                + (rotation.lostTurns > 0 ? ", \(rotation.lostTurns) turns that another program ended early" : "")
                + (isWaiting ? "; waiting, because the adapter scans and accepts no other address" : "")
        ]
        guard !rotation.isConstant else {
            lines.append(
                "all \(count) identities are on the air, each with an event every "
                    + "\(DecimalText.thousandths(timing.interval.meanPeriodMicroseconds)) ms on average")
            return lines
        }
        guard let turn = rotation.turnMicroseconds, let round = rotation.roundMicroseconds else { return lines }
        let eventsText = events.map {
            $0.lowerBound == $0.upperBound
                ? NumberFormat.count($0.lowerBound, "event")
                : "\($0.lowerBound) to \($0.upperBound) events"
        }
        lines.append(
            "\(count) identities, each sent for \(eventsText ?? "a turn") every \(Self.seconds(round)) s "
                + "(\(Self.rate(round)) times per minute); the controller needs \(Self.milliseconds(turn)) ms for each "
                + "turn"
                + (rotation.sets > 1 ? "; \(rotation.sets) identities have a turn at the same time" : ""))
        if let (index, gap) = rotation.slowest {
            lines.append(
                "longest time between two turns: \(Self.seconds(gap)) s, for \(identities[index].name) "
                    + "(\(identities[index].address))")
        } else {
            lines.append("the first round is not complete, so the time of a round is computed")
        }
        return lines
    }

    /// A line that `--json` prints.
    ///
    /// - Parameter isLast: `true` for the line after the end, which lists all identities.
    public func json(isLast: Bool) -> JSONValue {
        let slowest = rotation.slowest
        return .record(
            [
                ("event", .string(isLast ? "end" : "progress")),
                ("elapsedS", .seconds(elapsedMicroseconds)), ("turns", .integer(rotation.turns)),
                ("lostTurns", .integer(rotation.lostTurns)), ("rounds", .integer(rotation.rounds)),
                ("waiting", .boolean(isWaiting)),
                ("turnMs", .thousandths(rotation.turnMicroseconds)),
                ("roundS", .seconds(rotation.isConstant ? nil : rotation.roundMicroseconds)),
                (
                    "turnsPerMinute",
                    .rounded(rotation.isConstant ? nil : rotation.roundMicroseconds.map { 6e7 / Double($0) })
                ),
                ("eventsPerTurn", .optional(events) { .array([.integer($0.lowerBound), .integer($0.upperBound)]) }),
                ("slowest", .optional(slowest) { .string(identities[$0.identity].name) }),
                ("slowestS", .seconds(slowest?.gap)),
            ]
                + (isLast
                    ? [
                        (
                            "identities",
                            .array(
                                zip(identities, rotation.tallies).map { identity, tally in
                                    .record([
                                        ("name", .string(identity.name)), ("turns", .integer(tally.turns)),
                                        ("lostTurns", .integer(tally.lostTurns)),
                                        (
                                            "longestGapS",
                                            .seconds(tally.turns > 1 ? tally.longestGap : nil)
                                        ),
                                    ])
                                })
                        )
                    ] : []))
    }

    // MARK: Numbers

    /// Seconds with one decimal.
    static func seconds(_ microseconds: Int) -> String {
        let tenths = (microseconds + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Milliseconds with one decimal.
    static func milliseconds(_ microseconds: Int) -> String { seconds(microseconds * 1000) }

    /// The number of rounds per minute, with two decimals. `round` is the time of a round in microseconds.
    private static func rate(_ round: Int) -> String {
        let hundredths = 6_000_000_000 / max(1, round)
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }

    /// A share in percent, with one decimal below 10 %.
    static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1000).rounded())
        return tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : "\((tenths + 5) / 10)"
    }
}
