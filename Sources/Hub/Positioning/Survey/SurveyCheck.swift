internal import Airtime
internal import Configuration

/// The problems of a survey that reduce the quality of its map.
public struct SurveyCheck: Sendable {
    /// One problem.
    public struct Finding: Hashable, Sendable {
        /// True for an error, false for a warning.
        public let isError: Bool
        /// The index of the stay in the survey; `nil` if the problem is not about a single stay.
        public let stay: Int?
        /// The problem in one sentence.
        public let message: String
        /// The number of problems in the finding. It is more than 1 if the finding sums up the rest of a long list.
        public var count = 1
    }

    /// The errors, followed by the warnings. Both are grouped by kind. Of each kind, the 20 worst problems are listed,
    /// the worst first. If there are more, one further finding has their number.
    public private(set) var findings: [Finding] = []

    /// The number of seconds below which a stay is an error.
    public static let fewestSeconds = 5
    /// The number of seconds below which a stay causes a warning.
    static let fewSeconds = 10
    /// The smallest difference in dB for a misplaced visit. A visit consists of all stays at one place in one session.
    /// If the levels of a visit differ this much from those of the other visits to the place, the visit was probably
    /// recorded elsewhere.
    static let misplacedVisitDifference = 5.0
    /// The smallest difference in dB for a misplaced stay. If the levels of a stay differ this much from those of the
    /// other stays at the place, the stay was probably recorded elsewhere. The limit is larger than the limit for
    /// visits, because levels differ more between headings than between days.
    static let misplacedStayDifference = 8.0
    /// The change of a beacon's levels between two sessions, in dB, above which the beacon was probably moved. The
    /// change must also be more than ``unusualFactor`` times the median change of all beacons.
    static let movedBeaconDifference = 5.0
    /// The factor by which a difference must exceed the median difference to be unusual.
    static let unusualFactor = 2.5
    /// The largest number of places that are compared with each other. If there are more, no places are compared.
    static let comparedPlaceLimit = 400
    /// The largest number of problems of one kind that are listed, the worst first.
    static let listedProblems = 20

    /// Checks a survey.
    public init(_ survey: Survey) {
        stays(survey)
        let table = StayLevels(survey)
        checkMisplacedStays(table)
        defer { findings = findings.filter(\.isError) + findings.filter { !$0.isError } }
        guard let map = try? SignalMap(survey, keepsVectors: false) else { return }
        for notice in map.notices where !notice.hasPrefix("stay ") { add(false, nil, notice) }
        places(map)
        sessions(survey, table)
        beacons(map)
    }

    private mutating func add(_ isError: Bool, _ stay: Int?, _ message: String) {
        findings.append(Finding(isError: isError, stay: stay, message: message))
    }

    private static func db(_ value: Double) -> String { "\(Int(value.rounded())) dB" }

    // MARK: Stays

    private mutating func stays(_ survey: Survey) {
        let stays = survey.stays.enumerated().filter { !$0.element.isCancelled }.map {
            (index: $0.offset, stay: $0.element, seconds: $0.element.vectors.count)
        }
        addWorst(
            stays.filter { $0.stay.place == nil && $0.stay.position == nil }.map {
                (stay: $0.index, message: "it has neither a place nor a position: it is ignored")
            }, isError: true, rest: "more stays have neither a place nor a position")
        let shortest = stays.filter { $0.seconds < Self.fewSeconds }.sorted {
            ($0.seconds, $0.index) < ($1.seconds, $1.index)
        }
        addWorst(
            shortest.filter { $0.seconds < Self.fewestSeconds }.map { index, _, seconds in
                let duration = MapText.count(seconds, "second")
                return (stay: index, message: "it has \(duration): record at least \(Self.fewSeconds), or drop it")
            }, isError: true, rest: "more stays have fewer than \(Self.fewestSeconds) seconds")
        addWorst(
            shortest.filter { $0.seconds >= Self.fewestSeconds }.map { index, _, seconds in
                (stay: index, message: "it has only \(seconds) seconds: 40 seconds in four headings are usual")
            }, isError: false, rest: "more stays have fewer than \(Self.fewSeconds) seconds")
        addWorst(
            stays.filter { $0.seconds > 0 && survey.isSilent($0.stay) }.map {
                (stay: $0.index, message: "nothing was received in any of its seconds")
            }, isError: true, rest: "more stays received nothing")
    }

