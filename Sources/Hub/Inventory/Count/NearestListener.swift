internal import BluetoothTypes
public import Listener
public import Sightings

/// Listens to a source until one beacon is held to the receiver.
public final class NearestListener: SightingConsumer {
    private var pick: NearestPick
    private let inventory: Inventory
    private let onProgress: (Int) -> Void
    private let onWarning: (String) -> Void

    /// - Parameters:
    ///   - known: Beacons of other files, such as profiles, whose power at 1 m is known.
    ///   - onProgress: Called with the number of beacons within half a metre, from time to time.
    ///   - onWarning: Called with sentences about the adapter or the recording.
    public init(
        _ inventory: Inventory, known: [KnownBeacon], distances: DistanceEstimate.Rule,
        onProgress: @escaping (Int) -> Void, onWarning: @escaping (String) -> Void
    ) {
        let described = inventory.beacons.map {
            KnownBeacon(
                name: $0.name ?? "\($0.identity)", identity: $0.identity,
                calibrationAtOneMeter: $0.calibrationAtOneMeter)
        }
        pick = NearestPick(rule: inventory.rule, known: described + known, distances: distances)
        self.inventory = inventory
        self.onProgress = onProgress
        self.onWarning = onWarning
    }

    /// Listens until a beacon was near often enough.
    ///
    /// - Throws: `ListenerServiceError` if nothing can be received; `InventoryError` if no beacon was near enough, or
    ///   the nearest beacon belongs to another item.
    public func run(_ source: SightingSource) throws -> NearestPick.Answer {
        try source.run(self)
        guard let answer = pick.answer else {
            throw InventoryError(
                .busy,
                "no beacon was within half a metre and above -75 dBm in at least four of six seconds: hold it closer, or "
                    + "name it with --beacon")
        }
        if let item = inventory.items.first(where: { $0.beacon == answer.identity }) {
            throw InventoryError(
                .request,
                "the nearest beacon, \(answer.identity), already belongs to \(item.id): move that item away")
        }
        return answer
    }

    public var nextWakeUp: HeardInstant? { pick.nextWakeUp }
    public var isSatisfied: Bool { pick.answer != nil }
    public func advance(to now: HeardInstant) { pick.advance(to: now) }

    public func hear(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        pick.hear(report.sighting, octets, range)
    }

    public func change(_ state: ListeningState, at now: HeardInstant) { pick.change(isHearing: state.isHearing) }
    public func rest(at now: HeardInstant) { onProgress(pick.atHand) }
    public func say(_ sentence: String, isWarning: Bool) { if isWarning { onWarning(sentence) } }
    public func finish(at now: HeardInstant) { pick.finish(at: now) }
}
