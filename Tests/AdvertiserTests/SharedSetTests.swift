import Advertiser
import BeaconFrames
import BluetoothTypes
import HCI
import Testing
import VirtualController

/// Several advertisements on one set, as they are on the air: the controller's events drift against the host's slots.
@Suite struct SharedSetTests {
    struct Mix: CustomTestStringConvertible, Sendable {
        let milliseconds: [Double]
        var testDescription: String { "\(milliseconds)" }
    }

    private static let mixes: [Mix] = [
        [200, 350, 700, 5000], [320, 320, 320], [1000, 1000, 1000, 1000, 1000], [250, 250], [250, 400, 5000],
        [500, 600, 700, 800, 900, 1000, 10000],
    ].map(Mix.init)

    /// Returns whether ten minutes contain the right number of events, within 2 % or 6 events, whichever is larger.
    private func isMet(_ count: Int, _ milliseconds: Double) -> Bool {
        let owed = 600_000 / (milliseconds + 5)
        return abs(Double(count) - owed) <= max(0.02 * owed, 6)
    }

    @Test(arguments: mixes, [VirtualControllerModel.raspberryPi, .core4])
    func eachHasWhatItIsOwedInTenMinutes(_ mix: Mix, _ model: VirtualControllerModel) throws {
        for seed in UInt64(1)...2 {
            let bench = Bench(model, on: VirtualAir(.init(seed: seed)))
            let session = try bench.session(Sample.iBeacons(mix.milliseconds))
            try session.start()
            try bench.run(session, seconds: 600)
            let counts = bench.eventCounts(session)
            for (count, milliseconds) in zip(counts, mix.milliseconds) {
                #expect(isMet(count, milliseconds), "\(count) events at \(milliseconds) ms, seed \(seed)")
            }
            // The computed number of events is right within 6 events or 2 %.
            for (status, count) in zip(session.advertisements, counts) {
                #expect(abs(Int(status.events) - count) <= max(6, count / 50))
            }
            #expect(Int(session.computedEvents) == session.advertisements.reduce(0) { $0 + Int($1.events) })
            #expect(counts.reduce(0, +) == bench.events.count)
        }
    }

    @Test(arguments: [UInt64(11), 12, 13, 14, 15, 16])
    func sampleProfileKeepsItsEventRates(_ seed: UInt64) throws {
        let bench = Bench(.raspberryPi, on: VirtualAir(.init(seed: seed)))
        let session = try bench.session(Sample.lobby())
        try session.start()
        try bench.run(session, seconds: 600)
        let counts = bench.eventCounts(session)
        for (count, milliseconds) in zip(counts, [200.0, 350, 700, 5000]) {
            #expect(isMet(count, milliseconds), "\(counts)")
        }
    }

    /// At least 99 % of the frames must keep their rate. An event near the end of its slot may fall into the next slot,
    /// so a rare frame may miss its rate by chance.
    @Test func seededMixesKeepTheirEventRates() throws {
        var random = SplitMix64(seed: 5)
        var missed = 0
        var all = 0
        for seed in UInt64(0)..<30 {
            let milliseconds = (0..<2 + random.next(upTo: 3)).map { _ in Double(400 + random.next(upTo: 6000)) }
            let bench = Bench(.raspberryPi, on: VirtualAir(.init(seed: seed)))
            let session = try bench.session(Sample.iBeacons(milliseconds))
            try session.start()
            try bench.run(session, seconds: 600)
            let rounded = session.advertisements.map { Double($0.advertisement.interval.microseconds) / 1000 }
            for (count, milliseconds) in zip(bench.eventCounts(session), rounded) {
                all += 1
                if !isMet(count, milliseconds) { missed += 1 }
            }
        }
        #expect(all >= 90 && missed * 100 <= all)
    }

