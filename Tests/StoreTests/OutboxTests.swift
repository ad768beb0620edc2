import LinuxHost
import Store
import TestSupport
import Testing

@Suite struct OutboxTests {
    private func message(_ number: Int, bytes: Int = 10) -> Outbox.Message {
        Outbox.Message(
            topic: "a/\(number % 10)", text: String(repeating: "x", count: bytes - 3), time: Int64(number))
    }

    private func outbox(_ path: String, bytes: Int = 1000) -> Outbox {
        var limits = Outbox.Limits()
        (limits.fileBytes, limits.memoryBytes, limits.age) = (bytes, 100, 1000)
        let outbox = Outbox(path: path, of: "messages", limits: limits)
        outbox.open()
        return outbox
    }

    @Test func messagesComeBackInTheirOrderAfterARestart() throws {
        let folder = try TemporaryFolder()
        do {
            let outbox = outbox(folder.place("spool.db"))
            outbox.append((0..<3).map { message($0) })
            outbox.append([message(3)])
            outbox.append([])
        }
        let outbox = outbox(folder.place("spool.db"))
        #expect(outbox.count == 4 && outbox.byteCount == 40 && outbox.dropped == 0)
        let two = outbox.first(2)
        #expect(two.map(\.message) == [message(0), message(1)])
        outbox.remove(two)
        outbox.remove(two)
        #expect(outbox.count == 2 && outbox.byteCount == 20)
        #expect(outbox.first(10).map(\.message) == [message(2), message(3)])
    }

    @Test func dropsTheOldestMessagesBeyondTheLimits() throws {
        let folder = try TemporaryFolder()
        let outbox = outbox(folder.place("spool.db"), bytes: 5000)
        for number in 0..<700 { outbox.append([message(number)]) }
        // Messages are dropped in groups of a hundred.
        #expect(outbox.dropped == 200 && outbox.count == 500 && outbox.byteCount == 5000)
        #expect(outbox.first(1).first?.message == message(200))
        outbox.append([message(1500)])
        #expect(outbox.first(1).first?.message.time == 500)
        #expect(outbox.count + outbox.dropped == 701)
    }

    @Test func keepsMessagesInMemoryUntilTheFileCanBeOpened() throws {
        let folder = try TemporaryFolder()
        let path = folder.place("later/spool.db")
        let outbox = outbox(path)
        for number in 0..<15 { outbox.append([message(number)]) }
        #expect(outbox.countInMemory == 10 && outbox.dropped == 5 && outbox.byteCount == 100)
        let notices = outbox.takeNotices()
        #expect(notices.count == 1 && notices[0].isWarning && notices[0].text.hasSuffix("messages wait in memory"))
        let three = outbox.first(3)
        #expect(three.map(\.message) == (5..<8).map { message($0) })
        outbox.remove(three)
        #expect(outbox.count == 7 && outbox.byteCount == 70)
        try Files.makeDirectory(folder.place("later"))
        outbox.append([message(15)])
        #expect(outbox.countInMemory == 0 && outbox.takeNotices().map(\.isWarning) == [false])
        #expect(self.outbox(path).first(20).map(\.message) == (8..<16).map { message($0) })
    }

    @Test func doesNotUseAFileOfAnotherKind() throws {
        let folder = try TemporaryFolder()
        _ = try EventStore(path: folder.place("hall.db"))
        let outbox = outbox(folder.place("hall.db"))
        outbox.append([message(1)])
        #expect(outbox.countInMemory == 1 && outbox.takeNotices().first?.isWarning == true)
    }

    @Test func aClockChangeDoesNotAgeMessages() throws {
        let folder = try TemporaryFolder()
        var limits = Outbox.Limits()
        limits.age = 7 * 86_400_000_000
        let second: Int64 = 1_000_000
        func reading(_ wall: Int64, _ boot: Int64) -> WallClockSteps.Reading {
            .init(wall: wall * second, boot: UInt64(boot) * 1_000_000_000)
        }
        func note(_ time: Int64) -> Outbox.Message { .init(topic: "a", text: "\(time)", time: time * second) }
        // Messages of an earlier start of the machine, and of an earlier run since this start.
        do {
            let outbox = Outbox(path: folder.place("s"), of: "messages", limits: limits, at: reading(50, 50))
            outbox.append([note(50)], at: reading(50, 50))
        }
        do {
            let outbox = Outbox(path: folder.place("s"), of: "messages", limits: limits, at: reading(1010, 10))
            outbox.append([note(1010)], at: reading(1010, 10))
        }
        let outbox = Outbox(path: folder.place("s"), of: "messages", limits: limits, at: reading(1020, 20))
        outbox.append([note(1020)], at: reading(1020, 20))
        // The clock is corrected after 8 s, and a message has waited in memory since then.
        let now: Int64 = 1_800_000_000
        outbox.append([note(1022), note(now)], at: reading(now, 30))
        #expect(outbox.first(9).map { $0.message.time / second } == [now - 20, now - 10, now + 2 - 10, now])
        #expect(outbox.dropped == 1)
        // The clock is set back again.
        outbox.append([note(2000)], at: reading(2000, 40))
        #expect(outbox.first(9).map { $0.message.time / second } == [1970, 1980, 1982, 1990, 2000])
        #expect(outbox.dropped == 1)
    }
}
