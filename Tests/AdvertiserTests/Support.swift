import Advertiser
import BeaconFrames
import BluetoothTypes
import EddystoneSecurity
import HCI
import VirtualController

/// A host with a virtual controller and a simulated clock. It records all commands and all packets on the air.
final class Bench {
    let channel: VirtualChannel
    let host: HCIHost
    private let record = Record()

    /// A separate object, because a session may use the host after the bench is released.
    private final class Record {
        var commands: [HCIPacket] = []
        var pdus: [AirPDU] = []
    }

    init(_ model: VirtualControllerModel, on air: VirtualAir = VirtualAir(), address: DeviceAddress? = nil) {
        channel = VirtualChannel(model, on: air, address: address)
        host = HCIHost(channel: channel)
        host.observer = { [record] packet, isFromController, _ in
            if !isFromController { record.commands.append(packet) }
        }
        air.observer = { [record] in record.pdus.append($0) }
    }

    /// Every command since the last ``forget()``.
    var commands: [HCIPacket] { record.commands }

    /// Every packet on the air since the last ``forget()``, from any controller.
    var pdus: [AirPDU] { record.pdus }

    var controller: VirtualController { channel.controller }

    func forget() {
        record.commands = []
        record.pdus = []
    }

    /// The opcodes of the commands in hexadecimal. Commands that enable end with `+`, those that disable with `-`.
    var steps: [String] { commands.map(Self.step) }

    func capabilities(isExclusive: Bool = true) throws -> ControllerCapabilities {
        try ControllerCapabilities.read(from: host, isExclusive: isExclusive)
    }

    /// Returns a session with one advertisement. The commands that read the capabilities are forgotten.
    func session(
        _ advertisement: Advertisement, isExclusive: Bool = true, source: PayloadSource? = nil,
        clock: EIDClock? = nil, counters: TelemetryCounters = TelemetryCounters()
    ) throws -> BeaconSession {
        try session(
            [source ?? PayloadSource(advertisement)], isExclusive: isExclusive, clock: clock, counters: counters)
    }

    /// Returns a session with several advertisements.
    func session(
        _ sources: [PayloadSource], isExclusive: Bool = true, setLimit: Int? = nil, clock: EIDClock? = nil,
        memory: BeaconMemory? = nil, counters: TelemetryCounters = TelemetryCounters(),
        telemetry: (any TelemetrySource)? = nil, seed: UInt64 = 7
    ) throws -> BeaconSession {
        let capabilities = try capabilities(isExclusive: isExclusive)
        forget()
        let allocation = try SetAllocation(sources, on: capabilities, isExclusive: isExclusive, setLimit: setLimit)
        return BeaconSession(
            host: host, allocation: allocation, clock: clock, memory: memory, countersAtStart: counters,
            telemetry: telemetry,
            randomness: SplitMix64(seed: seed))
    }

    func run(_ session: BeaconSession, seconds: Double) throws {
        try session.run(until: host.now.advanced(byMicroseconds: Int(seconds * 1_000_000)))
    }

    /// True if any advertiser of the controller is on.
    var isAdvertising: Bool {
        controller.isAdvertising() || (0...0xEF).contains { controller.isAdvertising(handle: $0) }
    }

    /// The data of each advertising event on the air. Copies on other channels and scan responses are left out.
    var events: [[UInt8]] {
        pdus.filter { $0.channel == 37 && !$0.isScanResponse }.map(\.data)
    }

    /// The number of events of each advertisement. Telemetry and ephemeral ids change, so they are counted by kind.
    func eventCounts(_ session: BeaconSession) -> [Int] {
        let kinds = session.advertisements.map { Self.kind($0.payload.octets) }
        var counts: [[UInt8]: Int] = [:]
        for data in events { counts[Self.kind(data), default: 0] += 1 }
        return kinds.map { counts[$0] ?? 0 }
    }

    /// The octets without the changing part of Eddystone-TLM and Eddystone-EID.
    private static func kind(_ data: [UInt8]) -> [UInt8] {
        guard data.starts(with: [2, 1, 6, 3, 3, 0xAA, 0xFE]), [0x20, 0x30].contains(data[11]) else { return data }
        return Array(data.prefix(12))
    }

    /// The parameters of the last command with this opcode.
    func parameters(_ opcode: UInt16) -> [UInt8]? {
        commands.last { Self.opcode($0) == opcode }.map { Array($0.octets.dropFirst(3)) }
    }

    static func opcode(_ packet: HCIPacket) -> UInt16 {
        packet.octets.count < 2 ? 0 : UInt16(packet.octets[0]) | UInt16(packet.octets[1]) << 8
    }

    private static func step(_ packet: HCIPacket) -> String {
        let opcode = opcode(packet)
        let text = Hexadecimal.text([UInt8(opcode >> 8), UInt8(truncatingIfNeeded: opcode)])
        guard [0x200A, 0x2039, 0x200C, 0x2042].contains(opcode), packet.octets.count > 3 else { return text }
        return text + (packet.octets[3] == 0 ? "-" : "+")
    }
}

/// A channel whose next waits are interrupted by signals, ``interruptions`` times.
final class InterruptedChannel: HCIChannel {
    private let channel: VirtualChannel
    var interruptions = 0
    /// A packet after which the next wait is interrupted.
    var trigger: [UInt8]?

    init(_ channel: VirtualChannel) {
        self.channel = channel
    }

    var now: HCIInstant { channel.now }

    func send(_ packet: HCIPacket) throws(HCIChannelError) {
        if packet.octets == trigger { interruptions += 1 }
        try channel.send(packet)
    }

    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        guard interruptions == 0 else {
            interruptions -= 1
            throw .interrupted
        }
        return try channel.receive(until: deadline)
    }
}

