import LinuxHost
import Messaging
import Testing

/// A broker that answers subscriptions with given codes. The code 0x80 refuses a subscription.
private final class RefusingBroker: Sendable {
    let port: UInt16
    private let listener: Descriptor

    init() throws { (listener, port) = try StreamSocket.listen(host: "127.0.0.1", port: 0) }

    /// Accepts a client, and answers CONNECT and SUBSCRIBE. Each code answers one subscription.
    func serve(_ codes: [UInt8]) throws {
        try BackgroundThread.start { [listener] in
            _ = try? Poller.wait([.init(listener, .read)], milliseconds: 60_000)
            guard let client = try? StreamSocket.accept(listener) else { return }
            var (octets, left): ([UInt8], [UInt8]) = ([], codes)
            while (try? Poller.wait([.init(client, .read)], milliseconds: 60_000)) == [true],
                let more = try? client.read(upTo: 4096), !more.isEmpty
            {
                octets += more
                // Short packets have one byte of length.
                while octets.count >= 2, octets.count >= 2 + Int(octets[1]) {
                    let packet = Array(octets.prefix(2 + Int(octets[1])))
                    octets.removeFirst(packet.count)
                    switch packet[0] >> 4 {
                    case 1: _ = try? client.write([0x20, 2, 0, 0])
                    case 8 where !left.isEmpty:
                        _ = try? client.write([0x90, 3, packet[2], packet[3], left.removeFirst()])
                    default: break
                    }
                }
            }
        }
    }
}

@Suite struct RefusedSubscriptionTests {
    @Test func aRefusedSubscriptionIsReportedAndTriedAgain() throws {
        let broker = try RefusingBroker()
        try broker.serve([1, 0x80, 0x80, 1])
        var options = BrokerOptions(host: "127.0.0.1", port: broker.port, isSecure: false, clientName: "reads")
        options.subscriptions = ["a/#", "b/#"]
        let connection = try BrokerConnection(options)
        // The test moves the connection's clock, so that it need not wait for the pause.
        var (events, now) = ([BrokerEvent](), MonotonicClock.nanoseconds())
        let deadline = now + 60_000_000_000
        while !events.contains(.subscribed), MonotonicClock.nanoseconds() < deadline {
            events += connection.poll(at: now)
            if let next = connection.nextWakeUp { now = max(now, next) }
            _ = try Poller.wait([.init(connection.descriptor, .read)], milliseconds: 10)
        }
        let refusal = BrokerError.subscription("mqtt://127.0.0.1:\(broker.port)", filter: "b/#")
        #expect(events == [.connected, .refused(refusal), .refused(refusal), .subscribed])
        #expect("\(refusal)".contains("the broker refuses the subscription to b/#"))
        _ = connection.close(waitingMilliseconds: 0)
    }

    @Test func answersBirthMessagesAtMostEvery30Seconds() {
        var births = BirthAnswers()
        let second: UInt64 = 1_000_000_000
        var answers: [Int] = births.isDue(at: second) ? [-1] : []
        // Five steps per second for 100 s. Births arrive in the first 60 s.
        for step in 0..<500 {
            if step < 300 { births.receiveBirth() }
            if births.isDue(at: UInt64(step) * second / 5) { answers.append(step / 5) }
        }
        #expect(answers == [0, 30, 60])
    }
}
