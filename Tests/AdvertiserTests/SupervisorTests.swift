import Advertiser
import HCI
import Testing

/// Single decisions of the supervisor, in addition to the fault sequences of `EnduranceTests`.
struct SupervisorTests {
    private func at(_ milliseconds: Int) -> HCIInstant {
        HCIInstant(nanoseconds: 0).advanced(byMicroseconds: milliseconds * 1000)
    }

    /// Returns a supervisor whose beacon is on the air since 0.
    private func onAir(_ pacing: SupervisorPacing = SupervisorPacing()) -> Supervisor {
        var supervisor = Supervisor(adapter: "hci0", pacing: pacing, at: at(0))
        #expect(supervisor.wake(at: at(0)) == [.open])
        #expect(supervisor.handle(.opened, at: at(0)) == [.start])
        _ = supervisor.handle(.started("on the air"), at: at(0))
        return supervisor
    }

    @Test func reportsReadyOnlyOnceOnTheAir() {
        var supervisor = Supervisor(adapter: "hci0", at: at(0))
        #expect(supervisor.state == .starting(nil))
        _ = supervisor.wake(at: at(0))
        let missing = supervisor.handle(.failed(.adapterMissing, "there is no hci0"), at: at(0))
        #expect(!missing.contains(.notify(.ready)))
        #expect(supervisor.statusLine == "not on the air: waiting for hci0, which is missing")
        #expect(supervisor.state == .starting(.adapterMissing))
        #expect(supervisor.handle(.adapterArrived, at: at(9000)) == [.open])
        _ = supervisor.handle(.opened, at: at(9000))
        #expect(supervisor.handle(.started("on the air"), at: at(9001)).contains(.notify(.ready)))
        #expect(supervisor.rearms.isEmpty)
    }

    @Test func staticBeaconWakesUpOnlyForVerification() {
        var supervisor = onAir()
        for turn in 1...10 {
            let due = at(15_000 * turn)
            #expect(supervisor.nextWakeUp == due)
            #expect(supervisor.wake(at: due) == [.verify])
            #expect(supervisor.handle(.verified, at: due) == [.notify(.watchdog)])
        }
    }

    @Test func hangingActionDoesNotFeedTheWatchdog() {
        var supervisor = onAir()
        #expect(supervisor.wake(at: at(15_000)) == [.verify])
        #expect(supervisor.wake(at: at(30_000)) == [.notify(.watchdog)])
        #expect(supervisor.wake(at: at(45_000)).isEmpty)
        #expect(supervisor.wake(at: at(60_000)).isEmpty)
    }

    @Test func waitingForAnAdapterFeedsTheWatchdog() {
        var supervisor = onAir()
        _ = supervisor.handle(.failed(.adapterGone, "unplugged"), at: at(1000))
        _ = supervisor.handle(.failed(.adapterMissing, "missing"), at: at(1000))
        #expect(supervisor.wake(at: at(15_000)) == [.notify(.watchdog)])
        #expect(supervisor.state == .recovering(.adapterMissing, attempt: 1))
    }

    @Test func powersAnAdapterOnAtMostEveryTwoSeconds() {
        var supervisor = onAir()
        var raised: [Int] = []
        for millisecond in stride(from: 2500, through: 12_500, by: 100) {
            let now = at(millisecond)
            var actions = supervisor.wake(at: now)
            if supervisor.state == .onAir { actions += supervisor.handle(.failed(.poweredDown, "down"), at: now) }
            guard actions.contains(.open) else { continue }
            raised.append(millisecond)
            _ = supervisor.handle(.opened, at: now)
            _ = supervisor.handle(.started("on the air"), at: now)
        }
        #expect(raised.count >= 5)
        #expect(zip(raised, raised.dropFirst()).allSatisfy { $1 - $0 >= 2000 }, "\(raised)")
    }

    @Test func freedRadioEndsTheWaitAfterARefusal() {
        var supervisor = onAir()
        var now = at(1000)
        var actions = supervisor.handle(.failed(.refused, "0x0C"), at: now)
        var refusals = 1
        while refusals < 6 {
            if actions.contains(.open) {
                _ = supervisor.handle(.opened, at: now)
                actions = supervisor.handle(.failed(.refused, "0x0C"), at: now)
                refusals += 1
            } else {
                now = supervisor.nextWakeUp ?? now
                actions = supervisor.wake(at: now)
            }
        }
        now = now.advanced(byMicroseconds: 1000)
        #expect(supervisor.wake(at: now).isEmpty)
        #expect(supervisor.handle(.radioFreed, at: now) == [.open])
    }

    @Test func freedRadioDoesNotEndTheWaitForRFKill() {
        var supervisor = onAir()
        _ = supervisor.handle(.failed(.rfkill, "blocked"), at: at(1000))
        #expect(supervisor.handle(.radioFreed, at: at(1100)).isEmpty)
    }

