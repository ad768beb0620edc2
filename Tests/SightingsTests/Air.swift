import BeaconFrames
import BluetoothTypes

@testable import Sightings

/// Advertising data and senders for the tests.
enum Air {
    static let uuid =
        FixedOctets<16>([
            0xFB, 0x0B, 0x57, 0xA2, 0x82, 0x28, 0x44, 0xCD, 0x91, 0x3A, 0x94, 0xA1, 0x22, 0xBA, 0x12, 0x06,
        ]) ?? FixedOctets()

    static func iBeacon(_ major: UInt16, _ minor: UInt16, power: Int8 = -59, flags: ADFlags? = .beacon) -> [UInt8] {
        let frame = IBeacon(
            uuid: .uuid128(uuid), major: major, minor: minor,
            measuredPower: MeasuredPowerAtOneMeter(octet: UInt8(bitPattern: power)))
        return octets((flags.map { [.flags($0)] } ?? []) + frame.adStructures)
    }

    static func telemetry(millivolts: UInt16, advertisements: UInt32 = 1) -> [UInt8] {
        let frame = EddystoneTLM(
            batteryMillivolts: millivolts, temperature: nil, advertisements: advertisements, uptimeDeciseconds: 10)
        return octets(frame.adStructures)
    }

    static func eid(_ first: UInt8) -> [UInt8] {
        var id = FixedOctets<8>()
        id[0] = first
        let frame = EddystoneEID(id: id, measuredPower: MeasuredPowerAtZeroMeters(octet: 0xE7))
        return octets(frame.adStructures)
    }

    private static func octets(_ structures: [ADStructure]) -> [UInt8] {
        structures.flatMap { [UInt8($0.data.count + 1), $0.type.rawValue] + $0.data }
    }

    static func name(_ octets: [UInt8]) -> [UInt8] { [UInt8(octets.count + 1), 0x09] + octets }

    static func sender(_ number: UInt32, isRandom: Bool = true) -> Sender {
        let octets = [
            0xC0, 0, UInt8(number >> 24), UInt8(number >> 16 & 255), UInt8(number >> 8 & 255),
            UInt8(number & 255),
        ]
        return Sender(DeviceAddress(FixedOctets<6>(octets) ?? FixedOctets()), isRandom: isRandom)
    }

    static func identity(_ major: UInt16, _ minor: UInt16) -> BeaconIdentity {
        .iBeacon(uuid: uuid, major: major, minor: minor)
    }

    static func at(milliseconds: Int) -> HeardInstant { HeardInstant(nanoseconds: UInt64(milliseconds) * 1_000_000) }
}

extension SightingTable {
    @discardableResult
    mutating func receive(
        _ octets: [UInt8], from sender: Sender?, atMilliseconds time: Int = 0, rssi: Int8? = -60,
        isScanResponse: Bool = false
    ) -> Int? {
        receive(
            Sighting(at: Air.at(milliseconds: time), from: sender, rssi: rssi, isScanResponse: isScanResponse),
            octets.span, octets.indices)
    }
}

extension SightingProcessor {
    /// Returns the events that are due before the sighting, and processes the sighting.
    mutating func take(
        _ octets: [UInt8], from sender: Sender?, atMilliseconds time: Int, rssi: Int8? = -60
    ) -> [Event] {
        var events: [Event] = []
        let instant = Air.at(milliseconds: time)
        while let event = nextEvent(until: instant) { events.append(event) }
        receive(Sighting(at: instant, from: sender, rssi: rssi), octets.span, octets.indices)
        return events
    }

    /// Returns the events of a time in which an unknown device is received twice a second.
    mutating func others(from start: Int, to end: Int) -> [Event] {
        var events: [Event] = []
        for time in stride(from: start, through: end, by: 500) {
            events += take([2, 1, 6], from: Air.sender(99), atMilliseconds: time)
        }
        return events + self.events(untilMilliseconds: end)
    }

    mutating func events(untilMilliseconds time: Int) -> [Event] {
        var events: [Event] = []
        while let event = nextEvent(until: Air.at(milliseconds: time)) { events.append(event) }
        return events
    }
}