    /// Compares each stay with the other stays of all places, and then each visit with the other visits. The second
    /// step finds visits with a wrong place name. The first step cannot find them, because the stays of such a visit
    /// agree with each other.
    private mutating func checkMisplacedStays(_ table: StayLevels) {
        guard table.placeCount <= Self.comparedPlaceLimit else { return }
        let misplaced = addMisplaced(table.stays, among: table.stays, table, limit: Self.misplacedStayDifference) { _ in
            "its levels differ"
        }
        let visits = table.visits.filter { misplaced.isDisjoint(with: $0.stays) }
        let counts = Dictionary(grouping: visits, by: \.place).mapValues(\.count)
        let repeatedVisits = visits.filter { counts[$0.place, default: 0] > 1 }
        let differences = repeatedVisits.compactMap { table.difference($0, from: $0.place, among: visits) }
        let medianDifference = Percentiles(differences).value(at: 50)
        let limit = max(Self.misplacedVisitDifference, Self.unusualFactor * (medianDifference ?? 0))
        addMisplaced(repeatedVisits, among: visits, table, limit: limit) {
            $0.stays.count == 1
                ? "its levels differ" : "the levels of this and \($0.stays.count - 1) more stays of the visit differ"
        }
    }

    /// Adds a problem for each stay or visit that was probably recorded elsewhere. Returns the indices of these stays.
    @discardableResult
    private mutating func addMisplaced(
        _ entries: [StayLevels.Entry], among others: [StayLevels.Entry], _ table: StayLevels, limit: Double,
        _ subject: (StayLevels.Entry) -> String
    ) -> Set<Int> {
        var candidates: [(entry: StayLevels.Entry, difference: Double, best: (place: Int, difference: Double))] = []
        for entry in entries {
            guard let ownDifference = table.difference(entry, from: entry.place, among: others), ownDifference >= limit
            else { continue }
            var best: (place: Int, difference: Double)?
            for place in 0..<table.placeCount where place != entry.place {
                guard let difference = table.difference(entry, from: place, among: others) else { continue }
                if best.map({ difference < $0.difference }) ?? true { best = (place, difference) }
            }
            if let best, best.difference <= ownDifference / 2 { candidates.append((entry, ownDifference, best)) }
        }
        var misplaced: Set<Int> = []
        var messages: [(difference: Double, stay: Int, message: String)] = []
        for (entry, ownDifference, best) in candidates {
            // If all stays at a place differ from each other, only the stay that fits another place best is reported.
            let rivals = candidates.filter { $0.entry.place == entry.place }
            if rivals.count == others.count(where: { $0.place == entry.place }),
                rivals.contains(where: { $0.best.difference < best.difference })
            {
                continue
            }
            misplaced.formUnion(entry.stays)
            let message =
                "\(subject(entry)) by \(Self.db(ownDifference)) from the other stays at \(table.placeNames[entry.place]), "
                + "but only by \(Self.db(best.difference)) from those at \(table.placeNames[best.place]): "
                + "was it recorded there?"
            messages.append((ownDifference, entry.stays[0], message))
        }
        addWorst(
            messages.sorted { ($0.difference, $1.stay) > ($1.difference, $0.stay) }
                .map { (stay: $0.stay, message: $0.message) },
            isError: true, rest: "more stays or visits were probably recorded elsewhere")
        return misplaced
    }

    // MARK: Places

