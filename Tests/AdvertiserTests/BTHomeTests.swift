import BeaconFrames
import BluetoothTypes
import EddystoneSecurity
import HCI
import Testing
import VirtualController

@testable import Advertiser

/// Sensor values in BTHome packets: renewal, packet numbers, and encryption counters.
@Suite struct BTHomeTests {
    private final class Sensors: TelemetrySource {
        var percent: UInt8? = 97
        func batteryMillivolts(_ sensor: String) -> UInt16? { 3074 }
        func batteryPercent(_ sensor: String) -> UInt8? { percent }
        func temperature(_ sensor: String) -> FixedPointTemperature? { try? FixedPointTemperature(celsius: 21.5) }
    }

    private let address = DeviceAddress("F0:01:02:03:04:05") ?? DeviceAddress(FixedOctets())
    private let key = IdentityKey(FixedOctets(repeating: 7))

    private func source(
        isEncrypted: Bool, address: Advertisement.AddressRule? = nil, firstPacket: UInt32 = 1000
    ) -> PayloadSource {
        var values = Advertisement.BTHomeSource()
        (values.temperature, values.battery, values.voltage) = ("auto", "auto", "auto")
        (values.hasPacketID, values.countsAdvertisements, values.isEncrypted) = (true, true, isEncrypted)
        let advertisement = Advertisement(
            content: .btHome(values), interval: .nonconnectableMinimumBefore5, measuredPower: .none,
            address: address ?? .staticRandom(self.address))
        return PayloadSource(advertisement, identityKey: isEncrypted ? key : nil, firstPacket: firstPacket)
    }

    /// The BTHome packets on the air, in their order and without repetitions.
    private func packets(_ bench: Bench) -> [BTHome] {
        var packets: [BTHome] = []
        for octets in bench.events {
            guard case .btHome(let packet) = BeaconFrame(decoding: AdvertisingData(octets: octets)) else { continue }
            if packets.last != packet { packets.append(packet) }
        }
        return packets
    }

    @Test func valuesAreRenewedAndPacketsCounted() throws {
        let (bench, sensors) = (Bench(.raspberryPi), Sensors())
        let session = try bench.session([source(isEncrypted: false)], telemetry: sensors)
        try session.start()
        try bench.run(session, seconds: 10)
        sensors.percent = nil
        try bench.run(session, seconds: 2)
        let packets = packets(bench).map { $0.objects.map(\.description) }
        #expect(packets.count >= 11)
        #expect(packets[0].prefix(4) == ["packet_id 0", "battery 97 %", "temperature 21.5 °C", "voltage 3.074 V"])
        for (number, packet) in packets.enumerated() { #expect(packet[0] == "packet_id \(number)") }
        // The advertising events of 5 s: one each 100 ms, plus the random delays.
        let events = try #require(packets[5].last?.split(separator: " ").last.flatMap { Int($0) })
        #expect((46...50).contains(events))
        #expect(packets.last?[1] == "temperature 21.5 °C")
        #expect(!session.hasMemory)
    }

    @Test(arguments: VirtualControllerModel.tested)
    func usesNoEncryptionCounterTwice(_ model: VirtualControllerModel) throws {
        let bench = Bench(model)
        let session = try bench.session([source(isEncrypted: true)], telemetry: Sensors())
        try session.start()
        try bench.run(session, seconds: 5)
        _ = try bench.host.execute(HCIReset())
        session.silence(since: bench.host.now)
        try session.rearm()
        try bench.run(session, seconds: 5)
        #expect(session.hasMemory)
        let memory = session.memory
        try session.stop()
        // After a restart, the clock is behind, so the number of the first packet is smaller.
        let next = try bench.session(
            [source(isEncrypted: true, firstPacket: 3)], memory: memory, telemetry: Sensors())
        bench.forget()
        try next.start()
        try bench.run(next, seconds: 3)
        let after = packets(bench).compactMap(\.sealed?.counter)
        #expect(after.first == memory.nextPacket && after.count >= 3)
        #expect(zip(after, after.dropFirst()).allSatisfy { $0 < $1 })
        #expect(memory.nextPacket >= 1010)
    }

    @Test func sentPacketsAreDecryptedWithTheAddress() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session([source(isEncrypted: true)], telemetry: Sensors())
        try session.start()
        try bench.run(session, seconds: 5)
        let packets = packets(bench)
        #expect(packets.first?.sealed?.counter == 1000 && packets.count >= 5)
        for packet in packets {
            let opened = try #require(try key.open(packet, from: address))
            #expect(opened.objects.map(\.kind.id) == [0x00, 0x01, 0x02, 0x0C, 0x3E])
        }
    }

    @Test func stopsBeforeAnEncryptionCounterIsUsedTwice() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session([source(isEncrypted: true, firstPacket: .max - 2)], telemetry: Sensors())
        try session.start()
        try bench.run(session, seconds: 10)
        let counters = packets(bench).compactMap(\.sealed?.counter)
        #expect(counters == [UInt32.max - 2, UInt32.max - 1])
    }

    @Test func refusesEncryptionWithoutAKnownAddress() throws {
        let source = source(isEncrypted: true, address: .public)
        #expect(failure { _ = try source.payload(.init(packet: 1)) } != nil)
        let plain = self.source(isEncrypted: false, address: .public)
        #expect(throws: Never.self) { try plain.payload(.init(packet: 1000)) }
    }
}
