internal import Sightings

/// A beacon in a zone.
struct ZonePair: Sendable {
    let zone: Int
    let ear: Int
    let unit: Int
    let enterMeasure: Double
    let stayMeasure: Double
    var isInside = false
    /// Since when it is beyond the leaving bound, on the clock of listened time.
    var outsideSince: Int?
    /// Whether a timer waits for its silence.
    var isTimed = false
}

/// What is entered and left: a beacon's place in a zone, or the zone.
struct ZoneUnit: Sendable {
    let zone: Int
    /// The exclusive group's number.
    let group: Int?
    /// Whether it is one beacon's own.
    let isOfOne: Bool
    /// Pairs, in the order in which they came.
    var inside: [Int] = []
    /// When it was entered, on the clock of listened time.
    var entered = 0
    /// How long it had been inside when this run began.
    var enteredBefore = 0
    var since = ZoneMoment.unix(0)
    var dwells = 0
    /// When the next dwell time is over; -1 for none.
    var dwellDue = -1
    /// Whether nobody of it was heard since an earlier run ended: it may have left meanwhile.
    var isAwaited = false

    var isInside: Bool { !inside.isEmpty }

    mutating func enter(at now: Int, _ moment: ZoneMoment, _ pair: Int) {
        inside = [pair]
        entered = now
        enteredBefore = 0
        since = moment
        dwells = 0
        isAwaited = false
    }
}

/// What is heard of a beacon: with all its identities, or with those alone that prove themselves.
struct ZoneEar: Sendable {
    let beacon: Int
    let needsProof: Bool
    /// In the table.
    let places: [Int]
    var pairs: [Int] = []
    var window = ZoneWindow()
    var witness = ZoneWitness()
    /// Which place has proved itself last, and when, on the clock of listened time.
    var proven: (place: Int, heard: Int)?
    /// The last median that was judged, in dBm, and relative to 1 m in dB.
    var last: (level: Double, gain: Double?)?
}

/// Whether an ephemeral id proves that its beacon is there. One that two senders send in turn proves nothing: one of
/// them repeats what it has heard, and nobody can tell which.
struct ZoneWitness: Sendable {
    /// Within so long two senders are there at once, on the clock of listened time, in microseconds: 10 s.
    static let together = 10_000_000

    private var id: BeaconIdentity?
    private var sender: Sender?
    /// The one before it, and when that was heard last.
    private var other: (sender: Sender?, heard: Int)?
    private var heard = 0
    /// When both were heard last.
    private var contested: Int?

    mutating func proves(_ identity: BeaconIdentity?, from sender: Sender?, at now: Int) -> Bool {
        guard case .eddystoneEID? = identity else { return false }
        if identity != id {
            (id, other, contested) = (identity, nil, nil)
        } else if sender != self.sender {
            // A beacon may change its address once; it does not change it back.
            if let other, other.sender == sender, now - other.heard < Self.together { contested = now }
            other = (self.sender, heard)
        }
        (self.sender, heard) = (sender, now)
        return contested.map { now - $0 >= Self.together } ?? true
    }
}

/// Which beacon belongs to which zone.
struct ZonePlan {
    var beacons: [ZoneBeacon] = []
    var pairs: [ZonePair] = []
    var units: [ZoneUnit] = []
    var ears: [ZoneEar] = []
    var earsOfPlaces: [[Int]] = []
    var groups: [String] = []

    private var numbers: [String: Int] = [:]
    private var placesOfBeacons: [[Int]] = []
    private var earNumbers: [Int: Int] = [:]
    private var tagged: [String: [Int]] = [:]

    init(_ rules: [ZoneRule], names: [String], beacons written: [ZoneBeacon]) {
        let notes = Dictionary(written.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for (place, name) in names.enumerated() {
            if let number = numbers[name] {
                placesOfBeacons[number].append(place)
                continue
            }
            numbers[name] = beacons.count
            for tag in notes[name]?.tags ?? [] { tagged[tag, default: []].append(beacons.count) }
            beacons.append(notes[name] ?? ZoneBeacon(name: name))
            placesOfBeacons.append([place])
        }
        for (zone, rule) in rules.enumerated() { add(zone, rule) }
        earsOfPlaces = names.map { _ in [] }
        for (number, ear) in ears.enumerated() {
            for place in ear.places { earsOfPlaces[place].append(number) }
        }
    }

    private mutating func add(_ zone: Int, _ rule: ZoneRule) {
        let members: [Int]
        switch rule.members {
        case .tag(let tag): members = tagged[tag] ?? []
        case .beacons(let names): members = names.compactMap { numbers[$0] }
        }
        let group = rule.exclusive.map { groupNumber($0) }
        for (place, beacon) in members.enumerated() {
            if place == 0 || rule.per == .beacon {
                units.append(ZoneUnit(zone: zone, group: group, isOfOne: rule.per == .beacon))
            }
            let ear = ear(beacon, needsProof: rule.proof == .eid)
            ears[ear].pairs.append(pairs.count)
            pairs.append(
                ZonePair(
                    zone: zone, ear: ear, unit: units.count - 1, enterMeasure: rule.bound.enterMeasure,
                    stayMeasure: rule.bound.stayMeasure))
        }
    }

    private mutating func groupNumber(_ name: String) -> Int {
        if let number = groups.firstIndex(of: name) { return number }
        groups.append(name)
        return groups.count - 1
    }

    private mutating func ear(_ beacon: Int, needsProof: Bool) -> Int {
        let key = 2 * beacon + (needsProof ? 1 : 0)
        if let number = earNumbers[key] { return number }
        earNumbers[key] = ears.count
        ears.append(ZoneEar(beacon: beacon, needsProof: needsProof, places: placesOfBeacons[beacon]))
        return ears.count - 1
    }
}

/// The clock that stands still while nothing can be heard, in microseconds.
struct ListenedClock: Sendable {
    /// Since when nothing can be heard; `nil` while something can.
    private(set) var deafSince: HeardInstant?
    /// Whether it was ever listened.
    private(set) var hasBegun = false
    /// Counts the times without listening.
    private(set) var stretch = 0
    /// What it shows now, at least.
    private(set) var listened = 0
    /// When the present time of listening began, and what the clock showed then.
    private var start = HeardInstant(nanoseconds: 0)
    private var startListened = 0

    mutating func begin(at now: HeardInstant) {
        guard !hasBegun else { return }
        hasBegun = true
        start = now
    }

    mutating func stop(at now: HeardInstant) {
        listened = listened(at: now)
        deafSince = now
    }

    mutating func go(at now: HeardInstant) {
        deafSince = nil
        stretch += 1
        start = now
        startListened = listened
    }

    mutating func advance(to time: Int) { listened = max(listened, time) }

    /// What it shows at a moment of the present time of listening.
    func listened(at now: HeardInstant) -> Int {
        guard hasBegun, deafSince == nil else { return listened }
        return startListened + now.microseconds(since: start)
    }

    /// When it shows this; it is after the present time of listening began.
    func instant(of time: Int) -> HeardInstant {
        start.advanced(byMicroseconds: max(0, time - startListened))
    }
}
