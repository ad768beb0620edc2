public import Airtime
public import Configuration

/// The data of a survey: stays at places, with the vectors recorded there.
///
/// ```swift
/// var reader = SurveyReader()
/// reader.take(octets)
/// reader.finish()
/// let survey = reader.survey
/// ```
public struct Survey: Sendable {
    /// The receiver and the time of a recording.
    public struct Recording: Hashable, Sendable {
        /// The site's name, if the file has one.
        public var site: String?
        /// The receiver's name.
        public var receiver: String?
        /// The adapter that received, such as `hci0`.
        public var adapter: String?
        /// The adapter's address, as written in the file.
        public var address: String?
        /// The time at which the recording began.
        public var started: RFC3339Time?

        /// Creates a recording. Any of its properties may be `nil`.
        public init(site: String? = nil, receiver: String? = nil, started: RFC3339Time? = nil) {
            self.site = site
            self.receiver = receiver
            self.started = started
        }
    }

    /// Vectors that were recorded without interruption at one place with one heading.
    public struct Stay: Hashable, Sendable {
        /// The number by which later lines of the file refer to the stay.
        public var number: Int
        /// The place's name; `nil` if only the position is known.
        public var place: String?
        /// The position in metres east and north; `nil` if only the name is known.
        public var position: FloorPosition?
        /// The floor's name; `nil` on sites with one floor.
        public var floor: String?
        /// The direction of the receiver in degrees clockwise from north, 0..<360; `nil` if it is not known.
        public var heading: Double?
        /// The name of a group of stays that were recorded together, such as a day.
        public var session: String?
        /// The index of the stay's recording in ``Survey/recordings``; `nil` for a stay before the first recording.
        public var recording: Int?
        /// The line of the file on which the stay begins, from 1; `nil` if the stay is not from a file.
        public var line: Int?
        /// The indices of the stay's vectors in the survey.
        public internal(set) var vectors: Range<Int> = 0..<0
        /// True if a later line of the file, with the key `drop`, cancelled the stay. The vectors of a cancelled stay
        /// are ignored.
        public internal(set) var isCancelled = false

        /// Creates a stay without vectors.
        public init(
            number: Int, place: String? = nil, position: FloorPosition? = nil, floor: String? = nil,
            heading: Double? = nil, session: String? = nil
        ) {
            self.number = number
            self.place = place
            self.position = position
            self.floor = floor
            self.heading = heading
            self.session = session
        }
    }

    /// The beacons in the order in which they were first received. A beacon's number is its index here.
    public private(set) var beacons: [BeaconKey] = []
    /// The recordings in the order of the file.
    public private(set) var recordings: [Recording] = []
    /// The stays in the order of the file, including cancelled ones.
    public private(set) var stays: [Stay] = []
    private var vectors: [SignalVector] = []
    /// The levels of the packets in dBm, by vector, then by reading.
    private var packets: [[[Double]]] = []
    private var numberOfKey: [BeaconKey: Int] = [:]

    /// The largest number of beacons. Further beacons are left out.
    public static let beaconLimit = 20_000
    /// The largest distance of a position from the origin along either axis, in metres.
    public static let extent = 100_000.0

    /// Creates an empty survey.
    public init() {}

    /// The number of all vectors, including the vectors of cancelled stays.
    public var vectorCount: Int { vectors.count }
    /// The number of vectors of the stays that are not cancelled.
    public var countedVectors: Int { stays.reduce(0) { $0 + ($1.isCancelled ? 0 : $1.vectors.count) } }

    /// Returns the vector with an index in 0..<``vectorCount``. Traps if the index is outside this range.
    public func vector(_ index: Int) -> SignalVector { vectors[index] }

    /// Returns the levels of the packets of each reading of a vector, in dBm, in the order of the readings. Traps if
    /// the index is outside 0..<``vectorCount``.
    public func packets(_ index: Int) -> [[Double]] { packets[index] }

    /// Returns true if no beacon was received in any second of a stay.
    func isSilent(_ stay: Stay) -> Bool { stay.vectors.allSatisfy { vectors[$0].readings.isEmpty } }

    /// Returns the number of a beacon. If the beacon is new, adds it to the survey. Returns `nil` if it is new but the
    /// survey already has ``beaconLimit`` beacons.
    public mutating func number(of key: BeaconKey) -> Int? {
        if let number = numberOfKey[key] { return number }
        guard beacons.count < Self.beaconLimit else { return nil }
        numberOfKey[key] = beacons.count
        beacons.append(key)
        return beacons.count - 1
    }

    /// Returns the number of a beacon; `nil` if the survey does not have the beacon.
    public func existingNumber(of key: BeaconKey) -> Int? { numberOfKey[key] }