    private mutating func places(_ map: SignalMap) {
        let oneHeading = map.places.filter { $0.headings.count == 1 }
        if !oneHeading.isEmpty {
            add(
                false, nil,
                "\(Self.list(oneHeading.map(\.name))): one heading only, so your body was always on the same side; "
                    + "`--turn` records four headings")
        }
        let withoutPosition = map.places.filter { $0.position == nil }
        if !withoutPosition.isEmpty {
            add(
                false, nil,
                "\(Self.list(withoutPosition.map(\.name))): no position, so errors cannot be measured and "
                    + "the algorithm field leaves them out"
            )
        }
        let counts = map.places.indices.map { (place: $0, count: map.beaconsHeard(at: $0)) }
        addWorst(
            counts.filter { $0.count < MapAdvice.fewestBeacons }.sorted { ($0.count, $0.place) < ($1.count, $1.place) }
                .map { place, count in
                    "\(map.places[place].name): only \(count) beacon\(count == 1 ? " is" : "s are") received in half of "
                        + "its seconds; at least four are needed, ten are good"
                }, rest: "more places receive fewer than four beacons in half of their seconds")
        guard map.places.count <= Self.comparedPlaceLimit else { return }
        let overlap = PlaceOverlap(map)
        var pairs: [(share: Double, left: Int, right: Int)] = []
        for left in map.places.indices {
            for right in map.places.indices where right > left && map.places[left].floor == map.places[right].floor {
                let share = overlap.share(left, right)
                if share > PlaceOverlap.limit { pairs.append((share, left, right)) }
            }
        }
        addWorst(
            pairs.sorted { ($0.share, $1.left, $1.right) > ($1.share, $0.left, $0.right) }.map { share, left, right in
                "\(map.places[left].name) and \(map.places[right].name) look alike: their levels overlap by "
                    + "\(Int(share * 100)) % in a second"
            }, rest: "more pairs of places look alike")
    }

    /// Adds the worst problems of one kind, and the number of the remaining problems.
    ///
    /// - Parameter problems: The problems, the worst first. Each has the index of its stay, or `nil` if it is not about
    ///   a single stay.
    private mutating func addWorst(_ problems: [(stay: Int?, message: String)], isError: Bool, rest: String) {
        for problem in problems.prefix(Self.listedProblems) { add(isError, problem.stay, problem.message) }
        let others = problems.count - Self.listedProblems
        guard others > 0 else { return }
        findings.append(Finding(isError: isError, stay: nil, message: "\(others) \(rest)", count: others))
    }

    /// Adds problems of one kind that are not about a single stay, the worst first.
    private mutating func addWorst(_ messages: [String], isError: Bool = false, rest: String) {
        addWorst(messages.map { (stay: nil, message: $0) }, isError: isError, rest: rest)
    }

    private static func list(_ names: [String]) -> String {
        names.count <= 6
            ? names.joined(separator: ", ") : names.prefix(5).joined(separator: ", ") + " and \(names.count - 5) more"
    }

    // MARK: Sessions

    private mutating func sessions(_ survey: Survey, _ table: StayLevels) {
        let sessions = table.sessions
        let days = Set(survey.recordings.compactMap(\.started).map { $0.description.prefix(10) })
        if sessions.count < 2 {
            add(false, nil, "one session only: the error on another day is unknown")
        } else if days.count == 1 {
            add(false, nil, "all sessions are from one day: the error on another day is unknown")
        }
        guard sessions.count > 1 else { return }
        for index in sessions.indices.dropFirst() {
            compare(survey, table, sessions[index - 1], sessions[index])
        }
    }

