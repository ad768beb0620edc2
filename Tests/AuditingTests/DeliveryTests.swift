import Auditing
import BluetoothTypes
import Sightings
import Testing

/// Deliveries and the grades that follow from them.
@Suite struct DeliveryTests {
    private static let seconds = 60

    /// Returns the delivery of a beacon with an interval of 100 ms.
    ///
    /// - Parameters:
    ///   - loss: The share of events that are lost, 0...1.
    ///   - holes: Seconds in which nothing is received.
    private static func delivery(
        _ phase: QualificationPhase = .legacy, loss: Double = 0, holes: [ClosedRange<Double>] = [],
        delay: Double = 10_000, changeAt: Double? = nil, isFiltered: Bool = false, seed: UInt64 = 1
    ) -> Delivery {
        var chance = SplitMix64(seed: seed)
        var delivery = Delivery(phase, from: "A", to: "B", intervalMicroseconds: 100_000)
        delivery.begin(at: instant(0))
        var at = chance.share() * 100_000
        var known: Set<Bool> = []
        var hasChanged = false
        while at < Double(seconds) * 1_000_000 {
            if let changeAt, at >= changeAt * 1_000_000, !hasChanged {
                delivery.changeData(at: instant(at))
                hasChanged = true
            }
            let isHidden = holes.contains { $0.contains(at / 1_000_000) } || (isFiltered && known.contains(hasChanged))
            if chance.share() >= loss, !isHidden {
                delivery.receive(at: instant(at), rssi: Int8((-60 + chance.normal() * 3).rounded()))
                // The same event on another channel.
                delivery.receive(at: instant(at + 1_000), rssi: -60)
                known.insert(hasChanged)
            }
            at += 100_000 + chance.share() * delay
        }
        delivery.end(at: instant(Double(seconds) * 1_000_000))
        return delivery
    }

    private static func instant(_ microseconds: Double) -> HeardInstant {
        HeardInstant(nanoseconds: UInt64(microseconds * 1000))
    }

    @Test func gradesADeliveryWithoutLossAsGood() throws {
        let delivery = Self.delivery()
        #expect(delivery.listenedMicroseconds == 60_000_000)
        #expect(abs(delivery.dueEvents - 571) <= 3 && abs(delivery.heard - delivery.dueEvents) <= 1)
        #expect(delivery.longestSilenceMicroseconds <= 110_000)
        #expect(delivery.gaps.map(\.missed) == [0] && delivery.gaps.map(\.count) == [delivery.heard - 1])
        #expect(delivery.grade == .good)
        #expect(abs(try #require(delivery.meanLevel) + 60) < 0.5)
        let deviation = try #require(delivery.levelDeviation)
        #expect((1.5...3.2).contains(deviation))
    }

    /// A controller without the random delay sends more events than expected from the interval and the mean delay.
    @Test func computesDueEventsFromTheMeasuredPeriod() throws {
        let delivery = Self.delivery(loss: 0.1, delay: 0)
        #expect(abs(delivery.dueEvents - 600) <= 1)
        #expect(abs(try #require(delivery.share) - 0.9) < 0.04)
    }

    @Test(arguments: UInt64(1)...20)
    func computesShareAndGapsWith40PercentLoss(_ seed: UInt64) throws {
        let delivery = Self.delivery(loss: 0.4, seed: seed)
        #expect(abs(try #require(delivery.share) - 0.6) < 0.08)
        #expect(abs(delivery.dueEvents - 571) <= 4)
        #expect(delivery.gaps.map(\.missed).starts(with: [0, 1, 2]))
        #expect(delivery.gaps.reduce(0) { $0 + $1.count } == delivery.heard - 1)
        #expect(delivery.grade == .usable)
        #expect(delivery.reason.contains("good needs 90 %"))
    }

    @Test(
        arguments: [
            ([], 0.05, RadioGrade.good), ([10...11.7], 0, .good), ([10...12.2], 0, .usable), ([0...2.2], 0, .usable),
            ([57.5...60], 0, .usable), ([10...19.7], 0, .usable), ([10...20.2], 0, .unfit), ([], 0.45, .usable),
            ([], 0.6, .unfit), ([0...60], 0, .unfit), ([0...9, 20...29, 40...49, 51...55], 0, .unfit),
        ] as [([ClosedRange<Double>], Double, RadioGrade)])
    func gradesByLossAndSilence(_ holes: [ClosedRange<Double>], _ loss: Double, _ grade: RadioGrade) {
        #expect(Self.delivery(loss: loss, holes: holes).grade == grade)
    }

