import Airtime
import BluetoothTypes
import Testing

@testable import Rehearsal

/// Traffic of equal beacons around one listener, made without virtual controllers.
private struct Traffic {
    var packets: [AirPacket] = []

    static let airtime = 376

    init(beacons: Int, interval: Int, seconds: Double, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for beacon in 0..<beacons {
            var at = Double(interval) * random.nextUnit()
            while at < seconds * 1e6 {
                for channel in 0..<3 {
                    packets.append(
                        AirPacket(
                            start: Int(at) + 1000 * channel, airtime: Int32(Self.airtime),
                            offset: Int32(1000 * channel), emitter: Int32(beacon), advertisement: 0, payload: 0,
                            channel: UInt8(channel), powerOffset: 0))
                }
                at += Double(interval) + 10_000 * random.nextUnit()
            }
        }
        packets.sort { $0.start < $1.start }
    }
}

@Suite("Reception on the simulated air")
struct AirReceptionTests {
    private func reception(beacons: Int, _ preset: ScannerPreset, level: Float = -60) -> AirReception {
        var reception = AirReception(
            emitters: beacons, listeners: 1, sensitivity: -90, captureDecibels: 12, background: .none)
        reception.scans[0] = AirReception.Scan(preset, phase: 0)
        for beacon in 0..<beacons { reception.setLevel(level, of: beacon, at: 0) }
        return reception
    }

    @Test(
        "other devices destroy only packets on their own channel",
        arguments: [([0.5, 0, 0], 0.75), ([0, 0.5, 0.9], 0)] as [([Double], Double)])
    func otherDevicesDestroyPacketsOnlyOnTheirChannel(primary: [Double], share: Double) throws {
        var reception = AirReception(
            emitters: 1, listeners: 1, sensitivity: -90, captureDecibels: 12,
            background: try BackgroundLoad(ChannelLoads(primary: primary, secondary: 0)))
        // The scanner listens on channel 37 only.
        reception.scans[0] = AirReception.Scan(.continuous, phase: 0)
        reception.setLevel(-60, of: 0, at: 0)
        var random: UInt64 = 1
        var (all, lost) = (0, 0)
        for packet in Traffic(beacons: 1, interval: 20_000, seconds: 200, seed: 3).packets {
            reception.add(packet, &random) { _, _, _, outcome in
                all += 1
                if outcome == .background { lost += 1 }
                return true
            }
        }
        #expect(all > 5000)
        // The packets of other devices have the same length, so a packet is clear with probability (1 - O)^2.
        #expect(abs(Double(lost) / Double(all) - share) < 0.03)
    }

    @Test(
        "the share of clear packets is (1 - 2 tau / E)^(N - 1)",
        arguments: [(50, 100_000), (100, 100_000), (20, 250_000)])
    func clearShare(beacons: Int, interval: Int) {
        var reception = reception(beacons: beacons, .continuous)
        var random: UInt64 = 1
        var (all, clear) = (0, 0)
        for packet in Traffic(beacons: beacons, interval: interval, seconds: 200, seed: 3).packets {
            reception.add(packet, &random) { _, _, _, outcome in
                all += 1
                if outcome == .clear { clear += 1 }
                return true
            }
        }
        let period = Double(interval) + 5000
        let expected = pow(1 - 2 * Double(Traffic.airtime) / period, Double(beacons - 1))
        #expect(abs(Double(clear) / Double(all) - expected) < 0.01 * expected)
    }

    @Test(
        "adjacent packets do not collide, and packets that overlap by 1 µs do",
        arguments: [(376, true), (375, false)])
    func overlap(distance: Int, isClear: Bool) {
        var reception = reception(beacons: 2, .continuous)
        var random: UInt64 = 1
        var outcomes: [AirReception.Outcome] = []
        for (emitter, start) in [1000, 1000 + distance].enumerated() {
            let packet = AirPacket(
                start: start, airtime: 376, offset: 0, emitter: Int32(emitter), advertisement: 0, payload: 0,
                channel: 0, powerOffset: 0)
            reception.add(packet, &random) { _, _, _, outcome in
                outcomes.append(outcome)
                return true
            }
        }
        reception.finish(before: 10_000, &random) { _, _, _, outcome in
            outcomes.append(outcome)
            return true
        }
        #expect(outcomes == (isClear ? [.clear, .clear] : [.collided, .collided]))
    }

