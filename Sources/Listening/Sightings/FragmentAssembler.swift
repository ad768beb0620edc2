internal import BluetoothTypes

/// Assembles the data of extended advertising reports that a controller delivers in pieces.
///
/// The pieces of one advertisement arrive in order, but pieces of other advertisements may arrive between them (Core
/// Specification 5.4, Vol 4 Part E 7.7.65.13). At most ``openLimit`` advertisements, of at most 1650 octets each, are
/// kept.
public struct FragmentAssembler: Sendable {
    /// The maximum number of advertisements that are assembled at once. If there are more, the oldest is dropped.
    public static let openLimit = 64
    /// The maximum time between two pieces of one advertisement, in microseconds: 1 s.
    public static let pieceTimeoutMicroseconds = 1_000_000

    /// Identifies the pieces of one advertisement.
    public struct Key: Hashable, Sendable {
        let sender: Sender?
        let isScanResponse: Bool
        /// Advertising_SID; 0xFF if there is none.
        let setIdentifier: UInt8

        /// - Parameter sender: `nil` for an anonymous advertisement.
        public init(sender: Sender?, isScanResponse: Bool, setIdentifier: UInt8?) {
            self.sender = sender
            self.isScanResponse = isScanResponse
            self.setIdentifier = setIdentifier ?? 0xFF
        }
    }

    /// Data_Status of a report.
    public enum Status: Sendable {
        /// This is the last piece.
        case complete
        /// More pieces follow.
        case incomplete
        /// The rest of the data was lost.
        case truncated
    }

    /// The result of taking a report.
    public enum Outcome: Hashable, Sendable {
        /// The report contains all data, or all data that the controller can deliver.
        case whole
        /// More pieces must arrive, or the pieces were dropped.
        case pending
        /// All pieces have arrived; the data is in ``FragmentAssembler/assembled``.
        case assembled
    }

    private struct PartialAdvertisement {
        var key: Key
        /// The time of the last piece.
        var lastPiece: HeardInstant
        var octets: [UInt8]
    }

    /// The number of advertisements that were not completed: truncated by the controller, too long, or not finished in
    /// time.
    public private(set) var incomplete = 0
    /// The data of the last assembled advertisement.
    public private(set) var assembled: [UInt8] = []
    /// The advertisements whose last piece has not arrived yet.
    private var open: [PartialAdvertisement] = []

    /// Creates an assembler without pieces.
    public init() {}

    /// The number of advertisements whose last piece has not arrived yet.
    public var openCount: Int { open.count }

    /// Takes a report with the data in `range` of `octets`.
    public mutating func take(
        _ key: Key, _ status: Status, _ octets: Span<UInt8>, _ range: Range<Int>, at now: HeardInstant
    ) -> Outcome {
        // Nearly all reports are complete, and usually nothing is being assembled.
        if open.isEmpty, status == .complete { return .whole }
        expire(at: now)
        let index = open.firstIndex { $0.key == key }
        switch (status, index) {
        case (.complete, nil): return .whole
        case (.truncated, nil):
            incomplete += 1
            return .whole
        case (.incomplete, nil):
            begin(key, octets, range, at: now)
            return .pending
        case (_, let index?):
            guard open[index].octets.count + range.count <= AdvertisingData.extendedLimit else {
                open.remove(at: index)
                incomplete += 1
                return .pending
            }
            open[index].lastPiece = now
            for offset in range { open[index].octets.append(octets[offset]) }
            if status == .incomplete { return .pending }
            if status == .truncated { incomplete += 1 }
            assembled = open.remove(at: index).octets
            return .assembled
        }
    }

    private mutating func begin(_ key: Key, _ octets: Span<UInt8>, _ range: Range<Int>, at now: HeardInstant) {
        if open.count >= Self.openLimit, let oldest = open.indices.min(by: { open[$0].lastPiece < open[$1].lastPiece })
        {
            open.remove(at: oldest)
            incomplete += 1
        }
        var piece: [UInt8] = []
        piece.reserveCapacity(2 * range.count)
        for offset in range { piece.append(octets[offset]) }
        open.append(PartialAdvertisement(key: key, lastPiece: now, octets: piece))
    }

    private mutating func expire(at now: HeardInstant) {
        let countBefore = open.count
        open.removeAll { now.microseconds(since: $0.lastPiece) > Self.pieceTimeoutMicroseconds }
        incomplete += countBefore - open.count
    }
}