    /// Finds beacons that were moved or renamed between two sessions. Moved beacons are found only if the levels of
    /// most other beacons changed little.
    private mutating func compare(_ survey: Survey, _ table: StayLevels, _ before: String, _ after: String) {
        let (old, new) = (table.byBeacon(in: before), table.byBeacon(in: after))
        func name(_ session: String) -> String { session.isEmpty ? "a session without a name" : session }
        var differences: [(beacon: Int, difference: Double)] = []
        for (beacon, levels) in old.sorted(by: { $0.key < $1.key }) {
            guard let newLevels = new[beacon], let difference = Self.difference(levels, newLevels) else { continue }
            differences.append((beacon, difference))
        }
        if let medianDifference = Percentiles(differences.map(\.difference)).value(at: 50) {
            let limit = max(Self.movedBeaconDifference, Self.unusualFactor * medianDifference)
            let moved = differences.filter { $0.difference > limit }.sorted {
                ($0.difference, $1.beacon) > ($1.difference, $0.beacon)
            }
            let messages = moved.map { beacon, difference in
                "\(survey.beacons[beacon]) differs by \(Self.db(difference)) at the same places between the sessions "
                    + "\(name(before)) and \(name(after)): it was moved, or its power was changed"
            }
            addWorst(
                messages, isError: true,
                rest: "more beacons differ between the sessions \(name(before)) and \(name(after))")
        }
        var renamed: [(difference: Double, message: String)] = []
        for (oldBeacon, oldLevels) in old.sorted(by: { $0.key < $1.key })
        where new[oldBeacon] == nil && oldLevels.count >= 2 {
            for (newBeacon, newLevels) in new.sorted(by: { $0.key < $1.key }) where old[newBeacon] == nil {
                guard let difference = Self.difference(oldLevels, newLevels), difference < 6 else { continue }
                let message =
                    "\(survey.beacons[newBeacon]) in the session \(name(after)) is received where "
                    + "\(survey.beacons[oldBeacon]) was in \(name(before)): it was renamed or replaced"
                renamed.append((difference, message))
            }
        }
        addWorst(
            renamed.sorted { ($0.difference, $0.message) < ($1.difference, $1.message) }.map(\.message), isError: true,
            rest: "more beacons were renamed or replaced between \(name(before)) and \(name(after))")
    }

    /// Returns the mean difference of the levels in dB over the places in both dictionaries; `nil` if these are fewer
    /// than two places.
    private static func difference(_ left: [Int: Double], _ right: [Int: Double]) -> Double? {
        let differences = left.sorted { $0.key < $1.key }.compactMap { place, level in
            right[place].map { abs($0 - level) }
        }
        return differences.count >= 2 ? Percentiles(differences).mean : nil
    }

    // MARK: Beacons

    private mutating func beacons(_ map: SignalMap) {
        let identities = Set(map.beacons.compactMap(\.key.identityOfSeveral)).sorted()
        let sharedIdentities = identities.map { identity in
            (identity: identity, count: map.beacons.count { $0.key.identityOfSeveral == identity })
        }
        addWorst(
            sharedIdentities.sorted { ($0.count, $1.identity) > ($1.count, $0.identity) }.map { identity, count in
                "\(identity) is shared by several devices: \(count) are distinguished by address"
            }, rest: "more identities are shared by several devices")
        var rareBeacons: [String] = []
        var constantBeacons: [String] = []
        for (number, beacon) in map.beacons.enumerated() {
            let statistics = map.statistics.indices.compactMap { place in
                map.statistics[place].first { $0.beacon == number }.map { (place: place, statistics: $0) }
            }
            let isRare = statistics.allSatisfy {
                Double($0.statistics.seconds) < 0.1 * Double(map.places[$0.place].seconds)
            }
            let levels = statistics.map(\.statistics.mean)
            let span = (levels.max() ?? 0) - (levels.min() ?? 0)
            if isRare {
                rareBeacons.append(
                    "\(beacon.key) is useless: at every place it is received in less than a tenth of the seconds")
            } else if statistics.count == map.places.count, map.places.count > 2, span < 3 {
                constantBeacons.append("\(beacon.key) is useless: its level is the same at every place")
            }
        }
        addWorst(constantBeacons, rest: "more beacons have the same level at every place")
        addWorst(rareBeacons, rest: "more beacons are received in less than a tenth of the seconds at every place")
    }
}

