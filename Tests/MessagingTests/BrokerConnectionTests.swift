import LinuxHost
import Messaging
import TestSupport
import Testing

@Suite(.serialized, .enabled(if: Mosquitto.isInstalled, "mosquitto is not installed"))
struct BrokerConnectionTests {
    private func message(_ topic: String, _ text: String, isRetained: Bool = false) -> Publication {
        Publication(topic, Array(text.utf8), isRetained: isRetained)
    }

    @Test func publishedMessagesAreAcknowledgedAndDelivered() throws {
        let broker = try Mosquitto()
        try broker.start()
        var options = broker.options("hears")
        options.subscriptions = ["pharos/#"]
        let hearing = try BrokerConnection(options)
        let telling = try BrokerConnection(broker.options("tells"))
        #expect(telling.publish(message("pharos/a", "too early")) == nil)
        #expect(try hearing.isConnectedInTime())
        #expect(try telling.isConnectedInTime())
        // A retained message also arrives if the broker processes the subscription later.
        let ticket = try #require(telling.publish(message("pharos/a", "1", isRetained: true)))
        #expect(try telling.wait { $0 == .acknowledged(ticket) } != nil)
        let heard = try hearing.wait { if case .message = $0 { true } else { false } }
        guard case .message(let heard) = heard else {
            Issue.record("no message arrived")
            return
        }
        #expect(heard.topic == "pharos/a" && heard.payload == Array("1".utf8))
        let once = Publication("pharos/b", [0, 255] as [UInt8], isAssured: false)
        _ = telling.publish(once)
        #expect(try hearing.wait { $0 == .message(once) } != nil)
        #expect(telling.pendingCount == 0 || telling.close(waitingMilliseconds: 2000).isEmpty)
    }

    @Test func aCloseDoesNotPublishTheWill() throws {
        let broker = try Mosquitto()
        try broker.start()
        var options = broker.options("watches")
        options.subscriptions = ["status"]
        let watching = try BrokerConnection(options)
        #expect(try watching.isConnectedInTime())
        var dying = broker.options("dies")
        dying.will = message("status", "offline")
        do {
            let polite = try BrokerConnection(dying)
            #expect(try polite.isConnectedInTime())
            let ticket = polite.publish(message("status", "bye"))
            #expect(ticket != nil && polite.close(waitingMilliseconds: 2000).contains(.acknowledged(ticket!)))
        }
        #expect(
            try watching.wait { if case .message(let heard) = $0 { heard.payload == Array("bye".utf8) } else { false } }
                != nil)
        #expect(try watching.wait(seconds: 1) { if case .message = $0 { true } else { false } } == nil)
    }

    @Test func reconnectsAfterTheBrokerWasStopped() throws {
        let broker = try Mosquitto()
        let connection = try BrokerConnection(broker.options("stays"))
        let away = try connection.wait { if case .disconnected = $0 { true } else { false } }
        guard case .disconnected(.unreachable) = away else {
            Issue.record("\(String(describing: away))")
            return
        }
        try broker.start()
        #expect(try connection.isConnectedInTime())
        broker.stop()
        _ = connection.publish(message("a", "perhaps"))
        let lost = try connection.wait { if case .disconnected = $0 { true } else { false } }
        #expect(lost == .disconnected(.lost("mqtt://127.0.0.1:\(broker.port)")))
        #expect(!connection.isConnected && connection.pendingCount == 0)
        try broker.start()
        #expect(try connection.isConnectedInTime(seconds: 20))
        let ticket = try #require(connection.publish(message("a", "again")))
        #expect(try connection.wait { $0 == .acknowledged(ticket) } != nil)
    }

    @Test func reportsAWrongPassword() throws {
        let broker = try Mosquitto(["allow_anonymous false", "password_file FOLDER/users"], files: ["users": ""])
        let made = try ChildProcess(["mosquitto_passwd", "-b", broker.folder.place("users"), "ana", "right"])
        #expect(made.wait(until: MonotonicClock.nanoseconds() + 5_000_000_000) == 0)
        try broker.start()
        var options = broker.options("ana")
        options.user = BrokerUser(name: "ana", password: Array("wrong".utf8))
        let wrong = try BrokerConnection(options)
        let refused = try wrong.wait { if case .disconnected(.refused) = $0 { true } else { false } }
        guard case .disconnected(let error) = refused else {
            Issue.record("the broker did not refuse a wrong password")
            return
        }
        #expect(error.needsCorrection && error.description.contains("userFile"), "\(error)")
        options.user = BrokerUser(name: "ana", password: Array("right".utf8))
        #expect(try BrokerConnection(options).isConnectedInTime())
    }

    @Test func largeMessagesAndFloodsAreDroppedAndCounted() throws {
        let broker = try Mosquitto()
        try broker.start()
        var options = broker.options("hears")
        options.subscriptions = ["a/#"]
        options.inboxLimit = 10
        let hearing = try BrokerConnection(options)
        #expect(try hearing.isConnectedInTime())
        let telling = try BrokerConnection(broker.options("tells"))
        #expect(try telling.isConnectedInTime())
        let large = Publication("a/large", [UInt8](repeating: 65, count: 10_000_000))
        let ticket = try #require(telling.publish(large))
        #expect(try telling.wait(seconds: 30) { $0 == .acknowledged(ticket) } != nil)
        #expect(try hearing.wait(seconds: 30) { $0 == .dropped(1) } != nil)
        for number in 0..<100 { #expect(telling.publish(message("a/\(number)", "x")) != nil) }
        _ = telling.close(waitingMilliseconds: 5000)
        // The receiving connection is not polled meanwhile.
        _ = try Poller.wait([], milliseconds: 500)
        let events = hearing.poll(at: MonotonicClock.nanoseconds())
        #expect(events.count { if case .message = $0 { true } else { false } } == 10)
        #expect(events.contains(.dropped(90)))
    }
}

@Suite struct BrokerUserTests {
    @Test func readsNameAndPasswordFromAPrivateFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("user", text: "ana\nse:cr et\n")
        #expect(throws: BrokerError.self) { try BrokerUser(file: path) }
        try Files.replaceSecret(path, with: Array("ana\nse:cr et\n".utf8))
        let user = try BrokerUser(file: path)
        #expect(user.name == "ana" && user.password == Array("se:cr et".utf8))
        for text in ["", "ana", "ana\n", "\nsecret\n", "ana\nsecret\nmore\n"] {
            try Files.replaceSecret(path, with: Array(text.utf8))
            #expect(throws: BrokerError.self) { try BrokerUser(file: path) }
        }
        #expect(throws: BrokerError.self) { try BrokerUser(file: folder.place("none")) }
    }
}