    @Test("a packet that is stronger by the capture threshold is received", arguments: [(-47.5, true), (-48.5, false)])
    func capture(level: Float, isCaptured: Bool) {
        var reception = reception(beacons: 2, .continuous)
        reception.setLevel(level, of: 0, at: 0)
        var random: UInt64 = 1
        var outcomes: [Int32: AirReception.Outcome] = [:]
        for emitter in 0..<2 {
            let packet = AirPacket(
                start: 1000 + emitter, airtime: 376, offset: 0, emitter: Int32(emitter), advertisement: 0, payload: 0,
                channel: 0, powerOffset: 0)
            reception.add(packet, &random) { _, _, _, _ in true }
        }
        reception.finish(before: 10_000, &random) { packet, _, _, outcome in
            outcomes[packet.emitter] = outcome
            return true
        }
        #expect(outcomes[0] == (isCaptured ? .captured : .collided))
        #expect(outcomes[1] == .collided)
    }

    @Test("an interferer below the sensitivity does not damage a packet")
    func inaudible() {
        var reception = reception(beacons: 2, .continuous)
        reception.setLevel(-91, of: 1, at: 0)
        var random: UInt64 = 1
        var outcomes: [AirReception.Outcome] = []
        for emitter in 0..<2 {
            let packet = AirPacket(
                start: 1000, airtime: 376, offset: 0, emitter: Int32(emitter), advertisement: 0, payload: 0, channel: 0,
                powerOffset: 0)
            reception.add(packet, &random) { _, _, _, _ in true }
        }
        reception.finish(before: 10_000, &random) { _, _, _, outcome in
            outcomes.append(outcome)
            return true
        }
        #expect(outcomes == [.clear])
    }

    @Test(
        "mean and 95th percentile of the detection time match the planner's model",
        arguments: ["continuous", "android-balanced", "ios-find-my"])
    func latency(scanner: String) throws {
        let preset = try #require(ScannerPreset(named: scanner))
        let (beacons, interval) = (20, 318_750)
        let group = try AdvertiserGroup(
            count: beacons, intervalMicroseconds: Double(interval), airtimeMicroseconds: Double(Traffic.airtime))
        let model = try LatencyModel(group: group, preset: preset).distribution(untilSeconds: 60)
        var random = SplitMix64(seed: 9)
        var times: [Double] = []
        let phones = 40
        for trial in 0..<12 {
            let packets = Traffic(beacons: beacons, interval: interval, seconds: 40, seed: UInt64(100 + trial)).packets
            var reception = AirReception(
                emitters: beacons, listeners: phones, sensitivity: -90, captureDecibels: 12, background: .none)
            var begins: [Int] = []
            for phone in 0..<phones {
                for beacon in 0..<beacons { reception.setLevel(-60, of: beacon, at: phone) }
                let begin = 1_000_000 + Int(random.nextUnit() * 5e6)
                // The phases of the phones are spread evenly over the cycle, to reduce the scatter of the mean.
                let share = (Double(phone) + random.nextUnit()) / Double(phones)
                let phase = begin - Int(share * Double(AirReception.Scan.cycle(preset)))
                reception.scans[phone] = AirReception.Scan(preset, phase: phase)
                begins.append(begin)
            }
            var found = Set<Int>()
            var dice: UInt64 = 1
            for packet in packets where found.count < phones * beacons {
                reception.add(packet, &dice) { packet, phone, _, outcome in
                    let event = packet.start - Int(packet.offset)
                    guard outcome == .clear, event >= begins[phone],
                        found.insert(phone * beacons + Int(packet.emitter)).inserted
                    else { return false }
                    times.append(Double(event - begins[phone]) / 1e6)
                    return true
                }
            }
        }
        times.sort()
        let mean = times.reduce(0, +) / Double(times.count)
        let expectedMean = try #require(model.meanSeconds)
        let expected = try #require(model.percentile(0.95))
        let share = Double(times.count(where: { $0 <= expected })) / Double(times.count)
        #expect(abs(mean - expectedMean) < 0.03 * expectedMean)
        #expect(abs(share - 0.95) < 0.01)
    }
}