/// The mean level of each beacon in each stay.
private struct StayLevels {
    /// A stay, or a visit, which combines several stays.
    struct Entry {
        /// The indices of the stays in the survey.
        let stays: [Int]
        let place: Int
        let session: String
        /// For each beacon, the mean level in dBm, and the share of the seconds in which the beacon was received.
        let levels: [Int: (mean: Double, share: Double)]
    }

    private(set) var stays: [Entry] = []
    let placeNames: [String]
    var placeCount: Int { placeNames.count }
    /// The sessions in the order of the survey.
    private(set) var sessions: [String] = []

    init(_ survey: Survey) {
        let places = SurveyPlaces(survey)
        placeNames = places.places.map(\.name)
        for (index, stay) in survey.stays.enumerated() {
            guard let place = places.placeOfStay[index], !stay.vectors.isEmpty else { continue }
            var sums: [Int: (sum: Double, count: Double)] = [:]
            for vector in stay.vectors {
                for reading in survey.vector(vector).readings {
                    let earlier = sums[reading.beacon] ?? (0, 0)
                    sums[reading.beacon] = (earlier.sum + reading.level, earlier.count + 1)
                }
            }
            let seconds = Double(stay.vectors.count)
            let session = survey.session(of: stay) ?? ""
            if !sessions.contains(session) { sessions.append(session) }
            stays.append(
                Entry(
                    stays: [index], place: place, session: session,
                    levels: sums.mapValues { ($0.sum / $0.count, $0.count / seconds) }))
        }
    }

    /// The visits. Each combines all stays at one place in one session.
    var visits: [Entry] {
        var order: [String] = []
        var groups: [String: [Entry]] = [:]
        for stay in stays {
            let key = "\(stay.place)/\(stay.session)"
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append(stay)
        }
        return order.compactMap { groups[$0] }.map { group in
            var levels: [Int: (mean: Double, share: Double)] = [:]
            for beacon in Set(group.flatMap { $0.levels.keys }) {
                let stayLevels = group.compactMap { $0.levels[beacon] }
                let mean = Percentiles(stayLevels.map(\.mean)).mean ?? ReceivedLevel.notReceived
                levels[beacon] = (mean, stayLevels.reduce(0) { $0 + $1.share } / Double(group.count))
            }
            return Entry(
                stays: group.flatMap(\.stays), place: group[0].place, session: group[0].session, levels: levels)
        }
    }

    /// Returns the mean difference in dB between the levels of a stay or visit and the levels of the other stays or
    /// visits at a place. Returns `nil` if the place has no other stays or visits, or if fewer than two beacons can be
    /// compared. If at least six beacons can be compared, the beacon that differs most is ignored, because it may have
    /// been moved.
    func difference(_ entry: Entry, from place: Int, among entries: [Entry]) -> Double? {
        let others = entries.filter { $0.place == place && $0.stays != entry.stays }
        guard !others.isEmpty else { return nil }
        var differences: [Double] = []
        for (beacon, level) in entry.levels.sorted(by: { $0.key < $1.key }) where level.share >= 0.5 {
            let otherLevels = others.compactMap { $0.levels[beacon] }
            // A beacon that is never received at the place counts with the level ``ReceivedLevel/notReceived``.
            let mean = Percentiles(otherLevels.map(\.mean)).mean ?? ReceivedLevel.notReceived
            differences.append(abs(level.mean - mean))
        }
        guard differences.count >= 2 else { return nil }
        if differences.count >= 6 { differences = differences.sorted().dropLast() }
        return Percentiles(differences).mean
    }

    /// Returns the mean levels in a session, by beacon, then by place.
    func byBeacon(in session: String) -> [Int: [Int: Double]] {
        var result: [Int: [Int: [Double]]] = [:]
        for stay in stays where stay.session == session {
            for (beacon, level) in stay.levels where level.share >= 0.3 {
                result[beacon, default: [:]][stay.place, default: []].append(level.mean)
            }
        }
        return result.mapValues { $0.mapValues { Percentiles($0).mean ?? ReceivedLevel.notReceived } }
    }
}
