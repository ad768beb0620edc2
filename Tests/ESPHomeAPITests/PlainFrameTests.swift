import BluetoothTypes
import ESPHomeAPI
import Testing

@Suite struct PlainFrameTests {
    private static func messages(_ parts: [[UInt8]]) throws -> [APIMessage] {
        var reader = PlainFrameReader()
        var found: [APIMessage] = []
        for part in parts {
            reader.push(part)
            while let message = try reader.next() { found.append(message) }
        }
        return found
    }

    @Test func framesAreCutWhereverTheyComeApart() throws {
        let sent = [
            APIMessage(type: 1, payload: [1, 2, 3]), APIMessage(type: 300, payload: []),
            APIMessage(type: 66, payload: [UInt8](repeating: 7, count: 200)),
        ]
        let octets = sent.flatMap(\.plainFrame)
        #expect(octets.prefix(6) == [0, 3, 1, 1, 2, 3] && octets.dropFirst(6).prefix(4) == [0, 0, 0xAC, 0x02])
        #expect(try Self.messages([octets]) == sent)
        #expect(try Self.messages(octets.map { [$0] }) == sent)
        for cut in octets.indices {
            #expect(try Self.messages([Array(octets[..<cut]), Array(octets[cut...])]) == sent)
        }
    }

    @Test func whatIsNoFrameEndsTheConnection() {
        #expect(throws: PlainFrameReader.Fault.encrypted) { try Self.messages([[1, 0, 0]]) }
        #expect(throws: PlainFrameReader.Fault.noFrame) { try Self.messages([Array("GET / HTTP/1.1".utf8)]) }
        #expect(throws: PlainFrameReader.Fault.tooLong) { try Self.messages([[0, 0x81, 0x20, 1]]) }
        // A number that never ends.
        let endless = [0] + [UInt8](repeating: 0xFF, count: 30)
        #expect(throws: PlainFrameReader.Fault.noFrame) { try Self.messages([endless]) }
        #expect(throws: PlainFrameReader.Fault.noFrame) { try Self.messages(endless.map { [$0] }) }
    }

    @Test func anyOctetsAreSurvived() {
        var chance = SplitMix64(seed: 5)
        for _ in 0..<2000 {
            var octets = (0..<Int.random(in: 0..<64, using: &chance)).map { _ in
                UInt8.random(in: 0...255, using: &chance)
            }
            if !octets.isEmpty { octets[0] = 0 }
            let found = (try? Self.messages([octets])) ?? []
            #expect(found.flatMap(\.plainFrame).count <= octets.count)
        }
    }
}