    @Test func freedRadioStartsAVerificationOnTheAir() {
        var supervisor = onAir()
        #expect(supervisor.handle(.radioFreed, at: at(1000)) == [.verify])
        #expect(supervisor.handle(.verified, at: at(1000)) == [.notify(.watchdog)])
    }

    @Test func repeatsARearmThatAnotherProgramDisturbed() {
        var supervisor = onAir()
        #expect(supervisor.handle(.failed(.foreignDisabled, "off"), at: at(1000)).contains(.rearm))
        _ = supervisor.handle(.failed(.foreignDisabled, "still off"), at: at(1200))
        #expect(supervisor.state == .recovering(.foreignDisabled, attempt: 1))
        #expect(supervisor.handle(.radioFreed, at: at(1300)) == [.rearm])
    }

    /// After a reset by another program, the adapter is opened again within two seconds, even after many other faults.
    @Test func reopensSoonAfterAResetDespiteEarlierFaults() {
        var supervisor = onAir()
        for second in 1...12 {
            _ = supervisor.handle(.failed(.foreignDisabled, "off"), at: at(second * 5000))
            for wait in [0, 1000, 2000] { _ = supervisor.wake(at: at(second * 5000 + wait)) }
            _ = supervisor.handle(.rearmed, at: at(second * 5000 + 2001))
        }
        #expect(supervisor.state == .onAir)
        _ = supervisor.handle(.failed(.controllerReset, "reset"), at: at(64_000))
        #expect(supervisor.wake(at: at(66_000)).contains(.open))
    }

    @Test func waitsForRFKillWithoutAttempts() {
        var supervisor = onAir()
        _ = supervisor.handle(.failed(.rfkill, "blocked"), at: at(1000))
        for millisecond in stride(from: 1000, through: 600_000, by: 1000) {
            #expect(!supervisor.wake(at: at(millisecond)).contains(.open))
        }
        #expect(supervisor.handle(.rfkillUnblocked, at: at(600_500)).contains(.open))
        _ = supervisor.handle(.opened, at: at(600_501))
        _ = supervisor.handle(.started("on the air"), at: at(600_502))
        #expect(supervisor.rearms == [.rfkill: 1])
        #expect(supervisor.lastOutage?.microseconds == 599_502_000)
    }

    @Test func outageIsCountedUnderItsWeightiestCause() {
        var supervisor = onAir()
        // An unplugged adapter first does not answer.
        _ = supervisor.handle(.failed(.noAnswer, "no answer"), at: at(1000))
        _ = supervisor.handle(.failed(.adapterGone, "unplugged"), at: at(1000))
        _ = supervisor.handle(.failed(.adapterMissing, "missing"), at: at(1000))
        _ = supervisor.handle(.adapterArrived, at: at(5000))
        _ = supervisor.handle(.opened, at: at(5000))
        _ = supervisor.handle(.started("on the air"), at: at(5000))
        #expect(supervisor.rearms == [.adapterGone: 1])
    }

    @Test func refusedReloadKeepsTheOldProfileAndIsReported() {
        var supervisor = onAir()
        #expect(supervisor.handle(.reloadRequested, at: at(1000)) == [.notify(.reloading), .readProfile])
        let actions = supervisor.handle(.reloadBad("no name"), at: at(1001))
        #expect(actions.contains(.notify(.ready)))
        #expect(!actions.contains(.adopt) && !actions.contains(.close))
        #expect(supervisor.statusLine == "on the air; reload refused: no name")
        _ = supervisor.handle(.reloadRequested, at: at(2000))
        #expect(supervisor.handle(.reloadGood(adapter: "hci0"), at: at(2001)) == [.adopt])
        _ = supervisor.handle(.adopted("on the air anew"), at: at(2002))
        #expect(supervisor.statusLine == "on the air anew")
        #expect(supervisor.rearms.isEmpty)
    }

    @Test func profileReadDuringAnOutageIsUsedAtTheNextStart() {
        var supervisor = onAir()
        _ = supervisor.handle(.failed(.adapterGone, "unplugged"), at: at(1000))
        _ = supervisor.handle(.failed(.adapterMissing, "missing"), at: at(1000))
        _ = supervisor.handle(.reloadRequested, at: at(2000))
        let actions = supervisor.handle(.reloadGood(adapter: "hci0"), at: at(2001))
        #expect(actions.contains(.adoptForNextStart))
        #expect(actions.contains(.notify(.ready)))
    }

    @Test func profileForAnotherAdapterClosesTheFirstAdapter() {
        var supervisor = onAir()
        _ = supervisor.handle(.reloadRequested, at: at(1000))
        let actions = supervisor.handle(.reloadGood(adapter: "hci1"), at: at(1001))
        let wanted: [Supervisor.Action] = [.turnOff, .close, .adoptForNextStart, .open]
        #expect(actions.filter(wanted.contains) == wanted)
        _ = supervisor.handle(.opened, at: at(1002))
        _ = supervisor.handle(.started("on the air"), at: at(1003))
        #expect(supervisor.state == .onAir)
        // A requested change of the adapter is not counted as a recovery.
        #expect(supervisor.rearms.isEmpty)
    }

