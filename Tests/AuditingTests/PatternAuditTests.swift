import Auditing
import BeaconFrames
import BluetoothTypes
import Sightings
import Testing

/// Verdicts on a beacon that sends with several intervals in turn.
@Suite struct PatternAuditTests {
    private static let sender = Sender(DeviceAddress(FixedOctets(repeating: 0xC1)), isRandom: true)
    private static let namespace = FixedOctets<10>(repeating: 0x8B)
    private static let octets: [UInt8] =
        ([.flags(.beacon)]
        + EddystoneUID(
            namespace: namespace, instance: FixedOctets(), measuredPower: MeasuredPowerAtZeroMeters(octet: 0xE7)
        ).adStructures).flatMap { [UInt8($0.data.count + 1), $0.type.rawValue] + $0.data }

    private static func pattern(_ parts: [(milliseconds: Int, seconds: Int)]) throws -> AdvertisingPattern {
        let parts = try parts.map { part in
            let interval = try #require(AdvertisingInterval(microseconds: part.milliseconds * 1000))
            return AdvertisingPattern.Part(
                interval: RequestedInterval(interval), durationMicroseconds: part.seconds * 1_000_000)
        }
        return try #require(AdvertisingPattern(parts))
    }

    /// - Parameters:
    ///   - sent: The parts that the beacon sends. The audit begins at a random time of the cycle.
    ///   - loss: The share of events that the receiver loses.
    private static func audit(
        _ pattern: AdvertisingPattern, sent: [(milliseconds: Int, seconds: Int)], seconds: Int, loss: Double,
        seed: UInt64
    ) throws -> AdvertisementAudit {
        var chance = SplitMix64(seed: seed)
        func share() -> Double { Double(chance.next() >> 11) / Double(1 << 53) }
        let expected = ExpectedAdvertisement(
            type: "eddystone-uid", content: .frame(.eddystoneUID(namespace: namespace, instance: FixedOctets())),
            octets: ExpectedOctets(octets), intervalMicroseconds: pattern.meanInterval.microseconds, pattern: pattern,
            address: .exactly(sender))
        var auditor = Auditor([ExpectedBeacon(name: "door", advertisements: [expected])], receivers: ["desk"])
        auditor.begin(0, at: HeardInstant(nanoseconds: 0))
        let end = Double(seconds) * 1_000_000
        var begin = -share() * Double(sent.reduce(0) { $0 + $1.seconds }) * 1_000_000
        while begin < end {
            for part in sent {
                var at = begin
                begin += Double(part.seconds) * 1_000_000
                while at < begin {
                    if at >= 0, at < end, share() >= loss {
                        auditor.receive(
                            Sighting(at: HeardInstant(nanoseconds: UInt64(at * 1000)), from: sender, rssi: -60),
                            octets.span, octets.indices, by: 0)
                    }
                    at += Double(part.milliseconds) * 1000 + share() * 10_000
                }
            }
        }
        auditor.end(0, at: HeardInstant(nanoseconds: UInt64(seconds) * 1_000_000_000))
        var model = SilenceModel()
        return try #require(auditor.report(&model).advertisements.first)
    }

    static let patterns: [[(milliseconds: Int, seconds: Int)]] = [
        [(100, 2), (1000, 8)], [(50, 1), (760, 9)], [(152, 3), (300, 4), (1285, 20)], [(1000, 30), (100, 60)],
    ]

    @Test(arguments: patterns.indices, [0.0, 0.2, 0.33])
    func acceptsABeaconThatFollowsItsPattern(_ number: Int, _ loss: Double) throws {
        let sent = Self.patterns[number]
        let pattern = try Self.pattern(sent)
        for seconds in [20, 60, 120, 600] {
            for seed in UInt64(1)...4 {
                let audit = try Self.audit(pattern, sent: sent, seconds: seconds, loss: loss, seed: seed)
                // Without received events there is no interval to judge.
                if audit.heard == 0 { continue }
                #expect(audit.verdicts == [.ok], "\(pattern), \(seconds) s, seed \(seed): \(audit.reasons)")
                #expect(audit.intervalMicroseconds == nil)
            }
        }
    }

    /// A beacon that stays in the part of 100 ms, or that sends with another interval.
    @Test(arguments: [100, 300, 500], [0.0, 0.2]) func reportsAnotherIntervalThanThePattern(
        _ milliseconds: Int, _ loss: Double
    ) throws {
        let pattern = try Self.pattern([(100, 2), (1000, 8)])
        for seed in UInt64(1)...4 {
            let audit = try Self.audit(pattern, sent: [(milliseconds, 10)], seconds: 120, loss: loss, seed: seed)
            #expect(audit.verdicts.contains(.wrongInterval), "seed \(seed): \(audit.verdicts)")
            #expect(audit.reasons.contains { $0.contains("100 ms for 2 s, 1000 ms for 8 s") })
        }
    }

    /// Almost two thirds of the events are missing if the beacon stays in its slow part.
    @Test func reportsABeaconThatStaysInItsSlowPart() throws {
        let pattern = try Self.pattern([(100, 2), (1000, 8)])
        let audit = try Self.audit(pattern, sent: [(1000, 10)], seconds: 300, loss: 0, seed: 1)
        #expect(audit.verdicts != [.ok])
    }
}
