import BluetoothTypes
import HubService
import Testing

@Suite struct APIChannelTests {
    private static func channel(_ key: ProxyKey? = nil) throws -> APIChannel {
        let address = try #require(DeviceAddress("00:1A:7D:DA:71:13"))
        return APIChannel(ProxyIdentity(name: "hall", address: address, version: "1"), key: key)
    }

    private static func messages(_ parts: [[UInt8]]) throws -> [APIMessage] {
        var reader = try channel()
        var found: [APIMessage] = []
        for part in parts {
            reader.push(part)
            while let message = try reader.next() { found.append(message) }
        }
        return found
    }

    @Test func readsFramesFromPiecesOfAnyLength() throws {
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

    @Test func refusesInvalidFrames() {
        #expect(throws: ChannelFault.encrypted) { try Self.messages([[1, 0, 0]]) }
        #expect(throws: ChannelFault.noFrame) { try Self.messages([Array("GET / HTTP/1.1".utf8)]) }
        #expect(throws: ChannelFault.tooLong) { try Self.messages([[0, 0x81, 0x20, 1]]) }
        // A variable-length number that does not end.
        let endless = [0] + [UInt8](repeating: 0xFF, count: 30)
        #expect(throws: ChannelFault.noFrame) { try Self.messages([endless]) }
        #expect(throws: ChannelFault.noFrame) { try Self.messages(endless.map { [$0] }) }
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

    private static let key = "QRTIErOb/fcE9Ukd/5qA3RGYMn0Y+p06U58SCtOXvPc="

    @Test(arguments: [
        (key, true), (" \(key)\r\n", true), (String(key.dropLast()), false), (key + "=", false), ("", false),
        ("QRTIErOb/fcE9Ukd/5qA3RGYMn0Y+p06U58SCtOXvPd=", false), (key.replacing("/", with: "_"), false),
    ])
    func acceptsOnlyKeysOf32BytesInBase64(_ text: String, _ isKey: Bool) {
        #expect((ProxyKey(base64: Array(text.utf8)) != nil) == isKey)
    }

    /// These clients do not have the key. Tests/Oracles tests clients with the key, with aioesphomeapi.
    @Test func requiresTheKeyOfEveryClient() throws {
        let key = try #require(ProxyKey(base64: Array(Self.key.utf8)))
        func fault(_ octets: [UInt8]) throws -> ChannelFault? {
            var channel = try Self.channel(key)
            channel.push(octets)
            do throws(ChannelFault) {
                while try channel.next() != nil {}
                return nil
            } catch {
                return error
            }
        }
        #expect(try fault(APIMessage(.helloRequest).plainFrame) == .plain)
        #expect(try fault(Array("GET /".utf8)) == .noFrame)
        #expect(try fault([1, 0, 0]) == nil)
        #expect(try fault([1, 0, 0, 1, 0, 49] + [UInt8](repeating: 0, count: 49)) == .otherKey)
        #expect(try fault([1, 0, 0, 1, 0, 1, 0]) == .otherKey)
        #expect(try fault([1, 0, 0, 1, 0, 0]) == .noFrame)
        #expect(try fault([1, 0xFF, 0xFF]) == .tooLong)
        var channel = try Self.channel(key)
        channel.push([1, 0, 0])
        #expect(try channel.next() == nil)
        #expect(channel.takeAnswers() == [1, 0, 19, 1] + "hall".utf8 + [0] + "001a7dda7113".utf8 + [0])
        #expect(channel.frame(APIMessage(.pingRequest)).isEmpty)
    }
}
