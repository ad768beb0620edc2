import BluetoothTypes
import HubService
import Testing

@Suite struct ProxySessionTests {
    private static let address = DeviceAddress("00:1A:7D:DA:71:13")

    private static func session(active: Bool = false) throws -> ProxySession {
        let identity = ProxyIdentity(name: "Hall Pi", address: try #require(address), version: "0.2.0")
        return ProxySession(identity, isConfiguredActive: active, isActive: active, scanner: .running)
    }

    private static func answers(_ session: inout ProxySession, _ types: [UInt64]) -> [UInt64] {
        types.flatMap { session.answer(APIMessage(type: $0, payload: [])) }.map(\.type)
    }

    @Test func answersEachSupportedRequest() throws {
        var session = try Self.session()
        #expect(Self.answers(&session, [1, 3, 7, 9, 11, 20, 80, 127, 149]) == [2, 4, 8, 10, 19, 81, 126, 150])
        // Requests of ESPHome that a Bluetooth proxy does not support: lights, logs, cameras.
        #expect(Self.answers(&session, [28, 33, 34, 38, 68, 9999, 0]).isEmpty)
        #expect(!session.isOver)
        #expect(Self.answers(&session, [5]) == [6] && session.isOver)
    }

    @Test func wantsAdvertisementsOnlyWhileSubscribed() throws {
        var session = try Self.session()
        #expect(!session.wantsAdvertisements && session.change(.failed, isActive: false) == nil)
        #expect(Self.answers(&session, [66]) == [126] && session.wantsAdvertisements)
        // Field 1: failed is 3; after that running is 2.
        #expect(session.change(.failed, isActive: false) == nil)
        #expect(session.change(.running, isActive: false)?.payload == [0x08, 2])
        #expect(session.change(.running, isActive: false) == nil)
        #expect(Self.answers(&session, [87]).isEmpty && !session.wantsAdvertisements)
        #expect(session.change(.failed, isActive: false) == nil)
    }

    @Test func reportsAnActiveScan() throws {
        var session = try Self.session(active: true)
        let answer = session.answer(APIMessage(type: 66, payload: []))
        #expect(answer.map(\.payload) == [[0x08, 2, 0x10, 1, 0x18, 1]])
    }

    @Test func theClientChoosesTheScanMode() throws {
        var session = try Self.session()
        _ = session.answer(APIMessage(type: 66, payload: []))
        #expect(session.wantsActive == nil)
        // Field 1 of 127: active is 1. The scan is still passive when the request arrives.
        #expect(session.answer(APIMessage(type: 127, payload: [0x08, 1])).map(\.payload) == [[0x08, 2]])
        #expect(session.wantsActive == true)
        #expect(session.change(.running, isActive: true)?.payload == [0x08, 2, 0x10, 1])
        _ = session.answer(APIMessage(type: 127, payload: [0x08, 9]))
        #expect(session.wantsActive == true)
        // Passive is the default value, which is not sent.
        _ = session.answer(APIMessage(type: 127, payload: []))
        #expect(session.wantsActive == false)
        #expect(session.change(.running, isActive: false)?.payload == [0x08, 2])
    }

    /// Field 1 of 93: address 0x001A7DDA7113 as a varint, -59 as zigzag 117, random, three bytes of data.
    @Test func encodesTheFourFieldsOfAnAdvertisement() throws {
        var batch = RawAdvertisementBatch()
        batch.add(try #require(Self.address), isRandom: true, level: -59, data: [2, 1, 6])
        let address: [UInt8] = [0x08, 0x93, 0xE2, 0xE9, 0xEE, 0xA7, 0x03]
        let one = address + [0x10, 117, 0x18, 1, 0x22, 3, 2, 1, 6]
        #expect(batch.message.payload == [0x0A, UInt8(one.count)] + one)
        #expect(batch.message.type == 93 && batch.count == 1)
        // Unknown levels are 127, as in HCI: zigzag 254. A public address and no data are left out as defaults.
        batch = RawAdvertisementBatch()
        batch.add(try #require(Self.address), isRandom: false, level: nil, data: [])
        #expect(batch.message.payload == [0x0A, 10] + address + [0x10, 0xFE, 0x01])
    }

    @Test(arguments: [
        ("Hall Pi", "hall-pi"), ("", "pharos"), ("küche", "k--che"), ("a\u{1B}[2J\n", "a--2j-"),
        (String(repeating: "x", count: 40), String(repeating: "x", count: 31)),
    ])
    func convertsNamesToHostNames(_ text: String, _ name: String) throws {
        let identity = ProxyIdentity(name: text, address: try #require(Self.address), version: "1")
        #expect(identity.name == name)
    }
}
