import Testing

@testable import Messaging

@Suite struct BrokerInboxTests {
    @Test func messagesThatWaitAreLimitedInNumberAndInBytes() throws {
        let inbox = try BrokerInbox(receivedMessageLimit: 100, inboxLimit: 20, inboxBytes: 1000)
        func offer(_ count: Int, bytes: Int) {
            for _ in 0..<count {
                inbox.offer(octets: bytes) { Publication("a", [UInt8](repeating: 0, count: bytes)) }
            }
        }
        func taken() -> [Int] {
            let (notices, dropped) = inbox.take()
            return [notices.count, dropped]
        }
        offer(15, bytes: 100)
        #expect(taken() == [10, 5])
        offer(25, bytes: 10)
        offer(1, bytes: 101)
        #expect(taken() == [20, 6])
        offer(10, bytes: 100)
        #expect(taken() == [10, 0])
    }
}
