import Store
import TestSupport
import Testing

@Suite struct MessageSpoolTests {
    private func message(_ number: Int, octets: Int = 10) -> MessageSpool.Message {
        MessageSpool.Message(
            topic: "a/\(number % 10)", text: String(repeating: "x", count: octets - 3), time: Int64(number))
    }

    @Test func messagesComeBackInTheirOrderAfterARestart() throws {
        let folder = try TemporaryFolder()
        func open() throws -> MessageSpool {
            try MessageSpool(path: folder.place("spool.db"), octetLimit: 1000, timeLimit: 1000)
        }
        do {
            let spool = try open()
            try spool.append((0..<3).map { message($0) })
            try spool.append([message(3)])
            try spool.append([])
        }
        let spool = try open()
        #expect(spool.count == 4 && spool.octets == 40 && spool.dropped == 0)
        let two = try spool.first(2)
        #expect(two.map(\.message) == [message(0), message(1)])
        try spool.remove(two)
        try spool.remove(two)
        #expect(spool.count == 2 && spool.octets == 20)
        #expect(try spool.first(10).map(\.message) == [message(2), message(3)])
    }

    @Test func theOldestGoWhereTooMuchWaitsOrForTooLong() throws {
        let folder = try TemporaryFolder()
        let spool = try MessageSpool(path: folder.place("spool.db"), octetLimit: 5000, timeLimit: 1000)
        for number in 0..<700 { try spool.append([message(number)]) }
        // A hundred at a time are given up.
        #expect(spool.dropped == 200 && spool.count == 500 && spool.octets == 5000)
        #expect(try spool.first(1).first?.message == message(200))
        try spool.append([message(1500)])
        #expect(try spool.first(1).first?.message.time == 500)
        #expect(spool.count + spool.dropped == 701)
    }

    @Test func aFileOfAnotherKindIsLeftAlone() throws {
        let folder = try TemporaryFolder()
        _ = try EventStore(path: folder.place("hall.db"))
        #expect(throws: StoreError.self) {
            try MessageSpool(path: folder.place("hall.db"), octetLimit: 1, timeLimit: 1)
        }
    }
}
