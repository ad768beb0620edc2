import BeaconFrames
import BluetoothTypes
import Testing

@testable import Sightings

/// Devices that are known by their local name, by a service, or by a part of their identity.
@Suite struct KnownDeviceTests {
    private static let flags: [UInt8] = [2, 1, 6]

    private static func table(_ patterns: RegionPattern..., strangers: SightingTable.Strangers = .counted)
        -> SightingTable
    {
        SightingTable(
            known: patterns.enumerated().map { KnownBeacon(name: "b\($0)", $1) }, strangers: strangers)
    }

    @Test func aDeviceIsKnownByItsLocalName() {
        var table = Self.table(.localName("Peter's keys"))
        let name = Air.name(Array("Peter's keys".utf8))
        #expect(table.receive(Self.flags + name, from: Air.sender(1)) == 0)
        #expect(table.receive(Self.flags + Air.name(Array("Peter's key".utf8)), from: Air.sender(2)) == nil)
        #expect(table.receive(Self.flags + Air.name(Array("peter's keys".utf8)), from: Air.sender(3)) == nil)
        #expect(table.tracks[0].reports == 1 && table.counts.strangers == 2)
        #expect(!KnownBeacon(name: "b", .localName("x")).isGroup)
    }

    /// If a device sends its name only in scan responses, its advertisements without the name count as its events.
    @Test func assignsAdvertisementsWithoutANameByTheirSender() {
        var table = Self.table(.localName("tag"))
        #expect(table.receive(Self.flags, from: Air.sender(1)) == nil)
        let name = Air.name(Array("tag".utf8))
        #expect(table.receive(name, from: Air.sender(1), atMilliseconds: 1, isScanResponse: true) == 0)
        for second in 1...3 {
            #expect(table.receive(Self.flags, from: Air.sender(1), atMilliseconds: 1000 * second) == 0)
        }
        #expect(table.tracks[0].events == 3)
        #expect(table.receive(Self.flags, from: Air.sender(2)) == nil)
        // The device was given another name.
        #expect(table.receive(Air.name(Array("other".utf8)), from: Air.sender(1), atMilliseconds: 4000) == nil)
        #expect(table.receive(Self.flags, from: Air.sender(1), atMilliseconds: 5000) == nil)
    }

    @Test func aNamedDeviceWithAFrameHasThePowerOfTheFrame() {
        var table = Self.table(.localName("tag"))
        let data = Air.iBeacon(4, 4, power: -70) + Air.name(Array("tag".utf8))
        #expect(table.receive(data, from: Air.sender(1)) == 0)
        #expect(table.tracks[0].powerAtOneMeter == -70)
    }

    @Test(
        "a service is found in lists and service data with UUIDs of any width",
        arguments: [
            ([3, 0x03, 0xF6, 0xFF], true), ([5, 0x02, 0xAA, 0xFE, 0xF6, 0xFF], true),
            ([5, 0x05, 0xF6, 0xFF, 0, 0], true), ([4, 0x16, 0xF6, 0xFF, 1], true),
            ([5, 0x20, 0xF6, 0xFF, 0, 0], true), ([3, 0x03, 0xFF, 0xF6], false),
            // The data of another service, with the same bytes in it.
            ([5, 0x16, 0xAA, 0xFD, 0xF6, 0xFF], false), ([2, 0x03, 0xF6], false), ([1, 0x16], false),
            ([5, 0x05, 0xF6, 0xFF, 1, 0], false),
        ] as [([UInt8], Bool)])
    func services(_ structure: [UInt8], isFound: Bool) {
        var table = Self.table(.service(BluetoothUUID.uuid16(0xFFF6).expanded))
        #expect(table.receive(Self.flags + structure, from: Air.sender(1)) == nil)
        #expect(table.groupsOfReport == (isFound ? [0] : []))
        #expect(table.tracks[0].reports == (isFound ? 1 : 0))
        #expect(table.counts.strangers == (isFound ? 0 : 1))
    }

    @Test func findsA128BitServiceUUIDInEitherForm() {
        let long = BluetoothUUID.uuid128(Air.uuid)
        var table = Self.table(.service(long.expanded), .service(BluetoothUUID.uuid16(0xFFF6).expanded))
        table.receive([17, 0x07] + long.littleEndian, from: Air.sender(1))
        #expect(table.groupsOfReport == [0])
        let expanded = BluetoothUUID.uuid128(BluetoothUUID.uuid16(0xFFF6).expanded)
        table.receive([17, 0x21] + expanded.littleEndian, from: Air.sender(2))
        #expect(table.groupsOfReport == [1])
    }

    @Test func aBeaconCountsForItselfAndForItsGroups() {
        var table = Self.table(
            .identity(Air.identity(1, 7)), .iBeacon(uuid: Air.uuid, major: nil, minor: nil),
            .iBeacon(uuid: Air.uuid, major: 2, minor: nil))
        #expect(table.receive(Air.iBeacon(1, 7, power: -61), from: Air.sender(1)) == 0)
        #expect(table.groupsOfReport == [1])
        #expect(table.receive(Air.iBeacon(2, 9, power: -50), from: Air.sender(2), atMilliseconds: 100) == nil)
        #expect(table.groupsOfReport == [1, 2])
        #expect(table.tracks[0].reports == 1 && table.tracks[1].reports == 2 && table.tracks[2].reports == 1)
        #expect(table.tracks[1].identity == Air.identity(2, 9) && table.tracks[1].powerAtOneMeter == -50)
        #expect(table.counts.strangers == 0)
        table.receive(Self.flags, from: Air.sender(3), atMilliseconds: 200)
        #expect(table.groupsOfReport.isEmpty)
    }

    @Test func learnsNoIntervalForAGroup() {
        var table = Self.table(.iBeacon(uuid: Air.uuid, major: nil, minor: nil))
        for step in 0..<60 { table.receive(Air.iBeacon(1, 1), from: Air.sender(1), atMilliseconds: 100 * step) }
        #expect(table.tracks[0].events == 60 && table.tracks[0].periodMicroseconds == nil)
    }

    @Test(
        arguments: [
            (RegionPattern.localName("tag"), "name:tag"),
            (.service(BluetoothUUID.uuid16(0xFFF6).expanded), "service:0xFFF6"),
            (.service(BluetoothUUID.uuid32(0x1FFF6).expanded), "service:0x0001FFF6"),
            (.service(Air.uuid), "service:fb0b57a2-8228-44cd-913a-94a122ba1206"),
            (.iBeacon(uuid: Air.uuid, major: 2, minor: nil), "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-2"),
            (.eddystoneUID(namespace: FixedOctets(), instance: nil), "uid:00000000000000000000"),
        ])
    func describesPatternsAsText(_ pattern: RegionPattern, _ text: String) {
        #expect(pattern.description == text)
    }
}
