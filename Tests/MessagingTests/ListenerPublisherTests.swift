import BeaconFrames
import BluetoothTypes
import Configuration
import Messaging
import Sightings
import Testing

/// A receiver in the hall with one known beacon. The tests set its time.
private struct Stage {
    private static let namespace = FixedOctets<10>(repeating: 1)
    private static let instance = FixedOctets<6>(repeating: 2)
    var table: SightingTable
    var publisher: ListenerPublisher
    var reports = 0
    var state = "listening"

    /// - Parameter isGroup: True if the known beacon stands for all beacons of the namespace.
    init(
        _ section: String = #"{"url":"mqtt://a","homeAssistant":true,"espresense":true}"#, isGroup: Bool = false
    ) throws {
        let known = [
            isGroup
                ? KnownBeacon(name: "key-peter", .eddystoneUID(namespace: Self.namespace, instance: nil))
                : KnownBeacon(
                    name: "key-peter", identity: .eddystoneUID(namespace: Self.namespace, instance: Self.instance),
                    intervalMicroseconds: 100_000)
        ]
        table = SightingTable(known: known, strangers: .counted)
        let subject = ListenerPublisher.Subject(
            listener: "hall", site: "museum", room: "hall", known: known, boot: "8f", version: "1"
        ) { "T\($0.nanoseconds / 1_000_000_000)" }
        let decoded = BrokerSection.decode(JSONDocument.parse(Array(section.utf8)).root).section
        publisher = ListenerPublisher(subject, try #require(decoded))
    }

    static func at(_ seconds: Double) -> HeardInstant { HeardInstant(nanoseconds: UInt64(seconds * 1e9)) }

    /// Simulates a second, with or without a report of the beacon.
    ///
    /// - Parameters:
    ///   - hasOthers: True if another device is received.
    ///   - senders: The number of devices that send the beacon's identity in turn.
    mutating func round(
        _ second: Int, level: Int8? = nil, hasOthers: Bool = false, senders: Int = 1
    ) -> ListenerPublisher.Output {
        if hasOthers {
            table.receive(Sighting(at: Self.at(Double(second) + 0.05), from: nil, rssi: -70), [2, 1, 6].span, 0..<3)
        }
        if let level {
            let frame: [UInt8] =
                [0x02, 0x01, 0x06, 0x17, 0x16, 0xAA, 0xFE, 0x00, 0xEE] + [UInt8](repeating: 1, count: 10)
                + [UInt8](repeating: 2, count: 6) + [0, 0]
            for part in 0..<5 {
                reports += 1
                table.receive(
                    Sighting(
                        at: Self.at(Double(second) + 0.1 + Double(part) * 0.105),
                        from: Sender(
                            DeviceAddress(FixedOctets(repeating: 0xC1 + UInt8(part % senders))), isRandom: true),
                        rssi: level),
                    frame.span, frame.indices)
            }
        }
        let output = publisher.endRound(
            table, at: Self.at(Double(second + 1)),
            .init(bootMilliseconds: (second + 1) * 1000, state: state, reports: reports, lost: 0))
        table.beginRound()
        return output
    }
}

extension ListenerPublisher.Output {
    func text(_ topic: String) -> String? {
        (retained + sightings + readings).last { $0.topic == topic }.map { String(decoding: $0.payload, as: UTF8.self) }
    }
}

private let stateTopic = "pharos/museum/beacons/key-peter/state"
private let statusTopic = "pharos/museum/receivers/hall/status"

@Suite struct ListenerPublisherTests {
    @Test func publishesAReceivedBeaconInTheRoomOfItsReceiver() throws {
        var stage = try Stage()
        stage.publisher.begin(at: Stage.at(0))
        let output = stage.round(0, level: -61)
        #expect(output.text(statusTopic) == "online")
        #expect(
            output.text("pharos/museum/receivers/hall/state")
                == #"{"state":"listening","deafSince":null,"reportsPerS":5,"lost":0}"#)
        let text = try #require(output.text(stateTopic))
        #expect(
            text.hasPrefix(#"{"present":"ON","room":"hall","zones":[],"known":true,"rssiDbm":-61,"distanceM":"#),
            "\(text)")
        #expect(
            output.text("pharos/museum/beacons/key-peter/attributes") == #"{"in_zones":["zone.home"],"room":"hall"}"#)
        let shard = TopicTree.shard(of: "key-peter")
        // The value of `known` is the same for all receivers with the same names in their files.
        let known = String(StableHash.of("key-peter"), radix: 16)
        #expect(
            output.text("pharos/museum/sightings/\(shard)/hall")
                == #"{"v":1,"boot":"8f","seq":1,"bootMs":1000,"windowMs":1000,"known":"\#(known)","b":"#
                + #"[{"id":"key-peter","n":5,"rssi":-61,"min":-61,"max":-61,"agoMs":480}]}"#)
        #expect(output.readings.contains { $0.topic.hasPrefix("espresense/devices/eddy:") })
        #expect(output.text("espresense/rooms/hall/status") == "online")
        #expect(stage.publisher.discovery.count == 4)
    }

