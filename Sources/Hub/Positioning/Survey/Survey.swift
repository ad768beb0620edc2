public import Airtime
public import Configuration

/// What was heard where: stays at places, with the vectors that were taken there.
///
/// ```swift
/// var reader = SurveyReader()
/// reader.take(octets)
/// reader.finish()
/// let survey = reader.survey
/// ```
public struct Survey: Sendable {
    /// Who recorded what follows.
    public struct Recording: Hashable, Sendable {
        /// The site's name; `nil` where the file does not say.
        public var site: String?
        /// The receiver's name.
        public var receiver: String?
        /// What it heard with, such as `hci0`.
        public var adapter: String?
        /// The adapter's address as the file has it.
        public var address: String?
        /// When it began.
        public var started: RFC3339Time?

        /// - Parameters are as the properties of the same names.
        public init(
            site: String? = nil, receiver: String? = nil, adapter: String? = nil, address: String? = nil,
            started: RFC3339Time? = nil
        ) {
            self.site = site
            self.receiver = receiver
            self.adapter = adapter
            self.address = address
            self.started = started
        }
    }

    /// Vectors taken at one place, one heading, in one go.
    public struct Stay: Hashable, Sendable {
        /// The number that later lines of the file name it by.
        public var number: Int
        /// The place's name; `nil` where there is a position only.
        public var place: String?
        /// Metres east and north; `nil` where there is a name only.
        public var position: FloorPosition?
        /// The floor's name; `nil` on sites with one floor.
        public var floor: String?
        /// Degrees clockwise from north, 0..<360; `nil` where unknown.
        public var heading: Double?
        /// What was recorded together, such as a day.
        public var session: String?
        /// Its recording's place among ``Survey/recordings``; `nil` before the first.
        public var recording: Int?
        /// Where its file begins it, from 1; `nil` for one that is in no file.
        public var line: Int?
        /// Its vectors' places in the survey.
        public internal(set) var vectors: Range<Int> = 0..<0
        /// Whether a later line took it back. Its vectors count for nothing.
        public internal(set) var isDropped = false

        /// - Parameters are as the properties of the same names.
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

    /// In the order in which they were first heard; a beacon's number is its place here.
    public private(set) var beacons: [BeaconKey] = []
    /// In the order of the file.
    public private(set) var recordings: [Recording] = []
    /// In the order of the file, those that were dropped included.
    public private(set) var stays: [Stay] = []
    private(set) var table: VectorTable
    private var numbers: [BeaconKey: Int] = [:]

    /// More beacons than any site has: further ones are left out.
    public static let beaconLimit = 20_000
    /// The floor of a town is not larger, in metres from the origin.
    public static let extent = 100_000.0

    /// Nothing recorded.
    ///
    /// - Parameter keepsPackets: Whether single packets are kept, and not only the mean of each second's: a map needs no
    ///   more, and half as much memory.
    public init(keepsPackets: Bool = true) {
        table = VectorTable(keepsPackets: keepsPackets)
    }

    /// How many vectors there are, those of dropped stays included.
    public var vectorCount: Int { table.count }

    /// The readings of one vector. Traps outside 0..<``vectorCount``.
    public func vector(_ index: Int) -> SignalVector { table.vector(index) }

    /// A beacon's number, given now where it had none; `nil` where there are ``beaconLimit`` already.
    public mutating func number(of key: BeaconKey) -> Int? {
        if let number = numbers[key] { return number }
        guard beacons.count < Self.beaconLimit else { return nil }
        numbers[key] = beacons.count
        beacons.append(key)
        return beacons.count - 1
    }

    /// A beacon's number; `nil` for one that was never heard.
    public func existingNumber(of key: BeaconKey) -> Int? { numbers[key] }

    /// Numbers the beacons in the order of their keys, as maps do: a map then shares the memory of its vectors with the
    /// survey. Without effect where single packets are kept.
    public mutating func sortBeacons() {
        guard !table.keepsPackets else { return }
        let order = beacons.indices.sorted { beacons[$0] < beacons[$1] }
        for (number, old) in order.enumerated() { numbers[beacons[old]] = number }
        table.renumber(beacons.map { numbers[$0] ?? 0 })
        beacons = order.map { beacons[$0] }
    }

    /// Begins a recording. Stays that follow are its own.
    public mutating func begin(_ recording: Recording) { recordings.append(recording) }

    /// Begins a stay. Vectors that follow are its own.
    public mutating func begin(_ stay: Stay) {
        var stay = stay
        stay.recording = recordings.isEmpty ? nil : recordings.count - 1
        stay.vectors = table.count..<table.count
        stays.append(stay)
    }

