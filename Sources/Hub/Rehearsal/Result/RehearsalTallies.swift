internal import Configuration

/// Everything that a rehearsal counted, with what was expected. Two runs of the same files can be added.
///
/// All values are whole numbers, so sums do not depend on their order. Times are in µs, shares in millionths, levels in
/// hundredths of a decibel.
public struct RehearsalTallies: Hashable, Sendable {
    /// The number of equal parts of the time for which some counts are kept apart.
    static let parts = 24

    /// What was rehearsed, which must be equal to add two runs.
    struct Subject: Hashable, Sendable {
        var fleet: String
        /// The arguments of the command but for the seed, such as `museum.json --hours 24`.
        var arguments: String
        var file: String
        var milliseconds: Int
        var phones: Int
        var scanners: String
        /// The target of detection in µs and in millionths.
        var targetTime: Int
        var targetShare: Int
        /// False without a floor.
        var hasFloor: Bool
        /// True if the collector ran, because the site has rooms and receivers.
        var hasRooms: Bool
        /// σ of the shadowing of each link, in hundredths of a decibel.
        var shadowing: Int
    }

    /// An advertisement of a beacon, as an ideal receiver next to the beacon receives it.
    struct Advertisement: Hashable, Sendable {
        var type: String
        /// T + 5 ms.
        var period: Int
        /// The longest time between two events that can be.
        var longestPeriod: Int
        /// True if its intervals take turns.
        var hasPattern: Bool
        /// True if it takes turns with others on one advertising set.
        var isShared: Bool
        /// The events in each part of the time.
        var events = [Int](repeating: 0, count: parts)
        /// The number of times between two events, and their sum, in each part.
        var gaps = [Int](repeating: 0, count: parts)
        var gapSum = [Int](repeating: 0, count: parts)
        /// The longest time without an event, from the beginning to the end, and when it began.
        var longestSilence = 0
        var silenceFrom = 0
        /// The largest age of telemetry when it was sent; 0 for other types.
        var oldestTelemetry = 0
        /// Packets with an ephemeral id of their time, and with another one.
        var rightIDs = 0
        var wrongIDs = 0
        /// The ephemeral ids that were sent, and those that were due.
        var sentIDs = 0
        var dueIDs = 0
    }

    struct Beacon: Hashable, Sendable {
        var name: String
        /// The position in mm; empty without a floor.
        var position: [Int]
        var room: String
        var advertisements: [Advertisement]
        /// Packets of the beacon's machine with data that it should not send.
        var strangeData = 0
        /// Packets with the beacon's data that came from another device and that a phone or a receiver received.
        var foreignPackets = 0
        /// The reason why its machine could not send; empty if it could.
        var refusal = ""
        /// Events per day, in thousandths, that its advertisements should send.
        var duePerDay = 0
        /// Battery life in thousandths of a day by the plan and by the sent events; 0 without a battery.
        var plannedLife = 0
        var rehearsedLife = 0
        /// Exits by the collector while the beacon was on the air.
        var falseExits = 0
        /// The time in s in which the collector named a room, and in which it named a wrong one.
        var roomSeconds = 0
        var wrongRoomSeconds = 0
        /// The time in ms in which the room would be wrong by the collector's own probability.
        var expectedWrongMilliseconds = 0
    }

    /// The packets of one beacon at one receiver.
    struct Link: Hashable, Sendable {
        var beacon: Int
        /// The mean level that the plan expects.
        var expectedLevel: Int
        var copies = Copies()
        /// The received copies and the sum of their levels in each part of the time.
        var count = [Int](repeating: 0, count: parts)
        var levelSum = [Int](repeating: 0, count: parts)
    }

    struct Receiver: Hashable, Sendable {
        var name: String
        var links: [Link]
        /// The longest time without a received packet, and when it began.
        var longestDeafness = 0
        var deafFrom = 0
        /// The longest time without a line at the collector, and when it began.
        var longestAbsence = 0
        var absentFrom = 0
        /// The mean time between two packets that are due at this receiver.
        var meanGap: Int
    }

    /// A place at which phones stand.
    struct Place: Hashable, Sendable {
        var name: String
        /// The nearest beacon, by its index.
        var beacon: Int
        /// The plan's share of visits in which the best beacon is detected in time.
        var expected: Int
        var visits = 0
        /// Visits in which the beacon was detected in time.
        var detected = 0
    }

    /// A path on which phones walk.
    struct Path: Hashable, Sendable {
        var name: String
        /// The plan's share of walks on which any beacon is received, and its mean number of beacons in thousandths.
        var expected: Int
        var expectedBeacons: Int
        var walks = 0
        var detected = 0
        var beacons = 0
    }

    /// Times to detection as multiples of the plan's 95th percentile, in steps of a hundredth.
    struct Ratios: Hashable, Sendable {
        static let step = 0.01
        /// The last one has all that are larger.
        var counts = [Int](repeating: 0, count: 401)
        /// Detections that are not compared, because the plan's assumptions do not hold there.
        var excluded = 0
        /// The reason, in one sentence; empty if none are excluded.
        var reason = ""

        mutating func add(_ ratio: Double) {
            // Infinite for a beacon that was never found.
            counts[Int(min(max(0, ratio / Self.step), Double(counts.count - 1)))] += 1
        }
    }

