import BeaconFrames
import BluetoothTypes
import Testing

@testable import Sightings

/// Unknown devices of a network are counted for that network, and have no track in the table.
@Suite struct DeviceNetworkTests {
    private static let samples: [([UInt8], DeviceNetwork)] = [
        ([7, 0xFF, 0x4C, 0x00, 0x12, 0x02, 0x00, 0x01], .findMy),
        ([5, 0x16, 0xAA, 0xFE, 0x40, 0x11], .findHub), ([5, 0x16, 0xAA, 0xFE, 0x41, 0x11], .findHub),
        ([4, 0x16, 0x5A, 0xFD, 0x01], .smartTag), ([3, 0x03, 0xED, 0xFE], .tile), ([4, 0x16, 0xED, 0xFE, 0x02], .tile),
        ([2, 1, 6, 6, 0x16, 0x2C, 0xFE, 1, 2, 3], .fastPair), ([3, 0x03, 0x6F, 0xFD], .exposureNotification),
        ([5, 0x02, 0x0F, 0x18, 0x5A, 0xFD], .smartTag),
    ]

    @Test(arguments: samples)
    func eachNetworkIsRecognised(_ octets: [UInt8], _ network: DeviceNetwork) throws {
        var table = SightingTable()
        #expect(table.receive(octets, from: Air.sender(1), rssi: -71) == nil)
        #expect(table.tracks.isEmpty)
        let summary = try #require(table.networks.summaries(until: Air.at(milliseconds: 10)).first)
        #expect(summary == .init(network: network, addresses: 1, reports: 1, strongest: -71))
    }

    @Test(
        arguments: [
            [7, 0xFF, 0x4C, 0x00, 0x10, 0x02, 0x00, 0x01], [3, 0x03, 0x0F, 0x18], [2, 0x16, 0xAA],
            [3, 0x16, 0xAA, 0xFE],
            [1, 0xFF], [2, 0x03, 0xED], [4, 0x16, 0x0F, 0x18, 0x64],
        ] as [[UInt8]])
    func otherDataBelongsToNoNetwork(_ octets: [UInt8]) {
        var table = SightingTable()
        table.receive(octets, from: Air.sender(1))
        #expect(table.networks.summaries(until: Air.at(milliseconds: 0)).isEmpty)
        #expect(table.tracks.count == 1)
    }

    @Test func scanResponsesBelongToTheNetworkOfTheirSender() {
        var table = SightingTable()
        table.receive([4, 0x16, 0x2C, 0xFE, 0x01], from: Air.sender(1))
        table.receive(Air.name(Array("Buds".utf8)), from: Air.sender(1), isScanResponse: true)
        #expect(table.tracks.isEmpty)
        #expect(table.networks.summaries(until: Air.at(milliseconds: 0)).map(\.reports) == [2])
    }

    /// A beacon with a track may also send the data of a tag.
    @Test func aBeaconWithATrackIsNotCountedForANetwork() {
        var table = SightingTable(known: [KnownBeacon(name: "bike", identity: .address(Air.sender(1).address))])
        #expect(table.receive([4, 0x16, 0x5A, 0xFD, 0x01], from: Air.sender(1)) == 0)
        table.receive(Air.iBeacon(1, 7), from: Air.sender(2))
        #expect(table.receive([5, 0x16, 0xAA, 0xFE, 0x40, 0x11], from: Air.sender(2)) == 1)
        #expect(table.networks.summaries(until: Air.at(milliseconds: 0)).isEmpty)
    }

    @Test func limitsAndForgetsAddresses() throws {
        var table = SightingTable()
        for number in UInt32(0)..<2000 { table.receive([3, 0x03, 0xED, 0xFE], from: Air.sender(number)) }
        #expect(
            table.networks.summaries(until: Air.at(milliseconds: 0)).first?.addresses == NetworkSightings.addressLimit)
        table.beginRound()
        table.receive([3, 0x03, 0xED, 0xFE], from: Air.sender(5000), atMilliseconds: 31_000, rssi: -80)
        let later = try #require(table.networks.summaries(until: Air.at(milliseconds: 31_000)).first)
        #expect(later == .init(network: .tile, addresses: 1, reports: 1, strongest: -80))
        #expect(table.networks.summaries(until: Air.at(milliseconds: 62_000)).isEmpty)
    }

    @Test func keepsBTHomeValuesAndCompanies() throws {
        var table = SightingTable()
        // BTHome: battery 97 %, temperature 25.06 °C.
        let values: [UInt8] = [9, 0x16, 0xD2, 0xFC, 0x40, 0x01, 0x61, 0x02, 0xCA, 0x09]
        let tag = table.receive(values, from: Air.sender(1))
        let place = try #require(tag)
        #expect(table.tracks[place].btHome?.objects.map(\.description) == ["battery 97 %", "temperature 25.06 °C"])
        #expect(table.tracks[place].companyID == nil)
        let maker = table.receive([5, 0xFF, 0x99, 0x04, 1, 2], from: Air.sender(2))
        let ruuvi = try #require(maker)
        #expect(table.tracks[ruuvi].companyID.map(CompanyName.text) == "Ruuvi")
        #expect(CompanyName.text(0xFFF0) == "company 0xFFF0")
        // The company identifier of an iBeacon is Apple's, regardless of the maker of the beacon.
        let beacon = table.receive(Air.iBeacon(1, 1), from: Air.sender(3))
        #expect(beacon != nil && beacon.map { table.tracks[$0].companyID } == .some(nil))
    }
}
