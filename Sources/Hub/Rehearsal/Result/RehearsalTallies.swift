internal import Configuration

/// The counts of a rehearsal, with the expected values. Runs of the same files with different seeds can be added.
///
/// All values are whole numbers, so sums do not depend on their order. If not stated otherwise, times are in µs, shares
/// in millionths, and levels in hundredths of a decibel.
public struct RehearsalTallies: Hashable, Sendable {
    /// The number of equal parts into which the time is divided. Some counts are kept separately for each part.
    static let parts = 24

    /// The subject of a rehearsal. Two runs can be added only if their subjects are equal.
    struct Subject: Hashable, Sendable {
        var fleet: String
        /// The arguments of the command without the seed, such as `museum.json --hours 24`.
        var arguments: String
        var file: String
        var milliseconds: Int
        var phones: Int
        var scanners: String
        /// The time within which phones should detect beacons, in µs.
        var targetTime: Int
        /// The share of visits in which phones should detect beacons in time, in millionths.
        var targetShare: Int
        /// True if the rehearsal has a floor.
        var hasFloor: Bool
        /// True if the collector ran, because the site has rooms and receivers.
        var hasRooms: Bool
        /// The standard deviation of the shadowing of each link, in hundredths of a decibel.
        var shadowing: Int
    }

    /// An advertisement of a beacon, as an ideal receiver next to the beacon receives it.
    struct Advertisement: Hashable, Sendable {
        var type: String
        /// The mean time between two events: the interval plus 5 ms, the mean random delay.
        var period: Int
        /// The longest possible time between two events.
        var longestPeriod: Int
        /// True if the advertisement has a pattern of several intervals.
        var hasPattern: Bool
        /// True if the advertisement takes turns with other advertisements on one advertising set.
        var isShared: Bool
        /// By part of the time: the number of events.
        var events = [Int](repeating: 0, count: parts)
        /// By part of the time: the number of gaps between two successive events.
        var gaps = [Int](repeating: 0, count: parts)
        /// By part of the time: the sum of the gaps.
        var gapSum = [Int](repeating: 0, count: parts)
        /// The longest time without an event, including the times before the first and after the last event.
        var longestSilence = 0
        /// The time at which the longest silence began.
        var silenceFrom = 0
        /// The largest age of the telemetry when it was sent; 0 for other types.
        var oldestTelemetry = 0
        /// The number of events with an ephemeral id that was correct for their time.
        var rightIDs = 0
        /// The number of events with any other ephemeral id.
        var wrongIDs = 0
        /// The number of different ephemeral ids that were sent.
        var sentIDs = 0
        /// The number of different ephemeral ids that should have been sent.
        var dueIDs = 0
    }

    struct Beacon: Hashable, Sendable {
        var name: String
        /// The position in mm; empty without a floor.
        var position: [Int]
        var room: String
        var advertisements: [Advertisement]
        /// The number of events of the beacon's machine with data that it should not send.
        var unexpectedEvents = 0
        /// The number of packets with the beacon's data that another device sent and a phone or a receiver received.
        var foreignPackets = 0
        /// The reason why the beacon's machine could not send; empty if the machine could send.
        var refusal = ""
        /// The number of events per day that the beacon should send, in thousandths.
        var duePerDay = 0
        /// The battery life that the plan expects, in thousandths of a day; 0 without a battery.
        var plannedLife = 0
        /// The battery life computed from the sent events, in thousandths of a day; 0 without a battery.
        var rehearsedLife = 0
        /// The number of exits that the collector reported while the beacon was on the air.
        var falseExits = 0
        /// The time in s in which the collector reported a room for the beacon.
        var roomSeconds = 0
        /// The time in s in which the collector reported a wrong room for the beacon.
        var wrongRoomSeconds = 0
        /// The expected time in a wrong room in ms, computed from the collector's own probabilities.
        var expectedWrongMilliseconds = 0
    }

    /// The packets of one beacon at one receiver.
    struct Link: Hashable, Sendable {
        var beacon: Int
        /// The mean level that the plan expects.
        var expectedLevel: Int
        var copies = Copies()
        /// By part of the time: the number of received copies.
        var count = [Int](repeating: 0, count: parts)
        /// By part of the time: the sum of the levels of the received copies.
        var levelSum = [Int](repeating: 0, count: parts)
    }

    struct Receiver: Hashable, Sendable {
        var name: String
        var links: [Link]
        /// The longest time without a received packet.
        var longestDeafness = 0
        /// The time at which the longest time without a received packet began.
        var deafFrom = 0
        /// The longest time in which no line of the receiver arrived at the collector.
        var longestAbsence = 0
        /// The time at which the longest time without a line began.
        var absentFrom = 0
        /// The expected mean time between two advertising events of the beacons in range; 0 if no beacon is in range.
        var meanGap: Int
    }

    /// A place at which phones stand.
    struct Place: Hashable, Sendable {
        var name: String
        /// The index of the best beacon of the place; 0 if there is none.
        var beacon: Int
        /// The share of visits in which phones reach the detection target in time, by the plan.
        var expected: Int
        var visits = 0
        /// The number of visits in which the detection target was reached in time.
        var detected = 0
    }

    /// A path on which phones walk.
    struct Path: Hashable, Sendable {
        var name: String
        /// The share of walks on which a phone detects any beacon, by the plan.
        var expected: Int
        /// The mean number of beacons that a phone detects on a walk, by the plan, in thousandths.
        var expectedBeacons: Int
        var walks = 0
        var detected = 0
        var beacons = 0
    }