    /// The copies that a receiver or phones could receive, those without another packet, and those that were received.
    struct Copies: Hashable, Sendable {
        var offered = 0
        var clear = 0
        var received = 0
        /// The sum of the model's probabilities that these copies are clear, in millionths.
        var expectedClear = 0

        /// The share of the copies that the model expects to be clear.
        var expectedShare: Double { Double(expectedClear) / 1e6 / Double(offered) }

        /// Adds a copy.
        ///
        /// - Parameter clearShare: The probability that it is clear, in millionths.
        mutating func add(_ outcome: AirReception.Outcome, clearShare: Int) {
            offered += 1
            expectedClear += clearShare
            if outcome == .clear { clear += 1 }
            if outcome.isReceived { received += 1 }
        }

        mutating func add(_ other: Self) {
            offered += other.offered
            clear += other.clear
            received += other.received
            expectedClear += other.expectedClear
        }
    }

    /// A planted fault of one of the runs.
    struct Fault: Hashable, Sendable {
        var kind: String
        var subject: String
        /// ms.
        var at: Int
        var text: String
    }

    var subject: Subject
    var seeds: [Int]
    var beacons: [Beacon]
    var receivers: [Receiver]
    var places: [Place]
    var paths: [Path]
    var ratios = Ratios()
    /// The copies of the best beacon at phones that stand.
    var phoneCopies = Copies()
    var faults: [Fault] = []
    var notes: [String] = []

    /// Adds the counts of another run.
    ///
    /// - Throws: ``RehearsalError`` if the other run is of other files or options, or of the same seed.
    public mutating func add(_ other: RehearsalTallies) throws(RehearsalError) {
        guard subject == other.subject, beacons.map(\.name) == other.beacons.map(\.name),
            receivers.map(\.name) == other.receivers.map(\.name), places.map(\.name) == other.places.map(\.name)
        else {
            throw RehearsalError(
                .invalid,
                "the runs are of different fleets or options: \(subject.arguments), and \(other.subject.arguments)")
        }
        if let seed = other.seeds.first(where: seeds.contains) {
            throw RehearsalError(.invalid, "seed \(seed) occurs twice: each run must have its own seed")
        }
        seeds = (seeds + other.seeds).sorted()
        for index in beacons.indices { beacons[index].add(other.beacons[index]) }
        for index in receivers.indices { receivers[index].add(other.receivers[index]) }
        for index in places.indices {
            places[index].visits += other.places[index].visits
            places[index].detected += other.places[index].detected
        }
        for index in paths.indices where other.paths.indices.contains(index) {
            paths[index].walks += other.paths[index].walks
            paths[index].detected += other.paths[index].detected
            paths[index].beacons += other.paths[index].beacons
        }
        addCounts(&ratios.counts, other.ratios.counts)
        ratios.excluded += other.ratios.excluded
        phoneCopies.add(other.phoneCopies)
        faults += other.faults
        notes += other.notes.filter { !notes.contains($0) }
    }
}

/// Adds the elements of a list to those of another one.
private func addCounts(_ sums: inout [Int], _ others: [Int]) {
    for index in sums.indices where others.indices.contains(index) { sums[index] += others[index] }
}

extension RehearsalTallies.Beacon {
    fileprivate mutating func add(_ other: Self) {
        for index in advertisements.indices { advertisements[index].add(other.advertisements[index]) }
        strangeData += other.strangeData
        foreignPackets += other.foreignPackets
        if refusal.isEmpty { refusal = other.refusal }
        // The lives are means of the runs; both have the same planned life.
        rehearsedLife = (rehearsedLife + other.rehearsedLife) / 2
        falseExits += other.falseExits
        roomSeconds += other.roomSeconds
        wrongRoomSeconds += other.wrongRoomSeconds
        expectedWrongMilliseconds += other.expectedWrongMilliseconds
    }
}

extension RehearsalTallies.Advertisement {
    fileprivate mutating func add(_ other: Self) {
        addCounts(&events, other.events)
        addCounts(&gaps, other.gaps)
        addCounts(&gapSum, other.gapSum)
        if other.longestSilence > longestSilence {
            (longestSilence, silenceFrom) = (other.longestSilence, other.silenceFrom)
        }
        oldestTelemetry = max(oldestTelemetry, other.oldestTelemetry)
        rightIDs += other.rightIDs
        wrongIDs += other.wrongIDs
        sentIDs += other.sentIDs
        dueIDs += other.dueIDs
    }
}

extension RehearsalTallies.Receiver {
    fileprivate mutating func add(_ other: Self) {
        if other.longestDeafness > longestDeafness {
            (longestDeafness, deafFrom) = (other.longestDeafness, other.deafFrom)
        }
        if other.longestAbsence > longestAbsence {
            (longestAbsence, absentFrom) = (other.longestAbsence, other.absentFrom)
        }
        // The shadowing of another seed gives other links.
        for link in other.links {
            guard let index = links.firstIndex(where: { $0.beacon == link.beacon }) else {
                links.append(link)
                continue
            }
            links[index].copies.add(link.copies)
            addCounts(&links[index].count, link.count)
            addCounts(&links[index].levelSum, link.levelSum)
        }
    }
}
