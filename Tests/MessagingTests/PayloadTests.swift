import BluetoothTypes
import Configuration
import Sightings
import Testing

@testable import Messaging

private let uuid = octets("f7826da64fa24e988024bc5b71e0893e", FixedOctets<16>.self)
private let near = DistanceEstimate(level: -61, deviation: 0, count: 9, powerAtOneMeter: -59, .init())
private let address = DeviceAddress("C0:01:02:03:04:0A")

private func octets<let count: Int>(
    _ text: String, _: FixedOctets<count>.Type = FixedOctets<count>.self
) -> FixedOctets<count> {
    (try? FixedOctets(hexadecimal: text)) ?? FixedOctets()
}

private func reading(_ identity: BeaconIdentity?, name: String = "key-peter") -> BeaconReading {
    BeaconReading(
        name: name, identity: identity, address: address, isRandomAddress: true, lastLevel: -62, meanLevel: -61.4,
        levelVariance: 2.25, reports: 9, distance: near, powerAtOneMeter: -59, intervalMilliseconds: 100)
}

private func text(_ publication: Publication?) -> String { String(decoding: publication?.payload ?? [], as: UTF8.self) }

@Suite struct PayloadTests {
    @Test func encodesThePayloadsOfPharos() {
        var state = BeaconState(
            isPresent: true, room: "hall", zones: ["desk-peter"], isKnown: true, level: -61.2, distance: near,
            lastHeard: "2026-11-22T12:00:00.000000Z")
        #expect(
            state.json.line.hasPrefix(
                #"{"present":"ON","room":"hall","zones":["desk-peter"],"known":true,"rssiDbm":-61,"distanceM":1.26,"#))
        #expect(state.json.line.hasSuffix(#","lastHeard":"2026-11-22T12:00:00.000000Z"}"#))
        #expect(state.attributes.line == #"{"in_zones":["zone.home"],"room":"hall"}"#)
        state.batteryMillivolts = 2980
        state.isPresent = false
        state.room = nil
        #expect(state.attributes.line == #"{"in_zones":[],"room":null,"batteryV":2.98}"#)
        // Home Assistant would show an empty list as "not home", so an unknown presence has no list.
        state.isPresent = nil
        #expect(state.attributes.line == #"{"room":null,"batteryV":2.98}"#)
        #expect(
            BeaconState(isPresent: nil, room: nil, isKnown: false, level: nil, distance: nil, lastHeard: nil).json.line
                == #"{"present":null,"room":null,"zones":[],"known":false,"rssiDbm":null,"distanceM":null,"#
                + #""distanceLowM":null,"distanceHighM":null,"lastHeard":null}"#)
        #expect(
            ZoneState(inside: ["key-peter"], isKnown: true, receiver: "hall").json.line
                == #"{"inside":["key-peter"],"count":1,"known":true,"receiver":"hall"}"#)
        #expect(
            ReceiverState(state: "listening", deafSince: nil, reportsPerSecond: 97, lost: 0).json.line
                == #"{"state":"listening","deafSince":null,"reportsPerS":97,"lost":0}"#)
        let heard = SightingBatch.Beacon(
            id: "hall-desk", reports: 9, mean: -61.44, minimum: -70, maximum: -58, agoMilliseconds: 40)
        let batch = SightingBatch(
            boot: "8f00", sequence: 1234, bootMilliseconds: 918_273_645, windowMilliseconds: 1000, beacons: [heard])
        #expect(
            batch.json.line
                == #"{"v":1,"boot":"8f00","seq":1234,"bootMs":918273645,"windowMs":1000,"b":"#
                + #"[{"id":"hall-desk","n":9,"rssi":-61.4,"min":-70,"max":-58,"agoMs":40}]}"#)
        var more = heard
        (more.batteryMillivolts, more.temperature) = (2950, 21_500)
        #expect(
            SightingBatch(boot: "8f", sequence: 1, bootMilliseconds: 1, windowMilliseconds: 1, beacons: [more]).json
                .line
                .hasSuffix(#""agoMs":40,"batteryV":2.95,"temperatureC":21.5}]}"#))
    }

    @Test func eachHomeAssistantEntityDescribesItsDevice() {
        let tree = TopicTree(site: "museum", receiver: "hall")
        let found = HomeAssistant(tree, version: "0.2.0").discovery("key-peter", hasBattery: true)
        #expect(
            found.map(\.topic) == [
                "homeassistant/sensor/pharos_key-peter/room/config",
                "homeassistant/binary_sensor/pharos_key-peter/present/config",
                "homeassistant/sensor/pharos_key-peter/distance/config",
                "homeassistant/device_tracker/pharos_key-peter/tracker/config",
                "homeassistant/sensor/pharos_key-peter/battery/config",
            ])
        var ids: Set<String> = []
        for publication in found {
            #expect(publication.isRetained && publication.isAssured)
            let root = JSONDocument.parse(publication.payload).root
            #expect(root?["device"]?["name"]?.string == "key-peter")
            #expect(root?["device"]?["identifiers"]?.elements?.first?.string == "pharos_key-peter")
            #expect(root?["origin"]?["name"]?.string == "pharos" && root?["origin"]?["sw"]?.string == "0.2.0")
            #expect(root?["availability_topic"]?.string == tree.status)
            ids.insert(root?["unique_id"]?.string ?? "")
        }
        #expect(ids.count == 5)
        let present = JSONDocument.parse(found[1].payload).root
        #expect(present?["payload_on"]?.string == "ON" && present?["device_class"]?.string == "presence")
        #expect(present?["state_topic"]?.string == tree.beaconState("key-peter"))
    }

    @Test func aZoneIsASensorOfHomeAssistant() {
        let tree = TopicTree(site: "office", receiver: "east")
        let zone = HomeAssistant(tree, version: "1").zone("Peter's desk")
        let root = JSONDocument.parse(zone.payload).root
        #expect(zone.topic.hasPrefix("homeassistant/binary_sensor/pharos-zone_office-Peter_s_desk_") && zone.isRetained)
        #expect(root?["state_topic"]?.string == tree.zoneState("Peter's desk"))
        #expect(root?["json_attributes_topic"]?.string == tree.zoneState("Peter's desk"))
        #expect(root?["availability_topic"]?.string == tree.status)
        #expect(root?["device_class"]?.string == "occupancy" && root?["device"]?["name"]?.string == "Peter's desk")
        #expect(root?["value_template"]?.string?.contains("value_json.known") == true)
    }

    @Test func aTrackerHasAStateTopicOnlyForOlderVersions() {
        let tree = TopicTree(site: nil, receiver: "hall")
        for before in [nil, "2026.7"] {
            let home = HomeAssistant(tree, .init(before: before), version: "1")
            let tracker = JSONDocument.parse(home.discovery("a", hasBattery: false)[3].payload).root
            #expect(tracker?["json_attributes_topic"]?.string == tree.beaconAttributes("a"))
            #expect(tracker?["source_type"]?.string == "bluetooth_le")
            #expect((tracker?["state_topic"] == nil) == (before == nil))
        }
    }

    @Test func aNameIsNeverInATemplateOrATopic() {
        let tree = TopicTree(site: "a/b", receiver: "{{ states() }}")
        for publication in HomeAssistant(tree, version: "1").discovery("{{ 7*7 }}/#", hasBattery: true) {
            #expect(!publication.topic.contains("{") && !publication.topic.contains("#"))
            let root = JSONDocument.parse(publication.payload).root
            #expect(root?["device"]?["name"]?.string == "{{ 7*7 }}/#")
            #expect(root?["value_template"]?.string?.contains("7*7") != true)
        }
    }

    @Test(arguments: [
        (
            BeaconIdentity.iBeacon(uuid: uuid, major: 1, minor: 7),
            "iBeacon:f7826da6-4fa2-4e98-8024-bc5b71e0893e-1-7"
        ),
        (
            .altBeacon(companyID: 0x118, id: octets("f7826da64fa24e988024bc5b71e0893e00010007")),
            "altBeacon:f7826da6-4fa2-4e98-8024-bc5b71e0893e-1-7"
        ),
        (
            .eddystoneUID(
                namespace: octets("00112233445566778899"),
                instance: octets("aabbccddeeff")),
            "eddy:0011223344445566778899-aabbccddeeff"
        ),
        (.address(address!), "known:c0010203040a"),
        (nil, "name:key-peter"),
    ])
    func publishesDevicesWithTheIdsOfESPresense(identity: BeaconIdentity?, id: String) {
        let publication = ESPresense(receiver: "hall").device(reading(identity))
        #expect(publication?.topic == "espresense/devices/\(id)/hall")
        #expect(
            text(publication).hasPrefix(
                #"{"mac":"c0010203040a","id":"\#(id)","name":"key-peter","rssi@1m":-59,"rssi":-61.4,"rssiVar":2.25,"distance":1.26,"var":"#
            ), "\(text(publication))")
        #expect(text(publication).hasSuffix(#","int":100}"#) && publication?.isAssured == false)
    }