    /// The identities that several devices send at once, and whose devices are distinguished by address. A reading
    /// without an address belongs to an unknown device, so it is ignored.
    public var sharedIdentities: Set<BeaconKey> {
        Set(beacons.compactMap(\.identityOfSeveral).filter { numberOfKey[$0] != nil })
    }

    // MARK: Recording

    /// Begins a recording. The following stays belong to it.
    public mutating func begin(_ recording: Recording) { recordings.append(recording) }

    /// Begins a stay. The following vectors belong to it.
    public mutating func begin(_ stay: Stay) {
        var stay = stay
        stay.recording = recordings.isEmpty ? nil : recordings.count - 1
        stay.vectors = vectors.count..<vectors.count
        stays.append(stay)
    }

    /// Appends a vector to the last stay. If there is no stay, does nothing.
    public mutating func append(_ vector: SignalVector) {
        append(seconds: vector.seconds, vector.readings.map { (beacon: $0.beacon, levels: [$0.level]) })
    }

    /// Appends the packets of one second, sorted by beacon number, to the last stay. If there is no stay, does nothing.
    mutating func append(seconds: Double, _ beaconPackets: [BeaconPackets]) {
        guard !stays.isEmpty else { return }
        let readings = beaconPackets.map { beacon, levels in
            SignalVector.Reading(beacon: beacon, level: levels.reduce(0, +) / Double(levels.count))
        }
        vectors.append(SignalVector(seconds: seconds, sorted: readings))
        packets.append(beaconPackets.map(\.levels))
        stays[stays.count - 1].vectors = stays[stays.count - 1].vectors.lowerBound..<vectors.count
    }

    /// Appends another survey. Its beacons get their numbers in this survey; new beacons get new numbers. The numbers
    /// of its stays do not change.
    public mutating func append(_ other: Survey) {
        let numbers = other.beacons.map { number(of: $0) }
        let earlierRecordings = recordings.count
        recordings += other.recordings
        for stay in other.stays {
            begin(stay)
            stays[stays.count - 1].recording = stay.recording.map { $0 + earlierRecordings }
            stays[stays.count - 1].isCancelled = stay.isCancelled
            for index in stay.vectors {
                let vector = other.vector(index)
                let beaconPackets = zip(vector.readings, other.packets(index)).compactMap { reading, levels in
                    numbers[reading.beacon].map { (beacon: $0, levels: levels) }
                }
                append(seconds: vector.seconds, beaconPackets.sorted { $0.beacon < $1.beacon })
            }
        }
    }

    // MARK: Changing

    /// Cancels a stay. Returns false if the survey has no stay with this number.
    public mutating func cancel(stay number: Int) -> Bool {
        guard let index = stays.lastIndex(where: { $0.number == number }) else { return false }
        stays[index].isCancelled = true
        return true
    }

    /// Replaces the place, the position and the floor of a stay with those of `spot`. Values that are `nil` in `spot`
    /// are not replaced. Returns false if the survey has no stay with this number.
    public mutating func move(stay number: Int, to spot: SurveySpot) -> Bool {
        guard let index = stays.lastIndex(where: { $0.number == number }) else { return false }
        if let position = spot.position { stays[index].position = position }
        if let place = spot.place { stays[index].place = place }
        if let floor = spot.floor { stays[index].floor = floor }
        return true
    }

    // MARK: Parts

    /// Returns the session of a stay, or the day of its recording if it has no session; `nil` if neither is known.
    public func session(of stay: Stay) -> String? {
        if let session = stay.session { return session }
        return stay.recording.flatMap { recordings[$0].started }.map { String($0.description.prefix(10)) }
    }

    /// Returns a copy in which stays are cancelled if `isIncluded` returns false for them. The indices of vectors do
    /// not change.
    public func filtered(_ isIncluded: (Stay) -> Bool) -> Survey {
        var copy = self
        for index in stays.indices where !isIncluded(stays[index]) { copy.stays[index].isCancelled = true }
        return copy
    }

    /// Returns a copy in which the stays with these indices are cancelled.
    func cancelling(_ indices: Set<Int>) -> Survey {
        var copy = self
        for index in indices { copy.stays[index].isCancelled = true }
        return copy
    }

    /// Returns a copy without the vectors with these indices. Where vectors are left out, the stay is divided into two
    /// stays.
    func without(vectors omitted: Set<Int>) -> Survey {
        guard !omitted.isEmpty else { return self }
        var copy = self
        copy.stays = []
        for stay in stays {
            var kept = stay
            kept.vectors = stay.vectors.lowerBound..<stay.vectors.lowerBound
            for vector in stay.vectors {
                if omitted.contains(vector) {
                    if !kept.vectors.isEmpty { copy.stays.append(kept) }
                    kept.vectors = vector + 1..<vector + 1
                } else {
                    kept.vectors = kept.vectors.lowerBound..<vector + 1
                }
            }
            copy.stays.append(kept)
        }
        return copy
    }
}
