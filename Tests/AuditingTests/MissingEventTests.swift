import Auditing
import BeaconFrames
import BluetoothTypes
import Sightings
import Testing

/// Verdicts from events that are missing, that follow other frames, or that a receiver lost.
@Suite struct MissingEventTests {
    private static let sender = Sender(DeviceAddress(FixedOctets(repeating: 0xC1)), isRandom: true)
    private static let namespace = FixedOctets<10>(repeating: 0x8B)

    private static func octets(_ structures: [ADStructure]) -> [UInt8] {
        ([.flags(.beacon)] + structures).flatMap { [UInt8($0.data.count + 1), $0.type.rawValue] + $0.data }
    }

    private static let uid = octets(
        EddystoneUID(
            namespace: namespace, instance: FixedOctets(), measuredPower: MeasuredPowerAtZeroMeters(octet: 0xE7)
        ).adStructures)

    private static func tlm(_ seconds: Double, millivolts: UInt16 = 3000, perSecond: Double) -> [UInt8] {
        octets(
            EddystoneTLM(
                batteryMillivolts: millivolts, temperature: nil, advertisements: UInt32(1000 + seconds * perSecond),
                uptimeDeciseconds: UInt32(1000 + seconds * 10)
            ).adStructures)
    }

    /// A beacon with a UID every `interval` ms and telemetry.
    private static func beacon(interval: Int, telemetry: Int?) -> ExpectedBeacon {
        var advertisements = [
            ExpectedAdvertisement(
                type: "eddystone-uid",
                content: .frame(.eddystoneUID(namespace: namespace, instance: FixedOctets())),
                octets: ExpectedOctets(uid), intervalMicroseconds: interval * 1000, address: .exactly(sender))
        ]
        if let telemetry {
            advertisements.append(
                ExpectedAdvertisement(
                    type: "eddystone-tlm", content: .telemetry(isEncrypted: false), octets: nil,
                    intervalMicroseconds: telemetry * 1000, address: .exactly(sender)))
        }
        return ExpectedBeacon(name: "hall", advertisements: advertisements)
    }

    private struct Air {
        var auditor: Auditor
        var chance: SplitMix64

        init(_ beacon: ExpectedBeacon, seed: UInt64) {
            auditor = Auditor([beacon], receivers: ["desk"])
            chance = SplitMix64(seed: seed)
            auditor.begin(0, at: HeardInstant(nanoseconds: 0))
        }

        mutating func share() -> Double { Double(chance.next() >> 11) / Double(1 << 53) }

        mutating func hear(_ octets: [UInt8], at microseconds: Double) {
            auditor.receive(
                Sighting(at: HeardInstant(nanoseconds: UInt64(microseconds * 1000)), from: sender, rssi: -60),
                octets.span, octets.indices, by: 0)
        }

        mutating func report(seconds: Int, isWalk: Bool = false) -> AuditReport {
            var model = SilenceModel()
            return report(seconds: seconds, isWalk: isWalk, &model)
        }

        mutating func report(seconds: Int, isWalk: Bool = false, _ model: inout SilenceModel) -> AuditReport {
            auditor.end(0, at: HeardInstant(nanoseconds: UInt64(seconds) * 1_000_000_000))
            return auditor.report(isWalk: isWalk, &model)
        }
    }

    /// Many beacons send a UID, and telemetry shortly after every tenth one.
    @Test(arguments: [9, 30, 61, 75, 120, 300], [0.0, 0.25])
    func acceptsTelemetryAfterEveryTenthFrame(_ seconds: Int, _ loss: Double) {
        var model = SilenceModel()
        for seed in UInt64(1)...6 {
            var air = Air(Self.beacon(interval: 300, telemetry: 3000), seed: seed)
            let offset = 50_000 + air.share() * 100_000
            var at = air.share() * 300_000
            var frame = 0
            while at < Double(seconds) * 1_000_000 {
                if air.share() >= loss { air.hear(Self.uid, at: at) }
                if frame % 10 == 9, air.share() >= loss, at + offset < Double(seconds) * 1_000_000 {
                    air.hear(Self.tlm(at / 1_000_000, perSecond: 1 / 0.305 + 1 / 3.05), at: at + offset)
                }
                frame += 1
                at += 300_000 + air.share() * 10_000
            }
            let report = air.report(seconds: seconds, &model)
            for audit in report.advertisements {
                // All three frames of such a short audit may be lost.
                if seconds < 15, audit.heard == 0 { continue }
                #expect(audit.verdicts == [.ok], "seed \(seed): \(audit.expected.type): \(audit.reasons)")
            }
        }
    }

