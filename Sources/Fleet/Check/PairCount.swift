/// How many pairs of major and minor each iBeacon UUID has.
struct PairCount: Sendable {
    /// MAX_IDS_PER_UUID of Home Assistant's ibeacon integration.
    static let limit = 50

    private var counts: [[UInt8]: Int] = [:]
    private var uuid: [UInt8] = []

    mutating func add(_ advertisement: ShapeAdvertisement, _ reader: BeaconReader) {
        guard let first = advertisement.identity.first else { return }
        uuid.removeAll(keepingCapacity: true)
        IdentityText.append(first.value, isUUID: true, reader, to: &uuid)
        counts[uuid, default: 0] += 1
    }

    var tooMany: [(uuid: String, count: Int)] {
        counts.filter { $0.value > Self.limit }.map { (String(decoding: $0.key, as: UTF8.self), $0.value) }
            .sorted { $0.0 < $1.0 }
    }
}