    /// With `"beacons": false`, a collector publishes the states of the beacons, and the receiver only sightings.
    @Test func publishesOnlySightingsIfACollectorPublishesBeacons() throws {
        var stage = try Stage(#"{"url":"mqtt://a","beacons":false}"#)
        stage.publisher.begin(at: Stage.at(0))
        let output = stage.round(0, level: -61)
        #expect(output.text("pharos/museum/sightings/\(TopicTree.shard(of: "key-peter"))/hall") != nil)
        #expect(output.text(statusTopic) == "online")
        let messages = output.retained + output.sightings + output.readings + stage.publisher.finish()
        #expect(!messages.contains { $0.topic.contains("/beacons/") })
    }

    @Test func attributesReportAClone() throws {
        var stage = try Stage()
        stage.publisher.begin(at: Stage.at(0))
        let topic = "pharos/museum/beacons/key-peter/attributes"
        #expect(stage.round(0, level: -61).text(topic) == #"{"in_zones":["zone.home"],"room":"hall"}"#)
        var texts: [String] = []
        for second in 1..<4 {
            if let text = stage.round(second, level: -61, senders: 2).text(topic) { texts.append(text) }
        }
        #expect(texts.last == #"{"in_zones":["zone.home"],"room":"hall","cloned":true}"#)
    }

    /// Any device may belong to a group, so its address is not published, like the address of an unknown device.
    @Test func addressesOfAGroupAreNotPublished() throws {
        for isGroup in [false, true] {
            var stage = try Stage(
                #"{"url":"mqtt://a","espresense":true,"theengs":true,"raddec":true}"#, isGroup: isGroup)
            stage.publisher.begin(at: Stage.at(0))
            let output = stage.round(0, level: -61)
            let texts = (output.retained + output.sightings + output.readings).map {
                ($0.topic + String(decoding: $0.payload, as: UTF8.self)).lowercased()
            }
            #expect(output.text(stateTopic)?.hasPrefix(#"{"present":"ON""#) == true)
            #expect(texts.contains { $0.contains("c1c1c1c1c1c1") || $0.contains("c1:c1") } != isGroup, "\(texts)")
        }
    }

    @Test func publishesAnUnchangedStateEveryFiveSeconds() throws {
        var stage = try Stage()
        stage.publisher.begin(at: Stage.at(0))
        let outputs = (0..<11).map { stage.round($0, level: -61) }
        #expect(outputs.compactMap { $0.text(stateTopic) }.count == 3, "at 0, 5 and 10 s")
        #expect(outputs.count { $0.readings.contains { $0.topic.hasPrefix("espresense/devices/") } } == 3)
        let moved = stage.round(11, level: -45)
        #expect(moved.text(stateTopic) != nil && moved.readings.count == 1)
    }

    @Test func publishesASilentBeaconAsAbsent() throws {
        var stage = try Stage()
        stage.publisher.begin(at: Stage.at(0))
        let never = (0..<12).map { stage.round($0, hasOthers: true).text(stateTopic) }
        #expect(never.prefix(9).allSatisfy { $0 == nil })
        #expect(
            never.compactMap(\.self).first?.hasPrefix(#"{"present":"OFF","room":null,"zones":[],"known":true"#) == true)
        #expect(stage.round(12, level: -61).text(stateTopic)?.contains(#""present":"ON""#) == true)
        let after = (13..<30).compactMap { stage.round($0, hasOthers: true).text(stateTopic) }
        #expect(
            after.last?.hasPrefix(
                #"{"present":"OFF","room":null,"zones":[],"known":true,"rssiDbm":null,"distanceM":null"#) == true)
        #expect(after.last?.hasSuffix(#""lastHeard":"T12"}"#) == true)
    }

    @Test func aDeafReceiverIsOfflineAndPublishesNoAbsence() throws {
        var stage = try Stage()
        stage.publisher.begin(at: Stage.at(0))
        _ = stage.round(0, level: -61)
        stage.table.stopListening(at: Stage.at(1))
        stage.state = "recovering"
        let deaf = (1..<100).map { stage.round($0) }
        #expect(deaf[2].text(statusTopic) == "online" && deaf[6].text(statusTopic) == "offline")
        let told = deaf.compactMap { $0.text(stateTopic) }
        #expect(told.count == 1 && told[0].hasPrefix(#"{"present":"ON","room":null,"zones":[],"known":false"#))
        #expect(
            deaf[0].text("pharos/museum/receivers/hall/state")?.contains(#""state":"recovering","deafSince":"T1""#)
                == true)
        stage.table.startListening(at: Stage.at(100))
        let back = stage.round(100, level: -61)
        #expect(back.text(statusTopic) == "online" && back.text(stateTopic)?.contains(#""known":true"#) == true)
    }

    @Test func aReceiverWithoutReportsIsOfflineAndPublishesNoAbsence() throws {
        var stage = try Stage()
        stage.publisher.begin(at: Stage.at(0))
        #expect((0..<60).allSatisfy { stage.round($0).text(stateTopic) == nil }, "no beacon is absent without proof")
        _ = stage.round(60, level: -61)
        let silent = (61..<100).map { stage.round($0) }
        #expect(silent[2].text(statusTopic) == "online" && silent[6].text(statusTopic) == "offline")
        let told = silent.compactMap { $0.text(stateTopic) }
        #expect(told.count == 1 && told[0].hasPrefix(#"{"present":"ON","room":null,"zones":[],"known":false"#))
    }

    @Test func aReceiverThatHasNeverReceivedAnythingIsOffline() throws {
        var stage = try Stage()
        stage.publisher.begin(at: Stage.at(0))
        stage.table.startListening(at: Stage.at(0))
        let silent = (0..<60).map { second in
            if second == 6 { stage.state = "deaf" }
            return stage.round(second)
        }
        #expect(silent[2].text(statusTopic) == "online" && silent[6].text(statusTopic) == "offline")
        #expect(
            silent[6].text("pharos/museum/receivers/hall/state")?.contains(#""state":"deaf","deafSince":"T0""#) == true)
        #expect(silent.allSatisfy { $0.text(stateTopic) == nil })
        #expect(stage.round(60, level: -61).text(statusTopic) == "online")
    }

    @Test func publishesUnknownStatesAtTheEnd() throws {
        var stage = try Stage()
        #expect(stage.publisher.finish().isEmpty)
        stage.publisher.begin(at: Stage.at(0))
        _ = stage.round(0, level: -61)
        let last = stage.publisher.finish()
        #expect(last.first == .status(statusTopic, isOnline: false) && last.first == stage.publisher.will)
        #expect(
            last.contains {
                $0.topic == stateTopic && String(decoding: $0.payload, as: UTF8.self).contains(#""known":false"#)
            })
    }
}

/// Receivers of one site that publish to the same topics.
@Suite struct PublishingConflictTests {
    private static func publisher(_ section: String, receiver: String) throws -> ListenerPublisher {
        let known = [
            KnownBeacon(name: "key-peter", identity: .address(DeviceAddress(FixedOctets(repeating: 0xC1))))
        ]
        var subject = ListenerPublisher.Subject(
            listener: receiver, site: nil, room: nil, known: known, boot: "8f", version: "1"
        ) { _ in nil }
        subject.zones = ["near"]
        let decoded = BrokerSection.decode(JSONDocument.parse(Array(section.utf8)).root).section
        return ListenerPublisher(subject, try #require(decoded))
    }

    private static func state(by receiver: String, isRetained: Bool = false) -> Publication {
        let state = ZoneState(inside: [], isKnown: true, receiver: receiver)
        return Publication("pharos/home/zones/near/state", Array(state.json.line.utf8), isRetained: isRetained)
    }

    @Test func aZoneOfAnotherReceiverWithTheSameNameIsReportedOnce() throws {
        var east = try Self.publisher(#"{"url":"mqtt://a"}"#, receiver: "east")
        #expect(east.conflictFilters == ["pharos/home/zones/+/state"])
        let heard = [
            Self.state(by: "east"), Self.state(by: "west", isRetained: true), Self.state(by: "west"),
            Self.state(by: "west"),
        ].map { east.conflict(with: $0) }
        #expect(heard.map { $0 == nil } == [true, true, false, true])
        let sentence = heard[2] ?? ""
        #expect(
            sentence.contains("\"west\" publishes a zone \"near\"") && sentence.contains("its own name"), "\(sentence)")
    }

    @Test func reportsOnceThatAnotherReceiverShowsTheSameBeacons() throws {
        let section = #"{"url":"mqtt://a","homeAssistant":true}"#
        var east = try Self.publisher(section, receiver: "east")
        let west = try Self.publisher(section, receiver: "west")
        let own = east.discovery.compactMap { east.conflict(with: live($0)) }
        let foreign = west.discovery.compactMap { east.conflict(with: live($0)) }
        #expect(own.isEmpty && foreign.count == 1, "\(foreign)")
        #expect(foreign.first?.contains("\"beacons\": false") == true, "\(foreign)")
    }

    /// Messages of topics that the next version of a file does not use are removed from the broker.
    @Test func retainedTopicsAreThoseOfTheSiteTheBeaconsAndTheZones() throws {
        let section = #"{"url":"mqtt://a","homeAssistant":true,"espresense":true}"#
        let east = try Self.publisher(section, receiver: "east")
        #expect(east.statusTopics == ["pharos/home/receivers/east/status", "espresense/rooms/east/status"])
        let topics = east.retainedTopics
        #expect(topics.isSuperset(of: east.statusTopics + east.discovery.map(\.topic)))
        #expect(topics.contains("pharos/home/receivers/east/state") && topics.contains("pharos/home/zones/near/state"))
        #expect(topics.contains("pharos/home/beacons/key-peter/attributes"))
        let other = try Self.publisher(#"{"url":"mqtt://a","beacons":false}"#, receiver: "east")
        #expect(!other.retainedTopics.contains("pharos/home/beacons/key-peter/state"))
    }

    @Test func withACollectorAListenerShowsOnlyItsZonesInHomeAssistant() throws {
        let listener = try Self.publisher(#"{"url":"mqtt://a","beacons":false,"homeAssistant":true}"#, receiver: "east")
        #expect(
            listener.discovery.map(\.topic) == ["homeassistant/binary_sensor/pharos-zone_home-near/occupied/config"])
        #expect(listener.conflictFilters == ["pharos/home/zones/+/state"])
    }

    private func live(_ publication: Publication) -> Publication {
        var message = publication
        message.isRetained = false
        return message
    }
}