    @Test func encodesTheTelemetryOfESPresense() {
        let room = ESPresense(receiver: "hall")
        #expect(room.statusTopic == "espresense/rooms/hall/status")
        let telemetry = room.telemetry(
            uptimeSeconds: 15, version: "0.2.0", advertisements: 900, seen: 3, reported: 1)
        #expect(telemetry.topic == "espresense/rooms/hall/telemetry")
        #expect(
            text(telemetry) == #"{"ip":null,"uptime":15,"ver":"0.2.0","adverts":900,"seen":3,"reported":1}"#)
    }

    @Test func raddec() {
        let raddec = Raddec(receiver: "hall")
        let json = raddec.json(reading(nil), unixMilliseconds: 1_700_000_000_000)
        #expect(
            json?.line
                == #"{"transmitterId":"c0010203040a","transmitterIdType":3,"rssiSignature":[{"receiverId":"e0cc741226f2","#
                + #""receiverIdType":3,"rssi":-61,"numberOfDecodings":9}],"packets":[],"timestamp":1700000000000}"#)
        let hall = raddec.device(reading(nil), unixMilliseconds: 5)
        #expect(hall?.topic == "raddec/hall" && hall?.isAssured == false && hall?.isRetained == false)
        #expect(text(hall).contains(#""receiverIdType":3"#) && text(hall).hasSuffix(#""timestamp":5}"#))
    }

    @Test func theengs() {
        let publication = Theengs(receiver: "hall").device(reading(.iBeacon(uuid: uuid, major: 1, minor: 7)))
        #expect(publication?.topic == "home/hall/BTtoMQTT/C0010203040A")
        #expect(
            text(publication)
                == #"{"id":"C0:01:02:03:04:0A","rssi":-62,"brand":"GENERIC","model":"iBeacon","model_id":"IBEACON","#
                + #""type":"BCON","mfid":"4c00","uuid":"f7826da64fa24e988024bc5b71e0893e","major":1,"minor":7,"txpower":-59}"#
        )
        #expect(Theengs(receiver: "hall").device(reading(.address(address!))) == nil)
    }

    @Test func isDueEveryFiveSecondsAndAfterAMove() {
        var pace = PublishingPace()
        func at(_ seconds: Double) -> HeardInstant { HeardInstant(nanoseconds: UInt64(seconds * 1e9)) }
        let told = [(0, 1.0), (1, 1.4), (2, 1.5), (6, nil), (7, nil)].map { pace.isDue($0.1, at: at($0.0)) }
        #expect(told == [true, false, true, false, true])
    }
}