    @Test func hasNoGradeWithoutEvidence() {
        var delivery = Delivery(.legacy, from: "A", to: "B", intervalMicroseconds: 100_000)
        // The receiver does not listen yet.
        delivery.receive(at: Self.instant(5), rssi: -60)
        #expect(delivery.heard == 0 && delivery.share == nil && delivery.grade == nil)
        delivery.refusal = "no"
        #expect(delivery.grade == .unfit && delivery.reason.hasSuffix(": no"))
        var silent = Self.delivery(holes: [30...60])
        #expect(silent.grade == .unfit)
        silent.isSenderOff = true
        #expect(silent.grade == nil && silent.reason.contains("another program turned it off"))
        var heard = Self.delivery()
        heard.isSenderOff = true
        #expect(heard.grade == .good, "received events prove that the beacon was sent")
    }

    @Test func detectsDuplicateFilters() {
        #expect(Self.delivery(.legacy).filter == nil)
        #expect(Self.delivery(.duplicatesFiltered, changeAt: 30).filter == DuplicateFilterKind.none)
        #expect(Self.delivery(.duplicatesFiltered, changeAt: 30, isFiltered: true).filter == .addressAndData)
        #expect(Self.delivery(.duplicatesFiltered, holes: [0.2...60], changeAt: 30).filter == .address)
        #expect(Self.delivery(.duplicatesFiltered, isFiltered: true).filter == .some)
        #expect(Self.delivery(.duplicatesFiltered, holes: [0...60], changeAt: 30).filter == nil)
    }

    // MARK: Reports

    private static func path(
        _ phase: QualificationPhase, _ sender: String?, _ receiver: String, loss: Double = 0
    ) -> Delivery {
        let from = delivery(phase, loss: loss)
        var delivery = Delivery(phase, from: sender, to: receiver, intervalMicroseconds: 100_000)
        delivery.begin(at: instant(0))
        for number in 0..<from.heard {
            delivery.receive(at: instant(Double(number) * 60_000_000 / Double(from.heard)), rssi: -60)
        }
        delivery.end(at: instant(60_000_000))
        return delivery
    }

    private static let radios = ["A", "B"].map {
        QualifiedRadio(label: $0, adapter: "hci\($0)", controller: "Core 5.3", claimsExtended: true)
    }

    private static func report(_ deliveries: [Delivery], isComplete: Bool = true) -> QualificationReport {
        QualificationReport(radios, deliveries, phaseMicroseconds: 60_000_000, isComplete: isComplete)
    }

    private static func grades(_ report: QualificationReport, _ radio: Int) -> [RadioGrade?] {
        report.verdicts(of: radios[radio]).map(\.grade)
    }

    @Test func gradesEachRoleByItsOwnPhases() {
        let report = Self.report([
            Self.path(.legacy, "A", "B", loss: 0.3), Self.path(.legacy, "B", "A"),
            Self.path(.whileSending, "A", "B"), Self.path(.whileSending, "B", "A", loss: 0.7),
        ])
        #expect(Self.grades(report, 0) == [.good, .usable, .unfit])
        #expect(Self.grades(report, 1) == [.usable, .good, .unfit])
        #expect(!report.isFit)
        #expect(report.text.contains("test with a third radio"))
        #expect(report.verdicts(of: Self.radios[0])[2].reasons.count == 2)
    }

    @Test func lossInExtendedAdvertisingLowersGoodToUsable() {
        let report = Self.report([
            Self.path(.legacy, "A", "B"), Self.path(.legacy, "B", "A"), Self.path(.extended, "A", "B", loss: 1),
            Self.path(.extended, "B", "A"),
        ])
        #expect(Self.grades(report, 0) == [.good, .usable, nil])
        #expect(Self.grades(report, 1) == [.usable, .good, nil])
        #expect(report.extendedShare(to: Self.radios[1]) == 0)
        #expect(report.isFit)
    }

    @Test func reportsARunWithoutDeliveries() {
        let report = Self.report([], isComplete: false)
        #expect(Self.grades(report, 0) == [nil, nil, nil] && report.isFit)
        #expect(report.extendedShare(to: Self.radios[0]) == nil && report.filter(of: Self.radios[0]) == nil)
        #expect(report.text.contains("The run was interrupted"))
    }
}

extension SplitMix64 {
    /// Returns a random number in 0..<1.
    fileprivate mutating func share() -> Double { Double(next() >> 11) / Double(1 << 53) }

    /// Returns a random number with a nearly normal distribution and a standard deviation of 1.
    fileprivate mutating func normal() -> Double { (0..<12).reduce(-6.0) { sum, _ in sum + share() } }
}
