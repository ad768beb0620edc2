import BeaconFrames
import BluetoothTypes
import Testing

/// Passes the octets to all decoders, and checks rules that hold for any octets.
private func read(_ octets: [UInt8]) {
    let data = AdvertisingData(octets: octets)
    let decoded = DecodedAdvertisingData(data)
    let notes = data.explained()
    let isWhole =
        decoded.data == data && notes.map(\.octet) == octets && notes.map(\.offset) == Array(octets.indices)
        && BeaconFrame(decoding: data) == decoded.frames.first
        && decoded.problems.allSatisfy { (0...octets.count).contains($0.offset) }
    if !isWhole { Issue.record("\(data)") }
    for frame in decoded.frames {
        guard let sent = try? frame.advertisingData() else {
            if decoded.problems.isEmpty { Issue.record("a frame without problems is not encoded: \(data)") }
            continue
        }
        let again = BeaconFrame(decoding: sent)
        if again != frame || sent.lint() != [] { Issue.record("\(data) gives \(sent)") }
    }
}

@Test func randomOctetsNeverTrap() {
    var random = SplitMix64(seed: 1)
    for _ in 0..<30_000 { read(random.octets(upTo: 40)) }
}

@Test func damagedFramesNeverTrap() {
    var random = SplitMix64(seed: 2)
    for _ in 0..<8_000 {
        var octets = publishedFrames.randomElement(using: &random)?.data.octets ?? []
        for _ in 0...Int.random(in: 0...2, using: &random) where !octets.isEmpty {
            let place = Int.random(in: octets.indices, using: &random)
            switch Int.random(in: 0...4, using: &random) {
            case 0: octets[place] = UInt8.random(in: 0...255, using: &random)
            case 1: octets[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 2: octets.remove(at: place)
            case 3: octets.insert(UInt8.random(in: 0...255, using: &random), at: place)
            default: octets.removeSubrange(place...)
            }
        }
        read(octets)
    }
}

@Test func alteredAndTruncatedFramesNeverTrap() {
    for published in publishedFrames {
        for place in published.data.octets.indices {
            for value in [0, 1, 2, 3, 4, 0x7F, 0x80, 0xFE, 0xFF] as [UInt8] {
                var octets = published.data.octets
                octets[place] = value
                read(octets)
            }
            read(Array(published.data.octets.prefix(place)))
        }
    }
}

extension SplitMix64 {
    /// Returns up to `limit` random octets.
    mutating func octets(upTo limit: Int) -> [UInt8] {
        (0..<Int.random(in: 0...limit, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}
