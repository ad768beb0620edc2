import BluetoothTypes
import Testing

@testable import Airtime

/// Advertisements that take turns on one set, against boxes that are played event by event.
@Suite struct TurnLatencyModelTests {
    /// A box sends every T_s + advDelay, and its slots of T_s + 5 ms run independently of its events. A copy is received if it
    /// lies inside a window on its channel, and if no packet of another box overlaps with it.
    private struct Air {
        let turns: SharedTurns
        let boxes: Int
        let airtime: Double
        let scanner: ScannerPreset
        let horizon: Double
        private var random: SplitMix64

        init(_ turns: SharedTurns, boxes: Int, airtime: Double, scanner: ScannerPreset, horizonSeconds: Double) {
            self.turns = turns
            self.boxes = boxes
            self.airtime = airtime
            self.scanner = scanner
            horizon = horizonSeconds * 1e6
            random = SplitMix64(seed: 11)
        }

        private mutating func unit() -> Double { Double(random.next() >> 11) * 0x1p-53 }

        /// The starts of a box's events from 0 on.
        private mutating func events(until end: Double) -> [Double] {
            let interval = Double(turns.setInterval.microseconds)
            // Some periods earlier, so that 0 is a random instant.
            var time = -20 * interval - unit() * (interval + 5000)
            var events: [Double] = []
            while time < end {
                if time >= -interval { events.append(time) }
                time += interval + unit() * 10_000
            }
            return events
        }

        /// The waits of phones, in s, for each box of each repetition; infinite beyond the horizon.
        mutating func waits(repetitions: Int, phones: Int) -> [Double] {
            let pattern = scanner.pattern
            let (window, interval) = (Double(pattern.windowMicroseconds), Double(pattern.intervalMicroseconds))
            var waits: [Double] = []
            for _ in 0..<repetitions {
                let own = (0..<boxes).map { _ in events(until: 2 * horizon) }
                let sorted = own.enumerated().flatMap { box, events in events.map { (time: $0, box: box) } }
                    .sorted { $0.time < $1.time }
                var clear = Array(repeating: [Double](), count: boxes)
                let shift = (0..<boxes).map { _ in unit() * turns.slotMicroseconds * Double(turns.isOwn.count) }
                for (index, event) in sorted.enumerated() where event.time >= 0 {
                    if index > 0, event.time - sorted[index - 1].time < airtime { continue }
                    if index + 1 < sorted.count, sorted[index + 1].time - event.time < airtime { continue }
                    let slot = Int((event.time + shift[event.box]) / turns.slotMicroseconds) % turns.isOwn.count
                    if turns.isOwn[slot] { clear[event.box].append(event.time) }
                }
                for phone in 0..<phones {
                    let phase = (Double(phone) + unit()) / Double(phones) * 3 * interval
                    let begin = unit() * horizon
                    for events in clear {
                        var (low, high) = (0, events.count)
                        while low < high {
                            let middle = (low + high) / 2
                            if events[middle] < begin { low = middle + 1 } else { high = middle }
                        }
                        let found = events[low...].first { start in
                            for channel in 0..<3 {
                                let time = start + Double(channel) * 1000 + phase
                                let turn = (time / interval).rounded(.down)
                                if Int(turn) % 3 == channel, time - turn * interval + airtime <= window { return true }
                            }
                            return false
                        }
                        waits.append(found.map { $0 - begin <= horizon ? ($0 - begin) / 1e6 : .infinity } ?? .infinity)
                    }
                }
            }
            return waits.sorted()
        }
    }

    private func turns(_ isOwn: [Bool], interval: Int) throws -> SharedTurns {
        try SharedTurns(setInterval: try #require(AdvertisingInterval(microseconds: interval)), isOwn: isOwn)
    }

    @Test(
        "have the mean and the percentiles of a simulation",
        arguments: [
            // One of two, of four, and fifteen of sixteen slots.
            ([true, false], 100_000, 1, 60), ([true, false, false, false], 100_000, 8, 8),
            (Array(repeating: true, count: 15) + [false], 300_000, 30, 4),
        ])
    func agrees(isOwn: [Bool], interval: Int, boxes: Int, repetitions: Int) throws {
        let scanner = try #require(ScannerPreset(named: "android-balanced"))
        let turns = try turns(isOwn, interval: interval)
        var air = Air(turns, boxes: boxes, airtime: 368, scanner: scanner, horizonSeconds: 40)
        let waits = air.waits(repetitions: repetitions, phones: 6000 / boxes / repetitions * 4)
        let model = try TurnLatencyModel(turns: turns, count: boxes, airtimeMicroseconds: 368, scanner: scanner)
            .distribution()
        let mean = waits.reduce(0, +) / Double(waits.count)
        let expected = try #require(model.meanSeconds)
        #expect(abs(mean - expected) < 0.02 * expected, "\(mean), not \(expected)")
        for share in [0.5, 0.9, 0.95] {
            let time = try #require(model.percentile(share))
            let found = Double(waits.count { $0 <= time }) / Double(waits.count)
            #expect(abs(found - share) < 0.012, "\(share): \(found)")
        }
    }

    @Test("that are all the advertisement's own have the latency of a set of its own", arguments: [1, 100])
    func onlyAdvertisement(boxes: Int) throws {
        let scanner = try #require(ScannerPreset(named: "android-low-power"))
        let turns = try turns([true], interval: 318_750)
        let model = try TurnLatencyModel(turns: turns, count: boxes, airtimeMicroseconds: 368, scanner: scanner)
            .distribution()
        let group = try AdvertiserGroup(count: boxes, interval: turns.setInterval, airtimeMicroseconds: 368)
        let alone = try LatencyModel(group: group, preset: scanner).distribution()
        for share in [0.5, 0.9, 0.95] {
            let (found, expected) = (try #require(model.percentile(share)), try #require(alone.percentile(share)))
            #expect(abs(found - expected) < (boxes > 1 ? 0.02 : 0.01) * expected, "\(share): \(found), not \(expected)")
        }
    }

    @Test func whatMakesNoSenseIsRefused() throws {
        #expect(throws: AirtimeError.self) { try turns([], interval: 100_000) }
        #expect(throws: AirtimeError.self) { try turns([false, false], interval: 100_000) }
        let scanner = ScannerPreset.continuous
        #expect(throws: AirtimeError.self) {
            try TurnLatencyModel(
                turns: turns([true], interval: 100_000), count: 0, airtimeMicroseconds: 368, scanner: scanner)
        }
        let model = try TurnLatencyModel(
            turns: turns([true], interval: 100_000), count: 1, airtimeMicroseconds: 368, scanner: scanner)
        #expect(throws: AirtimeError.self) { try model.distribution(untilSeconds: -1) }
        #expect(throws: AirtimeError.self) { try model.distribution(horizonSeconds: .nan) }
    }
}