    /// A busy receiver timestamps reports late. Gaps that vary so much fit no interval. They must not be mistaken for
    /// gaps between frames that are sent in turn every 30 ms.
    @Test(arguments: UInt64(1)...20)
    func lateTimestampsAreNotAWrongInterval(_ seed: UInt64) {
        var air = Air(Self.beacon(interval: 300, telemetry: 1000), seed: seed)
        var events: [(at: Double, octets: [UInt8])] = []
        for (interval, isTelemetry) in [(300_000.0, false), (1_000_000, true)] {
            var at = air.share() * interval
            while at < 19_500_000 {
                let octets = isTelemetry ? Self.tlm(at / 1_000_000, perSecond: 4.2) : Self.uid
                // One report in ten is late by up to 150 ms.
                events.append((at + (air.share() < 0.1 ? air.share() * 150_000 : 0), octets))
                at += interval + air.share() * 10_000
            }
        }
        for event in events.sorted(by: { $0.at < $1.at }) { air.hear(event.octets, at: event.at) }
        for audit in air.report(seconds: 20).advertisements {
            #expect(!audit.verdicts.contains(.wrongInterval), "\(audit.expected.type): \(audit.reasons)")
        }
    }

    /// - Parameter pattern: Returns true if an event is received, given its number and a random number in 0..<1.
    private static func single(
        seconds: Int = 75, seed: UInt64, lost: Int = 0, isWalk: Bool = false, pattern: (Int, Double) -> Bool
    ) -> AdvertisementAudit? {
        var air = Air(beacon(interval: 100, telemetry: nil), seed: seed)
        var at = air.share() * 100_000
        var event = 0
        while at < Double(seconds) * 1_000_000 {
            if pattern(event, air.share()) { air.hear(uid, at: at) }
            event += 1
            at += 100_000 + air.share() * 10_000
        }
        air.auditor.note(lost: lost, by: 0)
        return air.report(seconds: seconds, isWalk: isWalk).advertisements.first
    }

    @Test(arguments: UInt64(1)...4)
    func reportsALossOfHalfTheEventsAsWeak(_ seed: UInt64) throws {
        let half = try #require(Self.single(seed: seed) { _, chance in chance >= 0.48 })
        #expect(half.verdicts == [.weak])
        #expect(half.reasons.first?.contains("collisions explain a loss of 0 %") == true)
        // A good beacon may lose this share of its packets to other radios and walls.
        let usual = try #require(Self.single(seed: seed) { _, chance in chance >= 0.25 })
        #expect(usual.verdicts == [.ok])
        // A short audit has too few events to show a loss.
        let short = try #require(Self.single(seconds: 4, seed: seed) { _, chance in chance >= 0.3 })
        #expect(short.verdicts == [.ok])
    }

    @Test func receiverLossesAreNotReportedAsBeaconFaults() throws {
        let lost = try #require(Self.single(seed: 3, lost: 330) { _, chance in chance >= 0.48 })
        #expect(lost.verdicts == [.ok])
        let silent = try #require(Self.single(seed: 3, lost: 300) { event, _ in !(200..<400).contains(event) })
        #expect(silent.verdicts == [.ok])
        // 10 lost reports do not explain 200 missing events.
        let few = try #require(Self.single(seed: 3, lost: 10) { event, _ in !(200..<400).contains(event) })
        #expect(few.verdicts == [.longSilence])
    }

