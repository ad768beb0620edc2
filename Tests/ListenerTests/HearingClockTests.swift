import HCI
import LinuxHost
import Sightings
import Testing

@testable import Listener

@Suite struct HearingClockTests {
    private static func reading(monotonic: UInt64, boot: UInt64) -> SuspendDetector.Reading {
        SuspendDetector.Reading(monotonic: monotonic * 1_000_000_000, boot: boot * 1_000_000_000)
    }

    private static func session(_ seconds: UInt64) -> HCIInstant { HCIInstant(nanoseconds: seconds * 1_000_000_000) }
    private static func heard(_ seconds: UInt64) -> HeardInstant { HeardInstant(nanoseconds: seconds * 1_000_000_000) }

    /// The time of a suspend counts as time without reports, because the machine received nothing.
    @Test func includesTheTimeOfASuspend() {
        var clock = SessionClock(Self.reading(monotonic: 100, boot: 150))
        #expect(clock.heard(Self.session(100)) == Self.heard(150))
        #expect(clock.session(Self.heard(151)) == Self.session(101))
        clock.update(Self.reading(monotonic: 110, boot: 160))
        #expect(clock.heard(Self.session(110)) == Self.heard(160))
        clock.update(Self.reading(monotonic: 111, boot: 3761))
        #expect(clock.heard(Self.session(111)) == Self.heard(3761))
        #expect(clock.session(Self.heard(3761)) == Self.session(111))
        #expect(clock.session(Self.heard(0)) == Self.session(0))
    }

    @Test func usesTheBootClock() {
        let before = BootClock.nanoseconds()
        let machine = HearingClock.machineNow.nanoseconds
        #expect(before <= machine && machine <= BootClock.nanoseconds())
    }
}
