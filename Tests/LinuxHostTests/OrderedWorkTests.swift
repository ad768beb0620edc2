import LinuxHost
import Synchronization
import Testing

@Suite struct ProcessorsTests {
    /// The kernel shows the processors of a thread as a mask in hexadecimal digits.
    @Test func onlyTheProcessorsThatTheProcessMayUseCount() throws {
        let status = String(decoding: try Files.read("/proc/thread-self/status"), as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") })
        let mask = line.dropFirst("Cpus_allowed:".count).compactMap(\.hexDigitValue)
        #expect(Processors.count == mask.reduce(0) { $0 + $1.nonzeroBitCount })
    }
}

@Suite("Work that threads share")
struct OrderedWorkTests {
    @Test("pieces are returned in order, whichever thread makes them", arguments: [1, 2, 7])
    func keepsTheOrder(threads: Int) throws {
        let work = try OrderedWork(pieces: 500, window: 5, threads: threads) { number in
            if number % 17 == 0 { _ = try? Poller.wait([], milliseconds: 2) }
            return number
        }
        var taken: [Int] = []
        while let piece = work.next() { taken.append(piece) }
        #expect(taken == Array(0..<500))
    }

    @Test("threads work no further ahead than the window")
    func worksNoFurtherAheadThanTheWindow() throws {
        let made = Mutex(0)
        let work = try OrderedWork(pieces: .max, window: 3, threads: 4) { number in
            made.withLock { $0 += 1 }
            return number
        }
        _ = try Poller.wait([], milliseconds: 50)
        #expect(made.withLock { $0 } == 3)
        #expect(work.next() == 0)
        _ = try Poller.wait([], milliseconds: 50)
        #expect(made.withLock { $0 } == 4)
        work.stop()
        #expect(work.next() == nil)
    }

    @Test("a piece that is not made in time is reported as late")
    func reportsALatePiece() throws {
        let gate = Monitor(false)
        let work = try OrderedWork(pieces: 1, window: 1) { _ in gate.wait { $0 ? true : nil } ?? false }
        guard case .late = work.next(milliseconds: 20) else {
            Issue.record("the piece was returned before it could be made")
            return
        }
        gate.change { $0 = true }
        guard case .piece(true) = work.next(milliseconds: 10_000) else {
            Issue.record("the piece was not returned")
            return
        }
        guard case .over = work.next(milliseconds: 10_000) else {
            Issue.record("the work did not end after its only piece")
            return
        }
    }

    @Test("work without pieces ends immediately")
    func endsWithoutPieces() throws {
        #expect(try OrderedWork(pieces: 0, window: 1) { $0 }.next() == nil)
    }
}
