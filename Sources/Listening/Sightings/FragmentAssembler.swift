internal import BluetoothTypes

/// Puts the data of extended reports together that a controller hands over in pieces.
///
/// Pieces of one advertisement come in order; those of others may lie between (Core Specification 5.4, Vol 4 Part E
/// 7.7.65.13). Whatever is claimed, no more is kept than ``openLimit`` advertisements of 1650 octets.
public struct FragmentAssembler: Sendable {
    /// Advertisements that are put together at the same time; of more the oldest one is given up.
    public static let openLimit = 64
    /// How long the next piece is waited for, in microseconds.
    public static let patienceMicroseconds = 1_000_000

    /// What tells the pieces of one advertisement from those of another.
    public struct Key: Hashable, Sendable {
        let sender: Sender?
        let isScanResponse: Bool
        /// Advertising_SID; 0xFF for none.
        let setIdentifier: UInt8

        /// - Parameter sender: `nil` for anonymous advertisements.
        public init(sender: Sender?, isScanResponse: Bool, setIdentifier: UInt8?) {
            self.sender = sender
            self.isScanResponse = isScanResponse
            self.setIdentifier = setIdentifier ?? 0xFF
        }
    }

    /// What a report says of its data: Data_Status.
    public enum Status: Sendable {
        /// Nothing more comes.
        case complete
        /// More comes.
        case incomplete
        /// The rest was lost.
        case truncated
    }

    /// What a report is good for.
    public enum Outcome: Hashable, Sendable {
        /// The report holds the whole data itself.
        case whole
        /// More has to come, or the pieces were given up.
        case pending
        /// All pieces are there: the data is ``FragmentAssembler/assembled``.
        case assembled
    }

    private struct Open {
        var key: Key
        var since: HeardInstant
        var octets: [UInt8]
    }

    /// Advertisements whose end was lost: told by the controller, too long, or never come.
    public private(set) var incomplete = 0
    /// The octets of the last advertisement that was put together.
    public private(set) var assembled: [UInt8] = []
    private var open: [Open] = []

    /// Nothing open.
    public init() {}

    /// Advertisements of which pieces are waited for.
    public var openCount: Int { open.count }

    /// Takes the data that `range` of `octets` holds.
    public mutating func take(
        _ key: Key, _ status: Status, _ octets: Span<UInt8>, _ range: Range<Int>, at now: HeardInstant
    ) -> Outcome {
        // Almost all reports are whole, and then nothing may be open.
        if open.isEmpty, status == .complete { return .whole }
        expire(at: now)
        let place = open.firstIndex { $0.key == key }
        switch (status, place) {
        case (.complete, nil): return .whole
        case (.truncated, nil):
            incomplete += 1
            return .whole
        case (.incomplete, nil):
            begin(key, octets, range, at: now)
            return .pending
        case (_, let place?):
            guard open[place].octets.count + range.count <= AdvertisingData.extendedLimit else {
                open.remove(at: place)
                incomplete += 1
                return .pending
            }
            open[place].since = now
            for offset in range { open[place].octets.append(octets[offset]) }
            if status == .incomplete { return .pending }
            if status == .truncated { incomplete += 1 }
            assembled = open.remove(at: place).octets
            return .assembled
        }
    }

    private mutating func begin(_ key: Key, _ octets: Span<UInt8>, _ range: Range<Int>, at now: HeardInstant) {
        if open.count >= Self.openLimit, let oldest = open.indices.min(by: { open[$0].since < open[$1].since }) {
            open.remove(at: oldest)
            incomplete += 1
        }
        var first: [UInt8] = []
        first.reserveCapacity(2 * range.count)
        for offset in range { first.append(octets[offset]) }
        open.append(Open(key: key, since: now, octets: first))
    }

    private mutating func expire(at now: HeardInstant) {
        let before = open.count
        open.removeAll { now.microseconds(since: $0.since) > Self.patienceMicroseconds }
        incomplete += before - open.count
    }
}