    /// A histogram of the times to detection, as multiples of the 95th percentile of the plan. Each bin covers 0.01.
    struct Ratios: Hashable, Sendable {
        static let step = 0.01
        /// The number of times in each bin. The last bin contains all times after the shortest visit
        /// (``PhoneVisits/leastRatio``), and the beacons that were not detected.
        var counts = [Int](repeating: 0, count: Int((PhoneVisits.leastRatio / step).rounded()) + 1)
        /// One cluster for each beacon, with all its detections. The detections of a cluster depend on each other,
        /// because the beacons that collide with this beacon change only slowly.
        var beacons = Clusters()
        /// One cluster for each part of the time (see ``parts``), with all detections in it. The detections of a
        /// cluster depend on each other, because all phones receive the same events, with the same random delays.
        var times = Clusters()

        /// - Parameter ratio: Infinite if the beacon was not detected.
        mutating func add(_ ratio: Double) {
            counts[Int(min(max(0, ratio / Self.step), Double(counts.count - 1)))] += 1
        }

        mutating func add(_ other: Self) {
            addCounts(&counts, other.counts)
            beacons.add(other.beacons)
            times.add(other.times)
        }
    }

    /// A reason why a time to detection is not compared with the plan.
    enum Exclusion: Int, CaseIterable {
        /// A fault is planted in the machine of the beacon.
        case fault
        /// The cycle of the beacon's pattern is so long that all machines are in the same part of it.
        case pattern
        /// Other devices occupy some channels more than others, and the plan uses the mean.
        case channels
        /// The plan expects the detection after a longer time than ``VisitPlan/longestSeconds95``.
        case late
    }

    /// Numbers of detections that were compared with the plan.
    struct Detections: Hashable, Sendable {
        var all = 0
        /// The number of detections that took longer than the 95th percentile of the plan.
        var late = 0

        mutating func add(ratio: Double) {
            all += 1
            if ratio > 1 { late += 1 }
        }
    }

    /// Sums over clusters of detections. The detections of a cluster may depend on each other, so the error of a share
    /// of all detections is computed from these sums.
    struct Clusters: Hashable, Sendable {
        var count = 0
        /// The sum of the squares of the numbers of detections.
        var squares = 0
        /// The sum of the squares of the numbers of late detections.
        var lateSquares = 0
        /// The sum of the products of the number of detections and the number of late detections.
        var products = 0

        /// Adds one cluster, if it has any detections.
        mutating func add(_ own: Detections) {
            guard own.all > 0 else { return }
            count += 1
            squares += own.all * own.all
            lateSquares += own.late * own.late
            products += own.all * own.late
        }

        mutating func add(_ other: Self) {
            count += other.count
            squares += other.squares
            lateSquares += other.lateSquares
            products += other.products
        }
    }

    /// Counts of copies at a receiver or at phones. A copy is the packet of an advertising event on one of the three
    /// channels.
    struct Copies: Hashable, Sendable {
        /// The number of copies that could be received.
        var offered = 0
        /// The number of copies with which no other packet overlapped.
        var clear = 0
        /// The number of copies that were received.
        var received = 0
        /// The sum of the model's probabilities that the offered copies are clear, in millionths.
        var expectedClear = 0

        /// The share of the copies that the model expects to be clear.
        var expectedShare: Double { Double(expectedClear) / 1e6 / Double(offered) }

        /// Adds a copy.
        ///
        /// - Parameter clearShare: The model's probability that the copy is clear, in millionths.
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
        /// The beginning of the fault, in ms from the beginning of the rehearsal.
        var at: Int
        var text: String
    }

    var subject: Subject
    var seeds: [Int]
    var beacons: [Beacon]
    var receivers: [Receiver]
    var places: [Place]
    var paths: [Path]
    /// The detections of beacons for which the plan's assumptions hold.
    var ratios = Ratios()
    /// The detections of beacons whose advertisements take turns on one advertising set.
    var turnRatios = Ratios()
    /// By exclusion: the number of visits whose times to detection are not compared with the plan.
    var excluded = [Int](repeating: 0, count: Exclusion.allCases.count)
    /// The first copy of the best beacon in each visit of a phone that stands.
    var phoneCopies = Copies()
    var faults: [Fault] = []
    var notes: [String] = []

    /// Counts a visit whose time to detection is not compared with the plan.
    mutating func exclude(_ exclusion: Exclusion) { excluded[exclusion.rawValue] += 1 }

    /// Adds the counts of another run.
    ///
    /// - Throws: ``RehearsalError`` if the other run has other files or options, or the same seed.
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
        let otherShare = Double(other.seeds.count) / Double(max(1, seeds.count + other.seeds.count))
        seeds = (seeds + other.seeds).sorted()
        for index in beacons.indices { beacons[index].add(other.beacons[index], otherShare) }
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
        ratios.add(other.ratios)
        turnRatios.add(other.turnRatios)
        addCounts(&excluded, other.excluded)
        phoneCopies.add(other.phoneCopies)
        faults += other.faults
        notes += other.notes.filter { !notes.contains($0) }
    }
}

/// Adds each element of `others` to the element of `sums` with the same index.
private func addCounts(_ sums: inout [Int], _ others: [Int]) {
    for index in sums.indices where others.indices.contains(index) { sums[index] += others[index] }
}

extension RehearsalTallies.Beacon {
    /// - Parameter otherShare: The share of the other runs in the number of all runs.
    fileprivate mutating func add(_ other: Self, _ otherShare: Double) {
        for index in advertisements.indices { advertisements[index].add(other.advertisements[index]) }
        unexpectedEvents += other.unexpectedEvents
        foreignPackets += other.foreignPackets
        if refusal.isEmpty { refusal = other.refusal }
        // The battery life is the mean of all runs. The planned life is the same in all runs.
        rehearsedLife += Int((Double(other.rehearsedLife - rehearsedLife) * otherShare).rounded())
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
        // Another seed gives other shadowing, so the other run may have links that this run does not have.
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