    /// The set stays enabled while its data is replaced, so all gaps have the usual length.
    @Test(arguments: [VirtualControllerModel.raspberryPi, .zephyr])
    func changingTheDataLeavesNoGap(_ model: VirtualControllerModel) throws {
        let bench = Bench(model)
        let session = try bench.session(Sample.iBeacons([200, 350, 700, 5000]), setLimit: 1)
        try session.start()
        bench.forget()
        try bench.run(session, seconds: 60)
        #expect(Set(bench.steps) == [model.hasExtendedAdvertising ? "2037" : "2008"])
        let starts = bench.pdus.filter { $0.channel == 37 }.map(\.start)
        for (earlier, later) in zip(starts, starts.dropFirst()) {
            #expect((101_875...111_875).contains(later.microseconds(since: earlier)))
        }
    }

    /// Right after the start, events lie in the middle of their slots, so none falls into another slot.
    @Test func firstEventsFollowTheScheduleExactly() throws {
        for seed in UInt64(0)..<10 {
            let bench = Bench(.raspberryPi, on: VirtualAir(.init(seed: seed)))
            let session = try bench.session(Sample.iBeacons([320, 320, 320]))
            try session.start()
            try bench.run(session, seconds: 5)
            let minors = bench.events.map { $0[28] }
            #expect(minors.count >= 45)
            for (index, minor) in minors.enumerated() { #expect(Int(minor) == index % 3) }
        }
    }

    @Test func telemetryIsCurrentAtEachTurn() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session(Sample.lobby())
        try session.start()
        let start = bench.host.now
        try bench.run(session, seconds: 60)
        let frames = bench.pdus.filter { $0.channel == 37 }.compactMap { pdu in
            EddystoneTLM(AdvertisingData(octets: pdu.data)).map { (pdu.start, $0) }
        }
        #expect((10...14).contains(frames.count))
        for (index, (time, frame)) in frames.enumerated() {
            let deciseconds = time.microseconds(since: start) / 100_000
            #expect((0...3).contains(deciseconds - Int(frame.uptimeDeciseconds)), "\(index)")
            // ADV_CNT counts the events of all frames.
            let sent = bench.pdus.filter { $0.channel == 37 && $0.start < time }.count
            #expect(abs(sent - Int(frame.advertisements)) <= 6)
        }
    }

    @Test func neverWakesUpWithoutRotationAndRenewal() throws {
        for (model, sources) in [
            (VirtualControllerModel.raspberryPi, try Sample.iBeacons([100])),
            (.intel, try Sample.iBeacons([100, 200, 300, 400])),
            (.zephyr, try Array(Sample.lobby().prefix(3))),
        ] {
            let bench = Bench(model)
            let session = try bench.session(sources)
            #expect(session.nextWakeUp == nil)
            try session.start()
            #expect(session.nextWakeUp == nil)
            bench.forget()
            try bench.run(session, seconds: 600)
            #expect(bench.commands.isEmpty)
            try session.stop()
            #expect(session.nextWakeUp == nil)
        }
    }

    @Test func sendsNoDataThatIsAlreadyOnTheAir() throws {
        let bench = Bench(.raspberryPi)
        let twice = try Sample.iBeacons([300]) + Sample.iBeacons([300])
        let session = try bench.session(twice)
        try session.start()
        bench.forget()
        try bench.run(session, seconds: 10)
        #expect(bench.commands.isEmpty && bench.events.count > 60)
    }

    /// Four frames share one set for a day.
    @Test func computedEventsAreRightAfterADay() throws {
        let bench = Bench(.raspberryPi)
        bench.channel.air.observer = nil
        let session = try bench.session(Sample.iBeacons([8000, 14_000, 28_000, 40_000]))
        try session.start()
        try bench.run(session, seconds: 86_400)
        let sent = bench.controller.advertisingEvents()
        #expect(abs(sent - Int(session.computedEvents)) <= sent / 500)
        let owed = 86_400_000 / 8005.0
        #expect(abs(Double(session.advertisements[0].events) - owed) <= 0.01 * owed)
    }
}