    @Test func impossibleFirstStartEndsTheBeacon() {
        var supervisor = Supervisor(adapter: "hci0", at: at(0))
        _ = supervisor.wake(at: at(0))
        _ = supervisor.handle(.opened, at: at(0))
        #expect(supervisor.handle(.impossible("too many frames"), at: at(1)).last == .finish(asWanted: false))
        #expect(supervisor.nextWakeUp == nil)
    }

    @Test func impossibleRestartDoesNotEndTheBeacon() {
        var supervisor = onAir()
        _ = supervisor.handle(.failed(.adapterGone, "unplugged"), at: at(1000))
        _ = supervisor.handle(.opened, at: at(1000))
        let actions = supervisor.handle(.impossible("another controller"), at: at(1001))
        #expect(!actions.contains(.finish(asWanted: false)))
        #expect(supervisor.nextWakeUp != nil)
    }

    /// As with `pharos advertise`, changes by other programs are repaired, and the loss of the adapter ends the beacon.
    @Test func untilFaultEndsWhenTheAdapterIsLost() {
        var supervisor = Supervisor(adapter: "hci0", persistence: .untilFault, at: at(0))
        _ = supervisor.wake(at: at(0))
        _ = supervisor.handle(.opened, at: at(0))
        _ = supervisor.handle(.started("on the air"), at: at(0))
        #expect(supervisor.handle(.failed(.foreignDisabled, "off"), at: at(1000)).contains(.rearm))
        _ = supervisor.handle(.rearmed, at: at(1001))
        let actions = supervisor.handle(.failed(.adapterGone, "unplugged"), at: at(2000))
        #expect(Array(actions.suffix(3)) == [.turnOff, .close, .finish(asWanted: false)])
        #expect(supervisor.nextWakeUp == nil)
    }

    @Test func untilFaultEndsAStartThatFails() {
        var supervisor = Supervisor(adapter: "hci0", persistence: .untilFault, at: at(0))
        _ = supervisor.wake(at: at(0))
        let actions = supervisor.handle(.impossible("there is no hci0"), at: at(0))
        #expect(Array(actions.suffix(2)) == [.close, .finish(asWanted: false)])
        #expect(!actions.contains(.turnOff))
    }

    @Test func stopTurnsOffThenClosesThenFinishes() {
        var supervisor = onAir()
        let end: [Supervisor.Action] = [.notify(.stopping), .turnOff, .close, .finish(asWanted: true)]
        #expect(supervisor.handle(.stop, at: at(1)) == end)
        #expect(supervisor.handle(.adapterArrived, at: at(2)).isEmpty)
        #expect(supervisor.wake(at: at(60_000)).isEmpty)
    }

    @Test func repeatedProblemIsLoggedLessAndLessOften() {
        var supervisor = onAir()
        var lines = 0
        var now = at(1000)
        var actions = supervisor.handle(.failed(.noAnswer, "no answer"), at: now)
        for _ in 0..<200 {
            for action in actions { if case .log = action { lines += 1 } }
            if !actions.contains(.open) {
                now = supervisor.nextWakeUp ?? now
                actions = supervisor.wake(at: now)
            } else {
                actions = supervisor.handle(.failed(.noAnswer, "no answer"), at: now)
            }
        }
        #expect((3...10).contains(lines))
    }

    /// Causes with their longest wait in milliseconds. The wait for rfkill has no limit, and the other causes that are
    /// left out are disturbances of a beacon on the air.
    static let bounds: [(SupervisorCause, Int)] = SupervisorCause.allCases
        .filter { ![.rfkill, .silent, .foreignChanged, .foreignDisabled].contains($0) }.map { ($0, 30_000) }

    /// If no event arrives and every attempt fails, the next attempt is never further away than this time.
    @Test(arguments: bounds)
    func everyWaitIsBounded(_ cause: SupervisorCause, _ milliseconds: Int) {
        var supervisor = onAir()
        var now = at(1000)
        for _ in 0..<50 {
            let before = supervisor.attempt
            _ = supervisor.handle(.failed(cause, "trouble"), at: now)
            var waited = 0
            while supervisor.attempt == before, waited <= 3 * milliseconds {
                let next = supervisor.nextWakeUp ?? now
                waited += next.microseconds(since: now) / 1000
                now = next
                _ = supervisor.wake(at: now)
            }
            #expect(waited <= milliseconds)
        }
    }
}

extension Supervisor {
    /// The number of attempts in the current outage; 0 if there is none.
    fileprivate var attempt: Int {
        guard case .recovering(_, let attempt) = state else { return 0 }
        return attempt
    }
}