/// A channel that adds an irrelevant event in each millisecond without another event.
final class NoisyChannel: HCIChannel {
    private let channel: VirtualChannel

    init(_ channel: VirtualChannel) {
        self.channel = channel
    }

    var now: HCIInstant { channel.now }

    func send(_ packet: HCIPacket) throws(HCIChannelError) { try channel.send(packet) }

    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        guard deadline > now else { return try channel.receive(until: deadline) }
        return try channel.receive(until: now.advanced(byMicroseconds: 1000)) ?? HCIPacket(.event, [0xFE, 1, 0])
    }
}

enum Sample {
    static let address = DeviceAddress("C0:11:22:33:44:55") ?? DeviceAddress(FixedOctets())

    static func power(_ dBm: Int) -> RadioPower { RadioPower(octet: UInt8(bitPattern: Int8(dBm))) }

    static let uuid = FixedOctets<16>(repeating: 0xAB)

    /// The payload of ``iBeacon(intervalUnits:)``, with a measured power of -59 dBm.
    static let iBeaconOctets: [UInt8] =
        [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15] + [UInt8](repeating: 0xAB, count: 16)
        + [0x00, 0x01, 0x00, 0x02, 0xC5]

    static func iBeacon(intervalUnits: UInt32 = 0xA0) throws -> Advertisement {
        Advertisement(
            content: .iBeacon(uuid: uuid, major: 1, minor: 2, flags: .beacon),
            interval: AdvertisingInterval(rawValue: intervalUnits),
            measuredPower: .atOneMeter(try MeasuredPowerAtOneMeter(dBm: -59)), address: .staticRandom(address))
    }

    /// iBeacons that differ in their minor number, one for each interval in milliseconds.
    static func iBeacons(_ milliseconds: [Double]) throws -> [PayloadSource] {
        try milliseconds.enumerated().map { minor, milliseconds in
            var advertisement = try iBeacon(intervalUnits: UInt32((milliseconds / 0.625).rounded()))
            advertisement.content = .iBeacon(uuid: uuid, major: 1, minor: UInt16(minor), flags: .beacon)
            // One channel is enough to count events.
            advertisement.channels = .channel37
            return PayloadSource(advertisement)
        }
    }

    /// The frames of profiles/lobby-north.json: iBeacon, UID, URL and telemetry at 200, 350, 700 and 5000 ms.
    static func lobby() throws -> [PayloadSource] {
        let power = MeasuredPowerRule.atOneMeter(try MeasuredPowerAtOneMeter(dBm: -59))
        let contents: [(Advertisement.Content, UInt32, MeasuredPowerRule)] = [
            (.iBeacon(uuid: uuid, major: 1, minor: 2, flags: .beacon), 320, power),
            (.eddystoneUID(namespace: FixedOctets(repeating: 0x8B), instance: FixedOctets()), 560, power),
            (.eddystoneURL(try CompressedURL("https://example.org/n2")), 1120, power),
            (
                .eddystoneTLM(.init(battery: .sensor("auto"), temperature: .sensor("auto")), encryption: nil), 8000,
                .none
            ),
        ]
        return contents.map { content, units, power in
            PayloadSource(
                Advertisement(
                    content: content, interval: AdvertisingInterval(rawValue: units), measuredPower: power,
                    address: .staticRandom(address), channels: .channel37))
        }
    }

    static func telemetry(intervalUnits: UInt32) -> Advertisement {
        Advertisement(
            content: .eddystoneTLM(.init(battery: .fixed(3000), temperature: .unknown), encryption: nil),
            interval: AdvertisingInterval(rawValue: intervalUnits), measuredPower: .none,
            address: .staticRandom(address))
    }

    static func ephemeral(exponent: UInt8) throws -> Advertisement {
        Advertisement(
            content: .eddystoneEID(.init(identityKeyFile: nil, rotationExponent: exponent)),
            interval: AdvertisingInterval(rawValue: 0xA0),
            measuredPower: .atZeroMeters(try MeasuredPowerAtZeroMeters(dBm: -18)), address: .staticRandom(address))
    }
}

/// Short forms for a session with one advertisement.
extension BeaconSession {
    convenience init(
        host: HCIHost, _ advertisement: Advertisement, on capabilities: ControllerCapabilities,
        isExclusive: Bool = true, identityKey: IdentityKey? = nil
    ) throws {
        let source = PayloadSource(advertisement, identityKey: identityKey)
        self.init(host: host, allocation: try SetAllocation([source], on: capabilities, isExclusive: isExclusive))
    }

    var first: OnAirAdvertisement { advertisements[0] }
    var setPlan: SetParameters { allocation.sets[0].parameters }
    var grant: RadioPowerGrant { first.grant }
    var payload: AdvertisingData { first.payload }
    var address: DeviceAddress { first.address ?? DeviceAddress(FixedOctets()) }
}

extension VirtualControllerModel {
    /// A Zephyr build without extended advertising, whose power can be set only by vendor commands.
    static let legacyZephyr: Self = {
        var model = zephyr
        model.name = "zephyr-legacy"
        model.features.remove(.extendedAdvertising)
        model.advertisingSets = 0
        model.knowsReadTransmitPower = false
        return model
    }()

    static let tested = all + [legacyZephyr]
}

/// Returns the session error that `body` throws; `nil` if it throws none.
func failure(_ body: () throws -> Void) -> SessionError? {
    do {
        try body()
        return nil
    } catch {
        return error as? SessionError
    }
}
