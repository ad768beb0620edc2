import Messaging
import Testing

@Suite struct TopicTreeTests {
    @Test func hasTheDocumentedTopics() {
        let tree = TopicTree(site: "museum", receiver: "hall")
        #expect(tree.status == "pharos/museum/receivers/hall/status")
        #expect(tree.receiverState == "pharos/museum/receivers/hall/state")
        #expect(tree.sightings(shard: 7) == "pharos/museum/sightings/7/hall")
        #expect(tree.beaconState("key-peter") == "pharos/museum/beacons/key-peter/state")
        #expect(tree.beaconAttributes("key-peter") == "pharos/museum/beacons/key-peter/attributes")
        #expect(tree.zoneEvents("desk-peter") == "pharos/museum/zones/desk-peter/events")
        #expect(tree.zoneState("desk-peter") == "pharos/museum/zones/desk-peter/state")
        #expect(TopicTree(site: nil, receiver: "hall").status == "pharos/home/receivers/hall/status")
    }

    @Test func theCollectorHasASeparateStatusTopic() {
        let tree = TopicTree(collectorOf: "museum")
        #expect(tree.status == "pharos/museum/collectors/all/status")
        #expect(tree.sightingsFilter == "pharos/museum/sightings/+/+")
        #expect(TopicTree(site: "museum", receiver: "collector").status == "pharos/museum/receivers/collector/status")
    }

    @Test(arguments: [
        "a/b", "a+b", "#", "$SYS/x", "a\u{0}b", "a b", "\u{1B}[2J", "\u{202E}x", "", "café/é",
        String(repeating: "x", count: 300),
    ])
    func escapesSpecialCharactersInTopicLevels(name: String) {
        let level = TopicLevel(name).description
        #expect(!level.isEmpty && level.utf8.count <= 420)
        #expect(!level.contains { "/+#$ \u{0}\u{1B}\u{202E}".contains($0) })
        #expect(level != TopicLevel(name + "/").description, "two names share a topic")
        #expect(TopicLevel(identifier: name).description.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != 0x2E })
    }

    @Test func keepsValidNames() {
        for name in ["hall-desk", "Peter_2.a", "Büro"] { #expect(TopicLevel(name).description == name) }
        #expect(TopicLevel(identifier: "a.b").description.hasPrefix("a_b_"))
    }

    @Test func dividesBeaconsIntoSixteenShards() {
        let shards = Set((0..<1000).map { TopicTree.shard(of: "beacon-\($0)") })
        #expect(shards == Set(0..<16))
    }
}

@Suite struct RetainedBoardTests {
    @Test func publishesOnlyTheNewestMessageOfATopic() {
        var board = RetainedBoard()
        var published: [String] = []
        func publish(_ publication: Publication) -> Bool {
            guard published.count < 2 else { return false }
            published.append("\(publication.topic)=\(String(decoding: publication.payload, as: UTF8.self))")
            return true
        }
        board.set(Publication("a", "1"))
        board.set(Publication("b", "1"))
        board.set(Publication("a", "2"))
        board.set(Publication("c", "1"))
        board.drain(publish)
        #expect(published == ["a=2", "b=1"] && board.waitingCount == 1)
        published = []
        board.set(Publication("a", "2"))
        board.drain(publish)
        #expect(published == ["c=1"] && board.waitingCount == 0)
        published = []
        board.publishAgain("b")
        board.publishAgain("nobody")
        board.drain(publish)
        #expect(published == ["b=1"])
        board.publishAgain()
        #expect(board.waitingCount == 3)
        board.set(Publication("b", ""))
        #expect(board.usedTopics == ["a", "c"])
    }
}