    /// What a stay was recorded together with: its session, else the day of its recording; `nil` where neither is known.
    public func session(of stay: Stay) -> String? {
        if let session = stay.session { return session }
        return stay.recording.flatMap { recordings[$0].started }.map { String($0.description.prefix(10)) }
    }

    /// Adds a vector to the stay that was begun last; without effect where there is none.
    public mutating func append(_ vector: SignalVector) {
        guard !stays.isEmpty else { return }
        table.append(vector)
        stays[stays.count - 1].vectors = stays[stays.count - 1].vectors.lowerBound..<table.count
    }

    /// The same with the levels of single packets, by beacon number; of two entries of one beacon the first counts.
    mutating func append(seconds: Double, _ found: [(beacon: Int, levels: [Double])]) {
        guard !stays.isEmpty else { return }
        var last = -1
        for (beacon, levels) in found where beacon != last {
            last = beacon
            table.append(beacon: beacon, packets: levels)
        }
        table.close(seconds)
        stays[stays.count - 1].vectors = stays[stays.count - 1].vectors.lowerBound..<table.count
    }

    /// What the packets of each reading of a vector said, in dBm, in the order of the readings; their mean where packets
    /// are not kept. Traps outside 0..<``vectorCount``.
    public func packets(_ index: Int) -> [[Double]] { table.packets(index) }

    /// Takes a stay back; `false` where there is no stay of this number.
    public mutating func drop(stay number: Int) -> Bool {
        guard let index = stays.lastIndex(where: { $0.number == number }) else { return false }
        stays[index].isDropped = true
        return true
    }

    /// Moves a stay to where it was really taken; `false` where there is no stay of this number.
    public mutating func move(stay number: Int, to position: FloorPosition, place: String? = nil) -> Bool {
        guard let index = stays.lastIndex(where: { $0.number == number }) else { return false }
        stays[index].position = position
        if let place { stays[index].place = place }
        return true
    }

    /// The same survey with those stays only that `isIncluded` wants; the vectors are those of the whole.
    public func filtered(_ isIncluded: (Stay) -> Bool) -> Survey {
        var copy = self
        for index in stays.indices where !isIncluded(stays[index]) { copy.stays[index].isDropped = true }
        return copy
    }

    /// The same survey without the stays at these places of ``stays``.
    func dropping(_ isLeftOut: (Int) -> Bool) -> Survey {
        var copy = self
        for index in stays.indices where isLeftOut(index) { copy.stays[index].isDropped = true }
        return copy
    }

    /// The same survey without one vector: its stay in two parts.
    func without(vector: Int) -> Survey {
        var copy = self
        guard let index = stays.firstIndex(where: { $0.vectors.contains(vector) }) else { return self }
        var rest = stays[index]
        copy.stays[index].vectors = rest.vectors.lowerBound..<vector
        rest.vectors = vector + 1..<rest.vectors.upperBound
        copy.stays.insert(rest, at: index + 1)
        return copy
    }

    /// Identities that come from several devices at once, told apart by address: of a reading under the identity alone
    /// nobody knows whose it is, so that it counts for nothing.
    public var sharedIdentities: Set<BeaconKey> {
        var shared: Set<BeaconKey> = []
        for key in beacons {
            if let identity = key.identityOfSeveral, numbers[identity] != nil { shared.insert(identity) }
        }
        return shared
    }

    /// Adds all that another survey holds, its beacons under their own numbers here. Stays keep their numbers.
    public mutating func append(_ other: Survey) {
        let numbers = other.beacons.map { number(of: $0) }
        let first = recordings.count
        recordings += other.recordings
        for stay in other.stays {
            begin(stay)
            stays[stays.count - 1].recording = stay.recording.map { $0 + first }
            stays[stays.count - 1].isDropped = stay.isDropped
            guard table.keepsPackets else {
                for index in stay.vectors { table.append(index, of: other.table, numbers: numbers) }
                stays[stays.count - 1].vectors = stays[stays.count - 1].vectors.lowerBound..<table.count
                continue
            }
            for index in stay.vectors {
                let vector = other.vector(index)
                var found: [(beacon: Int, levels: [Double])] = []
                for (reading, packets) in zip(vector.readings, other.packets(index)) {
                    if let beacon = numbers[reading.beacon] { found.append((beacon, packets)) }
                }
                append(seconds: vector.seconds, found.sorted { $0.beacon < $1.beacon })
            }
        }
    }
}
