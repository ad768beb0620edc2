import Glibc
import TestSupport
import Testing

@testable import LinuxHost

@Suite struct ClocksTests {
    private typealias Reading = SuspendDetector.Reading

    @Test func bootClockIsNeverBehindTheMonotonicOne() {
        let monotonic = MonotonicClock.nanoseconds()
        #expect(BootClock.nanoseconds() >= monotonic)
        let reading = SuspendDetector.Reading.now()
        #expect(reading.boot >= reading.monotonic && reading.monotonic >= monotonic)
    }

    @Test func detectsSleepFromTheBootClock() {
        let second: UInt64 = 1_000_000_000
        var detector = SuspendDetector(Reading(monotonic: 5 * second, boot: 9 * second))
        #expect(detector.sleep(until: Reading(monotonic: 65 * second, boot: 69 * second)) == nil)
        #expect(detector.sleep(until: Reading(monotonic: 66 * second, boot: 3670 * second)) == 3600 * second)
        #expect(detector.sleep(until: Reading(monotonic: 67 * second, boot: 3671 * second)) == nil)
        // A delay between the two readings is not a sleep, and neither is the end of the delay.
        #expect(detector.sleep(until: Reading(monotonic: 68 * second, boot: 3672 * second + 99_999_999)) == nil)
        #expect(detector.sleep(until: Reading(monotonic: 69 * second, boot: 3673 * second)) == nil)
        #expect(detector.sleep(until: Reading(monotonic: 70 * second, boot: 3674 * second + 100_000_000)) != nil)
    }

    @Test func survivesExtremeReadings() {
        let values: [UInt64] = [0, 1, .max / 2, .max]
        for first in values {
            for second in values {
                for third in values {
                    var detector = SuspendDetector(Reading(monotonic: first, boot: second))
                    _ = detector.sleep(until: Reading(monotonic: third, boot: first))
                    _ = detector.sleep(until: Reading(monotonic: second, boot: third))
                }
            }
        }
    }

    @Test func awakeMachineHasNotSlept() {
        var detector = SuspendDetector(.now())
        #expect(detector.sleep(until: .now()) == nil)
    }

    @Test func readsSynchronizationFromTheKernel() throws {
        let folder = try TemporaryFolder()
        #expect(WallClock.synchronization(kernel: 0, root: folder.path) == .synchronized)
        #expect(WallClock.synchronization(kernel: 1, root: folder.path) == .unsynchronized)
        #expect(WallClock.synchronization(kernel: -1, root: folder.path) == .unknown)
    }

    @Test func freshFileOfTimesyncdMeansSynchronized() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("run/systemd/timesync/synchronized", text: "")
        #expect(WallClock.synchronization(kernel: 1, root: folder.path) == .synchronized)
        #expect(WallClock.synchronization(kernel: -1, root: folder.path) == .synchronized)
        let tenYearsAgo = timespec(tv_sec: time(nil) - 315_360_000, tv_nsec: 0)
        #expect(unsafe utimensat(AT_FDCWD, path, [tenYearsAgo, tenYearsAgo], 0) == 0)
        #expect(WallClock.synchronization(kernel: 1, root: folder.path) == .unsynchronized)
    }

    @Test func reportsNoChangeOfAnUnchangedClock() throws {
        let changes = try ClockChangeDescriptor()
        #expect(try Poller.wait([.init(changes.descriptor, .read)], milliseconds: 20) == [false])
        #expect(try !changes.take())
    }
}