    @Test func aWalkReportsSilentBeaconsAndWrongIntervals() throws {
        let passed = try #require(Self.single(seed: 4, isWalk: true) { event, _ in (300..<360).contains(event) })
        #expect(passed.verdicts == [.ok] && passed.heard == 60 && passed.share == nil)
        let once = try #require(Self.single(seed: 4, isWalk: true) { event, _ in event == 300 })
        #expect(once.verdicts == [.ok] && once.intervalMicroseconds == nil)
        let never = try #require(Self.single(seed: 4, isWalk: true) { _, _ in false })
        #expect(never.verdicts == [.silent])
        // Only every second event is received: the interval is wrong.
        let slow = try #require(Self.single(seed: 4, isWalk: true) { event, _ in event % 2 == 0 && event < 200 })
        #expect(slow.verdicts == [.wrongInterval])
    }

    @Test func aWalkListsTheWorstFirstAndSilentBeaconsInOneLine() throws {
        let beacons = (UInt8(0)..<4).map { number in
            let identity = BeaconIdentity.eddystoneUID(
                namespace: Self.namespace, instance: FixedOctets(repeating: number))
            return ExpectedBeacon(
                name: "hall-\(number)",
                advertisements: [
                    ExpectedAdvertisement(
                        type: "eddystone-uid", content: .frame(identity), octets: nil, intervalMicroseconds: 100_000,
                        address: number == 1
                            ? .exactly(Sender(DeviceAddress(FixedOctets()), isRandom: true)) : .anyStatic)
                ])
        }
        var auditor = Auditor(beacons, receivers: ["desk"])
        auditor.begin(0, at: HeardInstant(nanoseconds: 0))
        for number in UInt8(0)...1 {
            let octets = Self.octets(
                EddystoneUID(
                    namespace: Self.namespace, instance: FixedOctets(repeating: number),
                    measuredPower: MeasuredPowerAtZeroMeters(octet: 0xE7)
                ).adStructures)
            auditor.receive(
                Sighting(at: HeardInstant(nanoseconds: 1_000_000), from: Self.sender, rssi: -60), octets.span,
                octets.indices, by: 0)
        }
        auditor.end(0, at: HeardInstant(nanoseconds: 1_000_000_000))
        var model = SilenceModel()
        let lines = auditor.report(isWalk: true, &model).text.split(separator: "\n").map(String.init)
        #expect(lines.count >= 5)
        #expect(lines[1].hasPrefix("hall-1") && lines[1].hasSuffix("wrong-address"))
        #expect(lines[2].hasPrefix("hall-0") && lines[2].hasSuffix("ok"))
        #expect(lines.contains("not received (2): hall-2, hall-3"))
    }

