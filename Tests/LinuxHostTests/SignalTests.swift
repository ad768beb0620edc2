import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxHost

@Suite struct SignalTests {
    /// Runs `body` in a separate thread, because threads of the test library must not keep blocked signals.
    private func onItsOwnThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) throws -> Result {
        let box = Box<Result>()
        try BackgroundThread.start { box.put(body()) }
        #expect(eventually(milliseconds: 60_000) { box.value != nil })
        return try #require(box.value)
    }

    private final class Box<Value: Sendable>: Sendable {
        private let content = Mutex<Value?>(nil)
        var value: Value? { content.withLock { $0 } }
        func put(_ value: Value) { content.withLock { $0 = value } }
    }

    @Test func signalsAreCollectedInsteadOfDelivered() throws {
        let taken = try onItsOwnThread { () -> [Int32?] in
            guard let signals = try? SignalDescriptor() else { return [] }
            var result = [signals.take()]
            for number in [SIGINT, SIGTERM] {
                // Only this thread gets the signal; another one would end the process.
                raise(number)
                let ready = try? Poller.wait([.init(signals.descriptor, .read)], milliseconds: 1000)
                result.append(ready == [true] ? signals.take() : -1)
            }
            result.append(signals.take())
            return result
        }
        #expect(taken == [nil, SIGINT, SIGTERM, nil])
    }

    @Test func onlyTheNamedSignalsAreCollected() throws {
        let taken = try onItsOwnThread { () -> [Int32?] in
            guard let signals = try? SignalDescriptor([SIGUSR1]) else { return [] }
            raise(SIGUSR1)
            return [signals.take(), signals.take()]
        }
        #expect(taken == [SIGUSR1, nil])
        // SIGHUP is included, unless the shell that runs the tests ignores it.
        #expect(SignalDescriptor.termination.starts(with: [SIGINT, SIGTERM, SIGQUIT]))
    }

    /// The second signal does not change the time.
    @Test func keepsTheTimeOfTheFirstSignal() throws {
        let taken = try onItsOwnThread { () -> [Bool] in
            guard let signals = try? SignalDescriptor([SIGUSR1]) else { return [] }
            let before = signals.takenAt != nil
            raise(SIGUSR1)
            _ = signals.take()
            let first = signals.takenAt
            raise(SIGUSR1)
            _ = signals.take()
            return [before, first != nil, signals.takenAt == first]
        }
        #expect(taken == [false, true, true])
    }

    /// A name server that never answers.
    @Test func aSignalEndsTheLookupOfAName() throws {
        let isOver = Box<Bool>()
        let outcome = try onItsOwnThread { () -> Int32? in
            guard let signals = try? SignalDescriptor([SIGUSR1]) else { return nil }
            raise(SIGUSR1)
            return errorNumber {
                _ = try NameLookup.answer(unless: signals) {
                    _ = eventually(milliseconds: 60_000) { isOver.value == true }
                    return nil
                }
            }
        }
        isOver.put(true)
        #expect(outcome == EINTR)
    }

    @Test func writingToAPeerThatIsGoneIsAnError() throws {
        SignalDescriptor.ignoreBrokenPipes()
        let writer: Descriptor
        do { (writer, _) = try StreamSocket.pair() }
        #expect(errorNumber { _ = try writer.write([1]) } == EPIPE)
    }

    @Test func privilegesAreReadFromTheKernel() throws {
        let line = String(decoding: try Files.read("/proc/self/status"), as: UTF8.self)
            .split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let mask = try #require(line.flatMap { UInt64($0.dropFirst(7).filter(\.isHexDigit), radix: 16) })
        #expect(Privileges.has(.netAdmin) == (mask >> 12 & 1 == 1))
        #expect(Privileges.has(.netRaw) == (mask >> 13 & 1 == 1))
        #expect("\(Privileges.Capability.netAdmin) \(Privileges.Capability.netRaw)" == "CAP_NET_ADMIN CAP_NET_RAW")
    }

    @Test func runningProgramsAreFoundByName() throws {
        let name = try #require(Files.firstLine("/proc/self/comm"))
        #expect(Privileges.processes(named: name).contains(Int(getpid())))
        #expect(Privileges.processes(named: "no such program").isEmpty)
    }

    @Test func wallClockShowsTheTime() {
        #expect(abs(WallClock.microseconds() / 1_000_000 - Int64(time(nil))) <= 2)
    }
}
