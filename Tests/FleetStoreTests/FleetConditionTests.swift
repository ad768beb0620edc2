import BeaconService
import BluetoothTypes
import Configuration
import Fleet
import FleetStore
import Testing

@Suite struct FleetConditionTests {
    static let now = RFC3339Time(secondsSince1970: 1_772_366_400)
    static let hash = "00e1234567890123"

    @Test func reportsNoProblemForAGoodBeacon() {
        #expect(Self.problems(Self.report()) == [])
        let condition = FleetCondition(Self.fleet, [Self.report()], now: Self.now, staleAfter: 60)
        #expect(condition.isGood && condition.foreignReports.isEmpty)
    }

    @Test(arguments: [InstanceStatus.State.starting, .recovering, .off])
    func reportsABeaconOffTheAirAsSilent(_ state: InstanceStatus.State) {
        let since = RFC3339Time(secondsSince1970: 1_772_000_000)
        var report = Self.report()
        (report.state, report.since, report.lastError) = (state, since, "adapter-gone")
        #expect(Self.problems(report) == [.silent(state, since: since, lastError: "adapter-gone")])
    }

    @Test(arguments: [(-100, true), (0, true), (60, true), (61, false)])
    func reportsABeaconNotVerifiedForAMinuteAsStale(_ age: Int, _ isGood: Bool) {
        let verified = RFC3339Time(secondsSince1970: Self.now.secondsSince1970 - age)
        var report = Self.report()
        report.lastVerified = verified
        #expect(Self.problems(report) == (isGood ? [] : [.stale(since: verified)]))
        report.lastVerified = nil
        #expect(Self.problems(report) == [.stale(since: nil)])
    }

    @Test func reportsAnotherProfileAsASingleProblem() {
        var report = Self.report(interval: 500_000, power: -20)
        report.profileHash = "ffff"
        #expect(Self.problems(report) == [.otherProfile("ffff")])
    }

    @Test(arguments: [(152_500, true), (100_000, true), (152_812, true), (152_813, true), (152_814, false)])
    func reportsAnIntervalLongerThanRequested(_ granted: Int, _ isGood: Bool) {
        let problem = BeaconProblem.slow(type: "ibeacon", requested: 152_500, granted: granted)
        #expect(Self.problems(Self.report(interval: granted)) == (isGood ? [] : [problem]))
    }

    @Test(arguments: [(-4, true), (0, true), (-5, false)])
    func reportsLessPowerThanRequested(_ granted: Int, _ isGood: Bool) {
        let problem = BeaconProblem.weak(type: "ibeacon", requested: -4, granted: granted)
        #expect(Self.problems(Self.report(power: granted)) == (isGood ? [] : [problem]))
    }

    @Test func comparesAdvertisementsOfOneTypeInOrder() {
        var report = Self.report()
        report.advertisements.append(.init(type: "ibeacon", interval: 152_500, grantedInterval: 1_000_000...1_000_000))
        let beacon = Self.beacon([2, 3])
        let fleet = FleetManifest(fleet: "f", beacons: [beacon])
        let condition = FleetCondition(fleet, [report], now: Self.now, staleAfter: 60)
        #expect(
            condition.entries.first?.problems == [.slow(type: "ibeacon", requested: 152_500, granted: 1_000_000)])
    }

    @Test func reportsWhyABeaconHasNoReport() {
        let reasons = ["pi-1.example": "no answer within 20 s"]
        let condition = FleetCondition(Self.fleet, [], reasons: reasons, now: Self.now, staleAfter: 60)
        #expect(condition.entries.first?.problems == [.noReport("no answer within 20 s")])
        let unknown = FleetCondition(Self.fleet, [], now: Self.now, staleAfter: 60)
        #expect(unknown.entries.first?.problems == [.noReport("no status file")])
        #expect(!unknown.isGood)
    }

    @Test func prefersTheHostsReportAndReportsASecondSender() {
        var old = Self.report()
        (old.source, old.profileHash) = ("pi-old", "ffff")
        let condition = FleetCondition(Self.fleet, [old, Self.report()], now: Self.now, staleAfter: 60)
        #expect(condition.entries.first?.report?.source == "pi-1.example")
        #expect(condition.entries.first?.problems == [.several(["pi-old", "pi-1.example"])])
        old.state = .off
        #expect(FleetCondition(Self.fleet, [old, Self.report()], now: Self.now, staleAfter: 60).isGood)
    }

    @Test func listsForeignBeaconsWithoutAProblem() {
        var other = Self.report()
        other.name = "b"
        let condition = FleetCondition(Self.fleet, [other, Self.report()], now: Self.now, staleAfter: 60)
        #expect(condition.isGood)
        #expect(condition.foreignReports == [other])
    }

    private static let fleet = FleetManifest(fleet: "f", beacons: [beacon([1])])

    /// Returns a beacon with an iBeacon for each minor number.
    private static func beacon(_ minors: [UInt16]) -> FleetManifest.Beacon {
        FleetManifest.Beacon(
            name: "a", host: "pi-1.example", profileHash: hash,
            advertisements: minors.map { minor in
                .init(
                    type: "ibeacon", identity: .iBeacon(uuid: .init(repeating: 0x0B), major: 1, minor: minor),
                    intervalMicroseconds: 152_500, radioPower: -4, measuredPower: -59)
            })
    }

    private static func report(interval: Int = 152_500, power: Int = -4) -> BeaconReport {
        var status = InstanceStatus(name: "a", adapter: "hci0", state: .onAir)
        (status.lastVerified, status.profileHash) = (now, hash)
        status.advertisements = [
            .init(type: "eddystone-tlm", interval: 1, grantedInterval: 1...1),
            .init(
                type: "ibeacon", interval: 152_500, grantedInterval: interval...interval, grantedRadioPower: power),
        ]
        return BeaconReport(status, from: "pi-1.example")
    }

    private static func problems(_ report: BeaconReport) -> [BeaconProblem]? {
        FleetCondition(fleet, [report], now: now, staleAfter: 60).entries.first?.problems
    }
}