    /// The report of a walk has a line for each group with many beacons that were not received.
    @Test func aWalkListsManyMissingBeaconsByGroup() {
        let beacons = (0..<12).map { number in
            ExpectedBeacon(
                name: "b\(number)", group: ["museum", number < 2 ? "ground" : "first"],
                advertisements: [
                    ExpectedAdvertisement(
                        type: "eddystone-uid",
                        content: .frame(
                            .eddystoneUID(
                                namespace: Self.namespace, instance: FixedOctets(repeating: UInt8(number)))),
                        octets: nil, intervalMicroseconds: 100_000, address: .anyStatic)
                ])
        }
        var auditor = Auditor(beacons, receivers: ["desk"])
        auditor.begin(0, at: HeardInstant(nanoseconds: 0))
        auditor.end(0, at: HeardInstant(nanoseconds: 1_000_000_000))
        var model = SilenceModel()
        let text = auditor.report(isWalk: true, &model).text
        #expect(
            text.contains(
                "not received (12):\n  museum/ground (2): b0, b1\n  museum/first (10): b2, b3, b4, b5, b6, b7, b8, b9, "
                    + "b10, b11\n"), "\(text)")
    }

    /// The only receiver near the beacon stops after a minute. A far receiver listens for ten minutes, and receives at
    /// most two events.
    @Test(arguments: [0, 2])
    func aStoppedReceiverCausesNoSilenceVerdict(_ far: Int) throws {
        var auditor = Auditor([Self.beacon(interval: 300, telemetry: nil)], receivers: ["desk", "far"])
        func instant(_ milliseconds: UInt64) -> HeardInstant { HeardInstant(nanoseconds: milliseconds * 1_000_000) }
        for receiver in 0...1 { auditor.begin(receiver, at: instant(0)) }
        for event in 0..<196 {
            let sighting = Sighting(at: instant(1 + UInt64(event) * 305), from: Self.sender, rssi: -60)
            auditor.receive(sighting, Self.uid.span, Self.uid.indices, by: 0)
            if event < far { auditor.receive(sighting, Self.uid.span, Self.uid.indices, by: 1) }
        }
        auditor.end(0, at: instant(60_000))
        auditor.end(1, at: instant(600_000))
        var model = SilenceModel()
        let audit = try #require(auditor.report(&model).advertisements.first)
        #expect(audit.verdicts == [.ok], "\(audit.reasons)")
        #expect(audit.dueEvents == 197)
    }

    @Test func reportsALowBattery() throws {
        func verdicts(_ millivolts: UInt16, limit: Int = 2400) -> [AuditVerdict] {
            var air = Air(Self.beacon(interval: 1000, telemetry: 1000), seed: 1)
            for second in 0..<60 {
                air.hear(Self.uid, at: Double(second) * 1_005_000)
                air.hear(
                    Self.tlm(Double(second) * 1.005, millivolts: millivolts, perSecond: 2 / 1.005),
                    at: Double(second) * 1_005_000 + 400_000)
            }
            air.auditor.lowBatteryMillivolts = limit
            return air.report(seconds: 60).advertisements[1].verdicts
        }
        #expect(verdicts(2399) == [.lowBattery])
        #expect(verdicts(2400) == [.ok])
        #expect(verdicts(2400, limit: 2600) == [.lowBattery])
        // 0 mV means that the beacon does not measure its battery.
        #expect(verdicts(0) == [.ok])
    }

    @Test func reportsTruncatedAdvertisements() throws {
        var air = Air(Self.beacon(interval: 100, telemetry: nil), seed: 1)
        air.hear(Array(Self.uid.dropLast(4)), at: 1000)
        air.auditor.note(truncated: 2, by: 0)
        air.auditor.note(truncated: 5, by: 0)
        let report = air.report(seconds: 1)
        #expect(report.warnings.contains(.truncated(receiver: "desk", advertisements: 6)))
        #expect(report.text.contains("warning: truncated: desk received 6 advertisements whose end is missing"))
    }

    /// A beacon of the same fleet sends the namespace of the audited beacon from an address of its own.
    @Test func doesNotWarnOfBeaconsThatWereNotSelected() {
        func warnings(_ others: Set<BeaconIdentity>) -> Int {
            var auditor = Auditor([Self.beacon(interval: 100, telemetry: nil)], receivers: ["desk"], others: others)
            let octets = Self.octets(
                EddystoneUID(
                    namespace: Self.namespace, instance: FixedOctets(repeating: 9),
                    measuredPower: MeasuredPowerAtZeroMeters(octet: 0xE7)
                ).adStructures)
            let sender = Sender(DeviceAddress(FixedOctets(repeating: 0xC9)), isRandom: true)
            auditor.receive(
                Sighting(at: HeardInstant(nanoseconds: 0), from: sender, rssi: -60), octets.span, octets.indices, by: 0)
            var model = SilenceModel()
            return auditor.report(&model).warnings.count { $0.name == "stranger" }
        }
        let other = BeaconIdentity.eddystoneUID(namespace: Self.namespace, instance: FixedOctets(repeating: 9))
        #expect(warnings([]) == 1)
        #expect(warnings([other]) == 0)
    }
}
